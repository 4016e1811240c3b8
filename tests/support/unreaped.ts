import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { until } from "./until";

/** A process that has ended, but stays a zombie because its parent never waits for it, as in containers without an init. Linux only. */
export async function unreaped(): Promise<{ pid: number; end: () => void }> {
  const parent = spawn("sh", ["-c", "sleep 600 & echo $!; exec sleep 600"], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(line.toString());
  await until(() => readFileSync(`/proc/${parent.pid}/comm`, "utf8") === "sleep\n"); // a shell would ask
  process.kill(pid, "SIGKILL");
  await until(() => readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z "));
  return { pid, end: () => parent.kill("SIGKILL") };
}
