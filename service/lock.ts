import { accessSync, constants, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ServiceError } from "./errors";

/** When a process started, in clock ticks since boot: tells a live owner from a stranger with a reused pid. Linux only. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** The process that holds the lock, if it is still there. */
function owner(file: string): number | undefined {
  const [pid, start] = existsSync(file) ? readFileSync(file, "utf8").split(" ") : [];
  const owning = Number(pid) > 0 && isAlive(Number(pid)) && startOf(Number(pid)) === (start ?? "");
  return owning ? Number(pid) : undefined;
}

/** Takes the folder for this process; answers the function that gives it back. */
export function lock(dir: string): () => void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    accessSync(dir, constants.W_OK);
  } catch (error) {
    throw new ServiceError(`The data folder ${dir} cannot be used: ${(error as Error).message}.`, { cause: error });
  }
  const file = join(dir, "lock");
  // Written aside and then linked, so that nobody ever reads a lock that is not complete.
  const mine = `${file}.${process.pid}`;
  writeFileSync(mine, `${process.pid} ${startOf(process.pid)}`, { mode: 0o600 });
  try {
    while (!linked(mine, file)) {
      const pid = owner(file);
      if (pid !== undefined) {
        throw new ServiceError(`The data folder ${dir} is in use by another service (process ${pid}).`);
      }
      rmSync(file, { force: true }); // left by a service that was killed
    }
  } finally {
    rmSync(mine, { force: true });
  }
  return () => rmSync(file, { force: true });
}
