import { type ManagedCollection, type Service } from "../../service";
import { type Props } from "./engine";
import { type Network } from "./network";

export type Collected = "consortium" | "membership" | "environment" | "node" | "appCred";
export const collected: Collected[] = ["consortium", "membership", "environment", "node", "appCred"];

/** Arguments of a first resource of each kind in the fixture's network. */
export const bases: Record<Collected, (net: Network) => Props> = {
  consortium: () => ({ name: "acme", description: "old" }),
  membership: ({ consortiumId }) => ({ consortiumId, orgName: "acme" }),
  environment: ({ consortiumId }) => ({ consortiumId, name: "dev", provider: "quorum", consensusType: "raft" }),
  node: ({ consortiumId, environmentId, membershipId }) => ({ consortiumId, environmentId, membershipId, name: "n1" }),
  appCred: ({ consortiumId, environmentId, membershipId }) => ({
    ...{ consortiumId, environmentId, membershipId, name: "app" },
  }),
};

/** Those whose name tells siblings apart. */
export const named = ["consortium", "membership", "environment", "node"] as const;

/** The property that holds the name, and how the service calls it. */
export const nameKey = (kind: Collected): "orgName" | "name" => (kind === "membership" ? "orgName" : "name");
export const nameField = (kind: Collected): "org_name" | "name" => (kind === "membership" ? "org_name" : "name");

/** What the service keeps of each kind, to change it behind a client's back. */
export const storeOf = ({ store }: Service, kind: Collected): ManagedCollection<"consortium"> => {
  const { consortia, memberships, environments, nodes, credentials } = store;
  const all = {
    consortium: consortia,
    membership: memberships,
    environment: environments,
    node: nodes,
    appCred: credentials,
  };
  return all[kind] as unknown as ManagedCollection<"consortium">; // all have the same verbs
};
