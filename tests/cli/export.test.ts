import * as fc from "fast-check";
import { parse } from "yaml";
import { yamlOf } from "../../cli/export";
import { definitionOf, keysOf } from "../../cli/export/definition";
import { type Found, type ListedKind } from "../../provider/resources/tree";
import { type Service, startService } from "../../service/index";
import { Network, type NetworkDefinition, type NetworkEnvironment } from "../../sdk";
import { Stack } from "../support/double/stack";
import { inText } from "../sdk/network/problems";
import { network, others, send } from "../support/network";
import { connection, consortium } from "./command";
import { found, strangeNames } from "./found";

let latest = 0;
/** Each call sees a later time, because similar objects are exported by age. */
const clock = (): number => (latest = Math.max(Date.now(), latest + 1));

let service: Service;
beforeEach(async () => {
  service = await startService({
    clock,
    limits: { consortia: 9, environments: 9, nodes: 9 },
    timing: { environmentStart: 0, nodeStart: 0, deletedVisible: 60_000 },
  });
});
afterEach(() => service.close());

const make = async (path: string, body: object): Promise<string> => {
  const { _id, id } = await send(service, "POST", path, body);
  return _id ?? id;
};

const run = (...args: string[]) => consortium(["export", ...args], connection(service));

/** Adopts the network, and previews it again. */
async function expectUnchanged(definition: NetworkDefinition): Promise<void> {
  const config = { "consortium:baseUrl": service.baseUrl, "consortium:apiKey": service.apiKey };
  const stack = new Stack("dynamic", { config });
  const program = () => new Network("trade", definition);
  service.clearCalls();
  expect((await stack.up(program)).errors).toEqual([]);
  expect((await stack.preview(program)).steps.filter((step) => !step.startsWith("same"))).toEqual([]);
  expect(service.calls.filter(({ method }) => method !== "GET")).toEqual([]);
}

/** A network with names such as people choose in a console. */
async function byHand() {
  const c = await make("/consortia", { name: "Kaffee & Tee", description: "by hand" });
  const within = `/consortia/${c}`;
  const acme = await make(`${within}/memberships`, { org_name: "acme" });
  const tokyo = await make(`${within}/memberships`, { org_name: "東京" });
  const kind = { provider: "quorum", consensus_type: "ibft", chain_id: 7 };
  const e = await make(`${within}/environments`, { name: "prod / eu", ...kind });
  const one = await make(`${within}/environments/${e}/nodes`, { name: "acme-1", membership_id: acme });
  const two = await make(`${within}/environments/${e}/nodes`, { name: "acme-1", membership_id: acme });
  const cred = await make(`${within}/environments/${e}/appcreds`, { name: "app", membership_id: acme });
  return { c, acme, tokyo, e, one, two, cred };
}

test("credentials that the service does not list are remarked on", () => {
  const environment = found("environment", "e1", { name: "prod", provider: "quorum", consensusType: "raft" });
  const trade = found("consortium", "c1", { name: "trade" }, [{ ...environment, unlisted: ["appCred"] }]);
  expect(definitionOf(trade, { adopt: true }).remarks).toContainEqual({
    path: ["environments", "prod", "credentials"],
    text: "the service does not list credentials",
  });
});

test("the file of an existing network adopts each object by its id, under a valid key", async () => {
  const { c, acme, tokyo, e, one, two, cred } = await byHand();
  service.clearCalls();
  const { code, stdout, stderr } = await run("--consortium", "Kaffee & Tee", "--adopt");
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(parse(stdout)).toEqual({
    name: "Kaffee-Tee",
    consortium: { name: "Kaffee & Tee", description: "by hand", adopt: c },
    members: { acme: { adopt: acme }, [`member-${tokyo}`]: { orgName: "東京", adopt: tokyo } },
    environments: {
      "prod-eu": {
        name: "prod / eu",
        provider: "quorum",
        consensusType: "ibft",
        chainId: 7,
        adopt: e,
        nodes: {
          acme: {
            [`acme-1-${one}`]: { name: "acme-1", size: "small", adopt: one },
            [`acme-1-${two}`]: { name: "acme-1", size: "small", adopt: two },
          },
        },
        credentials: [],
      },
    },
  });
  const why = `not exported, because only their holders know the passwords: ${cred}`;
  expect(stdout).toContain(`# ${why}\n    credentials: []`);
  expect(stderr).toBe(`note: environments.prod-eu.credentials: ${why}\n`);
  expect(stdout).toMatch(/^# yaml-language-server: \$schema=/);
  expect(inText(stdout)).toEqual([]);
  expect(service.calls.map(({ method }) => method)).not.toContain("POST");
  expect((await run("--consortium", c, "--adopt")).stdout).toBe(stdout);
  const { network: same, notes } = JSON.parse((await run("--consortium", c, "--adopt", "--json")).stdout) as {
    network: object;
    notes: { text: string }[];
  };
  expect(same).toEqual(parse(stdout));
  expect(notes.length).toBeGreaterThan(0);
});

test("settings of nodes are in the file; adopting that file changes nothing", async () => {
  const c = await make("/consortia", { name: "trade" });
  const acme = await make(`/consortia/${c}/memberships`, { org_name: "acme" });
  const kind = { provider: "geth", consensus_type: "poa", block_period: 3, release_id: "geth-0" };
  const e = await make(`/consortia/${c}/environments`, { name: "prod", ...kind });
  const within = `/consortia/${c}/environments/${e}/nodes`;
  const zone = await make(`/consortia/${c}/environments/${e}/zones`, { name: "z", region: "eu", cloud: "aws" });
  const own = { size: "large", zone_id: zone, kms_id: "k1", database_type: "leveldb" };
  const one = await make(within, { name: "one", membership_id: acme, ...own });
  const two = await make(within, { name: "two", membership_id: acme });
  const { stdout } = await run("--consortium", "trade", "--adopt");
  expect(inText(stdout)).toEqual([]);
  const { prod } = (parse(stdout) as { environments: Record<string, NetworkEnvironment> }).environments;
  const settings = { size: "large", zone: "z", kmsId: "k1", databaseType: "leveldb" };
  expect(prod!.zones).toEqual({ z: { region: "eu", cloud: "aws", adopt: zone } });
  expect(prod!.nodes).toEqual({ acme: { one: { ...settings, adopt: one }, two: { size: "small", adopt: two } } });
  expect(Object.keys(prod!)).not.toEqual(expect.arrayContaining(["blockPeriod"]));

  const copy = await run("--consortium", "trade");
  expect(copy.stdout).not.toContain("adopt");
  const { environments } = parse(copy.stdout) as { environments: Record<string, NetworkEnvironment> };
  expect(inText(copy.stdout)).toEqual([]);
  expect(environments.prod).toMatchObject({ blockPeriod: 3 });
  expect(environments.prod!.nodes).toEqual({
    acme: { one: { size: "large", zone: "z", databaseType: "leveldb" }, two: { size: "small" } },
  });
  const why = "left out, because the objects belong to the environment: kmsId k1. Set those of the copy";
  expect(copy.stderr).toContain(`note: environments.prod.nodes.acme.one: ${why}\n`);
  expect(copy.stdout).toContain(`# ${why}\n`);

  // The whole flow: export, adopt, preview again.
  await expectUnchanged(parse(stdout) as NetworkDefinition);
});

describe("zones, configurations, services, invitations and destinations", () => {
  const now = { pass: () => undefined }; // everything starts at once
  const ohio = { region: "us-east-2", cloud: "aws" };

  test("are in the file, and adopting that file changes nothing", async () => {
    const net = await network(service, now);
    const ids = await others(service, now, net);
    const { stdout, stderr } = await run("--consortium", "fixture", "--adopt");
    expect(inText(stdout)).toEqual([]);
    const definition = parse(stdout) as NetworkDefinition;
    expect(definition).toMatchObject({
      zones: { ohio: { ...ohio, adopt: ids.consortiumZoneId } },
      invitations: { third: { email: "ops@third.example", adopt: ids.invitationId } },
    });
    const own = { member: "first", size: "small" };
    expect(definition.environments!.main).toMatchObject({
      zones: { ohio: { ...ohio, adopt: ids.environmentZoneId } },
      configurations: { gas: { member: "first", type: "node_config", adopt: ids.configurationId } },
      services: {
        registry: { ...own, service: "idregistry", adopt: ids.registryId },
        documents: {
          ...own,
          service: "documentstore",
          zone: "ohio",
          adopt: ids.documentsId,
          destinations: { inbox: { adopt: "inbox" } },
        },
      },
    });
    expect(definition.environments!.spare).not.toHaveProperty("zones");
    const why = "the service does not show its details: they stay as they are";
    expect(stdout).toContain(`# ${why}\n`);
    expect(stderr).toBe(`note: environments.main.configurations.gas: ${why}\n`);
    expect(stdout).not.toContain("hush");

    await expectUnchanged(definition);
  });

  test("a copy notes what it lacks; objects without an owner are left out", async () => {
    const net = await network(service, now);
    const ids = await others(service, now, net);
    service.store.configurations.patch(ids.configurationId, { membership_id: "m-unknown" });
    service.store.services.patch(ids.documentsId, { details: { key: "hush" } });
    const { stdout, stderr } = await run("--consortium", "fixture");
    expect(inText(stdout)).toEqual([]);
    expect(stdout).not.toContain("hush");
    const { main } = (parse(stdout) as NetworkDefinition).environments!;
    expect(main).not.toHaveProperty("configurations");
    expect(main!.services!.documents).toEqual({
      member: "first",
      service: "documentstore",
      size: "small",
      zone: "ohio",
      destinations: { inbox: {} },
    });
    expect(stderr.split("\n").sort()).toEqual([
      "",
      `note: environments.main.configurations: the configuration ${ids.configurationId} is left out: the service does not show which member owns it`,
      "note: environments.main.services.documents.destinations: destinations of a copy need idRegistry:, and testCertificate: or a verified member",
      "note: environments.main.services.documents: its details are left out, because they may be secret: set details: if the copy needs them",
    ]);
  });

  test("--import uses the names of the file, and notes what an imported configuration lacks", async () => {
    const net = await network(service, now);
    const ids = await others(service, now, net);
    const { stdout, stderr } = await run("--import");
    const { resources } = JSON.parse(stdout) as { resources: { type: string; logicalName: string; id: string }[] };
    const within = `${net.consortiumId}/${net.environmentId}`;
    const old = /Consortium|Membership|Environment|Node|AppCred$/;
    const said = resources.map(({ type, logicalName, id }) => [type.split(":").at(-1)!, logicalName, id]);
    expect(said.filter(([type]) => /Zone$/.test(type!) || !old.test(type!))).toEqual([
      ["ConsortiumZone", "fixture/ohio", `${net.consortiumId}/${ids.consortiumZoneId}`],
      ["Invitation", "fixture/third", `${net.consortiumId}/${ids.invitationId}`],
      ["EnvironmentZone", "fixture/main/ohio", `${within}/${ids.environmentZoneId}`],
      ["Configuration", "fixture/main/gas", `${within}/${ids.configurationId}`],
      ["Service", "fixture/main/registry", `${within}/${ids.registryId}`],
      ["Service", "fixture/main/documents", `${within}/${ids.documentsId}`],
      ["Destination", "fixture/main/documents/inbox", `${within}/${ids.documentsId}/inbox`],
    ]);
    expect(stderr).toBe(
      "note: fixture/main/gas: the service does not show the details: the next `up` sends the program's.\n",
    );
  });
});

test("deleted objects are left out, and the file raises its limits for a large network", async () => {
  const gone = await make("/consortia", { name: "trade" });
  await send(service, "DELETE", `/consortia/${gone}`);
  const c = await make("/consortia", { name: "trade" });
  const environment = (name: string) =>
    make(`/consortia/${c}/environments`, { name, provider: "geth", consensus_type: "poa" });
  const old = await environment("old");
  await send(service, "DELETE", `/consortia/${c}/environments/${old}`);
  const m = await make(`/consortia/${c}/memberships`, { org_name: "m" });
  for (const name of ["a", "b", "c", "d"]) await environment(name);
  const e = await environment("e");
  for (let node = 1; node <= 5; node++)
    await make(`/consortia/${c}/environments/${e}/nodes`, { name: `n${node}`, membership_id: m });
  const { code, stdout } = await run("--consortium", "trade", "--adopt");
  expect(code).toBe(0);
  const said = parse(stdout) as { environments: object };
  expect(said).toMatchObject({ limits: { environmentsPerConsortium: 5, nodesPerEnvironment: 5 } });
  expect(Object.keys(said.environments)).toEqual(["a", "b", "c", "d", "e"]);
  expect(inText(stdout)).toEqual([]);
});

test("errors: no consortium, an unknown one with a suggestion, and no choice among several, also of one name", async () => {
  const refused = (why: string, code = "not-found") => ({
    code: 1,
    stdout: "",
    stderr: `consortium: ${why} [${code}: docs/troubleshooting.md#${code}]\n`,
  });
  expect(await run("--consortium", "x")).toEqual(refused("The organization of this API key has no consortium."));
  await make("/consortia", { name: "coffee" });
  const unknown = 'There is no consortium "cofee"; did you mean "coffee"?';
  expect(await run("--consortium", "cofee")).toEqual(refused(unknown));
  expect(await run()).toMatchObject({ code: 0, stdout: expect.stringContaining("coffee") as string });
  const first = await make("/consortia", { name: "twins" });
  const several = "Choose one with --consortium <name or id>: there are several consortia (coffee, twins).";
  expect(await run()).toEqual(refused(several, "invalid-argument"));
  const second = await make("/consortia", { name: "twins" });
  const { code, stdout, stderr } = await run("--consortium", "twins");
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(
    /^consortium: Several consortia have the name "twins": \w+, \w+. Give the id of one: --consortium \w+ \[not-found: \S+\]\n$/,
  );
  for (const id of [first, second]) expect(stderr).toContain(id);
  expect(await run("--consortium", second)).toMatchObject({ code: 0 });
});

const keys = (...names: (string | undefined)[]) => [
  ...keysOf(
    names.map((name, index) => ({ id: `id${index}`, props: { name } })),
    "node",
  ).values(),
];

test.each<[string, (string | undefined)[], string[]]>([
  ["as they are", ["acme", "Globex.main_1"], ["acme", "Globex.main_1"]],
  ["without what a key cannot hold", ["Globex & Co.", " Zürich/1 "], ["Globex-Co", "Zurich-1"]],
  ["with an id where names are alike", ["a", "A", "b"], ["a-id0", "A-id1", "b"]],
  ["with an id where nothing is left", ["東京", "", undefined, "--"], ["node-id0", "node-id1", "node-id2", "node-id3"]],
  ["with an id where JavaScript has the name", ["constructor"], ["node-id0"]],
  ["short", ["x".repeat(300)], ["x".repeat(40)]],
])("keys: %s", (_, names, expected) => expect(keys(...names)).toEqual(expected));

test("objects that cannot be described are noted in the file and on standard error", () => {
  const consortium = found("consortium", "c1", { name: "trade" }, [
    found("membership", "m1", { orgName: "acme" }),
    found("environment", "e1", { name: "new", provider: "quorum", consensusType: "poa" }),
    found("environment", "e2", { provider: "geth", consensusType: "poa", enableTether: true }, [
      found("node", "n1", { membershipId: "m1" }),
      found("node", "n2", { name: "lost" }),
    ]),
  ]);
  const text = yamlOf(definitionOf(consortium, { adopt: true }), { adopt: true });
  expect(inText(text)).toEqual([]);
  expect(text).toContain('# the environment e1 is left out: the client "quorum" with "poa" is not supported\n');
  expect(text).toContain("  # the service shows no valid name: `up` names the object environment-e2\n");
  expect(text).toContain("  # a tether is enabled, but the service shows neither its id nor its settings");
  expect(text).toContain("# the node n2 is left out: the service does not show which member owns it\n");
  expect(text).toMatch(/# the service shows no valid name: .* names the object node-n1\n +node-n1:\n +adopt: n1/);
});

test("--import: all objects by id paths, owners first, each under a unique name", async () => {
  const { c, acme, tokyo, e, one, two, cred } = await byHand();
  await make(`/consortia/${c}/environments`, { name: "acme", provider: "geth", consensus_type: "poa" }); // as a member
  const { code, stdout, stderr } = await run("--import");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { resources } = JSON.parse(stdout) as { resources: Record<"type" | "name" | "logicalName" | "id", string>[] };
  expect(resources.map(({ type, logicalName, id }) => [type.split(":").at(-1), logicalName, id])).toEqual([
    ["Consortium", "Kaffee-Tee", c],
    ["Membership", "Kaffee-Tee/acme", `${c}/${acme}`],
    ["Membership", `Kaffee-Tee/member-${tokyo}`, `${c}/${tokyo}`],
    ["Environment", "Kaffee-Tee/prod-eu", `${c}/${e}`],
    ["AppCred", "Kaffee-Tee/prod-eu/app", `${c}/${e}/${cred}`],
    ["Node", `Kaffee-Tee/prod-eu/acme-1-${one}`, `${c}/${e}/${one}`],
    ["Node", `Kaffee-Tee/prod-eu/acme-1-${two}`, `${c}/${e}/${two}`],
    ["Environment", "Kaffee-Tee/acme", expect.stringContaining(`${c}/`)],
  ]);
  const names = resources.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))).toEqual([]);
  expect((await run("--import", "--consortium", "Kaffee & Tee")).stdout).toBe(stdout);
  expect(await run("--import", "--adopt")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("cannot be used with") as string,
  });
});

describe("the output is a valid network file, whatever the service shows", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 12 }),
    fc.string({ unit: "grapheme", maxLength: 300 }),
    fc.constantFrom(...strangeNames),
  );
  const id = fc.oneof(
    fc.stringMatching(/^[a-z0-9]{1,12}$/),
    fc.string({ unit: "binary", minLength: 1, maxLength: 12 }),
  );
  type Fields = Record<string, fc.Arbitrary<unknown>>;
  const shown = (kind: ListedKind, fields: Fields, inside: fc.Arbitrary<Found[]> = fc.constant([])) =>
    fc.tuple(id, fc.record(fields, { requiredKeys: [] }), inside).map((parts) => found(kind, ...parts));
  const unique = (one: fc.Arbitrary<Found>, maxLength: number) =>
    fc.uniqueArray(one, { maxLength, selector: ({ id }) => id });
  const together = (...lists: fc.Arbitrary<Found[]>[]) => fc.tuple(...lists).map((all) => all.flat());
  const membershipId = fc.oneof(fc.constantFrom("m0", "m1"), text);
  const members = unique(shown("membership", { orgName: text }), 5);
  const environment = shown(
    "environment",
    {
      name: text,
      description: text,
      provider: fc.constantFrom("quorum", "geth", "besu"),
      consensusType: fc.constantFrom("raft", "ibft", "poa"),
      chainId: fc.oneof(fc.integer(), fc.constantFrom(0, -1, 1.5, 2 ** 53, 1e21)),
      blockPeriod: fc.oneof(fc.integer(), fc.constantFrom(0, 1.5)),
      enableTether: fc.boolean(),
    },
    together(
      unique(shown("node", { name: text, membershipId, role: text, size: text, zoneId: text, bafId: text }), 6),
      unique(shown("appCred", { name: text, membershipId: text }), 2),
    ),
  );
  const network = shown(
    "consortium",
    { name: text, description: text },
    together(
      members.map((all) => all.map((one, at) => (at < 2 ? { ...one, id: `m${at}` } : one))),
      unique(environment, 4),
    ),
  );

  test.each([true, false])("adopt: %s", (adopt) => {
    fc.assert(
      fc.property(network, (one) => {
        const file = yamlOf(definitionOf(one, { adopt }), { adopt });
        expect(inText(file)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
