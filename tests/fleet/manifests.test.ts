import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readFleet } from "../../fleet/file";
import { fleetManifests, neededSecrets } from "../../fleet/manifests";
import { yamlProgram } from "../../sdk/network/programs";
import { complaintsAbout, documentsIn } from "../gitops/operator";
import { refusedBy, testWithCrds } from "../gitops/operator-crds";
import { temporary } from "./made";

const folder = temporary();

const kubernetes = `
kubernetes:
  namespace: networks
  git: { repository: https://git.example.com/trade/networks.git, branch: production, folder: fleets }
`;
const fleet = (extra: string, backend = "s3://a-bucket") => {
  writeFileSync(join(folder, "trade.yaml"), "members: [m]\n");
  const file = join(folder, "fleet.yaml");
  const organizations = `
project: fleet
backend: ${backend}
organizations:
  acme:
    apiKey: { env: NOT_SET_HERE }
    region: eu
    allowHttp: true
    stacks:
      prod: trade.yaml
      Test_2: { definition: trade.yaml, name: acme-test, adopt: true }
  globex:
    apiKey: { command: [vault, read, the-path] }
    stacks: { prod: trade.yaml }
`;
  writeFileSync(file, organizations + extra);
  return readFleet(file);
};

const files = () => fleetManifests(fleet(kubernetes), join(folder, "operator"));
const programs = () => fleetManifests(fleet("kubernetes: { namespace: networks }"), folder, { programs: true });
interface Stack {
  metadata: object;
  spec: Record<string, unknown>;
}
const stackOf = (name: string): Stack => documentsIn(files()[name]!)[0] as unknown as Stack;

test("a stack each, with the program and its network file where they are in the repository", () => {
  expect(Object.keys(files()).sort()).toEqual([
    ...["access.yaml", "acme-prod.yaml", "acme-test-2.yaml", "globex-prod.yaml"],
    ...["program/Pulumi.yaml", "program/index.js", "program/package.json"],
  ]);
  expect(stackOf("acme-test-2.yaml")).toMatchObject({
    metadata: { name: "acme-test-2", namespace: "networks" },
    spec: {
      stack: "acme-Test_2",
      projectRepo: "https://git.example.com/trade/networks.git",
      branch: "production",
      repoDir: "fleets/operator/program",
      config: { "fleet:network": "../../trade.yaml", "fleet:name": "acme-test" },
      destroyOnFinalize: false,
    },
  });
});

test("keys are named as Secrets, one for each organization, and never contained", () => {
  const of = (name: string) => stackOf(name).spec.envRefs;
  expect(of("acme-prod.yaml")).toMatchObject({
    CONSORTIUM_API_KEY: { type: "Secret", secret: { name: "consortium-acme", key: "apiKey" } },
    CONSORTIUM_REGION: { type: "Literal", literal: { value: "eu" } },
    CONSORTIUM_ALLOW_HTTP: { type: "Literal", literal: { value: "true" } },
  });
  expect(of("globex-prod.yaml")).toMatchObject({
    CONSORTIUM_API_KEY: { type: "Secret", secret: { name: "consortium-globex", key: "apiKey" } },
    PULUMI_CONFIG_PASSPHRASE: { type: "Secret", secret: { name: "consortium-fleet", key: "passphrase" } },
  });
  expect(neededSecrets(fleet(kubernetes))).toEqual([
    "consortium-fleet with backendUrl and passphrase",
    "consortium-acme with apiKey",
    "consortium-globex with apiKey",
  ]);
  expect(neededSecrets(fleet(kubernetes, "https://api.pulumi.com"))[0]).toBe("consortium-fleet with accessToken");
});

describe.each([
  ["with a repository", files],
  ["with --program", programs],
])("the operator takes them, %s", (_, made) => {
  const texts = () => Object.entries(made()).flatMap(([name, text]) => (name.startsWith("program/") ? [] : [text]));

  test("by the description of its fields", () => expect(texts().flatMap(complaintsAbout)).toEqual([]));
  testWithCrds("by its CRDs", (crds) => expect(texts().flatMap((text) => refusedBy(crds, text))).toEqual([]));
});

describe("--program", () => {
  test("a Program each, which is the network itself: no repository, nothing else to fetch", () => {
    expect(Object.keys(programs()).sort()).toEqual([
      ...["access.yaml", "acme-prod.yaml", "acme-test-2.yaml", "globex-prod.yaml"],
    ]);
    const [program, stack] = documentsIn(programs()["acme-test-2.yaml"]!);
    expect(program).toEqual({
      apiVersion: "pulumi.com/v1",
      kind: "Program",
      metadata: { name: "acme-test-2", namespace: "networks" },
      program: { resources: { "acme-test": { type: "consortium:index:Network", properties: { members: ["m"] } } } },
    });
    const { spec } = stack as unknown as Stack;
    expect(spec).toMatchObject({ programRef: { name: "acme-test-2" }, stack: "acme-Test_2", destroyOnFinalize: false });
    expect(spec.envRefs).toMatchObject({ CONSORTIUM_API_KEY: { secret: { name: "consortium-acme" } } });
    expect(Object.keys(spec)).not.toContain("projectRepo");
  });

  test("the stack names the network, and what has no name of its own in the file with it; text stays text", () => {
    const file = join(folder, "named.yaml");
    writeFileSync(file, "name: trade\nmembers: { m: { orgName: 'costs ${5}' }, n: }\n");
    const members = { m: { orgName: "costs $${5}" }, n: {} };
    const type = "consortium:index:Network";
    expect(yamlProgram(file).resources).toEqual({ trade: { type, properties: { members } } });
    expect(yamlProgram(file, "other").resources).toEqual({ other: { type, properties: { members } } });
    writeFileSync(file, "name: trade\nconsortium: Coffee Trade\nmembers: [m]\n");
    expect(yamlProgram(file, "other").resources).toMatchObject({
      other: { properties: { consortium: "Coffee Trade" } },
    });
  });
});

test("without a repository it says what is missing", () => {
  expect(() => fleetManifests(fleet(""), folder)).toThrow(/add kubernetes: \{ git: \{ repository/);
});

test.each<[string, { stack?: string; organization?: string }, string]>([
  ["stacks", { stack: "acme_prod" }, "the stack acme-prod and the stack acme_prod"],
  ["a stack and the file of the accounts", { stack: "Access" }, "the file access.yaml and the stack Access"],
  ["keys of organizations", { organization: "ACME" }, "the Secret of acme and the Secret of ACME"],
  ["a key and the state's secret", { organization: "fleet" }, "the Secret of the state and the Secret of fleet"],
])("names that are the same in Kubernetes are refused: %s", (_, { stack, organization }, said) => {
  const one = fleet(kubernetes);
  const stacks = [...one.stacks, ...(stack ? [{ ...one.stacks[0]!, name: stack }] : [])];
  const organizations = [
    ...one.organizations,
    ...(organization ? [{ ...one.organizations[0]!, name: organization }] : []),
  ];
  expect(() => fleetManifests({ ...one, stacks, organizations }, folder)).toThrow(
    `${said} have the same name in Kubernetes`,
  );
});

test.each([
  ["a..b", "a-b"],
  ["a-.b_c", "a-b-c"],
  ["_x.y.", "x.y"],
])("the stack %s is %s in Kubernetes", (name, expected) => {
  const one = fleet(kubernetes);
  const files = fleetManifests({ ...one, stacks: [{ ...one.stacks[0]!, name }] }, folder);
  expect(Object.keys(files)).toContain(`${expected}.yaml`);
});
