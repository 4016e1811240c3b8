import { z } from "zod";
import { field, metaOf } from "../../provider/core/field";
import { limits } from "../../provider/constants";
import { definitions } from "../../provider/resources";
import { mapping } from "../yaml/shape";
import { type ReferenceName, references } from "./references";

/*
 * The definition of a whole network, as a person writes it. From this follow the checks, the JSON schema for editors
 * (schemas/network.schema.json), the types (sdk/network/generated.ts) and the tables of docs/network-files.md.
 * The properties of the resources are those of their own definitions; here is only what is different in a file.
 */

const keyText =
  'a key must have at most 64 letters, digits, ".", "_" and "-", and begin with a letter or a digit; set other names with name, or orgName of a member';

/** Keys become logical names in Pulumi, where a slash stands between them. */
const keyOr = (error: string) =>
  z
    .string({ error })
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, keyText)
    .max(64, keyText);

const key = keyOr("a key must be text");

/** A mapping with the name that it has in the JSON schema and in TypeScript. */
const named = <S extends z.ZodRawShape>(id: string, description: string, what: string, shape: S) =>
  mapping(what, shape).meta({ id, description });

type Resource = keyof typeof definitions;

const own = (resource: Resource, property: string): z.ZodType =>
  (definitions[resource].inputs.shape as Record<string, z.ZodType>)[property]!;

/**
 * A property of a resource under its own rules, where another default holds than in a program. A new schema each time: what the
 * resource says of its own (that a change replaces, say) must stay on it.
 */
const of = (resource: Resource, property: string, otherwise?: string, more = "") => {
  const schema = own(resource, property);
  const { doc, default: usual } = metaOf(schema);
  return field(schema.optional(), doc + more, { default: otherwise ?? usual });
};

const formerly = (what = "key") =>
  field(
    z.union([key, z.array(key)], { error: "formerly must be the previous key, or a list of previous keys" }).optional(),
    `Previous ${what}, or a list of them, so that a rename replaces nothing. Can stay forever.`,
    { default: "none" },
  );

const protect = (what = "it", otherwise = "the option `protect` of the network") =>
  field(
    z.boolean({ error: "protect must be true or false" }).optional(),
    `Whether Pulumi refuses to delete or replace ${what}.`,
    { default: otherwise },
  );

const adopt = () =>
  field(
    own("node", "adopt").optional(),
    "`true` adopts the object with this name if it exists; an id adopts exactly that object or fails.",
    { default: "that of the network" },
  );

const extra = () => of("node", "extra");

const text = (what: string) => z.string({ error: `${what} must be text` });

/** A mapping by key; with `entry.nullable()` an entry may be left empty: `acme:` is `acme: {}`. */
const entries = <S extends z.ZodType>(what: string, entry: S) =>
  z.record(key, entry, { error: `${what} must be a mapping of keys to settings` });

const isReference = (property: string): property is ReferenceName => property in references;

/** What nodes may be given one by one, and all nodes of an environment at once. */
export const nodeSettings = [
  "role",
  "size",
  "zoneId",
  "kmsId",
  "opsmetricId",
  "backupId",
  "networkingId",
  "nodeConfigId",
  "bafId",
  "databaseType",
] as const;

const several = (resource: Resource, properties: readonly string[], otherwise?: string): Record<string, z.ZodType> =>
  Object.fromEntries(
    properties.flatMap((property) => {
      const name = property.replace(/Id$/, "");
      const byId = [property, of(resource, property, otherwise)] as const;
      if (name === property || !isReference(name)) return [byId];
      const doc = metaOf(own(resource, property))
        .doc.replace(/^Id/, "Key")
        .replace(/\.$/, `, instead of \`${property}\`.`);
      return [[name, field(key.optional(), doc, { default: otherwise ?? metaOf(byId[1]).default })] as const, byId];
    }),
  );

/** What most entries have at their end. */
const common = () => ({
  adopt: adopt(),
  protect: protect("it", "that of its environment"),
  formerly: formerly(),
  extra: extra(),
});

const details = (resource: Resource) =>
  of(resource, "details", undefined, " A value `{ env: NAME }` is that of the environment variable, and secret.");

const owner = () => field(keyOr("member is required: give the key of a member"), "Key of the member that owns it.");

const zone = (resource: "consortiumZone" | "environmentZone") => ({
  region: own(resource, "region"),
  cloud: own(resource, "cloud"),
  type: of(resource, "type"),
  name: of(resource, "name", "its key"),
});

export const Node = named("NetworkNode", "One node. Its key is its logical name within the environment.", "a node", {
  name: of("node", "name", "its key"),
  ...several("node", nodeSettings, "that in `nodeDefaults`, else the service chooses"),
  ...common(),
});

export const NodeDefaults = named(
  "NetworkNodeDefaults",
  "Settings of every node of the environment that has none of its own.",
  "nodeDefaults",
  several("node", nodeSettings),
);

const nodesOfMember = z.union(
  [
    z.int().min(0, "a count of nodes must be at least 0").max(1000, "a count of nodes must be at most 1000"),
    z.array(key),
    entries("nodes of a member", Node.nullable()),
  ],
  { error: "the nodes of a member must be a count, a list of names, or a mapping of names to settings" },
);

export const Credential = named(
  "NetworkCredential",
  "Username and password for the nodes of one member in this environment.",
  "a credential",
  {
    member: field(key.optional(), "Key of the member whose nodes it opens.", { default: "its own key" }),
    name: of("appCred", "name", "its key when the credential was created"),
    keepers: of("appCred", "keepers"),
    protect: protect("it", "that of its environment"),
    formerly: formerly(),
    extra: extra(),
  },
);

export const Tether = named(
  "NetworkTether",
  "Pins the ledger of the environment to a public chain, once all its nodes are running. Set `tetherId` or `consoleUrl`.",
  "a tether",
  {
    tetherId: of("tetherService", "tetherId"),
    consoleUrl: field(
      text("consoleUrl").min(10, "consoleUrl must be the address of the tether service in the console").optional(),
      "Its console address, which ends in the id, instead of `tetherId`.",
    ),
    network: own("tetherService", "network"),
    intervalHours: own("tetherService", "intervalHours"),
    active: of("tetherService", "active"),
    minimumBalanceWei: of("tetherService", "minimumBalanceWei"),
    waitForFunds: of("tetherService", "waitForFunds"),
    protect: protect("it", "that of its environment"),
    extra: of("tetherService", "extra"),
  },
);

export const EnvironmentZone = named(
  "NetworkEnvironmentZone",
  "A region of a cloud where nodes and services of the environment may run. One that exists already is shared: adopt it.",
  "a zone",
  { ...zone("environmentZone"), bridgeId: of("environmentZone", "bridgeId"), ...common() },
);

export const Configuration = named(
  "NetworkConfiguration",
  "Settings that nodes name, such as those of their client.",
  "a configuration",
  {
    member: owner(),
    type: own("configuration", "type"),
    name: of("configuration", "name", "its key"),
    details: details("configuration"),
    ...common(),
  },
);

export const Destination = named(
  "NetworkDestination",
  "Where documents or messages for the service's member arrive.",
  "a destination",
  {
    name: of("destination", "name", "its key when the destination was created"),
    kaleidoManaged: of("destination", "kaleidoManaged"),
    ...several("destination", ["idRegistryId"]),
    testCertificate: of("destination", "testCertificate"),
    ...common(),
  },
);

export const Service = named("NetworkService", "A service beside the ledger, such as `ipfs`.", "a service", {
  member: owner(),
  service: own("service", "service"),
  name: of("service", "name", "its key"),
  ...several("service", ["zoneId", "size"]),
  details: details("service"),
  destinations: field(
    z
      .union([key, z.array(key), entries("destinations", Destination.nullable())], {
        error: "destinations must be a key, a list of keys, or a mapping of keys to settings",
      })
      .optional(),
    "Destinations of a `documentstore` or `dataexchange`: a key, a list of keys, or a mapping of keys to settings.",
    { default: "none" },
  ),
  ...common(),
});

/** What environments are given as it is. */
export const environmentSettings = [
  "chainId",
  "releaseId",
  "blockPeriod",
  "prefundedAccounts",
  "multiRegion",
  "testFeatures",
] as const;

export const Environment = named(
  "NetworkEnvironment",
  "One ledger: client, consensus, nodes by member, credentials, tether, and the services beside it. " +
    `A consortium has at most ${limits.environments} environments.`,
  "an environment",
  {
    name: of("environment", "name", "its key"),
    description: of("environment", "description"),
    provider: own("environment", "provider"),
    consensusType: own("environment", "consensusType"),
    ...several("environment", environmentSettings),
    nodes: field(
      z.record(key, nodesOfMember, { error: "nodes must be a mapping of members to a count or to names" }).optional(),
      "Nodes by member: a count (`2` makes `<member>-1` and `<member>-2`), a list of names, or a mapping of names to settings. " +
        `At most ${limits.nodes} in all.`,
      { default: "none" },
    ),
    nodeDefaults: field(NodeDefaults.optional(), "Settings of every node that has none of its own.", {
      default: "none",
    }),
    credentials: field(
      z
        .union([z.array(key), entries("credentials", Credential.nullable())], {
          error: "credentials must be a list of members, or a mapping of names to settings",
        })
        .optional(),
      "Credentials: a list of members, or a mapping of names to settings; `[]` for none.",
      { default: "one for each member with nodes here" },
    ),
    tether: field(Tether.optional(), "Pins the ledger to a public chain.", { default: "no tether" }),
    zones: field(
      entries("zones", EnvironmentZone).optional(),
      "Where nodes and services of this environment may run, by key: they name one with `zone`.",
      { default: "none" },
    ),
    configurations: field(
      entries("configurations", Configuration).optional(),
      "Configurations by key: nodes name them with `nodeConfig`, `kms` and the like.",
      { default: "none" },
    ),
    services: field(entries("services", Service).optional(), "Services beside the ledger, by key.", {
      default: "none",
    }),
    adopt: adopt(),
    protect: protect("it or what is in it"),
    formerly: formerly(),
    extra: extra(),
  },
);

export const Member = named("NetworkMember", "One business of the consortium.", "a member", {
  orgName: of("membership", "orgName", "its key"),
  adopt: adopt(),
  protect: protect(),
  formerly: formerly(),
  extra: extra(),
});

export const ConsortiumZone = named(
  "NetworkConsortiumZone",
  "A region of a cloud where environments of the consortium may run. One that exists already is shared: adopt it.",
  "a zone",
  { ...zone("consortiumZone"), ...common(), protect: protect() },
);

export const Invitation = named(
  "NetworkInvitation",
  "Invites a business of another organization to the consortium.",
  "an invitation",
  {
    email: own("invitation", "email"),
    orgName: of("invitation", "orgName", "its key"),
    ...common(),
    protect: protect(),
  },
);

const consortiumFields = (name: string) => ({
  name: of("consortium", "name", name),
  description: of("consortium", "description"),
  adopt: adopt(),
  protect: protect(),
  extra: extra(),
});

export const ConsortiumHead = named(
  "NetworkConsortiumHead",
  "Settings of the consortium itself.",
  "the consortium",
  consortiumFields("the name of the network"),
);

const members = () =>
  field(
    z
      .union([z.array(key), entries("members", Member.nullable())], {
        error: "members must be a list of keys, or a mapping of keys to settings",
      })
      .optional(),
    "Participating businesses: a list of keys, or a mapping of keys to settings.",
    { default: "none" },
  );

const zones = () =>
  field(entries("zones", ConsortiumZone).optional(), "Where environments of the consortium may run, by key.", {
    default: "none",
  });

const invitations = () =>
  field(
    entries(
      "invitations",
      z.union([own("invitation", "email"), Invitation], {
        error: "an invitation must be the address that it goes to, or a mapping of its settings",
      }),
    ).optional(),
    "Businesses of other organizations that are invited: by key, the address that the invitation goes to, or its settings.",
    { default: "none" },
  );

const environments = () =>
  field(
    entries("environments", Environment).optional(),
    `Ledgers by key. At most ${limits.environments} in a consortium.`,
    { default: "none" },
  );

export const Consortium = named(
  "NetworkConsortium",
  "One of several consortia, with its members and environments.",
  "a consortium",
  {
    ...consortiumFields("its key"),
    formerly: formerly(),
    members: members(),
    zones: zones(),
    invitations: invitations(),
    environments: environments(),
  },
);

const limit = (what: string, usual: number) =>
  field(
    z
      .int({ error: "a limit must be a whole number" })
      .min(1, "a limit must be at least 1")
      .max(1000, "a limit must be at most 1000")
      .optional(),
    `Maximum number of ${what}.`,
    { default: String(usual) },
  );

/** What the service allows (spec, section 8). */
export const usualLimits = {
  consortiaPerOrganization: limits.consortia,
  environmentsPerConsortium: limits.environments,
  nodesPerEnvironment: limits.nodes,
};

export const Limits = named(
  "NetworkLimits",
  "Limits that the definition is validated against. Raise them if your organization has higher ones.",
  "limits",
  {
    consortiaPerOrganization: limit("consortia per organization", usualLimits.consortiaPerOrganization),
    environmentsPerConsortium: limit("environments per consortium", usualLimits.environmentsPerConsortium),
    nodesPerEnvironment: limit("nodes per environment", usualLimits.nodesPerEnvironment),
  },
);

export const Network = named(
  "NetworkDefinition",
  "A whole network: one consortium with its members and environments, or several consortia.",
  "a network",
  {
    name: field(key.optional(), "Name of the network, the first part of all logical names.", {
      default: "the name of the file",
    }),
    formerly: formerly("name of the network"),
    adopt: field(
      z.boolean({ error: "adopt must be true or false here; an id belongs to one entry" }).optional(),
      "`true`: every entry adopts the object with its name, unless it says otherwise.",
      { default: "`false`" },
    ),
    limits: field(Limits.optional(), "Limits of the organization.", { default: "those of the service" }),
    consortium: field(
      z
        .union([own("consortium", "name"), ConsortiumHead], {
          error: "consortium must be a name, or a mapping of its settings",
        })
        .optional(),
      "The consortium: its name, or its settings.",
      { default: "one with the name of the network" },
    ),
    members: members(),
    zones: zones(),
    invitations: invitations(),
    environments: environments(),
    consortia: field(
      entries("consortia", Consortium.nullable()).optional(),
      "Several consortia by key, instead of `consortium`, `members`, `zones`, `invitations` and `environments`. " +
        `An organization owns at most ${limits.consortia} consortia.`,
    ),
  },
);
