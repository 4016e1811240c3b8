import { join, resolve } from "node:path";
import type { ResolvedOptions } from "../settings/options";
import { ApiKeys } from "./api-keys";
import { lockFolder } from "./folder-lock";
import { Organizations } from "./organizations";
import { SteadyClock } from "./steady-clock";
import { Store } from "./store";
import { newTether } from "./new-tether";

/** What outlives the process, if a folder is given: objects and keys. */
export interface OpenData {
  store: Store;
  organizations: Organizations;
  /** The time, which does not go back even over restarts. */
  clock: () => number;
  close: () => Promise<void>;
}

/** Opens the data folder, if any, and adds what the options ask for and it does not have yet. */
export async function openData(options: ResolvedOptions): Promise<OpenData> {
  const dir = options.dataDir === undefined ? undefined : resolve(options.dataDir);
  let store: Store | undefined;
  const unlock = dir === undefined ? undefined : await lockFolder(dir, (error) => store?.refuse(error));
  const close = async () => {
    store?.close();
    await unlock?.();
  };
  const clock = new SteadyClock(options.clock);
  try {
    const keys = new ApiKeys(dir);
    store = new Store(clock, dir && join(dir, "state.jsonl"));
    const first = options.organizations[0]!.name;
    const organizations = new Organizations(store, keys, first);
    for (const { name, apiKey } of options.organizations) organizations.ensure(name, apiKey);
    keys.publish(first);
    for (const tether of options.tethers) ensureTether(store, organizations, tether);
    return { store, organizations, clock: clock.now, close };
  } catch (error) {
    await close();
    throw error;
  }
}

type WantedTether = ResolvedOptions["tethers"][number];

function ensureTether(store: Store, organizations: Organizations, { id, environment, funds, ...wanted }: WantedTether) {
  const known = store.get("tether", id);
  const binding = environment === undefined ? {} : { environmentName: environment };
  if (known) {
    const bound = environment === undefined || known.fields.environmentName === environment;
    if (!bound) store.setFields("tether", id, binding);
    return;
  }
  store.create(newTether(organizations.find(wanted.organization)!.id, binding, { id, funds }));
}
