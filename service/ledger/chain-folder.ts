import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { files } from "./watcher";

export interface Saved {
  state: Buffer;
  /** What the chain's log is to say of it, if anything. */
  note?: string;
}

/** How a state of version 0.1.0 is called. */
const plain = "state.json";
const gzip = Buffer.from([0x1f, 0x8b]);

/**
 * The newest whole state of a folder. One that is not whole, since the machine failed or somebody changed it, is put aside, and
 * the one before is taken; none is ever erased.
 */
export function lastWhole(dir: string): Saved | undefined {
  const notes: string[] = [];
  for (const name of [files.state, files.last, plain]) {
    const file = join(dir, name);
    if (!existsSync(file)) continue;
    const state = readFileSync(file);
    if (isWhole(state)) {
      const from = `the chain goes on from that of ${statSync(file).mtime.toISOString()}`;
      return { state, ...(notes.length > 0 ? { note: `${notes.join(" ")} So ${from}.` } : {}) };
    }
    renameSync(file, `${file}.damaged`);
    notes.push(`The state in ${name} was cut off; it is kept as ${name}.damaged.`);
  }
  return notes.length === 0 ? undefined : { state: Buffer.alloc(0), note: `${notes.join(" ")} The chain begins anew.` };
}

function isWhole(state: Buffer): boolean {
  try {
    const text = state.subarray(0, 2).equals(gzip) ? gunzipSync(state).toString() : state.toString();
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}

/** The height that the chain had when it was last seen. */
export function heightSeen(dir: string): number {
  const file = join(dir, files.height);
  return existsSync(file) ? Number(readFileSync(file, "utf8")) || 0 : 0;
}

const pidFile = (dir: string) => join(dir, "pid");
export const notePid = (dir: string, pid: number) => writeFileSync(pidFile(dir), `${pid}`, { mode: 0o600 });

/** Waits for the chain that a killed service left on this folder, which is writing its state; ends it if it does not end. */
export async function awaitLeftover(dir: string): Promise<void> {
  const file = pidFile(dir);
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, "utf8"));
  for (let round = 0; pid > 0 && commandLine(pid).includes(dir); round++) {
    if (round % 100 === 99) process.kill(pid, round > 200 ? "SIGKILL" : "SIGTERM"); // its watcher ends it before
    await wait(25);
  }
  rmSync(file, { force: true });
}

function commandLine(pid: number): string {
  try {
    if (process.platform === "linux") return readFileSync(`/proc/${pid}/cmdline`, "utf8");
    if (process.platform === "win32") return "";
    return execFileSync("ps", ["-ww", "-o", "command=", "-p", `${pid}`], { encoding: "utf8", stdio: "pipe" });
  } catch {
    return "";
  }
}
