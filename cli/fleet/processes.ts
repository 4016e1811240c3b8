import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** What a run started for a stack. */
export interface Started {
  /** The mark of all its processes. */
  id: string;
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

/** Processes of a run that are still there: its Pulumi, what that started, and so on. */
export function remainsOf({ id, started }: Started): number[] {
  if (process.platform === "win32") return started.filter(isRunning);
  const mark = `${markName}=${id}`;
  return environments()
    .filter(([pid, text]) => text.includes(mark) && pid !== process.pid)
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
