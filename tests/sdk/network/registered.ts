import { type CustomResource, type Resource, runtime } from "@pulumi/pulumi";
import { Network, type NetworkDefinition, type NetworkOptions } from "../../../sdk";
import { program, type Registered, valueOf } from "../../support/program";

export const raft = { provider: "quorum", consensusType: "raft" } as const;
export const trade: NetworkDefinition = {
  consortium: { name: "Coffee trade", description: "beans" },
  members: { acme: null, globex: { orgName: "Globex Corp" }, silent: {} },
  environments: {
    prod: {
      ...raft,
      chainId: 77,
      nodes: { acme: 2, globex: { main: null, spare: { name: "Spare", adopt: "n1", extra: { zone: "b" } } } },
      tether: { tetherId: "tether0001", network: "rinkeby", intervalHours: 24 },
    },
    test: { ...raft, nodes: { globex: ["only"] }, credentials: { reports: { member: "silent", name: "Reports" } } },
  },
};

export const short = ({ type, name }: Registered): string => `${type.split(":").at(-1)} ${name}`;

/** A program with this network, once everything is registered. */
export async function registered(definition: NetworkDefinition, opts?: NetworkOptions, name = "trade") {
  await (runtime as unknown as { waitForRPCs(): Promise<void> }).waitForRPCs(); // of a program before this one
  jest.restoreAllMocks();
  const { registered: all, of } = await program({
    Node: { urls: { rpc: "https://n" } },
    AppCred: { username: "u", password: "p" },
  });
  const network = new Network(name, definition, opts);
  await settled(network);
  const named = Object.fromEntries(all.map((one) => [short(one), one]));
  return { network, all, named, of };
}

/** Until everything is registered. */
export async function settled(network: Network): Promise<void> {
  await valueOf(network.urn);
  const parts: Resource[] = Object.values(network.consortia).flatMap(({ consortium, members, environments }) => [
    ...[consortium, ...Object.values(members)],
    ...Object.values(environments).flatMap(({ environment, nodes, credentials, tether }) => [
      ...[environment, ...Object.values(nodes), ...Object.values(credentials)],
      ...(tether ? [tether] : []),
    ]),
  ]);
  await Promise.all(parts.map((part) => valueOf((part as CustomResource).id)));
}
