import { type Output, secret } from "@pulumi/pulumi";
import { type NetworkConsortiumResources, type NetworkEnvironmentResources } from "./make";

/** What one environment shows. */
export interface NetworkEnvironmentOutputs {
  id: Output<string>;
  chainId: Output<number>;
  /** Runtime endpoints of each node. */
  nodes: Record<string, { id: Output<string>; urls: Output<{ rpc?: string; wss?: string }> }>;
  /** Each credential; the password is secret. */
  credentials: Record<string, { username: Output<string>; password: Output<string> }>;
  /** The account that pays for the pins, where there is a tether. */
  tether?: { id: Output<string>; account: Output<string> };
}

/** What each consortium shows, by key. */
export type NetworkOutputs = Record<
  string,
  {
    id: Output<string>;
    members: Record<string, { id: Output<string> }>;
    environments: Record<string, NetworkEnvironmentOutputs>;
  }
>;

const mapped = <T, R>(record: Readonly<Record<string, T>>, show: (one: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([key, one]) => [key, show(one)]));

const environmentOutputs = ({
  environment,
  nodes,
  credentials,
  tether,
}: NetworkEnvironmentResources): NetworkEnvironmentOutputs => ({
  ...{ id: environment.id, chainId: environment.chainId },
  nodes: mapped(nodes, ({ id, urls }) => ({ id, urls })),
  credentials: mapped(credentials, ({ username, password }) => ({ username, password: secret(password) })),
  ...(tether && { tether: { id: tether.id, account: tether.account } }),
});

export const outputsOf = (consortia: Readonly<Record<string, NetworkConsortiumResources>>): NetworkOutputs =>
  mapped(consortia, ({ consortium, members, environments }) => ({
    id: consortium.id,
    members: mapped(members, ({ id }) => ({ id })),
    environments: mapped(environments, environmentOutputs),
  }));
