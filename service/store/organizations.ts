import { join, resolve as absolute } from "node:path";
import { SteadyClock } from "./steady-clock";
import type { Entity } from "./entities";
import { ServiceError } from "../http/errors";
import { Keyring } from "./api-keys";
import { lock } from "./folder-lock";
import type { Resolved, TetherOptions } from "../settings/options";
import { firstState } from "./states-over-time";
import { Store } from "./store";

/** An organization and the key that scopes calls to it. */
export interface Organization {
  id: string;
  name: string;
  apiKey: string;
}

/** What outlives the process, if a folder is given: objects and keys. */
export interface State {
  store: Store;
  keys: Keyring;
  /** The time, which does not go back even over restarts. */
  clock: () => number;
  /** Name of the organization whose key is published. */
  first: string;
  close(): Promise<void>;
}

const defaultFunds = { mainnet: "0", rinkeby: "1000000000000000000" };

/** Opens the data folder, if any, and adds what the options ask for and it does not have yet. */
export async function openState({ dataDir, organizations: wanted, tethers, clock: wall }: Resolved): Promise<State> {
  const dir = dataDir === undefined ? undefined : absolute(dataDir);
  let store: Store | undefined;
  const unlock = dir === undefined ? undefined : await lock(dir, (error) => store?.refuse(error));
  const close = async () => {
    store?.close();
    await unlock?.();
  };
  const clock = new SteadyClock(wall);
  try {
    const keys = new Keyring(dir);
    store = new Store(clock, dir && join(dir, "state.jsonl"));
    const first = wanted[0]!.name;
    const state: State = { store, keys, clock: clock.now, first, close };
    for (const { name, apiKey } of wanted) ensureOrganization(state, name, apiKey);
    keys.publish(first);
    for (const tether of tethers) ensureTether(state, tether);
    return state;
  } catch (error) {
    await close();
    throw error;
  }
}

export const organizations = ({ store, keys }: State): Organization[] =>
  store.children("organization", "").map(({ id, fields: { name } }) => ({ id, name, apiKey: keys.get(name) ?? "" }));

export function addOrganization(state: State, name: string, apiKey?: string): Organization {
  if (find(state, name)) throw new ServiceError(`There already is an organization ${name}.`);
  return ensureOrganization(state, name, apiKey);
}

export function rotateKey(state: State, name: string): string {
  if (state.keys.get(name) === undefined) throw new ServiceError(`There is no organization ${name}.`);
  const key = state.keys.set(name);
  if (name === state.first) state.keys.publish(name);
  return key;
}

const find = ({ store }: State, name: string) =>
  store.children("organization", "").find(({ fields }) => fields.name === name);

function ensureOrganization(state: State, name: string, apiKey: string | undefined): Organization {
  const { store, keys } = state;
  const key = apiKey ?? keys.get(name);
  const kept = key !== undefined && key === keys.get(name) ? key : keys.set(name, key);
  const found = find(state, name) ?? store.create(draft("organization", "", { name }));
  return { id: found.id, name, apiKey: kept };
}

function ensureTether(state: State, { id, environment, organization, funds }: TetherOptions): void {
  const owner = find(state, organization!)!;
  const known = state.store.get("tether", id);
  const binding = environment === undefined ? {} : { environmentName: environment };
  if (known) {
    const fields = { ...known.fields, ...binding };
    if (known.fields.environmentName !== fields.environmentName) state.store.change(known, { fields });
    return;
  }
  const none = { mainnet: 0, rinkeby: 0 };
  const fresh = {
    active: false,
    activated: false,
    balances: { ...defaultFunds, ...funds },
    deployments: none,
    reports: 0,
  };
  state.store.create({ ...draft("tether", owner.id, { ...fresh, ...binding }), id });
}

function draft<K extends "organization" | "tether">(kind: K, parent: string, fields: Entity<K>["fields"]) {
  return { kind, parent, organization: parent, state: firstState[kind], fields };
}
