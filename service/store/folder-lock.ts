import fs, {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  type NoParamCallback,
  readFileSync,
  rmSync,
  utimesSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { lock as take, type LockOptions } from "proper-lockfile";
import { ServiceError } from "../errors";
import { replaceFile } from "./files";
import { Generation, nameOf, type Owner, ownerFile, ownerOf } from "./generation";

/** A lock that was not renewed for this long belongs to nobody. */
const staleMs = 10_000;
/** Waits for all others that start now, and until the lock of one that was killed meanwhile is stale. */
const untilFree = { retries: 200, minTimeout: 100, maxTimeout: 100 };

/** Whether a process that held the folder has surely ended. Of another machine or container, that cannot be known. */
function isGone({ pid, host }: Owner): boolean {
  if (host !== hostname() || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    // Nobody may have waited for its end yet, in some containers for ever. Linux tells.
    const stat = `/proc/${pid}/stat`;
    return existsSync(stat) && /\) [ZX] /.test(readFileSync(stat, "latin1"));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/** Whether the folder was held under the host and the id that this process has now: by the former one of a container. */
const isGhost = (dir: string, owner: Owner) =>
  owner.host === hostname() && owner.pid === process.pid && !Generation.isOurs(dir, owner);

const ignore = () => undefined;

const lockAt = (path: string): LockOptions => ({ lockfilePath: path, realpath: false, stale: staleMs });

/**
 * Locks the folder for this process. Returns a function that unlocks it.
 *
 * @param lost hears that another process has taken the folder, such as while this one was stopped
 */
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
  const done = await take(turn, { ...lockAt(turn), retries: untilFree, onCompromised: ignore }).catch((error: Error) =>
    Promise.reject(failed(error)),
  );
  let generation: Generation | undefined;
  // nobody may remove the lock of a process that has taken the folder from this one
  const removes = () => generation === undefined || isHeld(generation);
  const rmdir = (path: string, then: NoParamCallback) => (removes() ? fs.rmdir(path, then) : then(null));
  const rmdirSync = (path: string) => (removes() ? fs.rmdirSync(path) : undefined);
  const onCompromised = () => generation?.lose();
  let release: (() => Promise<void>) | undefined;
  try {
    const owner = ownerOf(dir);
    const mayLive = owner !== undefined && !isGone(owner);
    // the lock of a killed process is stale at once
    if (existsSync(held) && owner !== undefined && (isGone(owner) || isGhost(dir, owner))) utimesSync(held, 0, 0);
    release = await take(held, { ...lockAt(held), fs: { ...fs, rmdir, rmdirSync }, onCompromised });
    generation = Generation.begin(dir, mayLive, lost, (text) => replaceFile(join(dir, ownerFile), text));
  } catch (error) {
    await release?.().catch(ignore);
    if ((error as NodeJS.ErrnoException).code !== "ELOCKED") throw failed(error as Error);
    const owner = ownerOf(dir);
    const who = owner === undefined ? "" : ` (${nameOf(owner)})`;
    throw new ServiceError(`The data folder ${dir} is in use by another service${who}.`, { cause: error });
  } finally {
    await done().catch(ignore);
  }
  process.on("SIGXFSZ", ignore); // writing beyond a size limit fails; the library would end the process
  return async () => {
    process.off("SIGXFSZ", ignore);
    if (isHeld(generation)) rmSync(join(dir, ownerFile), { force: true });
    generation.end();
    await release().catch(ignore);
  };
}

function isHeld(generation: Generation): boolean {
  try {
    generation.check();
    return true;
  } catch {
    return false;
  }
}
