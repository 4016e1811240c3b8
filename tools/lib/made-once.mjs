// @ts-check
/** Folders of the user's cache that are made once: there is a whole one or none, whoever asks for it at the same time. */
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { withLock } from "./lock.mjs";
import { isAlive } from "./processes.mjs";
import { duration } from "./say.mjs";

/** @typedef {import("./say.mjs").Say} Say */
/**
 * @typedef {object} Making
 * @property {string} what for people: "Pulumi v3.220.0", "The language hosts"
 * @property {() => boolean} isWhole
 * @property {(draft: string) => Promise<void>} fill makes it in an empty folder beside `home`, which then becomes `home`
 * @property {AbortSignal} [signal]
 * @property {Say} say
 */

/**
 * @param {string} home
 * @param {Making} making
 */
export async function madeOnce(home, { what, isWhole, fill, signal, say }) {
  if (isWhole()) return;
  const onWait = () => {
    const maker = draftsOf(home).find(({ pid }) => isAlive(pid))?.pid;
    say(`Another process${maker ? ` (${maker})` : ""} is making ${what} for this user: waiting for it.`);
  };
  await withLock(
    `${home}.lock`,
    async () => {
      if (isWhole()) return;
      for (const { pid, folder } of draftsOf(home)) if (!isAlive(pid)) rmSync(folder, { recursive: true, force: true });
      const started = Date.now();
      mkdirSync(dirname(home), { recursive: true });
      const draft = mkdtempSync(`${home}.draft-${process.pid}-`);
      try {
        await fill(draft);
        rmSync(home, { recursive: true, force: true });
        renameSync(draft, home);
      } finally {
        rmSync(draft, { recursive: true, force: true });
      }
      say(`${what} is in ${home} now (${duration(Date.now() - started)}).`);
    },
    { signal, onWait },
  );
}

/** @param {string} home @returns {{ pid: number, folder: string }[]} copies that are being made, or were when their process died */
const draftsOf = (home) =>
  readdirSync(dirname(home))
    .filter((name) => name.startsWith(`${basename(home)}.draft-`))
    .map((name) => ({ pid: Number(name.split(".draft-")[1]?.split("-")[0]), folder: join(dirname(home), name) }));
