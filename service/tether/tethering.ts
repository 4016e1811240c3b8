import type { Base } from "../context";
import { type Entity, type Network, networks } from "../store/entities";

export type Tether = Entity<"tether">;

const ether = "1000000000000000000";

/** Whether its contract was deployed on a network. */
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

/** The environment that it pins: the latest one with this name, or without a name, the organization's first one. */
export function boundEnvironment({ store }: Base, tether: Tether): Entity<"environment"> | undefined {
  const name = tether.fields.environmentName;
  const own = store.all("environment").filter(({ organization }) => organization === tether.organization);
  return name === undefined ? own[0] : own.findLast(({ fields }) => fields.name === name);
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
  /** Default: a random one. */
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
