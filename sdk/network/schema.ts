import { z } from "zod";
import { field, metaOf } from "../../provider/core/field";
import { limits } from "../../provider/constants";
import { definitions } from "../../provider/resources";
import { mapping } from "../yaml/shape";
import { type ReferenceName, references } from "./references";

/*
 * The definition of a whole network, as people write it. The checks, the JSON schema for editors (schemas/network.schema.json),
 * the types (sdk/network/generated.ts) and docs/reference/network-file.md are made from it.
 * Properties of resources come from the resources' own definitions; this file holds what is different in a network file.
 */

const keyText =
  'a key must have at most 64 letters, digits, ".", "_" and "-", and begin with a letter or a digit; set other names with name, or orgName of a member';

/** Keys become parts of logical names in Pulumi, joined by slashes. */
const keyOr = (error: string) =>
  z
    .string({ error })
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, keyText)
    .max(64, keyText);

const key = keyOr("a key must be text");

/** A mapping; `id` is its name in the JSON schema and in TypeScript. */
const named = <S extends z.ZodRawShape>(id: string, description: string, what: string, shape: S) =>
  mapping(what, shape).meta({ id, description });

type Resource = keyof typeof definitions;

const own = (resource: Resource, property: string): z.ZodType =>
  (definitions[resource].inputs.shape as Record<string, z.ZodType>)[property]!;

/**
 * An optional property of a resource, with its own rules. `otherwise` is the default in a file, if it differs from that in a program.
 * Each call makes a new schema, so that the resource keeps its own metadata.
 */
const of = (resource: Resource, property: string, otherwise?: string, more = "") => {
  const schema = own(resource, property);
  const { doc, default: usual, seen } = metaOf(schema);
  return field(schema.optional(), doc + more, { default: otherwise ?? usual, ...(seen && { seen }) });
};

/** An optional property, and its default in words. */
const optional = <S extends z.ZodType>(schema: S, doc: string, otherwise = "none") =>
  field(schema.optional(), doc, { default: otherwise });

const formerly = (what = "key") =>
  optional(
    z.union([key, z.array(key)], { error: "formerly must be the previous key, or a list of previous keys" }),
    `Previous ${what}, or a list of them, so that a rename replaces nothing. Can stay forever.`,
  );

const protect = (what = "it", otherwise = "the option `protect` of the network") =>
  optional(
    z.boolean({ error: "protect must be true or false" }),
    `Whether Pulumi refuses to delete or replace ${what}.`,
    otherwise,
  );

const adopt = () =>
  optional(
    own("node", "adopt"),
    "`true` adopts the object with this name if it exists; an id adopts exactly that object or fails.",
    "`adopt` of the network",
  );

const extra = () => of("node", "extra");

/** A mapping by key; with `entry.nullable()` an entry may be left empty: `acme:` is `acme: {}`. */
const entries = <S extends z.ZodType>(what: string, entry: S) =>
  z.record(key, entry, { error: `${what} must be a mapping of keys to settings` });

const isReference = (property: string): property is ReferenceName => property in references;

/** Settings of a single node, or of all nodes of an environment. */
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

/**
 * Properties of a resource, in this order: one that a program must give is required here, too, unless a file has a default for it.
 * One that takes an id may have a key in its place.
 */
const several = (
  resource: Resource,
  properties: readonly string[],
  otherwise: string | Record<string, string> = {},
): Record<string, z.ZodType> =>
  Object.fromEntries(
    properties.flatMap((property) => {
      const schema = own(resource, property);
      const usual = typeof otherwise === "string" ? otherwise : otherwise[property];
      const isRequired = usual === undefined && !schema.safeParse(undefined).success;
      const byId = [property, isRequired ? schema : of(resource, property, usual)] as const;
      const name = property.replace(/Id$/, "");
      if (!isReference(name)) return [byId];
      const doc = metaOf(schema).doc.replace(/^Id of (.*)\.$/, `Key of $1, instead of \`${property}\`.`);
      return [[name, field(key.optional(), doc, { default: metaOf(byId[1]).default })] as const, byId];
    }),
  );

const itsKey = { name: "its key" };

/** The last properties of most entries. */
const common = (protects = protect("it", "`protect` of its environment")) => ({
  adopt: adopt(),
  protect: protects,
  formerly: formerly(),
  extra: extra(),
});

const details = (resource: Resource) =>
  of(resource, "details", undefined, " A value `{ env: NAME }` is read from the environment variable, and is secret.");

const owner = () => field(keyOr("member is required: give the key of a member"), "Key of the member that owns it.");

const Node = named(
  "NetworkNode",
  "One node. Its key is its logical name within the environment. `nodeDefaults` has the settings that it lacks.",
  "a node",
  { ...several("node", ["name"], itsKey), ...several("node", nodeSettings), ...common() },
);

const NodeDefaults = named(
  "NetworkNodeDefaults",
  "Default settings of the nodes of the environment.",
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

const Credential = named(
  "NetworkCredential",
  "Username and password for the nodes of one member in this environment.",
  "a credential",
  {
    member: optional(key, "Key of the member whose nodes it opens.", "its own key"),
    ...several("appCred", ["name", "keepers", "rotateWhenChanged"], {
      name: "its key when the credential was created",
    }),
    protect: protect("it", "`protect` of its environment"),
    formerly: formerly(),
    extra: extra(),
  },
);

const Tether = named(
  "NetworkTether",
  "Pins the ledger of the environment to a public chain, once all its nodes are running. Set `tetherId` or `consoleUrl`.",
  "a tether",
  {
    tetherId: of("tetherService", "tetherId"),
    consoleUrl: field(
      z
        .string({ error: "consoleUrl must be text" })
        .min(10, "consoleUrl must be the address of the tether service in the console")
        .optional(),
      "Its console address, which ends in the id, instead of `tetherId`.",
    ),
    ...several("tetherService", ["network", "intervalHours", "active", "minimumBalanceWei", "waitForFunds"]),
    protect: protect("it", "`protect` of its environment"),
    extra: of("tetherService", "extra"),
  },
);

const EnvironmentZone = named(
  "NetworkEnvironmentZone",
  "A region of a cloud where nodes and services of the environment may run. One that exists already is shared: adopt it.",
  "a zone",
  { ...several("environmentZone", ["region", "cloud", "type", "name", "bridgeId"], itsKey), ...common() },
);

const Configuration = named(
  "NetworkConfiguration",
  "Settings that nodes refer to, such as those of their client.",
  "a configuration",
  {
    member: owner(),
    ...several("configuration", ["type", "name"], itsKey),
    details: details("configuration"),
    ...common(),
  },
);

const Destination = named(
  "NetworkDestination",
  "Receives documents or messages for the service's member.",
  "a destination",
  {
    ...several("destination", ["name", "kaleidoManaged", "idRegistryId", "testCertificate"], {
      name: "its key when the destination was created",
    }),
    ...common(),
  },
);

const Service = named("NetworkService", "A service beside the ledger, such as `ipfs`.", "a service", {
  member: owner(),
  ...several("service", ["service", "name", "zoneId", "size"], itsKey),
  details: details("service"),
  destinations: optional(
    z.union([key, z.array(key), entries("destinations", Destination.nullable())], {
      error: "destinations must be a key, a list of keys, or a mapping of keys to settings",
    }),
    "Destinations of a `documentstore` or `dataexchange`: a key, a list of keys, or a mapping of keys to settings.",
  ),
  ...common(),
});

const environmentSettings = [
  ...["name", "description", "provider", "consensusType"],
  "chainId",
  "releaseId",
  "paused",
  "blockPeriod",
  "prefundedAccounts",
  "multiRegion",
  "testFeatures",
] as const;

const Environment = named(
  "NetworkEnvironment",
  "One ledger: client, consensus, nodes by member, credentials, tether, and the services beside it. " +
    `A consortium has at most ${limits.environments} environments.`,
  "an environment",
  {
    ...several("environment", environmentSettings, itsKey),
    nodes: optional(
      z.record(key, nodesOfMember, { error: "nodes must be a mapping of members to a count or to names" }),
      "Nodes by member: a count (`2` makes `<member>-1` and `<member>-2`), a list of names, or a mapping of names to settings. " +
        `At most ${limits.nodes} in all.`,
    ),
    nodeDefaults: optional(NodeDefaults, "Default settings of the nodes."),
    credentials: optional(
      z.union([z.array(key), entries("credentials", Credential.nullable())], {
        error: "credentials must be a list of members, or a mapping of names to settings",
      }),
      "Credentials: a list of members, or a mapping of names to settings; `[]` for none.",
      "one for each member with nodes here",
    ),
    tether: optional(Tether, "Pins the ledger to a public chain.", "no tether"),
    zones: optional(
      entries("zones", EnvironmentZone),
      "Zones in which nodes and services of this environment may run, by key: they refer to one with `zone`.",
    ),
    configurations: optional(
      entries("configurations", Configuration),
      "Configurations by key: nodes refer to them with `nodeConfig`, `kms` and the like.",
    ),
    services: optional(entries("services", Service), "Services beside the ledger, by key."),
    ...common(protect("it or anything in it")),
  },
);

const Member = named("NetworkMember", "One business of the consortium.", "a member", {
  ...several("membership", ["orgName"], { orgName: "its key" }),
  ...common(protect()),
});

const ConsortiumZone = named(
  "NetworkConsortiumZone",
  "A region of a cloud where environments of the consortium may run. One that exists already is shared: adopt it.",
  "a zone",
  { ...several("consortiumZone", ["region", "cloud", "type", "name"], itsKey), ...common(protect()) },
);

const Invitation = named(
  "NetworkInvitation",
  "Invites a business of another organization to the consortium.",
  "an invitation",
  {
    ...several("invitation", ["email", "orgName"], { orgName: "its key" }),
    ...common(protect()),
  },
);

const consortiumFields = (name: string) => ({
  ...several("consortium", ["name", "description"], { name }),
  adopt: adopt(),
  protect: protect(),
  extra: extra(),
});

const ConsortiumHead = named(
  "NetworkConsortiumHead",
  "Settings of the consortium itself.",
  "the consortium",
  consortiumFields("the name of the network"),
);

/** The parts of a consortium. */
const contents = () => ({
  members: optional(
    z.union([z.array(key), entries("members", Member.nullable())], {
      error: "members must be a list of keys, or a mapping of keys to settings",
    }),
    "Participating businesses: a list of keys, or a mapping of keys to settings.",
  ),
  zones: optional(entries("zones", ConsortiumZone), "Zones in which environments of the consortium may run, by key."),
  invitations: optional(
    entries(
      "invitations",
      z.union([own("invitation", "email"), Invitation], {
        error: "an invitation must be an e-mail address, or a mapping of settings",
      }),
    ),
    "Invited businesses of other organizations, by key: the e-mail address, or settings.",
  ),
  environments: optional(
    entries("environments", Environment),
    `Ledgers by key. At most ${limits.environments} in a consortium.`,
  ),
});

const Consortium = named(
  "NetworkConsortium",
  "One of several consortia, with its members and environments.",
  "a consortium",
  {
    ...consortiumFields("its key"),
    formerly: formerly(),
    ...contents(),
  },
);

const limit = (what: string, usual: number) =>
  optional(
    z
      .int({ error: "a limit must be a whole number" })
      .min(1, "a limit must be at least 1")
      .max(1000, "a limit must be at most 1000"),
    `Maximum number of ${what}.`,
    String(usual),
  );

/** Limits of the service (spec, section 8). */
export const usualLimits = {
  consortiaPerOrganization: limits.consortia,
  environmentsPerConsortium: limits.environments,
  nodesPerEnvironment: limits.nodes,
};

const Limits = named(
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
    name: optional(key, "Name of the network, the first part of all logical names.", "the name of the file"),
    formerly: formerly("name of the network"),
    adopt: optional(
      z.boolean({ error: "adopt must be true or false here; an id belongs to one entry" }),
      "`true`: every entry adopts the object with its name, unless it says otherwise.",
      "`false`",
    ),
    limits: optional(Limits, "Limits of the organization.", "the service's limits"),
    consortium: optional(
      z.union([own("consortium", "name"), ConsortiumHead], {
        error: "consortium must be a name, or a mapping of its settings",
      }),
      "The consortium: its name, or its settings.",
      "one with the name of the network",
    ),
    ...contents(),
    consortia: field(
      entries("consortia", Consortium.nullable()).optional(),
      "Several consortia by key, instead of `consortium`, `members`, `zones`, `invitations` and `environments`. " +
        `An organization owns at most ${limits.consortia} consortia.`,
    ),
  },
);
