import { type z } from "zod";
import { type Definition, nameKey, type Props } from "../../provider/core/definition";
import { type LookupName, lookups } from "../../provider/lookups";
import { definitions } from "../../provider/resources";
import { Choice, type Fields, Found, type Language, languages, type Part, type Program, Ref, Typed } from "./languages";

/* The programs of the documentation, and those of examples/ and templates/ in languages other than TypeScript. */

/** Ids of existing objects. */
export const sampleIds = {
  consortium: "u0k4tx9q2c",
  membership: "u0m1bz7h4d",
  environment: "u0l8vd3m7e",
  node: "u0n2wp6r5a",
  appCred: "u0p6yj3s8f",
  consortiumZone: "u0z1ks7v4n",
  environmentZone: "u0z9fw2x6c",
  configuration: "u0c5ph8t3m",
  service: "u0s4gd1y7r",
  registry: "u0s8xn5b3v",
  invitation: "u0i7ql5b2k",
  tether: "0123456789",
};
/** That of a kind without one above. */
const otherId = "u0x3rt8k5w";

const id = (name: string): Ref => new Ref(name, "id");
const client = {
  provider: new Choice("EnvironmentProvider", "quorum"),
  consensusType: new Choice("EnvironmentConsensusType", "raft"),
};
const inConsortium = { consortiumId: id("coffee-trade") };
const inLedger: Fields = { ...inConsortium, environmentId: id("ledger") };
const ofMember = (member: string): Fields => ({ ...inLedger, membershipId: id(member) });

const node = (name: string, member: string): Part => ({ type: "Node", name, args: ofMember(member) });
const app = (member: string): Part => ({ type: "AppCred", name: `${member}-app`, args: ofMember(member) });
const member = (name: string): Part => ({ type: "Membership", name, args: inConsortium });

const parts: Part[] = [
  {
    type: "Consortium",
    name: "coffee-trade",
    args: { description: "Who delivered which beans to whom" },
    comment: "A business network and its two members.",
  },
  member("grower"),
  member("roaster"),
  {
    type: "Environment",
    name: "ledger",
    args: { ...inConsortium, ...client },
    comment: "Their shared ledger.",
  },
  { ...node("grower-1", "grower"), comment: "Each company runs two nodes, so one can fail." },
  node("grower-2", "grower"),
  node("roaster-1", "roaster"),
  node("roaster-2", "roaster"),
  {
    ...app("grower"),
    comment: "Each company's applications log in to its nodes with a username and a password.",
  },
  app("roaster"),
];

/** The network of examples/quickstart, without its tether. */
export const quickstart: Program = {
  parts,
  outputs: {
    consortiumId: id("coffee-trade"),
    environmentId: id("ledger"),
    rpcUrls: Object.fromEntries(
      parts.filter(({ type }) => type === "Node").map(({ name }) => [name, new Ref(name, "urls.rpc")]),
    ),
    usernames: { grower: new Ref("grower-app", "username"), roaster: new Ref("roaster-app", "username") },
    passwords: { grower: new Ref("grower-app", "password"), roaster: new Ref("roaster-app", "password") },
  },
};

const companies = ["buyer", "seller"];
const ofCompany = (company: string): Fields => ({
  consortiumId: id("trade"),
  environmentId: id("ledger"),
  membershipId: id(company),
});

/** The program of the templates for `pulumi new`. */
export const starter: Program = {
  parts: [
    { type: "Consortium", name: "trade", args: { name: "${PROJECT}", description: "Created with pulumi new" } },
    {
      type: "Environment",
      name: "ledger",
      args: { consortiumId: id("trade"), ...client },
      comment: "One ledger. Replacing it loses its data: in production, set the option protect.",
    },
    ...companies.flatMap((company, index): Part[] => [
      {
        type: "Membership",
        name: company,
        args: { consortiumId: id("trade") },
        ...(index === 0 && { comment: "Each company runs a node of the ledger, and its applications log in to it." }),
      },
      { type: "Node", name: `${company}-node`, args: ofCompany(company) },
      { type: "AppCred", name: `${company}-app`, args: ofCompany(company) },
    ]),
  ],
  outputs: {
    chainId: new Ref("ledger", "chainId"),
    endpoints: Object.fromEntries(
      companies.map((company) => [
        company,
        {
          url: new Ref(`${company}-node`, "urls.rpc"),
          username: new Ref(`${company}-app`, "username"),
          password: new Ref(`${company}-app`, "password"),
        },
      ]),
    ),
  },
};

/** Some of the parts, without their comments. */
const some = (names: string[]): Part[] =>
  parts.filter(({ name }) => names.includes(name)).map(({ comment: _, ...part }) => part);

const region: Fields = { region: "us-east-2", cloud: "aws" };
const service = (name: string, type: string): Part => ({
  type: "Service",
  name,
  args: { ...ofMember("grower"), service: type },
});

/** A network with a resource of each kind. */
export const whole: Program = {
  parts: [
    ...some(["coffee-trade", "grower", "ledger"]),
    { type: "ConsortiumZone", name: "us-east", args: { ...inConsortium, ...region, adopt: true } },
    { type: "Invitation", name: "shipper", args: { ...inConsortium, email: "ops@shipper.example" } },
    { type: "EnvironmentZone", name: "ohio", args: { ...inLedger, ...region } },
    {
      type: "Configuration",
      name: "gas",
      args: { ...ofMember("grower"), type: "node_config", details: { gas_price: "1" } },
    },
    {
      ...node("grower-1", "grower"),
      args: { ...ofMember("grower"), size: "small", zoneId: id("ohio"), nodeConfigId: id("gas") },
    },
    ...some(["grower-app"]),
    service("files", "ipfs"),
    service("registry", "idregistry"),
    service("documents", "documentstore"),
    {
      type: "Destination",
      name: "deliveries",
      args: {
        ...ofMember("grower"),
        serviceId: id("documents"),
        serviceType: new Ref("documents", "service"),
        idRegistryId: id("registry"),
        testCertificate: true,
      },
    },
    {
      type: "TetherService",
      name: "pin",
      args: { tetherId: sampleIds.tether, network: new Choice("TetherServiceNetwork", "local"), intervalHours: 1 },
      dependsOn: ["grower-1"],
    },
  ],
  outputs: {
    rpc: new Ref("grower-1", "urls.rpc"),
    username: new Ref("grower-app", "username"),
    password: new Ref("grower-app", "password"),
    urls: new Ref("files", "urls"),
    uri: new Ref("deliveries", "uri"),
  },
};

const partOf = (name: string): Part => whole.parts.find((part) => part.name === name)!;

/** The id of a part as an object that exists already. */
function idOf({ type, name }: Part): string | undefined {
  const kind = `${type[0]!.toLowerCase()}${type.slice(1)}`;
  return (sampleIds as Record<string, string>)[name in sampleIds ? name : kind];
}

/** The value for a reference to an existing object: its id, or the value of its argument. */
function known({ name, path }: Ref): Fields[string] {
  const part = partOf(name);
  return path === "id" ? idOf(part)! : part.args[path]!;
}

const network: Part = {
  type: "Network",
  name: "coffee-trade",
  args: {
    members: ["grower", "roaster"],
    environments: {
      ledger: new Typed("NetworkEnvironment", { ...client, nodes: { grower: 2, roaster: 2 } }),
    },
  },
};

interface Example {
  title: string;
  program: Program;
  /** Commands that import the program's object, by id and by path. */
  imports?: string[];
}

/** One of the parts by itself, with ids of objects that exist already. `path` is another way to import it, besides its id. */
function alone(title: string, name: string, path?: string): Example {
  const part = partOf(name);
  const fields = Object.entries(part.args).map(([key, value]) => [key, value instanceof Ref ? known(value) : value]);
  const shown = Object.entries(whole.outputs).filter(([, value]) => (value as Ref).name === name);
  const { type } = part;
  const parts = [{ type, name, args: Object.fromEntries(fields) as Fields }];
  const ways = [idOf(part), path].filter((way) => way !== undefined);
  return {
    title,
    program: { parts, outputs: Object.fromEntries(shown) },
    imports: ways.map((way) => `pulumi import consortium:index:${type} ${name} ${way}`),
  };
}

/** A minimal example of a kind that has no part in `whole`. */
function least(definition: Definition): Example {
  const { type, title } = definition;
  const ids = Object.fromEntries(Object.entries(sampleIds).map(([kind, id]) => [`${kind}Id`, id]));
  const enough = Object.entries(enoughFor(definition, ids, title));
  const args = Object.fromEntries(enough.filter(([key]) => key !== nameKey(definition)));
  const name = title.replaceAll(" ", "-");
  const parts = [{ type, name, args: args as Fields }];
  return {
    title: `The ${title}`,
    program: { parts, outputs: {} },
    imports: [`pulumi import consortium:index:${type} ${name} ${otherId}`],
  };
}

/** An example for each resource, by itself. */
export const examples: Record<string, Example> = {
  ...Object.fromEntries(
    Object.values<Definition>(definitions).map((definition) => [definition.type, least(definition)]),
  ),
  Consortium: alone("A consortium", "coffee-trade", "coffee-trade"),
  Membership: alone("A member of a consortium", "grower", "coffee-trade/grower"),
  Environment: alone("A ledger", "ledger", "coffee-trade/ledger"),
  Node: alone("A node of one member", "grower-1", "coffee-trade/ledger/grower-1"),
  AppCred: alone("A credential for one member's applications", "grower-app", "coffee-trade/ledger/grower-app"),
  ConsortiumZone: alone("A region for the environments of a consortium", "us-east", "coffee-trade/us-east"),
  EnvironmentZone: alone("A region for nodes", "ohio", "coffee-trade/ledger/ohio"),
  Configuration: alone("A gas price for nodes", "gas", "coffee-trade/ledger/gas"),
  Service: alone("A file store beside the ledger", "files", "coffee-trade/ledger/files"),
  Invitation: alone("Another business is invited", "shipper", "coffee-trade/shipper"),
  Destination: alone("A place for a member's documents", "deliveries", "coffee-trade/ledger/documents/deliveries"),
  TetherService: alone("An hourly pin to a public chain", "pin", sampleIds.tether),
  Network: { title: "Two members with two nodes each", program: { parts: [network], outputs: {} } },
};

/** Their names. */
const sampleNames = { consortium: "coffee-trade", membership: "grower", environment: "ledger", node: "grower-1" };

/** An example for each lookup, with these ids and names. */
export function lookupExamples(ids: typeof sampleIds, names = sampleNames): Record<string, Example> {
  const consortium = { consortiumId: ids.consortium };
  const environment = { ...consortium, environmentId: ids.environment };
  const node = { ...environment, nodeId: ids.node };
  const tether = { tetherId: ids.tether };
  const network = new Choice("TetherServiceNetwork", "local");
  /** The title, the variable, and the parts of the answer to show. */
  const all: Record<LookupName, [title: string, name: string, args: Fields, shown: string]> = {
    getConsortia: ["Consortia by name", "named", { name: "coffee-trade" }, "consortia"],
    getMemberships: ["All members", "members", consortium, "memberships"],
    getEnvironments: ["All ledgers", "ledgers", consortium, "environments"],
    getNodes: ["All nodes of a ledger", "ledgerNodes", environment, "nodes"],
    getConsortium: ["A consortium by name", "trade", { name: names.consortium }, "id"],
    getMembership: ["A member by name", "partner", { ...consortium, orgName: names.membership }, "id"],
    getEnvironment: ["A ledger by name", "mainLedger", { ...consortium, name: names.environment }, "id"],
    getNode: ["A node by name", "peer", { ...environment, name: names.node }, "id"],
    getNodeStatus: ["The height of a node", "status", node, "blockHeight"],
    getNodeLogs: ["The end of a node's log", "log", { ...node, maxLines: 20 }, "lines"],
    getZones: ["Zones of a ledger", "ledgerZones", environment, "zones"],
    getConfigurations: ["Settings of clients", "settings", { ...environment, type: "node_config" }, "configurations"],
    getServices: ["All services of a ledger", "ledgerServices", environment, "services"],
    getInvitations: ["Who is invited", "invited", consortium, "invitations"],
    getReleases: ["Releases of a client", "quorum", { provider: "quorum" }, "releases"],
    getTetherAccount: ["The account that pays", "payer", tether, "account"],
    getTetherBalance: ["Remaining balance", "balance", { ...tether, network }, "balanceWei"],
    getTetherReports: ["The last three pins", "latest", { ...tether, count: 3 }, "reports"],
  };
  return Object.fromEntries(
    Object.entries(all).map(([lookup, [title, name, args, shown]]) => {
      const { list } = lookups[lookup as LookupName];
      const looks = [{ name, lookup, args, list }];
      const outputs = { [shown === "id" ? `${name}Id` : shown]: new Found(name, shown) };
      return [lookup, { title, program: { parts: [], lookups: looks, outputs } }];
    }),
  );
}

/** The example of a resource or a lookup in every language, in the form of Pulumi's registry. */
export function examplesOf(name: string): string {
  const { title, program, imports: commands } = examples[name] ?? lookupExamples(sampleIds)[name]!;
  const blocks = (Object.keys(languages) as Language[]).map((language) => {
    return `\`\`\`${language}\n${languages[language](program)}\`\`\``;
  });
  return `{{% examples %}}
## Example Usage

{{% example %}}
### ${title}

${blocks.join("\n\n")}
{{% /example %}}
{{% /examples %}}${commands ? `\n\n## Import\n\n\`\`\`sh\n${commands.join("\n")}\n\`\`\`` : ""}`;
}

/** Arguments that are enough for one: ids of what it is in, a name, and else the examples that the errors about missing ones give. */
export function enoughFor(
  { inputs, ...definition }: Pick<Definition, "type" | "inputs">,
  ids: Props,
  name: string,
): Props {
  const needed = Object.entries<z.ZodType>(inputs.shape).filter(([, schema]) => !schema.safeParse(undefined).success);
  const given = needed.map(([key, schema]) => {
    if (key in ids) return [key, ids[key]];
    if (key === nameKey({ inputs })) return [key, name];
    const messages = [undefined, "?", 0].flatMap((wrong) => schema.safeParse(wrong).error?.issues ?? []);
    const examples = messages.map(({ message }) => /such as "?([^",]+)|at least (\d+)/.exec(message) ?? []);
    const [, text, least] = examples.find(({ length }) => length > 0) ?? [];
    if (text === undefined && least === undefined)
      throw new Error(`${definition.type}: the errors about ${key} give no example: say "…, such as …"`);
    return [key, text ?? Number(least)];
  });
  return Object.fromEntries(given) as Props;
}
