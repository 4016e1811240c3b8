import { type CustomResource, Resource, runtime } from "@pulumi/pulumi";
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

/** Everything that an environment may have beside its ledger, and the references to it. */
export const beside = {
  zones: { ohio: { region: "us-east-2", cloud: "aws" } },
  invitations: { globex: "ops@globex.example", initech: { email: "it@initech.example", orgName: "Initech" } },
  members: ["acme"],
  environments: {
    prod: {
      ...raft,
      protect: true,
      zones: {
        ohio: { region: "us-east-2", cloud: "aws", name: "Ohio", adopt: true },
        bridged: { region: "eu-central-1", cloud: "azure", type: "own", bridgeId: "b1", protect: false },
      },
      configurations: { gas: { member: "acme", type: "node_config", details: { gas_price: "1" } } },
      nodeDefaults: { zone: "ohio", kms: "gas", size: "small" },
      nodes: { acme: { one: { nodeConfig: "gas" }, two: { zoneId: "z9", zone: undefined, kmsId: "k9" } } },
      services: {
        ids: { member: "acme", service: "idregistry", adopt: true },
        docs: {
          member: "acme",
          service: "documentstore",
          zone: "ohio",
          size: "medium",
          details: { keep: 3 },
          destinations: { ohio: { idRegistry: "ids", testCertificate: true, kaleidoManaged: false }, archive: null },
        },
        ohio: { member: "acme", service: "dataexchange", destinations: "messages" },
      },
    },
  },
} satisfies NetworkDefinition;

export const short = ({ type, name }: Registered): string => `${type.split(":").at(-1)} ${name}`;

/** A program with this network, once everything is registered. */
export async function registered(definition: NetworkDefinition, opts?: NetworkOptions, name = "trade") {
  await (runtime as unknown as { waitForRPCs(): Promise<void> }).waitForRPCs(); // of a program before this one
  jest.restoreAllMocks();
  const { registered: all, of } = await program({
    Node: { urls: { rpc: "https://n" } },
    AppCred: { username: "u", password: "p" },
    Service: { urls: { http: "https://s" } },
    Destination: { uri: "kld://d" },
  });
  const network = new Network(name, definition, opts);
  await settled(network);
  const named = Object.fromEntries(all.map((one) => [short(one), one]));
  const inputs = Object.fromEntries(all.map((one) => [short(one), one.inputs]));
  return { network, all, named, inputs, of };
}

/** Until everything is registered. */
export async function settled(network: Network): Promise<void> {
  await valueOf(network.urn);
  const resourcesIn = (value: unknown): Resource[] =>
    Resource.isInstance(value) ? [value] : Object.values(value ?? {}).flatMap(resourcesIn);
  const parts = resourcesIn(network.consortia);
  await Promise.all(parts.map((part) => valueOf((part as CustomResource).id)));
}
