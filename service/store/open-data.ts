import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { Damaged } from "../errors";
import type { ResolvedOptions } from "../settings/options";
import { Database, InUse } from "../storage/database";
import { SteadyClock } from "../storage/steady-clock";
import { AccountKeys } from "../tether/accounts";
import { newTether } from "../tether/tethering";
import { Organizations } from "./organizations";
import { Store } from "./store";

/** Opens the data folder, if configured, and adds missing objects from the options. The clock never goes back, even across restarts. */
export async function openData(options: ResolvedOptions) {
  const dir = options.data === undefined ? undefined : resolve(options.data);
  const clock = new SteadyClock(options.clock);
  const database = dir === undefined ? undefined : await databaseIn(dir);
  const ignore = () => undefined;
  process.on("SIGXFSZ", ignore); // makes writes beyond a size limit fail; the signal would end the process
  const close = async () => {
    process.off("SIGXFSZ", ignore);
    await database?.close();
  };
  try {
    const store = database ? await Store.open(clock, database) : new Store(clock);
    const organizations = new Organizations(store, options.organizations[0]!.name, dir);
    if (dir !== undefined) AccountKeys.check(join(dir, "accounts"), store);
    for (const { name, apiKey } of options.organizations) organizations.ensure(name, apiKey);
    for (const tether of options.tethers) ensureTether(store, organizations, tether);
    await store.synced();
    organizations.publish();
    return { store, organizations, clock: clock.now, close: () => store.close().finally(close) };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens the database of the objects. Its lock locks the whole folder. */
async function databaseIn(dir: string): Promise<Database> {
  const objects = join(dir, "objects");
  const has = (name: string) => holdsSomething(join(dir, name));
  const part = ["api-key", "accounts", "chains"].find(has);
  if (!existsSync(join(objects, "CURRENT")) && part !== undefined)
    throw new Damaged(`${objects} is damaged: it is missing, but ${part} exists`);
  try {
    return await Database.open(objects);
  } catch (error) {
    if (!(error instanceof InUse)) throw error;
    throw new InUse(`The data folder ${dir}`, error, "service");
  }
}

function holdsSomething(path: string): boolean {
  if (!existsSync(path)) return false;
  if (!statSync(path).isDirectory()) return path.endsWith("api-key");
  return readdirSync(path, { recursive: true, withFileTypes: true }).some((entry) => !entry.isDirectory());
}

type WantedTether = ResolvedOptions["tethers"][number];

function ensureTether(store: Store, organizations: Organizations, { id, environment, funds, ...wanted }: WantedTether) {
  const known = store.get("tether", id);
  if (!known) store.create(newTether(organizations.find(wanted.organization)!.id, environment, { id, funds }));
  else if (environment !== undefined && known.fields.environmentName !== environment)
    store.setFields("tether", id, { environmentName: environment, environment: undefined });
}
