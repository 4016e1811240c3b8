import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Damaged, ServiceError } from "../errors";
import { damageIn } from "./check";

/** How often to try a copy while the folder changes, and the pause between attempts (ms). */
const attempts = { most: 100, pause: 50 };
/** Why a copy is not whole, if nothing is damaged. */
const changes = "it changes too fast";
const ofDatabase = /^(CURRENT|MANIFEST-\d+|\d+\.(ldb|log))$/;

/**
 * Copies a data folder, also while a service writes to it. A database is copied again if its set of files changed meanwhile: its tables
 * never change, and its log only grows. So the copy has
 * everything that was on disk at the start.
 */
export async function backup(from: string, to: string): Promise<void> {
  if (!existsSync(join(from, "objects"))) throw new ServiceError(`${from} is not the data folder of a service.`);
  if (existsSync(to) && readdirSync(to).length > 0) throw new ServiceError(`${to} is not empty. Name a new folder.`);
  const reasons = new Set<string>();
  for (let attempt = 0; attempt < attempts.most; attempt++) {
    mkdirSync(to, { recursive: true, mode: 0o700 });
    const before = databasesIn(from);
    const why =
      (await whyNotCopied(from, to, before)) ?? (databasesIn(from).join() === before.join() ? undefined : changes);
    if (why === undefined) return;
    reasons.add(why);
    for (const name of readdirSync(to)) rmSync(join(to, name), { recursive: true });
    await wait(attempts.pause);
  }
  const [why, ...others] = reasons;
  // a write in progress looks like damage, but not the same each time
  if (others.length === 0 && why !== changes) throw new Damaged(why!);
  throw new ServiceError(`${from} cannot be copied: ${changes}. Stop its service, and try again.`);
}

/** The folders of databases in a folder, the objects' first, because the ledgers must contain all that the objects refer to. */
function databasesIn(dir: string): string[] {
  const ledgers = join(dir, "chains");
  const all = existsSync(ledgers) ? readdirSync(ledgers).map((name) => join("chains", name, "database")) : [];
  return ["objects", ...all.sort()].filter((name) => existsSync(join(dir, name)));
}

/** Copies everything, or returns why not. */
async function whyNotCopied(from: string, to: string, databases: readonly string[]): Promise<string | undefined> {
  try {
    for (const name of databases) {
      const why = await whyNotWhole(join(from, name), join(to, name));
      if (why !== undefined) return why;
    }
    const isDatabase = (file: string) => databases.some((name) => !relative(join(from, name), file).startsWith(".."));
    cpSync(from, to, { recursive: true, filter: (file) => (statSync(file).isDirectory() ? !isDatabase(file) : true) });
    return undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return changes;
    throw error;
  }
}

async function whyNotWhole(from: string, to: string): Promise<string | undefined> {
  const files = () =>
    readdirSync(from)
      .filter((name) => ofDatabase.test(name))
      .sort();
  const before = files();
  mkdirSync(to, { recursive: true, mode: 0o700 });
  // the manifest comes before the tables and logs, so that the copy has all files that it names
  for (const name of before.reverse()) cpSync(join(from, name), join(to, name));
  if (files().join() !== before.sort().join()) return changes;
  const damage = await damageIn(to);
  return damage && `${join(from, relative(to, damage.file))} is damaged: ${damage.why}`;
}
