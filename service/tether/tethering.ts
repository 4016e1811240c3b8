import type { Base } from "../context";
import { Refusal } from "../errors";
import { type Entity, type Network, networks } from "../store/entities";

export type Tether = Entity<"tether">;

const ether = "1000000000000000000";

export const isDeployedOn = ({ deployments }: Tether["fields"], network: Network) => (deployments[network] ?? 0) > 0;

/** Its account's balance on a simulated network, in wei. */
export const balanceOn = ({ balances }: Tether["fields"], network: Network) => BigInt(balances[network] ?? 0);

export const deployedNetworks = ({ fields }: Tether) => networks.filter((network) => isDeployedOn(fields, network));

export function tetherState({ fields }: Tether): string {
  const { active, activated, network } = fields;
  if (active) return "active";
  if (activated) return "inactive";
  return network && isDeployedOn(fields, network) ? "deployed" : "initial";
}

/** What it may pin: the environments with its name, alone or after that of their consortium; without a name, the organization's first one. */
function choices(
  { store }: Base,
  { organization, fields: { environmentName: name } }: Tether,
): Entity<"environment">[] {
  const own = store.all("environment").filter((one) => one.organization === organization);
  if (name === undefined) return own.slice(0, 1);
  return own.filter((one) => [one.id, one.fields.name, longName({ store }, one)].includes(name));
}

const longName = ({ store }: Pick<Base, "store">, { parent, fields }: Entity<"environment">): string =>
  `${store.get("consortium", parent)?.fields.name}/${fields.name}`;

/** The environment that it pins, if that is certain: the one of its activation, whatever others are called later. */
export function boundEnvironment(base: Base, tether: Tether): Entity<"environment"> | undefined {
  const { environment } = tether.fields;
  if (environment !== undefined) return base.store.get("environment", environment);
  const found = choices(base, tether);
  return found.length === 1 ? found[0] : undefined;
}

/** The same. @param anew whether it may become another one, because the former is gone @throws Refusal that says why there is none */
export function environmentToPin(base: Base, tether: Tether, anew: boolean): Entity<"environment"> {
  const { environment, environmentName: name = "to pin" } = tether.fields;
  const bound = boundEnvironment(base, tether);
  if (bound) return bound;
  if (environment !== undefined && !anew)
    throw new Refusal(
      409,
      `The environment ${environment} that it pins was deleted. To pin another one, deactivate the tether and activate it again.`,
    );
  const found = choices(base, tether);
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw new Refusal(409, `The environment ${name} does not exist yet.`);
  const names = found.map((one) => `${longName(base, one)} (${one.id})`).join(", ");
  throw new Refusal(409, `Several environments are called ${name}: ${names}. Name one of these ids for the tether.`);
}

export function reportOf(tether: Tether, at: number, fields: Entity<"report">["fields"]): Entity<"report"> {
  return {
    kind: "report",
    id: `${tether.id}:${tether.fields.reports}`,
    parent: tether.id,
    organization: tether.organization,
    state: "active",
    createdAt: at,
    changedAt: at,
    revision: 0,
    fields,
  };
}

interface Wanted {
  id?: string;
  funds?: Partial<Record<Network, string | undefined>> | undefined;
}

/** A new tether service, neither configured nor deployed. Its account gets 1 ether on rinkeby and local by default. */
export function newTether(owner: string, environmentName: string | undefined, { id, funds }: Wanted) {
  const given = Object.entries(funds ?? {}).filter(([, wei]) => wei !== undefined);
  const balances = { mainnet: "0", rinkeby: ether, local: ether, ...Object.fromEntries(given) };
  const fields = {
    active: false,
    activated: false,
    balances,
    deployments: { mainnet: 0, rinkeby: 0, local: 0 },
    reports: 0,
    ...(environmentName === undefined ? {} : { environmentName }),
  };
  return { kind: "tether" as const, id, parent: owner, organization: owner, fields };
}
