import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { lock as take, type LockOptions } from "proper-lockfile";
import { ServiceError } from "../errors";
import { replaceFile } from "./files";

/** A lock that was not renewed for this long belongs to nobody. */
const staleMs = 10_000;
/** Waits for all others that start now, and until the lock of one that was killed meanwhile is stale. */
const untilFree = { retries: 200, minTimeout: 100, maxTimeout: 100 };

interface Owner {
  pid: number;
  host: string;
}

function ownerIn(file: string): Owner | undefined {
  try {
    const [pid, host = ""] = readFileSync(file, "utf8").trim().split(" ");
    return Number(pid) > 0 ? { pid: Number(pid), host } : undefined;
  } catch {
    return undefined; // it is being written
  }
}

/** Whether the process has surely ended. Of another machine or container, that cannot be known. */
function isGone({ pid, host }: Owner): boolean {
  if (host !== hostname()) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

const ignore = () => undefined;

const lockAt = (path: string): LockOptions => ({ lockfilePath: path, realpath: false, stale: staleMs });

/** Locks the folder for this process. Returns a function that unlocks it. */
export async function lockFolder(dir: string, lost: (error: Error) => void): Promise<() => Promise<void>> {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    accessSync(dir, constants.W_OK);
  } catch (error) {
    throw new ServiceError(`The data folder ${dir} cannot be used: ${(error as Error).message}.`, { cause: error });
  }
  const failed = (error: Error): ServiceError =>
    new ServiceError(`The data folder ${dir} cannot be locked: ${error.message}.`, { cause: error });
  // One process at a time may look who holds the folder and lock it. Else, of two that find the same stale lock, the slower one
  // would remove the new lock of the faster one.
  const turn = join(dir, "lock.turn");
  const held = join(dir, "lock.held");
  const file = join(dir, "lock");
  const done = await take(turn, { ...lockAt(turn), retries: untilFree, onCompromised: ignore }).catch((error: Error) =>
    Promise.reject(failed(error)),
  );
  let release: (() => Promise<void>) | undefined;
  try {
    const owner = ownerIn(file);
    // the lock of a killed process is stale at once
    if (existsSync(held) && owner !== undefined && isGone(owner)) utimesSync(held, 0, 0);
    release = await take(held, { ...lockAt(held), onCompromised: lost });
    replaceFile(file, `${process.pid} ${hostname()}\n`);
  } catch (error) {
    await release?.().catch(ignore);
    if ((error as NodeJS.ErrnoException).code !== "ELOCKED") throw failed(error as Error);
    const { pid, host } = ownerIn(file) ?? {};
    const who = pid === undefined ? "" : ` (process ${pid}${host === hostname() ? "" : ` on ${host}`})`;
    throw new ServiceError(`The data folder ${dir} is in use by another service${who}.`, { cause: error });
  } finally {
    await done().catch(ignore);
  }
  process.on("SIGXFSZ", ignore); // writing beyond a size limit fails; the library would end the process
  return async () => {
    process.off("SIGXFSZ", ignore);
    rmSync(file, { force: true });
    await release().catch(ignore);
  };
}
