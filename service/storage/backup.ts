import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Damaged, ServiceError } from "../errors";
import { Database, filesOf, markOf, mustBeWhole } from "./database";

/** How often to try a copy while the folder changes, and the pause between attempts (ms). */
const attempts = { most: 100, pause: 50 };

/**
 * Copies a data folder, also while a service writes to it. A database is copied again if its set of files changed meanwhile: its tables
 * never change, and its log only grows. So the copy has everything that was on disk at the start.
 */
export async function backup(from: string, to: string): Promise<void> {
  if (!existsSync(join(from, "objects"))) throw new ServiceError(`${from} is not the data folder of a service.`);
  if (existsSync(to) && readdirSync(to).length > 0) throw new ServiceError(`${to} is not empty. Name a new folder.`);
  for (let attempt = 0; attempt < attempts.most; attempt++) {
    mkdirSync(to, { recursive: true, mode: 0o700 });
    try {
      if (await copied(from, to)) return;
    } catch (error) {
      empty(to);
      throw error instanceof Damaged ? new Damaged(error.what.replaceAll(to, from)) : error;
    }
    empty(to);
    await wait(attempts.pause);
  }
  throw new ServiceError(`${from} cannot be copied: it changes too fast. Stop its service, and try again.`, {
    code: "conflict",
  });
}

const empty = (folder: string) => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
};

/** The folders of databases in a folder, the objects' first, because the ledgers must contain all that the objects refer to. */
function databasesIn(dir: string): string[] {
  const ledgers = join(dir, "chains");
  const all = existsSync(ledgers) ? readdirSync(ledgers).map((name) => join("chains", name, "database")) : [];
  return ["objects", ...all.sort()].filter((name) => existsSync(join(dir, name)));
}

async function copied(from: string, to: string): Promise<boolean> {
  const databases = databasesIn(from);
  try {
    for (const name of databases) if (!(await isCopied(join(from, name), join(to, name)))) return false;
    const isDatabase = (file: string) => databases.some((name) => !relative(join(from, name), file).startsWith(".."));
    cpSync(from, to, { recursive: true, filter: (file) => (statSync(file).isDirectory() ? !isDatabase(file) : true) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
  return databasesIn(from).join() === databases.join();
}

/** Copies a database, and looks whether the copy is whole. */
async function isCopied(from: string, to: string): Promise<boolean> {
  const before = filesOf(from);
  const marked = existsSync(markOf(from));
  mkdirSync(to, { recursive: true, mode: 0o700 });
  // the manifest comes before the tables and logs, so that the copy has all files that it names
  for (const name of [...before].reverse()) cpSync(join(from, name), join(to, name));
  if (marked) cpSync(markOf(from), markOf(to));
  if (filesOf(from).join() !== before.join() || existsSync(markOf(from)) !== marked) return false;
  if (mustBeWhole(to)) return true;
  const database = await Database.open(to);
  try {
    await database.check();
  } finally {
    await database.close();
  }
  return true;
}
