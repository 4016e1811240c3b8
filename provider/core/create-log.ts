import { randomUUID } from "node:crypto";
import { appendFileSync, closeSync, fsyncSync, openSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { type Identified, isApiError, type Settings } from "../api";
import { isElsewhere, isKnown, withKey } from "./ownership";

/*
 * Files with the creates of one stack. Each is logged before it is sent and again when it is answered: after a kill, only this tells which
 * objects are the stack's own. stack-log.ts says where they are.
 */

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
  /** A service did not delete it alone: it is still this stack's. */
  | { left: LoggedCreate };

export interface LogContents {
  /** The run that logged. */
  run?: string;
  /** Creates that succeeded, or may have. */
  creates: LoggedCreate[];
  /** Objects that the stack left behind because the service did not delete them alone. */
  left: LoggedCreate[];
}

/** What earlier runs of a stack have logged. */
export interface Before {
  /** Creates of killed runs, and what was left behind. */
  interrupted: LoggedCreate[];
  /** Whether this run continues a killed one. */
  isContinued: boolean;
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
  const contents: LogContents = { creates: [], left: [] };
  const add = (attempt: string, more: Partial<LoggedCreate>): void => {
    const begun = all.get(attempt);
    if (begun) all.set(attempt, { ...begun, ...more });
  };
  for (const line of textOf(file).split("\n").map(lineOf)) {
    if (line === undefined) continue;
    if ("run" in line) contents.run = line.run;
    else if ("left" in line) contents.left.push(line.left);
    else if ("begun" in line) all.set(line.begun.attempt, line.begun);
    else if ("again" in line) {
      const { again, ...last } = line;
      add(again, { last });
    } else if ("made" in line) add(line.made, { id: line.id });
    else all.delete(line.refused);
  }
  contents.creates = [...all.values()];
  return contents;
}

const append = (file: string | number, lines: Line[]): void =>
  appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""), { mode: 0o600 });

/** Adds lines, which are on the disk when this returns. */
export function write(file: string, ...lines: Line[]): void {
  const opened = openSync(file, "a", 0o600);
  try {
    append(opened, lines);
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** By file: the flush that begins next, and the one in progress. */
const flushes = new Map<string, { next?: Promise<void>; now: Promise<void> }>();

/** Adds a line. @returns when it is on the disk: one flush serves all creates that have logged before it begins */
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

/** The file in which a process logs its creates, and the entries of others. */
export interface Logs {
  /** Entries from before this process began. */
  readonly before: Before;
  /** @returns when the line is on the disk; undefined: nothing is kept */
  write(line: Line): Promise<void> | undefined;
  /** The logs of other stacks. */
  others(): { stack: string; file: string }[];
  /** Another stack that has the object, as far as it is known. */
  holder?(path: string): string | undefined;
}

/** The creates of this stack. */
export class CreateLog {
  /** @param logs undefined: nothing is logged */
  constructor(private readonly logs?: Logs) {}

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
    const isOf = (one: LoggedCreate): boolean => one.path === path && one.resource === resource;
    const all = (this.logs?.before.interrupted ?? []).filter((one) => isOf(one) && !isElsewhere({ keys: [one.key] }, settings)); // prettier-ignore
    return all.findLast(({ id }) => id === undefined || !isInState(id))?.name;
  }

  /** Objects that other stacks have created there since, or may have. */
  ofOtherStacks(path: string): { stack: string; create: LoggedCreate }[] {
    return (this.logs?.others() ?? []).flatMap(({ stack, file }) => {
      const all = readCreateLog(file).creates.filter((one) => one.path === path);
      return all.map((create) => ({ stack, create }));
    });
  }

  /** The other stack that has created the object with this path, or had it when it was last run on this machine. */
  otherStackOf(path: string): string | undefined {
    const at = path.lastIndexOf("/");
    const [collection, id] = [path.slice(0, at), decodeURIComponent(path.slice(at + 1))];
    const created = this.ofOtherStacks(collection).find(({ create }) => create.id === id);
    return created?.stack ?? this.logs?.holder?.(path);
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
    const [key = ""] = withKey({ keys: [] }, settings).keys;
    let isSent = false;
    const sending = async (serviceAt: number | undefined): Promise<void> => {
      const times = { at: Date.now(), serviceAt };
      const line = isSent ? { again: attempt, ...times } : { begun: { attempt, ...begun, key, ...times } };
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

  /** Logs an object that the service kept although this stack deleted it: a resource that asks for it again gets it. */
  async left(begun: Pick<LoggedCreate, "path" | "name" | "resource" | "id">, settings: Settings): Promise<void> {
    const [key = ""] = withKey({ keys: [] }, settings).keys;
    await this.logs?.write({ left: { ...begun, attempt: randomUUID(), before: [], key, at: Date.now() } });
  }

  /** Logs that this run continues with an object of a killed one. */
  async continued(create: LoggedCreate, id: string): Promise<void> {
    const attempt = randomUUID();
    await this.logs?.write({ begun: { ...create, attempt } });
    await this.logs?.write({ made: attempt, id });
  }
}

/** Whether a create was sent with this key. */
export const isSentWith = ({ key }: Pick<LoggedCreate, "key">, settings: Settings): boolean =>
  isKnown({ keys: [key] }, settings);
