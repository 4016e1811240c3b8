import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Identified, isApiError, type Settings } from "../api";
import { environmentName } from "../api/environment";
import { isKnown, withKey } from "./origin";

/*
 * A file with the creates of one stack. Each is logged before it is sent and again when it is answered: after a kill, only this
 * tells which objects are the stack's own. The fleet names the file, and marks what a killed run left in it.
 */

/** The variable that names the file. */
export const createLogVariable = environmentName("fleetCreates");

/** One create. Without an id, nobody saw its answer. */
export interface LoggedCreate {
  attempt: string;
  /** Path of the collection. */
  path: string;
  name?: string;
  /** Ids that were there before. */
  before: string[];
  /** Fingerprint of the key and the address that it was sent with. */
  key: string;
  /** Wall-clock time. */
  at: number;
  /** The same by the service's own clock, if it tells the time. */
  serviceAt?: number;
  id?: string;
}

type Line =
  | { newStack: true }
  | { begun: Omit<LoggedCreate, "id"> }
  | { made: string; id: string }
  | { refused: string }
  /** A killed run ends here; `held`: paths of the objects in the states of this stack and of others. */
  | { continued: { held: string[] } };

export interface LogContents {
  /** Creates of killed runs that succeeded, or may have. */
  interrupted: LoggedCreate[];
  /** Creates since then. */
  current: LoggedCreate[];
  /** Whether this run made the stack. */
  isOfNewStack: boolean;
  /** Whether this run continues a killed one. */
  isContinued: boolean;
  /** Paths of the objects that the states held when the killed run was continued. */
  held: ReadonlySet<string>;
}

/** A power cut may leave a partial line. */
function lineOf(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return undefined;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // nothing was created yet
  }
}

export function readCreateLog(file: string): LogContents {
  const all = new Map<string, LoggedCreate>();
  const contents: LogContents = {
    interrupted: [],
    current: [],
    isOfNewStack: false,
    isContinued: false,
    held: new Set(),
  };
  for (const line of textOf(file).split("\n").map(lineOf)) {
    if (line === undefined) continue;
    if ("begun" in line) all.set(line.begun.attempt, line.begun);
    else if ("made" in line) all.set(line.made, { ...all.get(line.made)!, id: line.id });
    else if ("refused" in line) all.delete(line.refused);
    else if ("newStack" in line) contents.isOfNewStack = true;
    else {
      contents.interrupted = [...all.values()];
      contents.isContinued = true;
      contents.isOfNewStack = false;
      contents.held = new Set(line.continued.held);
    }
  }
  contents.current = [...all.values()].slice(contents.interrupted.length);
  return contents;
}

/** Adds a line, which is on the disk when this returns. */
function write(file: string, line: Line): void {
  const open = openSync(file, "a", 0o600);
  try {
    writeSync(open, `${JSON.stringify(line)}\n`);
    fsyncSync(open);
  } finally {
    closeSync(open);
  }
}

/** Marks the stack as one that this run made: it has no states. */
export const markNew = (file: string): void => write(file, { newStack: true });

/** Marks the creates so far as a killed run's. @param held paths of the objects that are in a state */
export const markInterrupted = (file: string, held: string[]): void => write(file, { continued: { held } });

/** The creates of this stack, if the fleet keeps a log of them. */
export class CreateLog {
  /** What it said when this run began. */
  readonly #before: LogContents;

  constructor(private readonly file?: string) {
    this.#before = readCreateLog(file ?? "");
  }

  /** Whether a fleet keeps a log: its runs adopt only what the log proves. */
  get isKept(): boolean {
    return this.file !== undefined;
  }

  /** Whether this run made the stack, so that there is no state to wait for. */
  get isOfNewStack(): boolean {
    return this.#before.isOfNewStack;
  }

  /** Whether this run continues a killed one. */
  get isContinued(): boolean {
    return this.#before.isContinued;
  }

  /** Creates of killed runs in that place under that name, newest first. */
  interrupted(path: string, name: string): LoggedCreate[] {
    return this.#before.interrupted.filter((one) => one.path === path && one.name === name).reverse();
  }

  /** Whether the state of this stack, or of another one, had the object with this path when this run began. */
  isHeld(path: string): boolean {
    return this.#before.held.has(path);
  }

  /** What the fleet's other stacks have created there since, or may have. */
  ofOtherStacks(path: string): { stack: string; create: LoggedCreate }[] {
    if (this.file === undefined) return [];
    const folder = dirname(this.file);
    const others = readdirSync(folder).filter((name) => name !== basename(this.file!) && name.endsWith(".jsonl"));
    return others.flatMap((name) => {
      const { interrupted, current } = readCreateLog(join(folder, name));
      const all = [...interrupted, ...current].filter((one) => one.path === path);
      return all.map((create) => ({ stack: basename(name, ".jsonl"), create }));
    });
  }

  /** Sends a create; logs it before, and its result after. */
  async logged(
    { settings, ...begun }: Pick<LoggedCreate, "path" | "name" | "before" | "serviceAt"> & { settings: Settings },
    send: () => Promise<Identified>,
  ): Promise<Identified> {
    const { file } = this;
    if (file === undefined) return send();
    const attempt = randomUUID();
    const [key = ""] = withKey({ keys: [] }, settings).keys;
    write(file, { begun: { attempt, ...begun, key, at: Date.now() } });
    try {
      const made = await send();
      write(file, { made: attempt, id: made.id });
      return made;
    } catch (error) {
      if (isApiError(error) && !error.unclear) write(file, { refused: attempt });
      throw error;
    }
  }
}

/** Whether a create was sent with this key. */
export const isSentWith = ({ key }: Pick<LoggedCreate, "key">, settings: Settings): boolean =>
  isKnown({ keys: [key] }, settings);
