import { randomUUID } from "node:crypto";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { type Identified, isApiError, type Settings } from "../api";
import { type Environment, environmentName, processEnvironment } from "../api/environment";
import { paths } from "../api/paths";
import { type Creates, type LoggedCreate } from "../core/create-log";
import { isElsewhere, withKey } from "../core/organization";
import { times } from "../core/times";
import { messageOf } from "../plain";
import { engineAddress } from "./engine";

/*
 * The logs of creates of stacks, in the user's state folder, or in a fleet's: a folder for each organization, project and stack, and a
 * file for each process of a run that creates something. A run that ends as it should removes its file: everything that it created is in the
 * state. A file that remains belongs to a killed run, or lists objects that are deleted with what they are in.
 */

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

/** The creates of a stack, as its logs tell them. */
export class CreateLog implements Creates {
  readonly #key: string;

  constructor(
    private readonly logs: Logs,
    private readonly settings: Settings,
  ) {
    this.#key = withKey({ keys: [] }, settings).keys[0]!;
  }

  get isContinued(): boolean {
    return this.logs.before.isContinued;
  }

  interrupted({ path, name, resource }: Pick<LoggedCreate, "path" | "name" | "resource">): LoggedCreate[] {
    const isOf = (create: LoggedCreate): boolean =>
      create.path === path && create.name === name && (create.resource ?? resource) === (resource ?? create.resource);
    return this.logs.before.interrupted.filter(isOf).reverse();
  }

  /** The last name that killed runs sent for the resource there, unless a state has its object. */
  nameFor(path: string, resource: string, isInState: (id: string) => boolean): string | undefined {
    const isOf = (create: LoggedCreate): boolean =>
      create.path === path && create.resource === resource && !isElsewhere({ keys: [create.key] }, this.settings);
    const last = this.logs.before.interrupted.filter(isOf).findLast(({ id }) => id === undefined || !isInState(id));
    return last?.name ?? last?.called;
  }

  ofOtherStacks(path: string): { stack: string; create: LoggedCreate }[] {
    return this.logs
      .others()
      .flatMap(({ stack, file }) =>
        readCreateLog(file).creates.flatMap((create) => (create.path === path ? [{ stack, create }] : [])),
      );
  }

  holder(path: string): string | undefined {
    return this.logs.holder?.(path);
  }

  async logged(
    begun: Pick<LoggedCreate, "path" | "name" | "called" | "resource" | "before">,
    send: (sending: (serviceAt: number | undefined) => Promise<void>) => Promise<Identified>,
    unsettled: (log: () => Promise<void>) => Promise<void> = (log) => log(),
  ): Promise<Identified> {
    const { logs } = this;
    const attempt = randomUUID();
    const key = this.#key;
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

  async left(begun: Pick<LoggedCreate, "path" | "name" | "resource" | "id">): Promise<void> {
    const left = { ...begun, attempt: randomUUID(), before: [], key: this.#key, at: Date.now() };
    await this.logs.write({ left });
  }

  async continued(create: LoggedCreate, id: string): Promise<void> {
    const attempt = randomUUID();
    await this.logs.write({ begun: { ...create, attempt } });
    await this.logs.write({ made: attempt, id });
  }
}

/** The variable that names the folder of a fleet's logs. */
export const createLogVariable = environmentName("fleetCreates");

/** A stack, as its program or its URNs name it. */
interface StackName {
  /** Absent: the engine does not tell. */
  organization?: string;
  project: string;
  stack: string;
}

/** XDG's folder for what programs keep between runs; on Windows, the one that does not roam. */
function stateFolder({ XDG_STATE_HOME: xdg = "", LOCALAPPDATA: local = "", ...env }: Environment): string {
  const own = env[createLogVariable];
  if (own !== undefined) return own;
  const base = isAbsolute(xdg) ? xdg : process.platform === "win32" && local !== "" ? local : undefined;
  return join(base ?? join(homedir(), ".local", "state"), "pulumi-consortium", "creates");
}

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return []; // nothing was created yet
  }
};

/** The log of one process. */
export class StackLog implements Logs {
  /** The same for all processes of a run. */
  readonly #run = engineAddress() ?? randomUUID();
  readonly #own = `${randomUUID()}.jsonl`;
  #name?: StackName;
  #folder?: string;
  #before?: Before;
  #isKept = true;
  #begun = false;
  /** Creates in progress: their objects are not in the state yet. */
  #open = 0;

  constructor(private readonly say: (line: string) => void) {}

  /** Call with each request that names the stack. A program tells more than a URN: it decides, unless a URN has been used already. */
  nameStack(name: StackName): void {
    if (this.#folder === undefined && this.#name?.organization === undefined) this.#name = name;
  }

  /** The folder of the stack. undefined: the stack is unknown, or nothing can be kept. */
  get #place(): string | undefined {
    if (!this.#name || !this.#isKept) return undefined;
    const { organization, project, stack } = this.#name;
    // Backends of one's own call it "organization", and a destroy, which runs no program, does not tell it.
    const owner = organization === "organization" ? "" : (organization ?? "");
    return (this.#folder ??= join(stateFolder(processEnvironment()), [owner, project, stack].join("+")));
  }

  async write(...lines: Line[]): Promise<void> {
    const folder = this.#place;
    if (folder === undefined) return;
    try {
      if (!this.#begun) mkdirSync(folder, { recursive: true, mode: 0o700 });
      const first = this.#begun ? [] : [{ run: this.#run }];
      this.#begun = true;
      await written(join(folder, this.#own), ...first, ...lines);
    } catch (error) {
      this.#isKept = false;
      this.say(
        `No log of creates is kept (${messageOf(error)}). If this run is killed, see "A killed run without its log" in docs/recovery.md.`,
      );
    }
  }

  /** Creates logged by killed runs of the stack. */
  get before(): Before {
    if (this.#place === undefined) return { interrupted: [], isContinued: false };
    if (this.#before) return this.#before;
    const logs = this.#others().filter(({ run }) => run !== this.#run);
    const killed = logs.flatMap(({ creates }) => creates);
    // An object that is left is found like one of a killed run, but no run was killed.
    const interrupted = [...killed, ...logs.flatMap(({ left }) => left)].sort((one, other) => one.at - other.at);
    return (this.#before = { interrupted, isContinued: killed.length > 0 });
  }

  /** The logs of the other stacks there. */
  others(): { stack: string; file: string }[] {
    return this.#neighbours().flatMap((folder) =>
      this.#filesIn(folder).map((file) => ({ stack: stackOf(folder), file })),
    );
  }

  /** Another stack there that had the object when it was last run. */
  holder(path: string): string | undefined {
    const found = this.#neighbours().find((folder) => heldIn(folder).includes(path));
    return found && stackOf(found);
  }

  /** The folders of the other stacks there. */
  #neighbours(): string[] {
    const own = this.#place;
    const all = own === undefined ? [] : namesIn(dirname(own)).map((name) => join(dirname(own), name));
    return all.filter((folder) => folder !== own);
  }

  /** Keeps which objects the stack has, after a run that has created or deleted some. */
  #keep(created: readonly LoggedCreate[], shown: ReadonlySet<string>, deleted: ReadonlySet<string>): void {
    const folder = this.#place;
    if (folder === undefined || created.length + deleted.size === 0) return;
    const all = new Set([...heldIn(folder), ...shown, ...created.map(pathOf)].filter((path) => !deleted.has(path)));
    if (all.size === 0) return rmSync(join(folder, heldFile), { force: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, heldFile), JSON.stringify([...all]), { mode: 0o600 });
  }

  /** The logs of the stack but this process's own. */
  #others(): (LogContents & { file: string })[] {
    const files = this.#place === undefined ? [] : this.#filesIn(this.#place);
    return files.map((file) => ({ file, ...readCreateLog(file) }));
  }

  /** The files of a stack but this process's own. Removes those that are too old. */
  #filesIn(folder: string): string[] {
    const names = namesIn(folder).filter((name) => name.endsWith(".jsonl") && name !== this.#own);
    return names.flatMap((name) => {
      const file = join(folder, name);
      const { mtimeMs = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
      if (Date.now() - mtimeMs <= times.logKeptMs) return [file];
      rmSync(file, { force: true });
      return [];
    });
  }

  /** Whether another process of this run, for another provider, has created the object, or goes on with it. */
  isMadeElsewhere(path: string): boolean {
    return this.#others().some(
      ({ run, creates }) => run === this.#run && creates.some((create) => pathOf(create) === path),
    );
  }

  /** Counts a create as open meanwhile. */
  async creating<T>(work: () => Promise<T>): Promise<T> {
    this.#open++;
    try {
      return await work();
    } finally {
      this.#open--;
    }
  }

  /**
   * Call when the engine ends this process as it should: everything that it has created is in the state. It also forgets killed runs
   * of which everything is in a state, or was created after all.
   * @param shown paths of the objects in the states that the engine has shown @param deleted paths of those that it deleted
   */
  end(shown: ReadonlySet<string>, deleted: ReadonlySet<string> = new Set()): void {
    if (this.#open > 0) return;
    try {
      const own = this.#begun ? readCreateLog(join(this.#place!, this.#own)) : { creates: [], left: [] };
      const others = this.#others();
      // Only an id proves that it was created.
      const isMade = ({ id }: LoggedCreate): boolean => id !== undefined;
      const made = own.creates.filter(isMade);
      this.#keep(made, shown, deleted);
      const before = others.flatMap(({ creates }) => creates).filter(isMade);
      const created = [...made, ...before.filter((create) => shown.has(pathOf(create)))];
      const isDone = (create: LoggedCreate): boolean =>
        shown.has(pathOf(create)) || created.some((later) => isSame(later, create) && later.at >= create.at);
      for (const { file, run, creates, left } of others) {
        const all = [...creates, ...left];
        if (run !== this.#run && all.length > 0 && all.every(isDone)) rmSync(file, { force: true });
      }
      if (!this.#begun) return;
      const left = own.left.map((left) => ({ left }));
      const kept = join(this.#place!, `${randomUUID()}.jsonl`);
      // The lines are in the file at once; the process may end before they are flushed.
      if (left.length > 0) written(kept, { run: this.#run }, ...left).catch(() => undefined);
      rmSync(join(this.#place!, this.#own), { force: true });
    } catch {
      // A file that could not be removed is still proof.
    }
  }
}

/** The file with the paths of the objects that a stack has: no other stack takes one of them for a killed run's. */
const heldFile = "held.json";

function heldIn(folder: string): string[] {
  try {
    const all: unknown = JSON.parse(readFileSync(join(folder, heldFile), "utf8"));
    return Array.isArray(all) ? all.map(String) : [];
  } catch {
    return []; // there is none, or a power cut has left half of it
  }
}

const stackOf = (folder: string): string => basename(folder).split("+").slice(1).join(".");

/** Path of the object that was created, or of its collection if nobody saw an answer. */
const pathOf = ({ path, id }: LoggedCreate): string => (id === undefined ? path : paths.item(path, id));

const isSame = (one: LoggedCreate, other: LoggedCreate): boolean =>
  one.path === other.path && one.name === other.name && one.resource === other.resource;
