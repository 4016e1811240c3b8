import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { check, lock } from "proper-lockfile";

/** Who holds a lock on a stack, as the CLI names it. */
export interface Holder {
  user: string;
  host: string;
  pid: number;
  since: string;
}

/** The run that works on a stack, or that did when it was killed. It is written before the stack is changed. */
export interface RunRecord extends Holder {
  /** Marks all processes that the run started for the stack. */
  id: string;
}

/** A run locks the record of each stack that it works on, and renews the lock every second. That of a killed run becomes stale. */
const lockOptions = (stale: number) => ({ stale, update: 1_000, realpath: false });
const untilStale = (stale: number) => ({ retries: stale / 200 + 5, factor: 1, minTimeout: 200, maxTimeout: 200 });

/** The run records of one work folder: for each stack in progress, or left unfinished by a killed run, a file and a lock. */
export class RunLocks {
  /** Stacks that a killed run left unfinished, and that this run continues. */
  readonly unfinished = new Set<string>();
  readonly #folder: string;
  readonly #own = new Map<string, { record: RunRecord; release: () => Promise<void> }>();

  constructor(
    workFolder: string,
    private readonly staleMs = 10_000,
  ) {
    this.#folder = join(workFolder, "journal");
    mkdirSync(this.#folder, { recursive: true });
  }

  /** Ends processes that killed runs left for these stacks. Returns whether a killed run left anything for any stack. */
  async recover(stacks: readonly string[]): Promise<boolean> {
    await Promise.all(stacks.filter((stack) => this.recordOf(stack)).map((stack) => this.#lock(stack)));
    const files = readdirSync(this.#folder).filter((file) => file.endsWith(".json"));
    const areLocked = await Promise.all(
      files.map((file) => check(join(this.#folder, file), lockOptions(this.staleMs))),
    );
    return this.unfinished.size > 0 || areLocked.includes(false);
  }

  /** Begins work on a stack. @throws if both this run and another one are to change it */
  async begin(stack: string, { changes }: { changes: boolean }): Promise<void> {
    if (!changes && !this.recordOf(stack)) return;
    if (!(await this.#lock(stack)) && changes) throw new Error(lockedBy(this.recordOf(stack)));
    if (changes) this.#write(stack);
  }

  /** Marks the processes that are started for a stack. */
  markOf = (stack: string): string => this.#own.get(stack)?.record.id ?? "";

  /** Ends work on a stack. Its record stays if the outcome is unknown. */
  async end(stack: string, { settled }: { settled: boolean }): Promise<void> {
    const own = this.#own.get(stack);
    if (!own) return;
    if (settled) rmSync(this.#file(stack), { force: true });
    this.#own.delete(stack);
    await own.release().catch(() => undefined);
  }

  async close(): Promise<void> {
    for (const stack of [...this.#own.keys()]) await this.end(stack, { settled: false });
  }

  /** The record of a stack that is in progress or was left unfinished. */
  recordOf(stack: string): RunRecord | undefined {
    return optional(() => JSON.parse(readFileSync(this.#file(stack), "utf8")) as RunRecord);
  }

  /** Locks a stack. Returns false if another run is at work on it; waits until the lock of a killed run is stale. */
  async #lock(stack: string): Promise<boolean> {
    if (this.#own.has(stack)) return true;
    // After this machine slept, another run may have taken the lock. What this run did is in its record all the same.
    const options = { ...lockOptions(this.staleMs), retries: untilStale(this.staleMs), onCompromised: () => undefined };
    const release = await lock(this.#file(stack), options).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ELOCKED") throw error;
    });
    if (!release) return false;
    const before = this.recordOf(stack);
    const own = { user: userInfo().username, host: hostname(), pid: process.pid, since: new Date().toISOString() };
    this.#own.set(stack, { record: { id: randomUUID(), ...own }, release });
    if (!before) return true;
    this.unfinished.add(stack);
    if (await endProcesses(before)) return true;
    const left = processesOf(before).join(", ");
    throw new Error(
      `Processes of a run that was killed, begun ${before.since}, do not end: ${left}. End them by hand.`,
    );
  }

  #write(stack: string): void {
    const draft = `${this.#file(stack)}.draft`;
    writeFileSync(draft, JSON.stringify(this.#own.get(stack)!.record));
    renameSync(draft, this.#file(stack));
  }

  readonly #file = (stack: string): string => join(this.#folder, `${stack}.json`);
}

/** Set for every process that is started for a stack, and inherited by theirs: the processes of a killed run are found by it. */
export const markName = "CONSORTIUM_FLEET_RUN";

/** How long the processes of a killed run may take to end after Ctrl-C before they are killed, and after that. */
const patienceMs = { interrupted: 45_000, killed: 10_000 };

/** Ends the processes of a killed run: first as Ctrl-C does, so that Pulumi writes its state, then by force. */
export async function endProcesses(run: Pick<RunRecord, "id">, patience = patienceMs): Promise<boolean> {
  const engines = marked(run).flatMap(({ pid, isPulumi }) => (isPulumi ? [pid] : []));
  if (engines.length > 0 && (await haveEnded(run, engines, "SIGINT", patience.interrupted))) return true;
  return haveEnded(run, processesOf(run), "SIGKILL", patience.killed);
}

async function haveEnded(run: Pick<RunRecord, "id">, pids: number[], signal: NodeJS.Signals, ms: number) {
  for (const pid of pids) optional(() => process.kill(pid, signal));
  for (const end = Date.now() + ms; Date.now() < end; await sleep(200)) if (processesOf(run).length === 0) return true;
  return processesOf(run).length === 0;
}

/** The processes of a run that have not ended: Pulumi and its descendants. Windows does not tell. */
export const processesOf = (run: Pick<RunRecord, "id">): number[] => marked(run).map(({ pid }) => pid);

function marked({ id }: Pick<RunRecord, "id">): { pid: number; isPulumi: boolean }[] {
  if (process.platform === "win32") return [];
  return processes().filter(({ pid, text }) => text.includes(`${markName}=${id}`) && pid !== process.pid);
}

/** All processes, with their environments. */
function processes(): { pid: number; text: string; isPulumi: boolean }[] {
  if (process.platform === "linux") {
    const of = (id: string, file: string) => optional(() => readFileSync(`/proc/${id}/${file}`, "utf8")) ?? "";
    const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return ids.map((id) => ({ pid: Number(id), text: of(id, "environ"), isPulumi: of(id, "comm") === "pulumi\n" }));
  }
  const args = ["-axEww", "-o", "pid=,command="];
  const lines = execFileSync("ps", args, { encoding: "utf8", maxBuffer: 64 * 2 ** 20 }).split("\n");
  return lines.map((text) => ({ pid: parseInt(text), text, isPulumi: /^\s*\d+\s+(\S*\/)?pulumi\s/.test(text) }));
}

/** Undefined where it fails. */
function optional<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

export const isLocked = (text: string): boolean =>
  /the stack is currently locked by|\[409\] Conflict: Another update is currently in progress/.test(text);

export const holdersOf = (text: string): Holder[] =>
  [...text.matchAll(/created by (\S+)@(\S+) \(pid (\d+)\) at (\S+)/g)].map(
    ([, user = "", host = "", pid, since = ""]) => ({ user, host, since, pid: Number(pid) }),
  );

/**
 * Whether Pulumi's lock on a stack may be cleared: a killed run left the stack unfinished, and every holder was a process of this
 * machine that has ended. Any other lock is somebody else's. No other run of the fleet begins meanwhile: this one has its record.
 */
export function mayClear(stack: string, holders: readonly Holder[], locks: RunLocks): boolean {
  const hasEnded = ({ host, pid }: Holder) => host === hostname() && optional(() => process.kill(pid, 0)) === undefined;
  return locks.unfinished.has(stack) && holders.length > 0 && holders.every(hasEnded);
}

export const lockedBy = (...holders: (Holder | undefined)[]): string => {
  const who = holders
    .filter((one) => one !== undefined)
    .map(({ user, host, pid, since }) => `${user}@${host}, process ${pid}, since ${since}`);
  return `the stack is locked by ${who.length > 0 ? who.join("; ") : "another update"}. Wait until that has ended.`;
};
