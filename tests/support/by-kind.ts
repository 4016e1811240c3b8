import { type Props } from "../../provider/core/definition";

/* Resources without a service: their inputs, and what a service would show. With one, see bases.ts. */

const inConsortium = { consortiumId: "c" };
const inEnvironment = { ...inConsortium, environmentId: "e" };
const owned = { ...inEnvironment, membershipId: "m" };
const zone = { name: "ohio", region: "r", cloud: "aws", type: "kaleido" };

const inputs = {
  consortium: { name: "trade" },
  membership: { ...inConsortium, orgName: "acme" },
  invitation: { ...inConsortium, orgName: "acme", email: "ops@acme.example" },
  environment: { ...inConsortium, name: "e", provider: "quorum", consensusType: "raft" },
  environmentZone: { ...inEnvironment, ...zone },
  node: { ...owned, name: "n" },
  appCred: { ...owned, name: "a" },
  service: { ...owned, name: "files", service: "ipfs" },
  configuration: { ...owned, name: "g", type: "kms" },
  destination: { ...owned, serviceId: "s", serviceType: "documentstore", name: "inbox" },
  tetherService: { tetherId: "tether0001", network: "mainnet", intervalHours: 1 },
} satisfies Record<string, Props>;

export type Kind = keyof typeof inputs;

/** What a program asks for. */
export const base: Record<Kind, Props> = inputs;

/** The object as a service shows it in a list, besides its id. */
export const own = {
  consortium: { name: "trade" },
  membership: { org_name: "acme" },
  environment: { name: "e", provider: "quorum", consensus_type: "raft" },
  environmentZone: zone,
  node: { membership_id: "m", name: "n" },
  appCred: { membership_id: "m", name: "a" },
  service: { membership_id: "m", name: "files", service: "ipfs", service_type: "member" },
  destination: { name: "inbox" },
} satisfies Partial<Record<Kind, Props>>;

/** The kinds of these. */
export type Listed = keyof typeof own;
