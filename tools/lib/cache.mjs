// @ts-check
/** Folders in the user's cache that are filled once. A folder is complete or absent, even if several processes ask for it at once. */
import { mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { tidying } from "./processes.mjs";
import { duration, log, withProgress } from "./terminal.mjs";

const options = { realpath: false, stale: 5_000, onCompromised: () => undefined };

/**
 * A lock between processes. The lock of a process that died expires after some seconds.
 * @template T
 * @param {string} path of the lock itself
 * @param {() => Promise<T>} work
 * @param {() => void} [onWait] is called once if another process holds the lock
 * @returns {Promise<T>}
 */
export async function withLock(path, work, onWait) {
  const { lock } = await import("proper-lockfile"); // here, because a fresh clone has no packages at first
  await mkdir(dirname(path), { recursive: true });
  const take = () =>
    lock(path, { ...options, lockfilePath: path }).catch((/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code !== "ELOCKED") throw error;
    });
  let release = await take();
  if (!release) {
    onWait?.();
    release = await withProgress("still waiting", async () => {
      for (;;) {
        await sleep(200);
        const taken = await take();
        if (taken) return taken;
      }
    });
  }
  try {
    return await work();
  } finally {
    await release().catch(() => undefined); // the lock may have been lost
  }
}

/**
 * @typedef {object} Filling
 * @property {string} what for people: "Pulumi v3.220.0", "The language hosts"
 * @property {() => boolean} isWhole
 * @property {(draft: string) => Promise<void>} fill fills an empty folder, which then becomes `home`
 */

/**
 * @param {string} home
 * @param {Filling} making
 */
export async function fillCacheFolder(home, { what, isWhole, fill }) {
  if (isWhole()) return;
  await withLock(
    `${home}.lock`,
    async () => {
      if (isWhole()) return;
      const started = Date.now();
      const drafts = `${home}.draft-`;
      for (const name of readdirSync(dirname(home)).filter((one) => one.startsWith(basename(drafts))))
        rmSync(join(dirname(home), name), { recursive: true, force: true }); // of processes that died
      const draft = mkdtempSync(drafts);
      const tidy = () => rmSync(draft, { recursive: true, force: true });
      try {
        await tidying(() => fill(draft), tidy);
        rmSync(home, { recursive: true, force: true });
        renameSync(draft, home);
      } finally {
        tidy();
      }
      log(`${what} is in ${home} now (${duration(Date.now() - started)}).`);
    },
    () => log(`Another process is making ${what} for this user: waiting for it.`),
  );
}
