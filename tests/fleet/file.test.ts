import { basename, join, relative } from "node:path";
import { absoluteBackend, earlierFleet, problemOfPack, readFleet } from "../../fleet/file";
import type * as FleetFiles from "../../fleet/file";
import { temporary, writeIn } from "./made";

const folder = temporary();

const file = join(folder, "fleet.yaml");

const write = (name: string, text: string): string => writeIn(folder, name, text);
write("networks/trade.yaml", "members: [m]\nenvironments: { e: { provider: quorum, consensusType: raft } }\n");
write("programs/legacy/Pulumi.yaml", "name: legacy\nruntime: nodejs\n");

function problems(text: string): string[] {
  write("fleet.yaml", text);
  try {
    readFleet(file);
    return [];
  } catch (error) {
    const lines = (error as Error).message.split("\n").filter((line) => !/[Nn]othing was started[.:]$/.test(line));
    return lines.map((one) =>
      one
        .trim()
        .replaceAll(`${relative(process.cwd(), folder)}/`, "")
        .replaceAll(`${folder}/`, ""),
    );
  }
}

test("a fleet: names of stacks, absolute files, defaults", () => {
  write(
    "fleet.yaml",
    `backend: file://./state
concurrency: 3
organizations:
  acme:
    apiKey: { env: ACME_API_KEY }
    region: eu
    stacks:
      prod: networks/trade.yaml
      test: { definition: networks/trade.yaml, adopt: true, name: try }
      legacy: { program: programs/legacy }
`,
  );
  const fleet = readFleet(file);
  const project = `${basename(folder)}-fleet`; // of the folder and the file
  expect(fleet).toMatchObject({ project, parallel: 3, backend: `file://${folder}/state`, folder });
  const definition = join(folder, "networks/trade.yaml");
  expect(fleet.stacks).toMatchObject([
    { name: "acme-prod", definition, adopt: false, organization: { name: "acme", region: "eu" } },
    { name: "acme-test", definition, adopt: true, network: "try" },
    { name: "acme-legacy", program: join(folder, "programs/legacy"), definition: undefined },
  ]);
});

const organization = (stacks: string, key = "{ env: ACME_API_KEY }"): string =>
  `organizations:\n  acme:\n    apiKey: ${key}\n    stacks:\n      ${stacks}\n`;

const prod = (settings: string): string => organization(`prod: ${settings}`);
const stackAt = "organizations.acme.stacks.prod";
const atProd = (said: string): string => `fleet.yaml:5:13: ${stackAt}: ${said}`;
const twoSources = atProd("a stack must have either a definition (a network file) or a program (a folder)");

test.each<[string, string, ...(string | RegExp)[]]>([
  ["text that is no YAML", "organizations: [", /^fleet.yaml:1:\d+: this is not YAML/],
  ["nothing", "# later\n", "fleet.yaml:1:1: the file is empty: write at least organizations with their stacks"],
  [
    "misspelt keys, all at once",
    "projct: x\norganisations: {}\n",
    "fleet.yaml:1:1: organizations: organizations must be a mapping of names to organizations",
    'fleet.yaml:1:1: projct: a fleet has no "projct"; did you mean "project"?',
    'fleet.yaml:2:1: organisations: a fleet has no "organisations"; did you mean "organizations"?',
  ],
  [
    "a key in clear",
    organization("prod: networks/trade.yaml", "abcdef"),
    /^fleet.yaml:3:13: organizations.acme.apiKey: an API key must not be written/,
  ],
  ["a missing network file", prod("networks/no.yaml"), atProd("the network file networks/no.yaml does not exist")],
  ["a network file that is a folder", prod("networks"), atProd("the network file networks does not exist")],
  ["neither a definition nor a program", prod("{ adopt: true }"), twoSources],
  [
    "both a definition and a program",
    prod("{ program: programs/legacy, definition: networks/trade.yaml }"),
    twoSources,
  ],
  [
    "a stack that depends on itself",
    prod("{ definition: networks/trade.yaml, dependsOn: [acme-prod] }"),
    `fleet.yaml:5:60: ${stackAt}.dependsOn[0]: a stack must not depend on itself`,
  ],
  ["a folder without a program", prod("{ program: networks }"), atProd("networks has no Pulumi.yaml")],
  [
    "stacks of the same name",
    `organizations:
  a: { apiKey: { env: A }, stacks: { b-c: networks/trade.yaml } }
  a-b: { apiKey: { env: A }, stacks: { c: networks/trade.yaml } }
`,
    "fleet.yaml:3:40: organizations.a-b.stacks.c: the stack name a-b-c is already used by a.b-c: rename one of them",
  ],
  [
    "a stack that depends on none that there is, and two that depend on each other",
    prod(
      "{ definition: networks/trade.yaml, dependsOn: [acme-test] }\n" +
        "      test: { definition: networks/trade.yaml, dependsOn: [acme-prod, acme-tset] }",
    ),
    `fleet.yaml:5:60: ${stackAt}.dependsOn[0]: acme-test also depends on acme-prod: remove one of the two`,
    "fleet.yaml:6:60: organizations.acme.stacks.test.dependsOn[0]: acme-prod also depends on acme-test: remove one of the two",
    'fleet.yaml:6:71: organizations.acme.stacks.test.dependsOn[1]: there is no stack acme-tset; did you mean "acme-test"?',
  ],
  [
    "a policy pack that is none",
    `policyPacks: [networks]\n${prod("networks/trade.yaml")}`,
    "fleet.yaml:1:15: policyPacks[0]: networks has no PulumiPolicy.yaml",
  ],
  ["no stacks", "organizations: {}", /no stacks: write/],
  [
    "too many at a time",
    `parallel: 0\n${prod("networks/trade.yaml")}`,
    "fleet.yaml:1:11: parallel: parallel must be a whole number from 1 to 64",
  ],
  [
    "how many at a time, by both names",
    `parallel: 2\nconcurrency: 3\n${prod("networks/trade.yaml")}`,
    "fleet.yaml:2:14: concurrency: leave it out: it is an earlier name of parallel, which is set",
  ],
])("%s", (_, text, ...expected) => {
  expect(problems(text)).toEqual(
    expected.map((one) => (typeof one === "string" ? one : (expect.stringMatching(one) as string))),
  );
});

test.each([
  ["parallel: 2\n", 2],
  ["", 4],
])("how many stacks run at a time: %j", (line, count) => {
  expect(earlierFleet(file, line + prod("networks/trade.yaml"))?.parallel).toBe(count);
});

const three =
  "a: networks/trade.yaml\n      b: { definition: networks/trade.yaml, name: spice }\n      c: networks/silk.yaml";
test("more consortia in an organization's stacks than the service allows; a network file may allow more", () => {
  write("networks/silk.yaml", "members: [m]\n");
  expect(problems(organization(three))).toEqual([
    "fleet.yaml:7:10: organizations.acme.stacks.c: the service allows 2 consortia in an organization, and the stacks of acme " +
      "would have 3: trade of acme-a, spice of acme-b, silk of acme-c. If your organization allows more, set " +
      "limits.consortiaPerOrganization in one of their network files",
  ]);
  // the same key is the same organization, under whatever name
  const other = "\n  too:\n    apiKey: { env: ACME_API_KEY }\n    stacks:\n      c:";
  expect(problems(organization(three).replace("\n      c:", other))).toEqual([
    expect.stringMatching(/^fleet.yaml:10:10: organizations.too.stacks.c: .*trade of acme-a/) as string,
  ]);
  expect(problems(organization(three.replace("networks/silk.yaml", "networks/trade.yaml")))).toEqual([
    "fleet.yaml:7:10: organizations.acme.stacks.c: acme-a also has the consortium trade: give this stack another name, or another network file",
  ]);
  write("networks/silk.yaml", "members: [m]\nlimits: { consortiaPerOrganization: 3 }\n");
  expect(problems(organization(three))).toEqual([]);
  const atMost = (most: number) => organization(three).replace("    stacks:", `    maxConsortia: ${most}\n    stacks:`);
  expect(problems(atMost(3))).toEqual([]);
  expect(problems(atMost(2))).toEqual([
    expect.stringMatching(/: the fleet file \(maxConsortia\) allows 2 .* Leave one out, or raise it$/) as string,
  ]);
  // of two entries of one organization, the larger number counts, whichever comes first
  const entry = (name: string, most: number, network: string): string =>
    `  ${name}:\n    apiKey: { env: ACME_API_KEY }\n    maxConsortia: ${most}\n    stacks: { s: networks/${network}.yaml }\n`;
  const both = (one: number, two: number) =>
    problems(`organizations:\n${entry("a", one, "trade")}${entry("b", two, "silk")}`);
  expect([both(1, 2), both(2, 1)]).toEqual([[], []]);
  expect(both(1, 1)).toHaveLength(1);
  expect(problems(atMost(-1))).toEqual([
    expect.stringContaining("maxConsortia must be a whole number from 0") as string,
  ]);
});

test("a problem in a network file is reported once, with its position in that file", () => {
  write("networks/odd.yaml", "members: [m]\nenvironments:\n  e: { provider: geth, consensusType: raft }\n");
  const found = problems(organization("prod: networks/odd.yaml\n      test: networks/odd.yaml"));
  expect(found).toEqual([expect.stringMatching(/^networks\/odd.yaml:3:39: environments.e.*geth runs poa/)]);
});

test("a missing file", () => {
  expect(() => readFleet(join(folder, "none.yaml"))).toThrow(/none.yaml.*there is no such file/);
});

test("checking a fleet and its networks does not load Pulumi's SDK, which is slow to load", () => {
  write("fleet.yaml", prod("networks/trade.yaml"));
  jest.isolateModules(() => {
    jest.doMock("@pulumi/pulumi", () => {
      throw new Error("the SDK was loaded");
    });
    const files = jest.requireActual<typeof FleetFiles>("../../fleet/file");
    expect(files.readFleet(file).stacks).toHaveLength(1);
  });
  jest.dontMock("@pulumi/pulumi");
});

test.each([
  ["file://./state", "file:///a/b/state"],
  ["file://.", "file:///a/b"],
  ["file://../state", "file:///a/state"],
  ["file:///state", "file:///state"],
  ["file://~/state", "file://~/state"],
  ["file://.state", "file://.state"],
  ["s3://./state", "s3://./state"],
])("the backend %s of a file in /a/b is %s", (backend, absolute) => {
  expect(absoluteBackend(backend, "/a/b")).toBe(absolute);
});

test.each([
  ["/networks/fleet.yaml", "", "networks-fleet"],
  ["/my networks!/fleet.prod.yaml", "", "my-networks--fleet.prod"],
  ["/__/fleet.yaml", "", "fleet"],
  ["/fleet.yaml", "", "fleet"],
  [`/${"a".repeat(120)}/fleet.yaml`, "", `${"a".repeat(94)}-fleet`],
  ["/networks/fleet.yaml", "project: trade\n", "trade"],
])("the project of %s (%j) is %s", (name, line, expected) => {
  expect(earlierFleet(name, line + prod("networks/trade.yaml"))?.project).toBe(expected);
});

test("an earlier version that was no fleet is none", () => {
  expect(earlierFleet(file, "organizations: 5")).toBeUndefined();
  const stacks = earlierFleet(file, organization("gone: networks/gone.yaml"))?.stacks;
  expect(stacks?.map(({ name }) => name)).toEqual(["acme-gone"]);
});

test("a policy pack needs its folder, and the file that it names", () => {
  const path = join(folder, "pack");
  const config = write("pack/PulumiPolicy.yaml", "runtime: nodejs\n");
  expect([problemOfPack({ path }), problemOfPack({ path, config })]).toEqual([undefined, undefined]);
  expect(problemOfPack({ path, config: `${path}/none.json` })).toBe(`the file ${path}/none.json does not exist`);
});

test("a command's own rules are asked once everything else is right", () => {
  const rules = jest.fn(() => [{ path: ["organizations"], message: "no" }]);
  write("fleet.yaml", prod("networks/trad.yaml"));
  expect(() => readFleet(file, { rules })).toThrow("does not exist");
  expect(rules).not.toHaveBeenCalled();
  write("fleet.yaml", prod("networks/trade.yaml"));
  expect(() => readFleet(file, { rules })).toThrow(/organizations: no/);
  expect(readFleet(file, { rules: () => [] }).stacks).toHaveLength(1);
});

test("limits are not looked at where a command does not ask for that", () => {
  write("networks/silk.yaml", "members: [m]\n");
  write("fleet.yaml", organization(three));
  expect(() => readFleet(file)).toThrow(/the service allows 2 consortia/);
  expect(() => readFleet(file)).toThrow(expect.objectContaining({ code: "invalid-file" }) as Error);
  expect(readFleet(file, { limits: false }).stacks).toHaveLength(3);
});
