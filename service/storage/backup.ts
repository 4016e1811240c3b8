import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ServiceError } from "../errors";
import { damageIn } from "./check";

/** How often to try a copy while the folder changes, and the pause between attempts (ms). */
const attempts = { most: 100, pause: 50 };
const ofDatabase = /^(CURRENT|MANIFEST-\d+|\d+\.(ldb|log))$/;

/**
 * Copies a data folder, also while a service writes to it. A database is copied again if its set of files changed meanwhile: its tables
 * never change, and its log only grows. So the copy has
 * everything that was on disk at the start.
 */
export async function backup(from: string, to: string): Promise<void> {
  if (!existsSync(join(from, "objects"))) throw new ServiceError(`${from} is not the data folder of a service.`);
  if (existsSync(to) && readdirSync(to).length > 0) throw new ServiceError(`${to} is not empty. Name a new folder.`);
  for (let attempt = 1; ; attempt++) {
    mkdirSync(to, { recursive: true, mode: 0o700 });
    const before = databasesIn(from);
    if ((await copied(from, to, before)) && databasesIn(from).join() === before.join()) return;
    for (const name of readdirSync(to)) rmSync(join(to, name), { recursive: true });
    if (attempt === attempts.most)
      throw new ServiceError(`${from} changes too fast to be copied. Stop its service, and try again.`);
    await wait(attempts.pause);
  }
}

/** The folders of databases in a folder, the objects' first, because the ledgers must contain all that the objects refer to. */
function databasesIn(dir: string): string[] {
  const ledgers = join(dir, "chains");
  const all = existsSync(ledgers) ? readdirSync(ledgers).map((name) => join("chains", name, "database")) : [];
  return ["objects", ...all.sort()].filter((name) => existsSync(join(dir, name)));
}

async function copied(from: string, to: string, databases: readonly string[]): Promise<boolean> {
  try {
    for (const name of databases) if (!(await copiedDatabase(join(from, name), join(to, name)))) return false;
    const isDatabase = (file: string) => databases.some((name) => !relative(join(from, name), file).startsWith(".."));
    cpSync(from, to, { recursive: true, filter: (file) => (statSync(file).isDirectory() ? !isDatabase(file) : true) });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

async function copiedDatabase(from: string, to: string): Promise<boolean> {
  const files = () =>
    readdirSync(from)
      .filter((name) => ofDatabase.test(name))
      .sort();
  const before = files();
  mkdirSync(to, { recursive: true, mode: 0o700 });
  // the manifest comes before the tables and logs, so that the copy has all files that it names
  for (const name of before.reverse()) cpSync(join(from, name), join(to, name));
  return files().join() === before.sort().join() && (await damageIn(to)) === undefined;
}
