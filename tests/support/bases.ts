import { type ManagedCollection, type Service } from "../../service/index";
import { definitions } from "../../provider/resources";
import { type Props } from "./engine";
import { type Network } from "./network";

/** Every kind but the tether, which is there before its resource, and the destination, which is put and not posted. */
export const collected = [
  ...(["consortium", "membership", "consortiumZone", "invitation", "environment", "environmentZone"] as const),
  ...(["configuration", "node", "appCred", "service"] as const),
];
export type Collected = (typeof collected)[number];

const inEnvironment = ({ consortiumId, environmentId }: Network) => ({ consortiumId, environmentId });
const owned = (net: Network) => ({ ...inEnvironment(net), membershipId: net.membershipId });
const ohio = { name: "ohio", region: "us-east-2", cloud: "aws" };

/** Arguments of a first resource of each kind in the fixture's network. */
export const bases: Record<Collected, (net: Network) => Props> = {
  consortium: () => ({ name: "acme", description: "old" }),
  membership: ({ consortiumId }) => ({ consortiumId, orgName: "acme" }),
  consortiumZone: ({ consortiumId }) => ({ consortiumId, ...ohio }),
  invitation: ({ consortiumId }) => ({ consortiumId, orgName: "acme", email: "ops@acme.example" }),
  environment: ({ consortiumId }) => ({ consortiumId, name: "dev", provider: "quorum", consensusType: "raft" }),
  environmentZone: (net) => ({ ...inEnvironment(net), ...ohio }),
  configuration: (net) => ({ ...owned(net), name: "gas", type: "node_config" }),
  node: (net) => ({ ...owned(net), name: "n1" }),
  appCred: (net) => ({ ...owned(net), name: "app" }),
  service: (net) => ({ ...owned(net), name: "files", service: "ipfs" }),
};

/** The path of its collection in the fixture's network. */
export const collectionOf = (kind: Collected, net: Pick<Network, "consortiumId" | "environmentId">): string =>
  decodeURIComponent(definitions[kind].place({ ...net }).collection);

/** The same as a route of the service. */
export const routeOf = (kind: Collected): string =>
  collectionOf(kind, { consortiumId: ":consortiumId", environmentId: ":environmentId" });

/** The kinds with a name that distinguishes siblings. */
export const named = [
  "consortium",
  "membership",
  "invitation",
  "environment",
  "configuration",
  "node",
  "service",
] as const;

/** The property that holds the name, and how the service calls it. */
export const nameKey = (kind: Collected): "orgName" | "name" =>
  ["membership", "invitation"].includes(kind) ? "orgName" : "name";
export const nameField = (kind: Collected): "org_name" | "name" =>
  ["membership", "invitation"].includes(kind) ? "org_name" : "name";

/** The service's own objects of each kind, to change them behind a client's back. */
export const storeOf = ({ store }: Service, kind: Collected): ManagedCollection<"consortium"> => {
  const name = routeOf(kind).split("/").at(-1)!;
  const collection: unknown = store[(name === "appcreds" ? "credentials" : name) as "nodes"];
  return collection as ManagedCollection<"consortium">; // all have the same verbs
};
