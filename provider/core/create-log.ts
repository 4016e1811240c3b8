import { randomUUID } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { type Identified, isApiError, type Settings } from "../api";
import { isElsewhere, isKnown, withKey } from "./ownership";

/*
 * The creates of one stack, as lines of a file. Each is logged before it is sent and again when it is answered: after a kill, only this
 * tells which objects are the stack's own. provider/pulumi/stack-log.ts says where they are.
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
  /** It is this stack's, although its state has lost it: a service did not delete it alone, or it is deleted with what it is in. */
  | { left: LoggedCreate };

export interface LogContents {
  /** The run that logged. */
  run?: string;
  /** Creates that succeeded, or may have. */
  creates: LoggedCreate[];
  /** Objects that a state has lost before they were deleted. */
  left: LoggedCreate[];
}

/** What earlier runs of a stack have logged. */
export interface Before {
  /** Creates of killed runs, and what was left. */
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
    else if ("again" in line) add(line.again, { last: { at: line.at, serviceAt: line.serviceAt } });
    else if ("made" in line) add(line.made, { id: line.id });
    else if ("refused" in line) all.delete(line.refused);
  }
  contents.creates = [...all.values()];
  return contents;
}

/** By file: the flush that begins next, and the one in progress. */
const flushes = new Map<string, { next?: Promise<void>; now: Promise<void> }>();

/** Adds lines. @returns when they are on the disk: one flush serves all creates that have logged before it begins */
export function written(file: string, ...lines: Line[]): Promise<void> {
  appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""), { mode: 0o600 });
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
  /** Entries from before this process began. */
  readonly before: Before;
  /** @returns when the line is on the disk; undefined: nothing is kept */
  write(line: Line): Promise<void> | undefined;
  /** The logs of other stacks, which may create the same at the same time. */
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
    const isOf = (one: LoggedCreate): boolean =>
      one.path === path && one.resource === resource && !isElsewhere({ keys: [one.key] }, settings);
    const all = (this.logs?.before.interrupted ?? []).filter(isOf);
    return all.findLast(({ id }) => id === undefined || !isInState(id))?.name;
  }

  /** What other stacks have created there, or may have. */
  ofOtherStacks(path: string): { stack: string; create: LoggedCreate }[] {
    return (this.logs?.others() ?? []).flatMap(({ stack, file }) =>
      readCreateLog(file).creates.flatMap((create) => (create.path === path ? [{ stack, create }] : [])),
    );
  }

  /** The other stack that had the object with this path when it was last run on this machine. */
  holder(path: string): string | undefined {
    return this.logs?.holder?.(path);
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
    const left = { ...begun, attempt: randomUUID(), before: [], key: keyOf(settings), at: Date.now() };
    await this.logs?.write({ left });
  }

  /** Logs that this run continues with an object of a killed one. */
  async continued(create: LoggedCreate, id: string): Promise<void> {
    const attempt = randomUUID();
    await this.logs?.write({ begun: { ...create, attempt } });
    await this.logs?.write({ made: attempt, id });
  }
}

const keyOf = (settings: Settings): string => withKey({ keys: [] }, settings).keys[0]!;

/** Whether a create was sent with this key. */
export const isSentWith = ({ key }: Pick<LoggedCreate, "key">, settings: Settings): boolean =>
  isKnown({ keys: [key] }, settings);
