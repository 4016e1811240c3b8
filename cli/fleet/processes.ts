import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** In the environment of every process that a run starts, and of those that they start: what is left of a dead run is found by it. */
export const markName = "CONSORTIUM_FLEET_RUN";

const isLinux = process.platform === "linux";

function optional<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const ps = (...args: string[]): string =>
  execFileSync("ps", args, { encoding: "utf8", maxBuffer: 64 * 2 ** 20, stdio: ["ignore", "pipe", "ignore"] });

/** Where process ids mean the same: a machine since its last start, and in it a container. */
export function thisMachine(): { host: string; boot: string } {
  const boot = optional(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()) ?? "";
  const namespace = optional(() => readlinkSync("/proc/self/ns/pid")) ?? "";
  return { host: hostname(), boot: `${boot} ${namespace}`.trim() };
}

/** When a process began, as the system writes it; undefined: there is none. Ids are used again, together with this they are not. */
export function beginningOf(pid: number): string | undefined {
  if (isLinux) {
    const stat = optional(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
    const [state, ...rest] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
    return state === undefined || state === "Z" || state === "X" ? undefined : rest[18];
  }
  if (process.platform === "win32") return optional(() => (process.kill(pid, 0), "there"));
  return optional(() => ps("-o", "lstart=", "-p", String(pid)).trim()) || undefined;
}

/** Whether a process of that id is at work, whatever it is. */
export const isRunning = (pid: number): boolean => beginningOf(pid) !== undefined;

function environments(): [pid: number, text: string][] {
  if (isLinux) {
    const ids = (optional(() => readdirSync("/proc")) ?? []).filter((name) => /^\d+$/.test(name));
    return ids.map((id) => [Number(id), optional(() => readFileSync(`/proc/${id}/environ`, "utf8")) ?? ""]);
  }
  if (process.platform === "win32") return [];
  const text = optional(() => ps("-axEww", "-o", "pid=,command=")) ?? "";
  return text.split("\n").map((line) => [parseInt(line), line]);
}

/** Processes of a run that are still there: its Pulumi, what that started, and so on. */
export function remainsOf(run: string): number[] {
  const mark = `${markName}=${run}`;
  return environments()
    .filter(([pid, text]) => text.includes(mark) && pid !== process.pid)
    .map(([pid]) => pid);
}

function parentOf(pid: number): number | undefined {
  const read = isLinux
    ? () => readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) \S /s, "")
    : () => ps("-o", "ppid=", "-p", String(pid));
  const text = optional(read);
  return text === undefined ? undefined : parseInt(text);
}

/** Of these processes those that none of the others started: what they started ends with them, in good order. */
export function leadersOf(pids: readonly number[]): number[] {
  return pids.filter((pid) => !pids.includes(parentOf(pid) ?? 0));
}

/** A signal for a process that may have ended meanwhile. */
export function signal(pid: number, name: NodeJS.Signals): void {
  optional(() => process.kill(pid, name));
}
