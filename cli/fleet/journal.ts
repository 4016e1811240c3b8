import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { check, lock } from "proper-lockfile";

/** What a run records before it changes a stack, so that the next run can judge locks and unrecorded objects. */
export interface Entry extends Started {
  command: string;
  pid: number;
  host: string;
  startedAt: string;
}

/** A run holds a lock on the entry of each stack that it works on. A killed run no longer renews it, and it becomes stale. */
const held = (stale: number) => ({ stale, update: 1_000, realpath: false });
const untilStale = (stale: number) => ({ retries: stale / 200 + 5, factor: 1, minTimeout: 200, maxTimeout: 200 });

interface Taken {
  entry: Entry;
  release: () => Promise<void>;
}

/** The stacks of one work folder that are at work, or were when a run was killed: an entry and a lock each. */
export class Journal {
  /** Stacks that a killed run left unfinished, and that this run continues. */
  readonly left = new Set<string>();
  /** The mark of the process that serves all stacks of this run. */
  readonly sharedMark = randomUUID();
  readonly #folder: string;
  readonly #command: string;
  readonly #taken = new Map<string, Taken>();

  constructor(
    workFolder: string,
    command: string,
    private readonly staleMs = 10_000,
  ) {
    this.#folder = join(workFolder, "journal");
    this.#command = command;
    mkdirSync(this.#folder, { recursive: true });
  }

  /** Ends processes that killed runs left for these stacks. Returns whether a killed run left anything for any stack. */
  async takeOver(stacks: readonly string[]): Promise<boolean> {
    await Promise.all(stacks.filter((stack) => this.entryOf(stack)).map((stack) => this.#take(stack)));
    const files = readdirSync(this.#folder).filter((file) => file.endsWith(".json"));
    const atWork = await Promise.all(files.map((file) => check(join(this.#folder, file), held(this.staleMs))));
    return this.left.size > 0 || atWork.includes(false);
  }

  /** Begins with a stack. @throws when another run is changing it, and this one would, too */
  async begin(stack: string, { changes }: { changes: boolean }): Promise<void> {
    if (!changes && !this.entryOf(stack)) return;
    if (!(await this.#take(stack)) && changes)
      throw new Error(`${atWork(this.entryOf(stack))} is at work on this stack. Wait until it has ended.`);
    if (changes) this.#write(stack);
  }

  /** The mark of the processes that are started for a stack. */
  markOf = (stack: string): string => this.#taken.get(stack)?.entry.id ?? "";

  /** The Pulumi processes that were started for a stack, by this run or a killed one. */
  startedFor = (stack: string): readonly number[] => this.#taken.get(stack)?.entry.started ?? [];

  started(stack: string, pid: number): void {
    const entry = this.#taken.get(stack)?.entry;
    entry?.started.push(pid);
    if (entry && this.entryOf(stack)?.id === entry.id) this.#write(stack);
  }

  /** Ends work on a stack. Its entry stays if the outcome is unknown. */
  async end(stack: string, { settled }: { settled: boolean }): Promise<void> {
    const taken = this.#taken.get(stack);
    if (!taken) return;
    if (settled) rmSync(this.#file(stack), { force: true });
    this.#taken.delete(stack);
    await taken.release().catch(() => undefined);
  }

  async close(): Promise<void> {
    for (const stack of [...this.#taken.keys()]) await this.end(stack, { settled: false });
  }

  /** What is recorded of a stack that is at work or was left unfinished. */
  entryOf(stack: string): Entry | undefined {
    try {
      return JSON.parse(readFileSync(this.#file(stack), "utf8")) as Entry;
    } catch {
      return undefined;
    }
  }

  /** Locks the stack. Answers false if another run is at work on it; waits until the lock of a killed run is stale. */
  async #take(stack: string): Promise<boolean> {
    if (this.#taken.has(stack)) return true;
    // After the machine slept, another run may have the lock; the journal still has what this one did.
    const options = { ...held(this.staleMs), retries: untilStale(this.staleMs), onCompromised: () => undefined };
    const release = await lock(this.#file(stack), options).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ELOCKED") throw error;
    });
    if (!release) return false;
    const before = this.entryOf(stack);
    const run = { command: this.#command, pid: process.pid, host: hostname(), startedAt: new Date().toISOString() };
    const own = { id: randomUUID(), shared: this.sharedMark };
    this.#taken.set(stack, { entry: { ...own, ...run, started: before?.started ?? [] }, release });
    if (!before) return true;
    this.left.add(stack);
    if (await endRemains(before)) return true;
    throw new Error(
      `Processes of a fleet run that was killed (${before.command}, begun ${before.startedAt}) do not end: ` +
        `${remainsOf(before).join(", ")}. End them by hand.`,
    );
  }

  #write(stack: string): void {
    const draft = `${this.#file(stack)}.draft`;
    writeFileSync(draft, JSON.stringify(this.#taken.get(stack)!.entry));
    renameSync(draft, this.#file(stack));
  }

  readonly #file = (stack: string): string => join(this.#folder, `${stack}.json`);
}

/** Who is at work on a stack, for people. */
export const atWork = (entry: Entry | undefined): string =>
  entry
    ? `a fleet run (${entry.command}) of process ${entry.pid} on ${entry.host}, begun ${entry.startedAt},`
    : "another fleet run";

/** What a run started for a stack. */
export interface Started {
  /** The mark of all its processes. */
  id: string;
  /** That of the process which serves all stacks of the run. */
  shared?: string;
  /** Ids of its Pulumi processes. */
  started: number[];
}

/** In the environment of every process that is started for a stack, and of those that they start: what is left of a dead run is found by it. */
export const markName = "CONSORTIUM_FLEET_RUN";

/** How long what is left of a dead run may take to end after Ctrl-C, before it is killed; and after that. */
const patienceMs = { interrupted: 45_000, killed: 10_000 };

/** Ends what a dead run left: as Ctrl-C does, so that Pulumi writes its state down; by force where that takes too long. */
export async function endRemains(run: Started, patience = patienceMs): Promise<boolean> {
  const interrupted = remainsOf(run).filter((pid) => run.started.includes(pid));
  if (interrupted.length > 0 && (await haveEnded(run, interrupted, "SIGINT", patience.interrupted))) return true;
  return haveEnded(run, remainsOf(run), "SIGKILL", patience.killed);
}

async function haveEnded(run: Started, pids: number[], signal: NodeJS.Signals, ms: number): Promise<boolean> {
  for (const pid of pids) optional(() => process.kill(pid, signal));
  for (const end = Date.now() + ms; Date.now() < end; await sleep(200)) if (remainsOf(run).length === 0) return true;
  return remainsOf(run).length === 0;
}

/** The remaining processes of a run: Pulumi and its descendants. */
export function remainsOf({ id, shared = id, started }: Started): number[] {
  if (process.platform === "win32") return started.filter(isRunning);
  const marks = [id, shared].map((one) => `${markName}=${one}`);
  return environments()
    .filter(([pid, text]) => marks.some((one) => text.includes(one)) && pid !== process.pid)
    .map(([pid]) => pid);
}

function environments(): [pid: number, text: string][] {
  if (process.platform === "linux") {
    const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return ids.map((id) => [Number(id), optional(() => readFileSync(`/proc/${id}/environ`, "utf8")) ?? ""]);
  }
  const args = ["-axEww", "-o", "pid=,command="];
  const text = execFileSync("ps", args, { encoding: "utf8", maxBuffer: 64 * 2 ** 20 });
  return text.split("\n").map((line) => [parseInt(line), line]);
}

/** Whether there is a process of that id, whatever it is. */
export const isRunning = (pid: number): boolean => optional(() => process.kill(pid, 0)) ?? false;

function optional<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The folder of a file backend; undefined for any other backend. */
function stateFolderOf(backend = ""): string | undefined {
  const [, home] = /^file:\/\/~(.*)$/.exec(backend) ?? [];
  if (home !== undefined) return join(homedir(), home);
  return URL.canParse(backend) && backend.startsWith("file:///") ? fileURLToPath(new URL(backend).href) : undefined;
}

/**
 * Pulumi keeps a file of attributes beside each file of the state, and does not write that one in one piece: a kill may leave it
 * empty, and then `error: EOF` is all that Pulumi says, for every stack. It needs none, and reads no history for an update.
 */
export function dropTornAttributes(backend: string | undefined): void {
  const state = stateFolderOf(backend);
  const folder = state === undefined ? undefined : join(state, ".pulumi");
  if (folder === undefined || !existsSync(folder)) return;
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".attrs") || /^(history|backups)\b/.test(file)) continue;
    const path = join(folder, file);
    if (isTorn(path)) rmSync(path, { force: true });
  }
}

function isTorn(file: string): boolean {
  try {
    JSON.parse(readFileSync(file, "utf8"));
    return false;
  } catch {
    return true;
  }
}

/** A holder of the lock of a stack, as the CLI names it. */
export interface Holder {
  user: string;
  host: string;
  pid: number;
  since: string;
}

const lockedText = /the stack is currently locked by|\[409\] Conflict: Another update is currently in progress/;
const holderText = /created by (\S+)@(\S+) \(pid (\d+)\) at (\S+)/g;

export const isLocked = (text: string): boolean => lockedText.test(text);

export const holdersOf = (text: string): Holder[] =>
  [...text.matchAll(holderText)].map(([, user = "", host = "", pid, since = ""]) => ({
    user,
    host,
    since,
    pid: Number(pid),
  }));

/**
 * Whether the lock of a stack may be cleared: a killed run left the stack unfinished, and every holder was a process of this
 * machine that has ended. Anything less is somebody else's lock. No other run begins with the stack meanwhile: this one has it.
 */
export function mayClear(stack: string, holders: readonly Holder[], journal: Journal): boolean {
  const hasEnded = ({ host, pid }: Holder) =>
    host === hostname() && (journal.startedFor(stack).includes(pid) || !isRunning(pid));
  return journal.left.has(stack) && holders.length > 0 && holders.every(hasEnded);
}

/** Who is at work on a stack, and what to do. */
export function lockedMessage(stack: string, holders: readonly Holder[], journal: Journal, workFolder: string): string {
  const entry = journal.left.has(stack) ? undefined : journal.entryOf(stack);
  const who = [
    ...(entry && entry.pid !== process.pid ? [atWork(entry)] : []),
    ...holders.map(({ user, host, pid, since }) => `${user}@${host}, process ${pid}, since ${since}`),
  ];
  return (
    `the stack is locked by ${who.length > 0 ? who.join("; ") : "another update"}. Wait until that has ended. ` +
    `If it is surely no longer at work, end its lock: pulumi cancel --yes --stack ${stack} (in ${workFolder}), and run this again.`
  );
}
