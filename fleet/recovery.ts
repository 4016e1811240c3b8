import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, hostname, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { check, lock } from "proper-lockfile";
import { type Holder, holdersText, paths, readCreateLog, UserError } from "pulumi-consortium/internal/fleet";

/*
 * How a run continues where a killed one stopped. Pulumi locks a stack for one command, but a fleet's run is several, and a killed run
 * leaves Pulumi's lock behind. A record file distinguishes running from killed runs.
 */

/** The file that exists while a run changes a stack, and remains if the run is killed. */
export const recordOf = (workFolder: string, stack: string): string => join(workFolder, "journal", `${stack}.json`);

/** Whether any stack has a record of a running or killed run. */
export const isAnyOpen = (workFolder: string): boolean =>
  readdirSync(join(workFolder, "journal")).some((file) => file.endsWith(".json"));

/** The run that changes a stack, or was killed while it did. */
export async function openRun(record: string): Promise<{ isAtWork: boolean; holder?: Holder } | undefined> {
  if (!existsSync(record)) return undefined;
  const holder = optional(() => JSON.parse(readFileSync(record, "utf8")) as Holder);
  return { isAtWork: await check(record, { realpath: false }), holder };
}

export interface Begun {
  /** Whether a run was killed while it changed the stack. */
  isContinued: boolean;
  /** Ends work on the stack. Keeps the record if the outcome is unknown. */
  end: (settled: boolean) => Promise<void>;
}

/**
 * Begins work on a stack and locks its record. After a killed run, it waits until that run's lock is stale, then ends its processes.
 * @throws if another run is changing the stack, and this run would, too
 */
export async function begin(record: string, changes: boolean, staleMs = 10_000): Promise<Begun> {
  const nothing = { isContinued: false, end: () => Promise.resolve() };
  if (!changes && !existsSync(record)) return nothing;
  const retries = { retries: staleMs / 200 + 5, factor: 1, minTimeout: 200, maxTimeout: 200 };
  // The lock is renewed every second. After this machine slept, another run may have taken it, but the record still exists.
  const options = { stale: staleMs, update: 1_000, realpath: false, retries, onCompromised: () => undefined };
  const release = await lock(record, options).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ELOCKED") throw error;
    if (changes) throw lockedError(optional(() => [JSON.parse(readFileSync(record, "utf8")) as Holder]) ?? []);
  });
  if (!release) return nothing;
  const isContinued = existsSync(record);
  if (isContinued) await endProcesses(markOf(record));
  const own = { user: userInfo().username, host: hostname(), pid: process.pid, since: new Date().toISOString() };
  if (changes) writeFileSync(record, JSON.stringify(own));
  const end = async (settled: boolean) => {
    if (changes && settled) rmSync(record, { force: true });
    await release().catch(() => undefined);
  };
  return { isContinued, end };
}

/** An environment variable of all processes that change a stack, and of their children: it finds them, whichever run started them. */
export const markOf = (record: string): Record<string, string> => ({ CONSORTIUM_FLEET_RECORD: `${record};` });

const longestEndMs = 10_000;

/** Ends the processes with a mark. The log of creates has their unfinished work. */
export async function endProcesses(mark: Record<string, string>): Promise<void> {
  const end = Date.now() + longestEndMs;
  for (let left = processesOf(mark); left.length > 0; left = processesOf(mark)) {
    if (Date.now() > end)
      throw new UserError(
        "stack-locked",
        `End the processes ${left.join(", ")}: they are of a run that was killed, and do not end by themselves.`,
      );
    for (const pid of left) optional(() => process.kill(pid, "SIGKILL"));
    await sleep(200);
  }
}

/** The processes with a mark that have not ended: Pulumi and its descendants. Not available on Windows. */
export function processesOf(mark: Record<string, string>): number[] {
  if (process.platform === "win32") return [];
  const variable = Object.entries(mark)[0]!.join("=");
  return environments().flatMap(([pid, text]) => (text.includes(variable) && pid !== process.pid ? [pid] : []));
}

/** The environments of all processes. */
function environments(): [pid: number, text: string][] {
  if (process.platform === "linux") {
    const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return ids.map((id) => [Number(id), optional(() => readFileSync(`/proc/${id}/environ`, "utf8")) ?? ""]);
  }
  const text = execFileSync("ps", ["-axEww", "-o", "pid=,command="], { encoding: "utf8", maxBuffer: 64 * 2 ** 20 });
  return text.split("\n").map((line) => [parseInt(line), line]);
}

/** Undefined on failure. */
function optional<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Who holds Pulumi's lock, from its error message in the Automation API. Pulumi Cloud does not say. */
export const holdersOf = (text: string): Holder[] =>
  [...new Set(text.match(/created by \S+@\S+ \(pid \d+\) at \S+/g))].map((one) => {
    const [, , user = "", host = "", , pid, , since = ""] = one.split(/[ @()]+/);
    return { user, host, since, pid: Number(pid) };
  });

/** Whether all holders were processes of this machine that have ended. Any other lock may be in use. */
export const haveEnded = (holders: readonly Holder[]): boolean =>
  holders.length > 0 && holders.every(({ host, pid }) => host === hostname() && !isRunning(pid));

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = `/proc/${pid}/stat`; // a zombie: its parent may not have waited for it, in some containers forever
    return !existsSync(stat) || !/\) [ZX] /.test(readFileSync(stat, "latin1"));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH"; // may belong to another user
  }
}

export const lockedBy = (holders: readonly Holder[]): string =>
  `the stack is locked by ${holdersText(holders) || "another update"}. Wait until it has ended.`;

/** @param next what to do if it has ended @param cause Pulumi's error */
export const lockedError = (holders: readonly Holder[], next?: string, cause?: unknown): UserError =>
  new UserError("stack-locked", [lockedBy(holders), next].filter(Boolean).join(" "), { cause });

/** Paths and names of objects that killed runs created and the state does not have. */
export interface Leftovers {
  certain: string[];
  /** Nobody saw an answer to their creates. */
  open: string[];
}

/**
 * What killed runs have left, after an up or destroy.
 * @param folder of the logs of creates @param held paths of the objects in the state before the run @param own those after it
 */
export function leftoversOf(folder: string, stack: string, held: readonly string[], own: readonly string[]): Leftovers {
  const logs = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const creates = logs
    .filter((file) => dirname(file).endsWith(`+${stack}`) && file.endsWith(".jsonl"))
    .flatMap((file) => readCreateLog(join(folder, file)).creates);
  const isGone = (path: string) => held.some((one) => path.startsWith(`${one}/`) && !own.includes(one));
  const left = creates
    .map(({ id, path, name }) => ({
      isCertain: id !== undefined,
      path: id === undefined ? path : paths.item(path, id),
      name,
    }))
    .filter(({ path }) => ![...held, ...own].includes(path) && !isGone(path));
  const titlesOf = (isCertain: boolean) =>
    left
      .filter((one) => one.isCertain === isCertain)
      .map(({ path, name }) => (name === undefined ? path : `${path} ("${name}")`));
  return { certain: titlesOf(true), open: titlesOf(false) };
}

/**
 * Pulumi keeps an attributes file beside each state file, and a kill during a write may leave it empty. Then every command for every
 * stack fails with `error: EOF`. Pulumi does not need these files, and an update does not read the history.
 */
export function dropTornAttributes(backend = ""): void {
  if (!backend.startsWith("file://")) return;
  const [, home] = /^file:\/\/~(.*)$/.exec(backend) ?? [];
  const folder = join(home === undefined ? fileURLToPath(backend) : join(homedir(), home), ".pulumi");
  const all = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [];
  for (const file of all.filter((one) => one.endsWith(".attrs") && !/^(history|backups)\b/.test(one))) {
    const isTorn = readFileSync(join(folder, file), "utf8").trim() === "";
    if (isTorn) rmSync(join(folder, file), { force: true });
  }
}
