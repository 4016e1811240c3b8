import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { z } from "zod";
import { readFleet } from "../../fleet/file";
import { leftManifests, lockRemark } from "../../fleet/manifest-folder";
import {
  fleetManifests,
  kubernetesName,
  type ManifestOptions,
  manifestRemarks,
  neededSecrets,
  problemsForOperator,
} from "../../fleet/manifests";
import { FleetFile } from "../../fleet/schema";
import { filesIn, found, text as exampleText } from "../gitops/files";
import { complaintsAbout, documentsIn } from "../gitops/operator";
import { temporary, writeIn } from "./made";

const folder = temporary();
writeIn(folder, "trade.yaml", "members: [m]\n");
writeIn(folder, "spice.yaml", "members: [m]\nlimits: { consortiaPerOrganization: 9 }\n");
writeIn(folder, "pack/PulumiPolicy.yaml", "runtime: nodejs\n");
writeIn(folder, "app/Pulumi.yaml", "name: app\nruntime: nodejs\n");
const vault = "{ member: m, type: kms, details: { token: { env: VAULT_TOKEN } } }";
writeIn(
  folder,
  "vault.yaml",
  `members: [m]\nenvironments: { e: { provider: quorum, consensusType: raft, configurations: { k: ${vault} } } }\n`,
);

writeIn(folder, "named.yaml", "name: trade\nconsortium: Coffee\nmembers: { m: { orgName: 'costs ${5}' }, k: }\n");
/** The stack's name replaces that of the file; text stays text, and what is empty is there. */
const named = (name: string) =>
  new RegExp(
    ` ${name}:\\n.*\\n +properties:\\n +consortium: Coffee\\n +members:\\n +m:\\n.*costs \\$\\$\\{5\\}.*\\n +k: \\{\\}\\n---`,
  );
writeIn(join(folder, ".."), "else.yaml", "members: [m]\n");

const out = join(folder, "operator");
const repository = "https://git.example.com/trade/networks.git";
const commit = "0123456789abcdef0123456789abcdef01234567";

interface Given {
  stack?: object;
  organization?: object;
  git?: object;
  kubernetes?: object;
  other?: object | string;
  [key: string]: unknown;
}

/** A fleet file in JSON, one key a line, with a stack whose settings are given, and others. */
function write({ stack, organization, git, kubernetes, other, ...rest }: Given = {}): string {
  const file = join(folder, "fleet.yaml");
  const acme = {
    apiKey: { env: "NOT_SET_HERE" },
    ...organization,
    stacks: { prod: stack ?? { definition: "trade.yaml" }, test: { definition: "spice.yaml" } },
  };
  const globex = { apiKey: { command: ["vault", "read", "the-path"] }, stacks: { prod: other ?? "trade.yaml" } };
  const fleet = {
    project: "fleet",
    backend: "s3://a-bucket",
    ...rest,
    organizations: { acme, globex },
    kubernetes: { namespace: "networks", git: { repository, ...git }, ...kubernetes },
  };
  writeFileSync(file, JSON.stringify(fleet, undefined, 1));
  return file;
}

function made(given: Given = {}, options: ManifestOptions = {}) {
  const file = write(given);
  const fleet = readFleet(file, { rules: (read) => problemsForOperator(read, out, options) });
  return { fleet, files: fleetManifests(fleet, out, options), remarks: manifestRemarks(fleet, options) };
}
type Spec = Record<string, unknown>;
const specIn = (text: string): Spec => documentsIn(text).find(({ kind }) => kind === "Stack")!.spec as Spec;
const specOf = (given: Given, options?: ManifestOptions, name = "acme-prod"): Spec =>
  specIn(made(given, options).files[`${name}.yaml`]!);

/** The errors of a fleet file or of its contents. */
function refusal(given: Given, options?: ManifestOptions): string {
  try {
    made(given, options);
  } catch (error) {
    return (error as Error).message.replaceAll(`${relative(process.cwd(), folder)}/`, "").replaceAll(`${folder}/`, "");
  }
  return "";
}

const secret = (name: string, key: string) => ({ type: "Secret", secret: { name, key } });
const refers = (variable: string, name: string, key: string) => ({ envRefs: { [variable]: secret(name, key) } });
const says = (variable: string, value: string) => ({
  envRefs: { [variable]: { type: "Literal", literal: { value } } },
});
const of = (organization: object): Given => ({ organization });
const trade = (more: object): Given => ({ stack: { definition: "trade.yaml", ...more } });
const cluster = (kubernetes: object): Given => ({ kubernetes });
const resources = (given: object) => cluster({ resources: given });
const auth = (given: object) => ({ git: { auth: given } });
const programs = { programs: true };

const noRepository =
  "kubernetes.git.repository: repository must be an address with https:// or ssh://, with owner and name";
const ssh = "ssh://git@git.example.com/trade/networks";
type Row = [given: Given, expected: object | string | RegExp, options?: ManifestOptions];
/** For every key of a fleet file: its place in a Stack, or the error or note. docs/reference/fleet.md has the same table. */
const rows: Row[] = [
  [{ project: "trade" }, { config: { "trade:network": "../../trade.yaml" } }],
  [{ id: "trade of acme" }, /consortium-fleet\/id: trade of acme/],
  [{ parallel: 9 }, "parallel applies to `fleet up`: the operator starts a pod for every changed Stack at once."],
  [{}, refers("PULUMI_BACKEND_URL", "consortium-fleet", "backendUrl")],
  [{ backend: "https://api.pulumi.com" }, { backend: "https://api.pulumi.com" }],
  [{ backend: "https://api.pulumi.com" }, refers("PULUMI_ACCESS_TOKEN", "consortium-fleet", "accessToken")],
  [{ backend: "file://./state" }, "fleet.yaml:3:13: backend: each pod would lose its state with this backend"],
  [{ passphrase: { env: "WORD" } }, refers("PULUMI_CONFIG_PASSPHRASE", "consortium-fleet", "passphrase")],
  [{ secretsProvider: "awskms://alias/fleet" }, { secretsProvider: "awskms://alias/fleet" }],
  [
    { policyPacks: ["pack"] },
    "fleet.yaml:4:2: policyPacks: the operator runs no policy packs: remove them from this file",
  ],
  [{}, /namespace: networks-acme/],
  [{}, refers("CONSORTIUM_API_KEY", "consortium-acme", "apiKey")],
  [of({ region: "eu" }), says("CONSORTIUM_REGION", "eu")],
  [of({ baseUrl: "https://a.b/api/v1" }), says("CONSORTIUM_BASE_URL", "https://a.b/api/v1")],
  [of({ organization: "o1" }), says("CONSORTIUM_ORGANIZATION", "o1")],
  [of({ allowHttp: true }), says("CONSORTIUM_ALLOW_HTTP", "true")],
  [of({ maxConsortia: 0 }), "(maxConsortia) allows 0 consortia"],
  [{}, { stack: "acme-prod" }],
  [{}, { repoDir: "operator/program", config: { "fleet:network": "../../trade.yaml" } }],
  [{}, { programRef: { name: "acme-prod" } }, programs],
  [{ stack: { definition: "vault.yaml" } }, refers("VAULT_TOKEN", "consortium-acme", "VAULT_TOKEN")],
  [{ stack: { definition: "../else.yaml" } }, "acme.stacks.prod.definition: "],
  [{ stack: { program: "app" } }, { repoDir: "app" }],
  [
    { stack: { program: "app" } },
    "acme-prod: if its program exports a password, it can be read for an hour after each update, in the Secret " +
      "acme-prod-…-stack-outputs of networks-acme.",
  ],
  [trade({ name: "other" }), { config: { "fleet:name": "other" } }],
  [{ stack: { definition: "named.yaml", name: "other" } }, named("other"), programs],
  [{ stack: { definition: "named.yaml" } }, named("trade"), programs],
  [trade({ adopt: true }), says("CONSORTIUM_ADOPT", "true")],
  [trade({ dependsOn: ["acme-test"] }), { prerequisites: [{ name: "acme-test" }] }],
  [
    trade({ dependsOn: ["acme-test"] }),
    "dependsOn holds at the first apply: later, the operator finds each commit of a branch for each Stack by itself.",
  ],
  [
    { ...trade({ dependsOn: ["acme-test"] }), git: { commit } },
    "kubectl applies files by name: first apply acme-test.yaml, which others wait for.",
  ],
  [
    trade({ dependsOn: ["globex-prod"] }),
    "fleet.yaml:13:7: organizations.acme.stacks.prod.dependsOn[0]: the operator cannot wait for a stack in another organization's namespace",
  ],
  [trade({ paths: ["app"] }), "paths apply to --changed-since: the operator runs every Stack at each commit."],
  [{}, /kind: Stack/],
  [cluster({ namespace: "live" }), /namespace: live-acme/],
  [cluster({ namespace: "Live" }), "kubernetes.namespace: namespace must have only lower case letters"],
  [cluster({ serviceAccount: "runner" }), { serviceAccountName: "runner" }],
  [cluster({ image: "our/pulumi:1" }), { programRef: { name: "acme-prod" } }],
  [cluster({ image: "our/pulumi:1" }), { repoDir: "operator/program" }, { programs: false }],
  [{}, "pulumi/pulumi:3.276.0-nonroot lacks the provider plugin: set kubernetes.image", programs],
  [cluster({ secret: "state" }), refers("PULUMI_BACKEND_URL", "state", "backendUrl")],
  [{}, /requests:\n +cpu: 250m\n +memory: 512Mi/],
  [resources({ requests: { cpu: 1 } }), '(1 is a number: write "1")'],
  [resources({ requests: { cpu: "2" } }), /requests:\n +cpu: "2"\n +limits/],
  [resources({ requests: { cpu: "much" } }), "requests.cpu: cpu must be a quantity such as 250m"],
  [resources({ requests: { memory: "2Gi" } }), /requests:\n +memory: 2Gi/],
  [{}, /limits:\n +cpu: "1"\n +memory: 1Gi/],
  [resources({ limits: { cpu: "2" } }), /limits:\n +cpu: "2"/],
  [resources({ limits: { memory: "2Gi" } }), /limits:\n +memory: 2Gi/],
  [resources({ limits: { memory: "1024Mi" } }), /limits:\n +memory: 1Gi\n/],
  [resources({ limits: { memory: "1.5Gi" } }), /limits:\n +memory: 1536Mi\n/],
  [resources({ limits: { memory: "1000" } }), /limits:\n +memory: 1k\n/],
  [resources({ limits: { memory: "1024" } }), /limits:\n +memory: "1024"\n/],
  [resources({ limits: { memory: "2000M" } }), /limits:\n +memory: 2G\n/],
  [resources({ limits: { memory: "0.5Ki" } }), /limits:\n +memory: "512"\n/],
  [
    cluster({ git: undefined }),
    "fleet.yaml:31:16: kubernetes: the operator cannot find trade.yaml: add kubernetes: { git: { repository: https://…",
  ],
  [cluster({ git: undefined }), { programRef: { name: "acme-prod" } }, programs],
  [{}, { projectRepo: repository }],
  ...["git@git.example.com:trade/networks.git", "http://git.example.com/a/b", "https://git.example.com/trade"].map(
    (address): Row => [{ git: { repository: address } }, noRepository],
  ),
  [{ git: { repository: ssh } }, { projectRepo: ssh }],
  [{}, { branch: "main" }],
  [{ git: { branch: "live" } }, { branch: "live" }],
  [{}, "fleet.yaml:33:10: kubernetes.git: a branch is applied before", { previews: true }],
  [{ git: { commit } }, { commit }],
  [{ git: { commit: "v1" } }, "kubernetes.git.commit: commit must be the whole id, of 40 hexadecimal digits"],
  [{ git: { folder: "fleets" } }, { repoDir: "fleets/operator/program" }],
  [auth({}), "kubernetes.git.auth: auth must name one Secret"],
  [auth({ token: "a", ssh: "b" }), "kubernetes.git.auth: auth must name one Secret"],
  [auth({ token: "git" }), { gitAuth: { accessToken: secret("git", "accessToken") } }],
  [auth({ ssh: "git" }), { gitAuth: { sshAuth: { sshPrivateKey: secret("git", "sshPrivateKey") } } }],
  [auth({ basic: "git" }), { gitAuth: { basicAuth: { userName: secret("git", "userName") } } }],
  [auth({ githubApp: "git" }), { gitAuth: { githubApp: { privateKey: secret("git", "privateKey") } } }],
];

interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  items?: Schema;
}
/** The keys of a schema, at all levels. Names of organizations and stacks, and positions, do not count. */
function keysIn(schema: Schema, path = ""): string[] {
  const { properties = {}, additionalProperties: entry, anyOf = [], items } = schema;
  const own = Object.entries(properties).flatMap(([key, value]) => {
    const at = path === "" ? key : `${path}.${key}`;
    return [at, ...keysIn(value, at)];
  });
  const inner = [...anyOf, items, typeof entry === "object" ? entry : undefined];
  return [...own, ...inner.flatMap((one) => (one ? keysIn(one, path) : []))];
}

/** The same of a file. */
const keysOf = (value: object, path = "", isNames = false): string[] =>
  Object.entries(value).flatMap(([key, one]: [string, unknown]) => {
    const at = isNames ? path : [path, key].filter(Boolean).join(".");
    const isOwn = typeof one === "object" && one !== null && !Array.isArray(one);
    const inner = isOwn ? keysOf(one, at, !isNames && /^(organizations|stacks)$/.test(key)) : [];
    return isNames ? inner : [at, ...inner];
  });

test("every key of a fleet file has a row, except sources of this machine's secrets", () => {
  const schema = z.toJSONSchema(FleetFile, { io: "input", unrepresentable: "any" }) as Schema;
  const keys = keysIn(schema).filter((key) => !/\.(env|command)$|^concurrency$|^policyPacks\./.test(key));
  const given = rows.flatMap(([one]) => keysOf(JSON.parse(readFileSync(write(one), "utf8")) as object));
  expect(keys.filter((key) => !given.includes(key))).toEqual([]);
  const [, section = ""] = readFileSync(join(__dirname, "../../docs/reference/fleet.md"), "utf8").split(
    "## What becomes of a fleet file\n",
  );
  const named = [...section.matchAll(/`([\w.]+)`/g)].flatMap(([, name]) => name!.split("."));
  expect(keys.filter((key) => !named.includes(key.split(".").at(-1)!) && !/\.(cpu|memory)$/.test(key))).toEqual([]);
});

test.each(rows)("%j: %j", (given, expected, options = undefined) => {
  if (typeof expected === "string") {
    const said = refusal(given, options) || made(given, options).remarks.join("\n");
    expect(said).toContain(expected);
  } else if (expected instanceof RegExp) expect(made(given, options).files["acme-prod.yaml"]).toMatch(expected);
  else expect(specOf(given, options)).toMatchObject(expected);
});

test("the shared program has exact versions; a lock that is missing or of other versions is asked for", () => {
  const { files } = made();
  expect(Object.keys(files).sort()).toEqual([
    ...["access.yaml", "acme-prod.yaml", "acme-test.yaml", "globex-prod.yaml"],
    ...["program/Pulumi.yaml", "program/index.js", "program/package.json"],
  ]);
  const { dependencies } = JSON.parse(files["program/package.json"]!) as { dependencies: Record<string, string> };
  expect(Object.keys(dependencies)).toEqual(["@pulumi/pulumi", "pulumi-consortium"]);
  for (const version of Object.values(dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+/);
  const other = temporary();
  expect(lockRemark(files, other)).toContain("package-lock.json is missing: run `npm install --package-lock-only`");
  const lock = (own: object) =>
    writeIn(other, "program/package-lock.json", JSON.stringify({ packages: { "": { dependencies: own } } }));
  lock({ ...dependencies, "pulumi-consortium": "0.0.1" });
  expect(lockRemark(files, other)).toContain("package-lock.json is of other versions");
  lock(dependencies);
  expect(lockRemark(files, other)).toBeUndefined();
  expect(lockRemark({}, temporary())).toBeUndefined();
});

test("files of stacks that left the fleet are found; those of others, of previews and of nobody are not", () => {
  const { fleet, files } = made({ git: { commit } }, { previews: true });
  const other = temporary();
  for (const [name, text] of Object.entries(files)) writeIn(other, name, text);
  expect(leftManifests(fleet, other)).toEqual([]);
  writeIn(other, "service.yaml", "kind: Service\n");
  writeIn(other, "foreign.yaml", files["acme-prod.yaml"]!.replaceAll("part-of: fleet", "part-of: another"));
  for (const name of ["acme-old", "globex-old", "preview/acme-old-preview"])
    writeIn(other, `${name}.yaml`, files["acme-prod.yaml"]!);
  expect(leftManifests(fleet, other).map((file) => relative(other, file))).toEqual([
    ...["acme-old.yaml", "globex-old.yaml", join("preview", "acme-old-preview.yaml")],
  ]);
  expect(leftManifests(fleet, join(other, "nothing"))).toEqual([]);
});

test("unneeded keys, folders, pods and outputs of updates are deleted; nothing destroys a ledger", () => {
  expect(specOf({})).toMatchObject({
    workspaceReclaimPolicy: "Delete",
    retryMaxBackoffDurationSeconds: 600,
    updateTemplate: { spec: { ttlAfterCompleted: "1h0m0s" } },
  });
  const { files } = made();
  const every = Object.entries(files).flatMap(([name, one]) =>
    /^(acme|globex)/.test(name) ? [Number(specIn(one).resyncFrequencySeconds)] : [],
  );
  expect(new Set(every).size).toBe(every.length);
  for (const seconds of every) expect(seconds >= 3600 && seconds < 4200).toBe(true);
});

test("the operator writes every Stack back as it is: durations in full, and nothing that is false", () => {
  const { files } = made({ git: { commit } }, { previews: true });
  const texts = [...Object.values(files), ...filesIn("operator").map(exampleText)];
  const stacks = texts.flatMap((one) => (one.includes("kind: Stack") ? documentsIn(one) : []));
  const specs = stacks.map(({ kind, spec }) => (kind === "Stack" ? JSON.stringify(spec) : ""));
  const durations = specs.flatMap((spec) => found(spec, /"(?:ttlAfterCompleted|\w+Duration)":("[^"]*")/g));
  expect(durations).toHaveLength(6 + 4); // a Stack's outputs, each; staging before production
  // Duration.String of Go: with all smaller units.
  expect(durations.filter((one) => !/^"[1-9]\dh0m0s"$|^"[1-9]h0m0s"$/.test(one))).toEqual([]);
  expect(specs.filter((spec) => /:(false|0|"")[,}]/.test(spec))).toEqual([]);
});

test("each organization has its own namespace, account and Secrets", () => {
  const { files, fleet } = made({ stack: { definition: "vault.yaml" }, git: { auth: { token: "git" } } });
  expect(documentsIn(files["access.yaml"]!).map(({ kind, metadata }) => [kind, metadata])).toMatchObject([
    ["Namespace", { name: "networks-acme" }],
    ["ServiceAccount", { namespace: "networks-acme" }],
    ["ClusterRoleBinding", { name: "networks-acme:consortium-fleet:system:auth-delegator" }],
    ["Namespace", { name: "networks-globex" }],
    ["ServiceAccount", { namespace: "networks-globex" }],
    ["ClusterRoleBinding", {}],
  ]);
  expect(neededSecrets(fleet)).toEqual([
    "networks-acme: consortium-fleet with backendUrl and passphrase",
    "networks-acme: consortium-acme with apiKey and VAULT_TOKEN",
    "networks-acme: git with accessToken",
    "networks-globex: consortium-fleet with backendUrl and passphrase",
    "networks-globex: consortium-globex with apiKey",
    "networks-globex: git with accessToken",
  ]);
  const turned = { ...fleet, stacks: [...fleet.stacks].reverse() };
  expect(neededSecrets(turned)).toEqual(neededSecrets(fleet));
  const kms = made({ secretsProvider: "awskms://alias/fleet" });
  expect(neededSecrets(kms.fleet)[0]).toBe("networks-acme: consortium-fleet with backendUrl");
});

test.each<[string, Given, ManifestOptions]>([
  ["with a repository", { git: { auth: { ssh: "git" } } }, {}],
  ["with --program", {}, programs],
  ["with --preview", { git: { commit } }, { previews: true }],
  ["with --program --preview", {}, { programs: true, previews: true }],
])("the operator accepts them, %s, according to the description of its fields", (_, given, options) => {
  const { files } = made({ stack: { definition: "vault.yaml", dependsOn: ["acme-test"] }, ...given }, options);
  const texts = Object.entries(files).flatMap(([name, one]) => (name.startsWith("program/") ? [] : [one]));
  expect(texts.flatMap(complaintsAbout)).toEqual([]);
});

describe("--program", () => {
  test("a change of the network changes its Stack, which dependsOn needs; another network's changes nothing", () => {
    const specs = () => ["acme-prod", "acme-test"].map((name) => specOf({}, programs, name));
    const before = specs();
    writeIn(folder, "trade.yaml", "members: [m, n]\n");
    const between = specs();
    writeIn(folder, "trade.yaml", "members: [m]\n");
    expect([before[0], before[1]]).toEqual(specs());
    expect(between[0]).not.toEqual(before[0]);
    expect(between[1]).toEqual(before[1]);
  });

  test("one Program each, with the whole network: no repository, nothing to download", () => {
    const stack = { definition: "trade.yaml", name: "acme-test" };
    const { files } = made({ stack, kubernetes: { git: undefined } }, programs);
    expect(Object.keys(files).sort()).toEqual(["access.yaml", "acme-prod.yaml", "acme-test.yaml", "globex-prod.yaml"]);
    const [program] = documentsIn(files["acme-prod.yaml"]!);
    expect(program).toMatchObject({
      kind: "Program",
      metadata: { name: "acme-prod", namespace: "networks-acme" },
      program: { resources: { "acme-test": { type: "consortium:index:Network", properties: { members: ["m"] } } } },
    });
    expect(Object.keys(specIn(files["acme-prod.yaml"]!))).not.toContain("projectRepo");
  });
});

describe("--preview", () => {
  const previews = { previews: true };
  test("another Stack each only previews the branch; the commit is applied, and nothing waits for a preview", () => {
    const stack = { definition: "trade.yaml", dependsOn: ["acme-test"] };
    const { files } = made({ stack, git: { commit, branch: "live" } }, previews);
    expect(specIn(files["acme-prod.yaml"]!)).toMatchObject({ commit, prerequisites: [{ name: "acme-test" }] });
    const preview = specIn(files["preview/acme-prod-preview.yaml"]!);
    expect(preview).toMatchObject({ branch: "live", preview: true, stack: "acme-prod" });
    expect(Object.keys(preview)).not.toEqual(expect.arrayContaining(["commit"]));
    expect(preview.prerequisites).toBeUndefined();
    expect(preview.workspaceReclaimPolicy).toBe("Retain"); // the pod, with its log
  });

  test("with --program, in a namespace of its own, where the Program has the name of the real one: it names the state", () => {
    const both = { ...previews, programs: true };
    const { files, fleet } = made({}, both);
    for (const stack of ["acme-prod", "acme-test"]) {
      const where = { namespace: "networks-acme-preview" };
      expect(documentsIn(files[`preview/${stack}-preview.yaml`]!)).toMatchObject([
        { kind: "Program", metadata: { name: stack, ...where } },
        { kind: "Stack", metadata: where, spec: { programRef: { name: stack }, preview: true, stack } },
      ]);
    }
    const access = documentsIn(files["preview/access.yaml"]!).map(({ metadata }) => metadata);
    expect(access).toMatchObject([
      { name: "networks-acme-preview" },
      { namespace: "networks-acme-preview" },
      { name: "networks-acme-preview:consortium-fleet:system:auth-delegator" },
      ...[{ name: "networks-globex-preview" }, {}, {}],
    ]);
    expect(neededSecrets(fleet, both)).toContain("networks-globex-preview: consortium-globex with apiKey");
    expect(neededSecrets(fleet, programs)).toHaveLength(4);
    const [acme, globex] = fleet.organizations;
    const organizations = [acme!, { ...globex!, name: "acme-preview" }];
    const message = "its namespace would also be that of the previews of acme: rename one of them";
    expect(problemsForOperator({ ...fleet, organizations }, out, both)).toMatchObject([{ message }]);
    expect(problemsForOperator({ ...fleet, organizations }, out, programs)).toEqual([]);
  });
});

describe("names", () => {
  const longest = "a".repeat(42);
  test.each([
    ["acme-prod", "acme-prod"],
    [longest, longest],
    [`${longest}b`, /^a{33}-[0-9a-f]{8}$/],
    ["Prod.A", /^prod-a-[0-9a-f]{8}$/],
    ["acme-Test_2", /^acme-test-2-[0-9a-f]{8}$/],
    ["2nd", /^nd-[0-9a-f]{8}$/],
    ["42", /^stack-[0-9a-f]{8}$/],
    ["a-", /^a-[0-9a-f]{8}$/],
  ])("%s is %s in Kubernetes", (name, expected) => {
    const found = kubernetesName(name, 42);
    expect(found).toMatch(expected);
    expect(found).toMatch(/^[a-z]([-a-z0-9]*[a-z0-9])?$/);
    expect(found.length).toBeLessThanOrEqual(42);
    expect(kubernetesName(name, 42)).toBe(found);
  });

  test("names that differ only in capital letters, dots or their ends stay distinct", () => {
    const names = ["Prod.A", "prod_a", "PROD-A", ...["b", "c"].map((end) => longest + end)];
    expect(new Set(names.map((name) => kubernetesName(name, 42))).size).toBe(names.length);
  });

  test("a stack with the name of another one's preview is refused", () => {
    const { fleet } = made();
    const [first] = fleet.stacks;
    const stacks = [...fleet.stacks, { ...first!, name: "acme-prod-preview" }];
    expect(problemsForOperator({ ...fleet, stacks }, out, {})).toMatchObject([
      { path: first!.place, message: expect.stringContaining("would also have the name acme-prod-preview") as string },
    ]);
  });
});
