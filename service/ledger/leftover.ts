import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const fileOf = (dir: string) => join(dir, "pid");

export const notePid = (dir: string, pid: number) => writeFileSync(fileOf(dir), `${pid}`, { mode: 0o600 });

/** Waits for the chain that a killed service left on this folder, which is writing its state; ends it if it does not end. */
export async function awaitLeftover(dir: string): Promise<void> {
  const file = fileOf(dir);
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, "utf8"));
  const works = () => commandLine(pid).includes(dir);
  for (let round = 0; pid > 0 && works(); round++) {
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
