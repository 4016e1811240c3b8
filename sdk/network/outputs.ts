import { type Output, secret } from "@pulumi/pulumi";
import { type AppCred } from "../app-cred";
import { type Environment } from "../environment";
import { type Node } from "../node";
import { type TetherService } from "../tether-service";
import { type NetworkConsortiumResources, type NetworkEnvironmentResources } from "./make";

/** What one environment shows. */
export interface NetworkEnvironmentOutputs extends Pick<Environment, "id" | "chainId"> {
  /** Runtime endpoints of each node. */
  nodes: Record<string, Pick<Node, "id" | "urls">>;
  /** Each credential; the password is secret. */
  credentials: Record<string, Pick<AppCred, "username" | "password">>;
  /** The account that pays for the pins, where there is a tether. */
  tether?: Pick<TetherService, "id" | "account">;
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

const environmentOutputs = ({ environment, nodes, credentials, tether }: NetworkEnvironmentResources) => ({
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
