import { type Kind, type Props } from "./engine";
import { type Network } from "./network";

/** Arguments of a first resource of each kind in the fixture's network. */
export const bases = {
  consortium: () => ({ name: "acme", description: "old" }),
  membership: ({ consortiumId }) => ({ consortiumId, orgName: "acme" }),
  environment: ({ consortiumId }) => ({ consortiumId, name: "dev", provider: "quorum", consensusType: "raft" }),
  node: ({ consortiumId, environmentId, membershipId }) => ({ consortiumId, environmentId, membershipId, name: "n1" }),
  appCred: ({ consortiumId, environmentId, membershipId }) => ({
    ...{ consortiumId, environmentId, membershipId, name: "app" },
  }),
} satisfies Partial<Record<Kind, (net: Network) => Props>>;

export type Collected = keyof typeof bases;
export const collected = Object.keys(bases) as Collected[];
/** Those whose name tells siblings apart. */
export const named = ["consortium", "membership", "environment", "node"] as const;

/** The property that holds the name, and how the service calls it. */
export const nameKey = (kind: Collected): "orgName" | "name" => (kind === "membership" ? "orgName" : "name");
export const nameField = (kind: Collected): "org_name" | "name" => (kind === "membership" ? "org_name" : "name");

/** The store's name of each kind. */
export const stores = {
  ...{ consortium: "consortia", membership: "memberships", environment: "environments", node: "nodes" },
  appCred: "credentials",
} as const;
