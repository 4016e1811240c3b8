// @ts-check
/** A lock between processes. That of a process which died is passed over after some seconds. */
import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const options = { realpath: false, stale: 5_000, onCompromised: () => undefined };

/**
 * @template T
 * @param {string} path of the lock itself
 * @param {() => Promise<T>} work
 * @param {{ signal?: AbortSignal, onWait?: () => void }} [how] onWait is called once if another process holds the lock
 * @returns {Promise<T>}
 */
export async function withLock(path, work, { signal, onWait } = {}) {
  const { lock } = await import("proper-lockfile"); // of a fresh clone only the commands that install the packages come here
  await mkdir(dirname(path), { recursive: true });
  const take = () =>
    lock(path, { ...options, lockfilePath: path }).catch(async (/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code === "ENOTDIR") return rm(path); // the lock of version 0.1.0 was a file, and it is stale
      if (error.code !== "ELOCKED") throw error;
    });
  let release = await take();
  if (!release) onWait?.();
  for (; !release; release = await take()) {
    signal?.throwIfAborted();
    await sleep(200);
  }
  try {
    return await work();
  } finally {
    await release().catch(() => undefined); // of a lock that was lost meanwhile
  }
}
