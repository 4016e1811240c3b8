import { randomUUID } from "node:crypto";
import { appendFileSync, closeSync, fsyncSync, openSync, readdirSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Identified, isApiError, type Settings } from "../api";
import { environmentName } from "../api/environment";
import { isElsewhere, isKnown, withKey } from "./ownership";

/*
 * The creates of one stack, as lines of a file. Each is logged before it is sent and again when it is answered: after a kill, only this
 * tells which objects are the stack's own. A fleet names the file, and marks what a killed run left in it; stack-log.ts keeps the files of
 * all other stacks.
 */

/** The variable that names the file. */
export const createLogVariable = environmentName("fleetCreates");

/** One create. Without an id, nobody saw its answer. */
export interface LoggedCreate {
  attempt: string;
  /** Path of the collection. */
  path: string;
  name?: string;
  /** The logical name of the resource. */
  resource?: string;
  /** Ids that were there before. */
  before: string[];
  /** Fingerprint of the key and the address that it was sent with. */
  key: string;
  /** Wall-clock time when it was first sent. */
  at: number;
  /** The same by the service's own clock, if it tells the time. */
  serviceAt?: number;
  /** Both when it was sent again, for the last time. */
  last?: { at: number; serviceAt?: number };
  id?: string;
}

export type Line =
  /** Several processes of one run may log. */
  | { run: string }
  | { begun: Omit<LoggedCreate, "id"> }
  | ({ again: string } & NonNullable<LoggedCreate["last"]>)
  | { made: string; id: string }
  | { refused: string }
  /** It is this stack's, although its state has lost it: a service did not delete it alone, or it is deleted with what it is in. */
  | { left: LoggedCreate }
  /** A killed run ends here; `held`: paths of the objects in the states of this stack and of others. */
  | { continued: { held: string[] } };

export interface LogContents {
  /** The run that logged. */
  run?: string;
  /** Creates of killed runs that succeeded, or may have. */
  interrupted: LoggedCreate[];
  /** Creates since then. */
  current: LoggedCreate[];
  /** Objects that a state has lost before they were deleted. */
  left: LoggedCreate[];
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
  const contents: LogContents = { interrupted: [], current: [], left: [], isContinued: false, held: new Set() };
  const add = (attempt: string, more: Partial<LoggedCreate>): void => {
    const begun = all.get(attempt);
    if (begun) all.set(attempt, { ...begun, ...more });
  };
  for (const line of textOf(file).split("\n").map(lineOf)) {
    if (line === undefined) continue;
    if ("run" in line) contents.run = line.run;
    else if ("left" in line) contents.left.push(line.left);
    else if ("begun" in line) all.set(line.begun.attempt, line.begun);
    else if ("again" in line) add(line.again, { last: { at: line.at, serviceAt: line.serviceAt } });
    else if ("made" in line) add(line.made, { id: line.id });
    else if ("refused" in line) all.delete(line.refused);
    else if ("continued" in line) {
      contents.interrupted = [...all.values()];
      contents.isContinued = true;
      contents.held = new Set(line.continued.held);
    }
  }
  contents.current = [...all.values()].slice(contents.interrupted.length);
  return contents;
}

const append = (file: string | number, lines: Line[]): void =>
  appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""), { mode: 0o600 });

/** Marks the creates so far as a killed run's. @param held paths of the objects that are in a state */
export function markInterrupted(file: string, held: string[]): void {
  const opened = openSync(file, "a", 0o600);
  try {
    append(opened, [{ continued: { held } }]);
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** By file: the flush that begins next, and the one in progress. */
const flushes = new Map<string, { next?: Promise<void>; now: Promise<void> }>();

/** Adds lines. @returns when they are on the disk: one flush serves all creates that have logged before it begins */
export function written(file: string, ...lines: Line[]): Promise<void> {
  append(file, lines);
  const known = flushes.get(file) ?? { now: Promise.resolve() };
  flushes.set(file, known);
  const begin = (): Promise<void> => {
    known.next = undefined;
    return (known.now = flush(file));
  };
  return (known.next ??= known.now.then(begin, begin));
}

async function flush(file: string): Promise<void> {
  const opened = await open(file, "r+"); // never makes a file that is gone again
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}

/** The file in which a process logs its creates, and the entries of earlier runs. */
export interface Logs {
  /** Whether a fleet keeps it, which knows the states of all its stacks. */
  readonly isFleets: boolean;
  /** Entries from before this process began. */
  readonly before: LogContents;
  /** @returns when the line is on the disk; undefined: nothing is kept */
  write(line: Line): Promise<void> | undefined;
  /** The logs of a fleet's other stacks, which may create the same at the same time. */
  others?(): { stack: string; file: string }[];
}

/** The log of a fleet's stack. */
export const fleetLog = (file: string): Logs => ({
  isFleets: true,
  before: readCreateLog(file),
  write: (line) => written(file, line),
  others: () =>
    readdirSync(dirname(file))
      .filter((name) => name !== basename(file) && name.endsWith(".jsonl"))
      .map((name) => ({ stack: basename(name, ".jsonl"), file: join(dirname(file), name) })),
});

/** The creates of this stack. */
export class CreateLog {
  /** @param logs undefined: nothing is logged */
  constructor(private readonly logs?: Logs) {}

  /** Whether a fleet keeps the log: its runs adopt only what the log proves. */
  get isFleets(): boolean {
    return this.logs?.isFleets === true;
  }

  /** Whether this run continues a killed one. */
  get isContinued(): boolean {
    return this.logs?.before.isContinued === true;
  }

  /** Creates of killed runs for that resource, in that place under that name, newest first. */
  interrupted({ path, name, resource }: Pick<LoggedCreate, "path" | "name" | "resource">): LoggedCreate[] {
    const isOf = (one: LoggedCreate): boolean =>
      one.path === path && one.name === name && (one.resource ?? resource) === (resource ?? one.resource);
    return (this.logs?.before.interrupted ?? []).filter(isOf).reverse();
  }

  /** The last name that killed runs sent for the resource there, unless a state has its object. */
  nameFor(path: string, resource: string, settings: Settings, isInState: (id: string) => boolean): string | undefined {
    const isOf = (one: LoggedCreate): boolean =>
      one.path === path && one.resource === resource && !isElsewhere({ keys: [one.key] }, settings);
    const all = (this.logs?.before.interrupted ?? []).filter(isOf);
    return all.findLast(({ id }) => id === undefined || !isInState(id))?.name;
  }

  /** Whether the state of this stack, or of another one, had the object with this path when this run began. */
  isHeld(path: string): boolean {
    return this.logs?.before.held.has(path) === true;
  }

  /** What other stacks of the fleet have created there, or may have. */
  ofOtherStacks(path: string): { stack: string; create: LoggedCreate }[] {
    return (this.logs?.others?.() ?? []).flatMap(({ stack, file }) => {
      const { interrupted, current } = readCreateLog(file);
      return [...interrupted, ...current].flatMap((create) => (create.path === path ? [{ stack, create }] : []));
    });
  }

  /**
   * Logs a create before it is sent, and its result after.
   * @param send calls what it is given right before each request
   * @param unsettled is around what is logged of the object: it is made by then, and nobody waits for it yet
   */
  async logged(
    { settings, ...begun }: Pick<LoggedCreate, "path" | "name" | "resource" | "before"> & { settings: Settings },
    send: (sending: (serviceAt: number | undefined) => Promise<void>) => Promise<Identified>,
    unsettled: (log: () => Promise<void>) => Promise<void> = (log) => log(),
  ): Promise<Identified> {
    const { logs } = this;
    if (logs === undefined) return send(() => Promise.resolve());
    const attempt = randomUUID();
    const key = keyOf(settings);
    let isSent = false;
    const sending = async (serviceAt: number | undefined): Promise<void> => {
      const sent = { at: Date.now(), serviceAt };
      const line = isSent ? { again: attempt, ...sent } : { begun: { attempt, ...begun, key, ...sent } };
      isSent = true;
      await logs.write(line);
    };
    try {
      const made = await send(sending);
      await unsettled(async () => logs.write({ made: attempt, id: made.id }));
      return made;
    } catch (error) {
      if (isApiError(error) && !error.unclear) await logs.write({ refused: attempt });
      throw error;
    }
  }

  /** Logs an object that the state loses now, and that is deleted with what it is in. */
  async left(begun: Pick<LoggedCreate, "path" | "name" | "resource" | "id">, settings: Settings): Promise<void> {
    if (this.isFleets) return; // its log ends with the run
    const left = { ...begun, attempt: randomUUID(), before: [], key: keyOf(settings), at: Date.now() };
    await this.logs?.write({ left });
  }

  /** Logs that this run continues with an object of a killed one. */
  async continued(create: LoggedCreate, id: string): Promise<void> {
    if (this.isFleets) return; // its log is one file, which says so already
    const attempt = randomUUID();
    await this.logs?.write({ begun: { ...create, attempt } });
    await this.logs?.write({ made: attempt, id });
  }
}

const keyOf = (settings: Settings): string => withKey({ keys: [] }, settings).keys[0]!;

/** Whether a create was sent with this key. */
export const isSentWith = ({ key }: Pick<LoggedCreate, "key">, settings: Settings): boolean =>
  isKnown({ keys: [key] }, settings);
