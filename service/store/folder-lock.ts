import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { lock as take, type LockOptions } from "proper-lockfile";
import { ServiceError } from "../errors";
import { replaceFile } from "./files";

/** A lock that has not been renewed for so long belongs to nobody. */
const staleMs = 10_000;
/** What two services that find the same stale lock may need to take it from each other. */
const contestMs = 200;

interface Owner {
  pid: number;
  host: string;
}

function ownerIn(file: string): Owner | undefined {
  try {
    const [pid, host = ""] = readFileSync(file, "utf8").trim().split(" ");
    return Number(pid) > 0 ? { pid: Number(pid), host } : undefined;
  } catch {
    return undefined; // it is just being written
  }
}

/** Whether the process surely is no more; of another machine, such as another container, that cannot be known. */
function isGone({ pid, host }: Owner): boolean {
  if (host !== hostname()) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/** A file that may not grow is an error of the call that writes; the library would end the process. */
const ignore = () => undefined;

/** Takes the folder for this process; answers the function that gives it back. */
export async function lockFolder(dir: string, lost: (error: Error) => void): Promise<() => Promise<void>> {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    accessSync(dir, constants.W_OK);
  } catch (error) {
    throw new ServiceError(`The data folder ${dir} cannot be used: ${(error as Error).message}.`, { cause: error });
  }
  const [lockfilePath, file] = [join(dir, "lock.held"), join(dir, "lock")];
  const options: LockOptions = { lockfilePath, stale: staleMs, onCompromised: lost };
  const owner = ownerIn(file);
  // the lock of a process that was killed is stale at once, whatever the clock says
  const left = existsSync(lockfilePath) && owner !== undefined && isGone(owner);
  if (left) utimesSync(lockfilePath, 0, 0);
  const inUse = () => {
    const { pid, host } = ownerIn(file) ?? owner ?? {};
    const who = pid === undefined ? "" : ` (process ${pid}${host === hostname() ? "" : ` on ${host}`})`;
    return new ServiceError(`The data folder ${dir} is in use by another service${who}.`);
  };
  const release = await take(dir, options).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ELOCKED") throw inUse();
    throw new ServiceError(`The data folder ${dir} cannot be locked: ${error.message}.`, { cause: error });
  });
  replaceFile(file, `${process.pid} ${hostname()}\n`);
  if (left) {
    await wait(contestMs);
    if (ownerIn(file)?.pid !== process.pid) throw inUse(); // another one took it from us, and holds it
  }
  process.on("SIGXFSZ", ignore);
  return async () => {
    process.off("SIGXFSZ", ignore);
    rmSync(file, { force: true });
    await release().catch(() => undefined);
  };
}
