import { type Network, type Others } from "../support/network";
import { type Props } from "../support/double/wire";
import { type Spec } from "./shapes";

/*
 * Two resources of each kind, unequal, in the network of other people; how an update changes both, in two properties where there are two;
 * and how both are replaced. Last, a network of its own, with two of everything.
 */

export interface Fixture {
  made: Spec[];
  changed: Spec[];
  replaced: Spec[];
  /** What a stack without a state asks for then. Default: the same. */
  adopted?: Spec[];
  /** What a second run does after the creation, because a create cannot. */
  rest?: string[];
  /** What a replacement replaces. Default: all. */
  losses?: number;
}

/** Values that nobody may read anywhere. */
export const secrets = ["hush-8471", "hush-2093"];
export const tethers = ["tether0001", "tether0002", "tether0003", "tether0004"];

type Two = [a: Props, b: Props];
const fixture = (kind: Spec["kind"], made: Two, changes: Two, replacements: Two): Fixture => {
  const specs = (...layers: Two[]): Spec[] =>
    ["a", "b"].map((key, at) => ({
      key,
      kind,
      args: Object.assign({}, ...layers.map((layer) => layer[at])) as Props,
      parents: {},
    }));
  const [changed, replaced] = [specs(made, changes), specs(made, changes, replacements)];
  return { made: specs(made), changed, replaced, adopted: specs(made, replacements) };
};

const plans: Two = [{ extra: { plan: 1 } }, { extra: { plan: 2 } }];

export const fixtures = {
  consortium: () =>
    fixture(
      "consortium",
      [{ name: "acme", description: "old" }, { name: "beta" }],
      [{ name: "acme-2", description: "newer" }, { description: "new" }],
      plans,
    ),
  membership: ({ consortiumId }) =>
    fixture(
      "membership",
      [
        { consortiumId, orgName: "acme" },
        { consortiumId, orgName: "beta" },
      ],
      [{ orgName: "acme-2" }, { orgName: "beta-2" }],
      plans,
    ),
  invitation: ({ consortiumId }) =>
    fixture(
      "invitation",
      [
        { consortiumId, orgName: "acme", email: "ops@acme.example" },
        { consortiumId, orgName: "beta", email: "ops@beta.example" },
      ],
      [{ orgName: "acme-2", email: "new@acme.example" }, { email: "new@beta.example" }],
      plans,
    ),
  consortiumZone: ({ consortiumId }) =>
    fixture(
      "consortiumZone",
      [
        { consortiumId, name: "west", region: "us-west-1", cloud: "aws" },
        { consortiumId, name: "north", region: "eu-north-1", cloud: "azure" },
      ],
      [{ name: "west-2" }, { name: "north-2" }],
      [{ region: "us-west-2" }, { cloud: "aws" }],
    ),
  environment: ({ consortiumId }) =>
    fixture(
      "environment",
      [
        { consortiumId, name: "dev", provider: "quorum", consensusType: "raft", description: "old" },
        { consortiumId, name: "prod", provider: "geth", consensusType: "poa", chainId: 77 },
      ],
      [{ name: "dev-2", description: "newer" }, { description: "new" }],
      [{ consensusType: "ibft" }, { chainId: 78 }],
    ),
  environmentZone: ({ consortiumId, environmentId }) =>
    fixture(
      "environmentZone",
      [
        { consortiumId, environmentId, name: "west", region: "us-west-1", cloud: "aws" },
        { consortiumId, environmentId, name: "north", region: "eu-north-1", cloud: "azure" },
      ],
      [{ name: "west-2" }, { name: "north-2" }],
      [{ region: "us-west-2" }, { cloud: "aws" }],
    ),
  configuration: (net) =>
    fixture(
      "configuration",
      [
        {
          ...owned(net),
          name: "prices",
          type: "node_config",
          details: { gas_price: secrets[0], one: 1, two: 2, last: 4 },
        },
        { ...owned(net), membershipId: net.otherMembershipId, name: "backup", type: "backup", details: { key: "1" } },
      ],
      [{ name: "prices-2", details: { gas_price: secrets[0], last: 5 } }, { details: { key: secrets[1] } }],
      [{ membershipId: net.otherMembershipId }, { membershipId: net.membershipId }],
    ),
  node: (net) =>
    fixture(
      "node",
      [
        { ...owned(net), name: "n1" },
        { ...owned(net), membershipId: net.otherMembershipId, name: "n2", zoneId: net.environmentZoneId },
      ],
      [
        { name: "n1-2", size: "medium" },
        { size: "large", nodeConfigId: net.configurationId },
      ],
      [{ role: "observer" }, { membershipId: net.membershipId }],
    ),
  appCred: (net) => ({
    ...fixture(
      "appCred",
      [
        { ...owned(net), name: "app", rotateWhenChanged: { month: "April" } },
        { ...owned(net), membershipId: net.otherMembershipId, name: "web" },
      ],
      [{ name: "app-2", rotateWhenChanged: { month: "May" } }, { rotateWhenChanged: { month: "May" } }],
      [{ keepers: { turn: 1 } }, { keepers: { turn: 2 } }],
    ),
    adopted: undefined, // only by name is an old pair recognized
  }),
  service: (net) =>
    fixture(
      "service",
      [
        { ...owned(net), name: "files", service: "ipfs" },
        {
          ...owned(net),
          membershipId: net.otherMembershipId,
          name: "wallet",
          service: "hdwallet",
          zoneId: net.environmentZoneId,
          details: { key: secrets[1], one: 1, two: 2, limits: { reads: 1, writes: 2 } },
        },
      ],
      [
        { name: "files-2", size: "medium" },
        { size: "large", details: { key: secrets[1], limits: { reads: 3 } } },
      ],
      [{ zoneId: net.environmentZoneId }, { service: "dataexchange" }],
    ),
  destination: (net) =>
    fixture(
      "destination",
      [
        { ...stored(net), name: "bills" },
        { ...stored(net), name: "orders", kaleidoManaged: false },
      ],
      [{ kaleidoManaged: false }, { kaleidoManaged: true }],
      [{ name: "bills-2" }, { name: "orders-2" }],
    ),
  tetherService: () =>
    fixture(
      "tetherService",
      [
        { tetherId: tethers[0], network: "rinkeby", intervalHours: 1 },
        { tetherId: tethers[1], network: "mainnet", intervalHours: 2, active: false },
      ],
      [
        { network: "mainnet", intervalHours: 3 },
        { network: "rinkeby", active: true },
      ],
      [{ tetherId: tethers[2] }, { tetherId: tethers[3] }],
    ),
  network: () => {
    const quorum = { provider: "quorum", consensusType: "raft" };
    const within = (environment: string, member: string) => ({
      consortiumId: "c",
      environmentId: environment,
      membershipId: member,
    });
    const specs = (is: "made" | "changed" | "replaced"): Spec[] => {
      const [now, other] = is === "made" ? ["", false] : ["-2", is === "replaced"];
      return [
        { key: "c", kind: "consortium", args: { name: `own${now}` }, parents: {} },
        { key: "m", kind: "membership", args: { orgName: `first${now}` }, parents: { consortiumId: "c" } },
        { key: "l", kind: "membership", args: { orgName: "second" }, parents: { consortiumId: "c" } },
        {
          key: "e",
          kind: "environment",
          args: { name: `main${now}`, ...quorum, ...(other && { consensusType: "ibft" }) },
          parents: { consortiumId: "c" },
        },
        {
          key: "f",
          kind: "environment",
          args: { name: "spare", ...quorum, paused: is === "made", description: `spare${now}` },
          parents: { consortiumId: "c" },
        },
        {
          key: "z",
          kind: "environmentZone",
          args: { name: "ohio", region: "us-east-2", cloud: "aws" },
          parents: { consortiumId: "c", environmentId: "e" },
        },
        {
          key: "g",
          kind: "configuration",
          args: { name: "gas", type: "node_config", details: { gas_price: `${secrets[0]}${now}` } },
          parents: within("e", "m"),
        },
        {
          key: "n",
          kind: "node",
          args: { name: `node${now}` },
          parents: { ...within("e", "m"), zoneId: "z", nodeConfigId: "g" },
        },
        { key: "o", kind: "node", args: { name: "other" }, parents: { ...within("e", "l"), zoneId: "z" } },
        { key: "p", kind: "node", args: { name: "node" }, parents: within("f", "l") },
        {
          key: "s",
          kind: "service",
          args: { name: "files", service: "ipfs" },
          parents: { ...within("e", "m"), zoneId: "z" },
        },
        { key: "t", kind: "service", args: { name: "files", service: "ipfs" }, parents: within("f", "l") },
        { key: "x", kind: "appCred", args: { name: "app" }, parents: within("e", "m") },
        { key: "y", kind: "appCred", args: { name: "app" }, parents: within("f", "l") },
      ];
    };
    const [made, changed, replaced] = [specs("made"), specs("changed"), specs("replaced")];
    return { made, changed, replaced, rest: ["update Environment f"], losses: 1 };
  },
} satisfies Record<string, (net: Network & Others) => Fixture>;

export type Kind = keyof typeof fixtures;
export const kinds = Object.keys(fixtures) as Kind[];

const owned = ({ consortiumId, environmentId, membershipId }: Network) => ({
  consortiumId,
  environmentId,
  membershipId,
});
const stored = ({ consortiumId, environmentId, documentsId }: Network & Others) => ({
  consortiumId,
  environmentId,
  serviceId: documentsId,
  serviceType: "documentstore",
});
