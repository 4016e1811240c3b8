import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ResolvedOptions } from "../settings/options";
import { AccountKeys } from "../tether/accounts";
import { ApiKeys, Organizations } from "./organizations";
import { replaceFile } from "./files";
import { lockFolder } from "./folder-lock";
import { damaged } from "./journal";
import { SteadyClock, Store } from "./store";
import { newTether } from "../tether/tethering";

/**
 * Opens the data folder, if one is given, and adds what the options ask for and it does not have yet. The clock never goes back,
 * not even over restarts.
 *
 * @param lost hears that another process has taken the folder
 */
export async function openData(options: ResolvedOptions, lost: (error: Error) => void) {
  const dir = options.dataDir === undefined ? undefined : resolve(options.dataDir);
  let store: Store | undefined;
  const unlock = dir === undefined ? undefined : await lockFolder(dir, lost);
  const close = async () => {
    store?.close();
    await unlock?.();
  };
  const clock = new SteadyClock(options.clock);
  try {
    const keys = new ApiKeys(dir);
    const fresh = dir === undefined || isFresh(dir);
    store = new Store(clock, dir && join(dir, "state.jsonl"));
    const first = options.organizations[0]!.name;
    const organizations = new Organizations(store, keys, first);
    if (dir !== undefined && !fresh) checkKeys(dir, organizations, options);
    if (dir !== undefined) AccountKeys.check(join(dir, "accounts"), store);
    store.tidy();
    if (dir !== undefined && fresh) replaceFile(join(dir, setup), "");
    for (const { name, apiKey } of options.organizations) organizations.ensure(name, apiKey);
    keys.publish(first);
    for (const tether of options.tethers) ensureTether(store, organizations, tether);
    if (dir !== undefined && fresh) rmSync(join(dir, setup), { force: true });
    return { store, organizations, clock: clock.now, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Marks a folder whose first service is still starting and has answered nobody yet. */
const setup = "setup";

/** Whether the folder is new. Fails if it has other files of a service, but not `state.jsonl`. */
function isFresh(dir: string): boolean {
  if (existsSync(join(dir, setup))) return true;
  const state = join(dir, "state.jsonl");
  if (existsSync(state)) return false;
  const part = ["api-keys.json", "accounts", "chains"].find((name) => holdsSomething(join(dir, name)));
  if (part !== undefined) throw damaged(state, `it is missing, and ${part} is there`);
  return true;
}

function holdsSomething(path: string): boolean {
  if (!existsSync(path)) return false;
  if (!statSync(path).isDirectory()) return path.endsWith(".json");
  return readdirSync(path, { recursive: true, withFileTypes: true }).some((entry) => !entry.isDirectory());
}

/** Checks that the keys of all organizations are there. Changes nothing. */
function checkKeys(dir: string, organizations: Organizations, options: ResolvedOptions): void {
  const given = new Set(options.organizations.filter(({ apiKey }) => apiKey !== undefined).map(({ name }) => name));
  const keyless = organizations.list().find(({ name, apiKey }) => apiKey === "" && !given.has(name));
  if (keyless) throw damaged(join(dir, "api-keys.json"), `the API key of ${keyless.name} is missing`);
}

type WantedTether = ResolvedOptions["tethers"][number];

function ensureTether(store: Store, organizations: Organizations, { id, environment, funds, ...wanted }: WantedTether) {
  const known = store.get("tether", id);
  if (!known) store.create(newTether(organizations.find(wanted.organization)!.id, environment, { id, funds }));
  else if (environment !== undefined && known.fields.environmentName !== environment)
    store.setFields("tether", id, { environmentName: environment });
}
