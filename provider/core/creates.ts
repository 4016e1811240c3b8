import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Identified, isApiError, type Settings } from "../api";
import { environmentName } from "../api/environment";
import { isKnown, withKey } from "./origins";

/*
 * What the runs of one stack created, written down before a create is sent and again when it is answered: after a kill, this is
 * all that tells what is the stack's own. The fleet names the file, and writes the line that ends what a killed run wrote.
 */

/** The variable that names the file. */
export const createsVariable = environmentName("fleetCreates");

/** One create. Without an id, nobody saw its answer. */
export interface Begun {
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
  /** The same by the service's own clock, where it tells that. */
  serviceAt?: number;
  id?: string;
}

type Line =
  | { begun: Omit<Begun, "id"> }
  | { made: string; id: string }
  | { refused: string }
  /** A killed run ends here; `held`: ids in the states of this stack and of others. */
  | { continued: { held: string[] } };

/** What a file of creates says. */
export interface Written {
  /** Of killed runs: what was created, or may have been. */
  left: Begun[];
  /** Of the run that continues them, or of the only one. */
  current: Begun[];
  /** Whether a killed run is continued. */
  isContinued: boolean;
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

export function readCreates(file: string): Written {
  const all = new Map<string, Begun>();
  const written: Written = { left: [], current: [], isContinued: false, held: new Set() };
  for (const line of textOf(file).split("\n").map(lineOf)) {
    if (line === undefined) continue;
    if ("begun" in line) all.set(line.begun.attempt, line.begun);
    else if ("made" in line) all.set(line.made, { ...all.get(line.made)!, id: line.id });
    else if ("refused" in line) all.delete(line.refused);
    else {
      written.left = [...all.values()];
      written.isContinued = true;
      written.held = new Set(line.continued.held);
    }
  }
  written.current = [...all.values()].slice(written.left.length);
  return written;
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

/** Marks the file's lines as a killed run's, and which of their objects are in a state. */
export const continueCreates = (file: string, held: string[]): void => write(file, { continued: { held } });

/** The service may still act on it. */
const mayHaveWorked = (error: unknown): boolean =>
  !isApiError(error) || isApiError(error, "lost", "server", "unavailable");

/** What this stack's runs create, where the fleet keeps a file of it. */
export class Creates {
  readonly #left: Pick<Written, "left" | "isContinued" | "held">;

  constructor(private readonly file?: string) {
    this.#left = file === undefined ? { left: [], isContinued: false, held: new Set() } : readCreates(file);
  }

  /** Whether a fleet keeps a file: its runs adopt only what that proves. */
  get isKept(): boolean {
    return this.file !== undefined;
  }

  /** Whether a killed run of the stack is continued. */
  get isContinued(): boolean {
    return this.#left.isContinued;
  }

  /** Creates of killed runs in that place, under that name, the newest first. */
  left(path: string, name: string): Begun[] {
    return this.#left.left.filter((one) => one.path === path && one.name === name).reverse();
  }

  /** Whether the state of this stack, or of another one, had the object when this run began. */
  isHeld(id: string): boolean {
    return this.#left.held.has(id);
  }

  /** What the fleet's other stacks created there in the meantime, or may have. */
  ofOthers(path: string): { stack: string; begun: Begun }[] {
    if (this.file === undefined) return [];
    const folder = dirname(this.file);
    const others = readdirSync(folder).filter((name) => name !== basename(this.file!) && name.endsWith(".jsonl"));
    return others.flatMap((name) => {
      const { left, current } = readCreates(join(folder, name));
      const all = [...left, ...current].filter((one) => one.path === path);
      return all.map((begun) => ({ stack: basename(name, ".jsonl"), begun }));
    });
  }

  /** Runs a create; records it before, and its result after. */
  async recorded(
    { settings, ...begun }: Pick<Begun, "path" | "name" | "before" | "serviceAt"> & { settings: Settings },
    create: () => Promise<Identified>,
  ): Promise<Identified> {
    const { file } = this;
    if (file === undefined) return create();
    const attempt = randomUUID();
    const [key = ""] = withKey({ keys: [] }, settings).keys;
    write(file, { begun: { attempt, ...begun, key, at: Date.now() } });
    try {
      const made = await create();
      write(file, { made: attempt, id: made.id });
      return made;
    } catch (error) {
      if (!mayHaveWorked(error)) write(file, { refused: attempt });
      throw error;
    }
  }
}

/** Whether a create was sent with this key. */
export const isSentWith = ({ key }: Pick<Begun, "key">, settings: Settings): boolean =>
  isKnown({ keys: [key] }, settings);
