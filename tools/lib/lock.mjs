// @ts-check
/** A lock file between processes. A holder that died, or has not touched its file for a while, is passed over. */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive } from "./processes.mjs";

/** @typedef {{ id: string, pid: number, host: string }} Holder */

const staleMs = 20_000;

/**
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} work
 * @param {{ signal?: AbortSignal, pollMs?: number, onWait?: (pid: number | undefined) => void }} [options]
 *   onWait is told once that another process holds the lock
 * @returns {Promise<T>}
 */
export async function withLock(file, work, { signal, pollMs = 250, onWait } = {}) {
  const own = { id: randomUUID(), pid: process.pid, host: hostname() };
  await mkdir(dirname(file), { recursive: true });
  for (let told = false; !(await take(file, own));) {
    signal?.throwIfAborted();
    const holder = await read(file);
    if (await isStale(file, holder)) {
      await putAside(file);
      continue;
    }
    if (!told) onWait?.(holder?.pid);
    told = true;
    await sleep(pollMs);
  }
  const beat = setInterval(() => void utimes(file, new Date(), new Date()).catch(() => undefined), staleMs / 4);
  beat.unref();
  try {
    return await work();
  } finally {
    clearInterval(beat);
    if ((await read(file))?.id === own.id) await rm(file, { force: true });
  }
}

/**
 * @param {string} file
 * @param {Holder} own
 */
async function take(file, own) {
  try {
    await writeFile(file, JSON.stringify(own), { flag: "wx" });
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "EEXIST") return false;
    throw error;
  }
}

/**
 * @param {string} file
 * @returns {Promise<Holder | undefined>} undefined also while the holder is still writing it
 */
async function read(file) {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
}

/**
 * @param {string} file
 * @param {Holder | undefined} holder
 */
async function isStale(file, holder) {
  if (holder?.host === hostname() && !isAlive(holder.pid)) return true;
  const touched = await stat(file).catch(() => undefined);
  return touched !== undefined && Date.now() - touched.mtimeMs > staleMs;
}

/**
 * A rename, since only one of several waiting processes succeeds with it.
 * @param {string} file
 */
async function putAside(file) {
  const aside = `${file}.${randomUUID()}`;
  await rename(file, aside).catch(() => undefined);
  await rm(aside, { force: true });
}
