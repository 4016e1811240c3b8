import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, hostname, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { lock } from "proper-lockfile";
import { markInterrupted, paths, readCreateLog } from "pulumi-consortium/internal/fleet";

/*
 * How a run goes on where a killed one stopped. Pulumi locks a stack for one command. A run of the fleet is several of them, and Pulumi's
 * lock stays if it is killed: a record tells a run that is at work from one that was killed.
 */

/** Who holds a lock on a stack, as Pulumi names it. */
interface Holder {
  user: string;
  host: string;
  pid: number;
  since: string;
}

/** The runs of one work folder: for each stack in progress, or left unfinished by a killed run, a record and a lock. */
export class RunLocks {
  readonly #folder: string;
  readonly #own = new Map<string, () => Promise<void>>();

  constructor(
    workFolder: string,
    private readonly staleMs = 10_000,
  ) {
    this.#folder = join(workFolder, "journal");
    mkdirSync(this.#folder, { recursive: true });
  }

  /** Whether a run is at work on any stack, or was killed while it was. */
  isAnyOpen = (): boolean => readdirSync(this.#folder).some((file) => file.endsWith(".json"));

  /** The file that is there while a run changes a stack, and after it was killed. */
  recordOf = (stack: string): string => join(this.#folder, `${stack}.json`);

  /**
   * Begins work on a stack. If a run was killed while it changed the stack, this waits until its lock is stale, and ends its processes.
   * @returns whether there was such a run
   * @throws if both this run and another one are to change the stack
   */
  async begin(stack: string, { changes }: { changes: boolean }): Promise<boolean> {
    const record = this.recordOf(stack);
    if (!changes && !existsSync(record)) return false;
    const retries = { retries: this.staleMs / 200 + 5, factor: 1, minTimeout: 200, maxTimeout: 200 };
    // It renews the lock every second. After this machine slept, another run may have taken it: the record is there all the same.
    const options = { stale: this.staleMs, update: 1_000, realpath: false, retries, onCompromised: () => undefined };
    const release = await lock(record, options).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ELOCKED") throw error;
    });
    if (!release && changes) throw new Error(lockedBy(optional(() => JSON.parse(textOf(record)) as Holder)));
    if (!release) return false;
    this.#own.set(stack, release);
    const isContinued = existsSync(record);
    if (isContinued) await endProcesses(markOf(record));
    const own = { user: userInfo().username, host: hostname(), pid: process.pid, since: new Date().toISOString() };
    if (changes) writeFileSync(record, JSON.stringify(own));
    return isContinued;
  }

  /** Ends work on a stack. Its record stays if the outcome is unknown. */
  async end(stack: string, { settled }: { settled: boolean }): Promise<void> {
    const release = this.#own.get(stack);
    if (!release) return;
    if (settled) rmSync(this.recordOf(stack), { force: true });
    this.#own.delete(stack);
    await release().catch(() => undefined);
  }
}

/** A variable of the processes that are started to change a stack, and of theirs: they are found by it, whichever run started them. */
export const markOf = (record: string): Record<string, string> => ({ CONSORTIUM_FLEET_RECORD: `${record};` });

/** The same of all processes that a run starts. Only these are its own: another run may look at the stack, or have it next. */
export const markOfRun = (run: string): Record<string, string> => ({ CONSORTIUM_FLEET_RUN: `${run};` });

const longestEndMs = 10_000;

/** Ends the processes with a mark. What they were doing is in the log of creates. */
export async function endProcesses(mark: Record<string, string>): Promise<void> {
  const end = Date.now() + longestEndMs;
  for (let left = processesOf(mark); left.length > 0; left = processesOf(mark)) {
    if (Date.now() > end)
      throw new Error(`The processes ${left.join(", ")} of a run that was killed do not end. End them by hand.`);
    for (const pid of left) optional(() => process.kill(pid, "SIGKILL"));
    await sleep(200);
  }
}

/** The processes with a mark that have not ended: Pulumi and its descendants. Windows does not tell. */
export function processesOf(mark: Record<string, string>): number[] {
  if (process.platform === "win32") return [];
  const variable = Object.entries(mark)[0]!.join("=");
  return environments().flatMap(([pid, text]) => (text.includes(variable) && pid !== process.pid ? [pid] : []));
}

/** The environments of all processes. */
function environments(): [pid: number, text: string][] {
  if (process.platform === "linux") {
    const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return ids.map((id) => [Number(id), optional(() => textOf(`/proc/${id}/environ`)) ?? ""]);
  }
  const text = execFileSync("ps", ["-axEww", "-o", "pid=,command="], { encoding: "utf8", maxBuffer: 64 * 2 ** 20 });
  return text.split("\n").map((line) => [parseInt(line), line]);
}

const textOf = (file: string): string => readFileSync(file, "utf8");

/** Undefined where it fails. */
function optional<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Who holds Pulumi's lock, by what it says, which the Automation API repeats. Pulumi Cloud does not tell. */
export const holdersOf = (text: string): Holder[] =>
  [...new Set(text.match(/created by \S+@\S+ \(pid \d+\) at \S+/g))].map((one) => {
    const [, , user = "", host = "", , pid, , since = ""] = one.split(/[ @()]+/);
    return { user, host, since, pid: Number(pid) };
  });

/** Whether every holder was a process of this machine, and has ended. Any other lock is somebody else's. */
export const haveEnded = (holders: readonly Holder[]): boolean =>
  holders.length > 0 && holders.every(({ host, pid }) => host === hostname() && !isRunning(pid));

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH"; // it may be another user's
  }
}

export const lockedBy = (...holders: (Holder | undefined)[]): string => {
  const who = holders
    .filter((one) => one !== undefined)
    .map(({ user, host, pid, since }) => `${user}@${host}, process ${pid}, since ${since}`);
  return `the stack is locked by ${who.length > 0 ? who.join("; ") : "another update"}. Wait until that has ended.`;
};

/** The file that the providers of a stack log their creates in. */
export function createLogOf(workFolder: string, stack: string): string {
  const file = join(workFolder, "creates", `${stack}.jsonl`);
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

interface PathsInStates {
  own(): Promise<string[]>;
  /** Those of all other stacks, which are needed only if a create was not answered. */
  others(): Promise<string[]>;
}

/** Marks the creates in the log as those of a killed run: they prove what belongs to the stack. */
export async function continueFrom(file: string, states: PathsInStates): Promise<void> {
  if (!existsSync(file)) return; // it was killed before it created anything
  const { interrupted, current } = readCreateLog(file);
  const isOpen = [...interrupted, ...current].some(({ id }) => id === undefined);
  markInterrupted(file, [...(await states.own()), ...(isOpen ? await states.others() : [])]);
}

/**
 * Objects that a killed run created and no state holds, once the stack is up or destroyed. `open` are the creates without an answer,
 * which `up` has made up for.
 */
export function leftoversOf(file: string, own: readonly string[]): { certain: string[]; open: string[] } {
  const { interrupted, held } = readCreateLog(file);
  const isGone = (path: string) => [...held].some((one) => path.startsWith(`${one}/`) && !own.includes(one));
  const titleOf = (path: string, name?: string) => (name === undefined ? path : `${path} ("${name}")`);
  const certain = interrupted.flatMap(({ id, path, name }) => {
    const item = id === undefined ? path : paths.item(path, id);
    return id === undefined || held.has(item) || own.includes(item) || isGone(item) ? [] : [titleOf(item, name)];
  });
  const open = interrupted.filter(({ id, path }) => id === undefined && !isGone(path));
  return { certain, open: open.map(({ path, name }) => titleOf(path, name)) };
}

/**
 * Pulumi keeps a file of attributes beside each file of the state, and a kill while it writes one may leave it empty. Every command
 * for every stack then fails with `error: EOF`. Pulumi needs none of these files, and an update does not read the history.
 */
export function dropTornAttributes(backend = ""): void {
  if (!backend.startsWith("file://")) return;
  const [, home] = /^file:\/\/~(.*)$/.exec(backend) ?? [];
  const folder = join(home === undefined ? fileURLToPath(backend) : join(homedir(), home), ".pulumi");
  for (const file of existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : []) {
    if (!file.endsWith(".attrs") || /^(history|backups)\b/.test(file)) continue;
    const isTorn = readFileSync(join(folder, file), "utf8").trim() === "";
    if (isTorn) rmSync(join(folder, file), { force: true });
  }
}
