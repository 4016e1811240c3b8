import * as sdk from "../../sdk";
import { type Network, type Others } from "../support/network";
import { type Props } from "../support/double/wire";

/* Two resources of each kind, unequal, in the network of other people; how an update changes both; and how both are replaced. */

export type Elements = [a: Props, b: Props];

export interface Fixture {
  type: keyof typeof sdk;
  made: Elements;
  changed: Elements;
  replaced: Elements;
}

/** Values that nobody may read anywhere. */
export const secrets = ["hush-8471", "hush-2093"];
export const tethers = ["tether0001", "tether0002", "tether0003", "tether0004"];

type Changes = [a: Props, b: Props];
const fixture = (type: Fixture["type"], made: Elements, changes: Changes, replacements: Changes): Fixture => {
  const over = (below: Elements, [a, b]: Changes): Elements => [
    { ...below[0], ...a },
    { ...below[1], ...b },
  ];
  const changed = over(made, changes);
  return { type, made, changed, replaced: over(changed, replacements) };
};

const plans: Changes = [{ extra: { plan: 1 } }, { extra: { plan: 2 } }];

export const fixtures = {
  consortium: () =>
    fixture(
      "Consortium",
      [{ name: "acme", description: "old" }, { name: "beta" }],
      [{ name: "acme-2" }, { description: "new" }],
      plans,
    ),
  membership: ({ consortiumId }) =>
    fixture(
      "Membership",
      [
        { consortiumId, orgName: "acme" },
        { consortiumId, orgName: "beta" },
      ],
      [{ orgName: "acme-2" }, { orgName: "beta-2" }],
      plans,
    ),
  invitation: ({ consortiumId }) =>
    fixture(
      "Invitation",
      [
        { consortiumId, orgName: "acme", email: "ops@acme.example" },
        { consortiumId, orgName: "beta", email: "ops@beta.example" },
      ],
      [{ orgName: "acme-2" }, { email: "new@beta.example" }],
      plans,
    ),
  consortiumZone: ({ consortiumId }) =>
    fixture(
      "ConsortiumZone",
      [
        { consortiumId, name: "west", region: "us-west-1", cloud: "aws" },
        { consortiumId, name: "north", region: "eu-north-1", cloud: "azure" },
      ],
      [{ name: "west-2" }, { name: "north-2" }],
      [{ region: "us-west-2" }, { cloud: "aws" }],
    ),
  environment: ({ consortiumId }) =>
    fixture(
      "Environment",
      [
        { consortiumId, name: "dev", provider: "quorum", consensusType: "raft", description: "old" },
        { consortiumId, name: "prod", provider: "geth", consensusType: "poa", chainId: 77 },
      ],
      [{ name: "dev-2" }, { description: "new" }],
      [{ consensusType: "ibft" }, { chainId: 78 }],
    ),
  environmentZone: ({ consortiumId, environmentId }) =>
    fixture(
      "EnvironmentZone",
      [
        { consortiumId, environmentId, name: "west", region: "us-west-1", cloud: "aws" },
        { consortiumId, environmentId, name: "north", region: "eu-north-1", cloud: "azure" },
      ],
      [{ name: "west-2" }, { name: "north-2" }],
      [{ region: "us-west-2" }, { cloud: "aws" }],
    ),
  configuration: (net) =>
    fixture(
      "Configuration",
      [
        { ...owned(net), name: "prices", type: "node_config", details: { gas_price: secrets[0] } },
        { ...owned(net), membershipId: net.otherMembershipId, name: "backup", type: "backup", details: { key: "1" } },
      ],
      [{ name: "prices-2" }, { details: { key: secrets[1] } }],
      [{ membershipId: net.otherMembershipId }, { membershipId: net.membershipId }],
    ),
  node: (net) =>
    fixture(
      "Node",
      [
        { ...owned(net), name: "n1" },
        { ...owned(net), membershipId: net.otherMembershipId, name: "n2", zoneId: net.environmentZoneId },
      ],
      [{ name: "n1-2" }, { size: "large" }],
      [{ role: "observer" }, { membershipId: net.membershipId }],
    ),
  appCred: (net) =>
    fixture(
      "AppCred",
      [
        { ...owned(net), name: "app" },
        { ...owned(net), membershipId: net.otherMembershipId, name: "web" },
      ],
      [{ name: "app-2" }, { rotateWhenChanged: { month: "May" } }],
      [{ keepers: { turn: 1 } }, { keepers: { turn: 2 } }],
    ),
  service: (net) =>
    fixture(
      "Service",
      [
        { ...owned(net), name: "files", service: "ipfs" },
        {
          ...owned(net),
          membershipId: net.otherMembershipId,
          name: "wallet",
          service: "hdwallet",
          zoneId: net.environmentZoneId,
        },
      ],
      [{ name: "files-2" }, { size: "large", details: { depth: 3 } }],
      [{ zoneId: net.environmentZoneId }, { service: "dataexchange" }],
    ),
  destination: (net) =>
    fixture(
      "Destination",
      [
        { ...stored(net), name: "bills" },
        { ...stored(net), name: "orders", kaleidoManaged: false },
      ],
      [{ kaleidoManaged: false }, { kaleidoManaged: true }],
      [{ name: "bills-2" }, { name: "orders-2" }],
    ),
  tetherService: () =>
    fixture(
      "TetherService",
      [
        { tetherId: tethers[0], network: "rinkeby", intervalHours: 1 },
        { tetherId: tethers[1], network: "mainnet", intervalHours: 2, active: false },
      ],
      [{ intervalHours: 3 }, { network: "rinkeby", active: true }],
      [{ tetherId: tethers[2] }, { tetherId: tethers[3] }],
    ),
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

type Made = new (name: string, args: Props) => unknown;

/** The program with these two. */
export const programOf = (type: Fixture["type"], elements: readonly Props[]) => (): void => {
  const Class = sdk[type] as unknown as Made;
  for (const [at, args] of elements.entries()) new Class("ab"[at]!, args);
};
