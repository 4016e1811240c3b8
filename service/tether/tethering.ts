import type { Base } from "../base";
import { networks, type Entity, type Network, type Wire } from "../store/entities";

export type Tether = Entity<"tether">;

/** What a tether service does on the networks it pins to. */
export interface Tethering {
  /** The tether as it is now; no read waits for a transaction. */
  current(tether: Tether): Tether;
  account(tether: Tether): string;
  balance(tether: Tether, network: Network): Promise<string>;
  /** It was activated: its first report is due. */
  activated(tether: Tether): Promise<void>;
  /** Whether the contract is there; a network may have lost it. */
  isDeployed(tether: Tether, network: Network): Promise<boolean>;
  /** Deploys the contract; answers what is known of it. */
  deploy(tether: Tether, network: Network): Promise<Wire>;
  fund(tether: Tether, network: Network, wei: bigint): Promise<void>;
  /** What else is shown of it. */
  shown(tether: Tether): Wire;
}

export const deployedNetworks = ({ fields }: Tether) => networks.filter((network) => fields.deployments[network] > 0);

export function tetherState({ fields }: Tether): string {
  const { active, activated, network } = fields;
  if (active) return "active";
  if (activated) return "inactive";
  return network && fields.deployments[network] > 0 ? "deployed" : "initial";
}

/** The environment it pins: the newest of its name, or else the organization's first one. */
export function boundEnvironment({ store }: Base, tether: Tether): Entity<"environment"> | undefined {
  const name = tether.fields.environmentName;
  const own = store.all("environment").filter(({ organization }) => organization === tether.organization);
  return name === undefined ? own[0] : own.findLast(({ fields }) => fields.name === name);
}

export function reportOf(tether: Tether, at: number, fields: Entity<"report">["fields"]): Entity<"report"> {
  return {
    ...{ kind: "report", id: `${tether.id}:${tether.fields.reports}`, parent: tether.id },
    ...{ organization: tether.organization, state: "active", createdAt: at, changedAt: at, revision: 0, fields },
  };
}
