import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { type Fleet, FleetFile, type FleetStack } from "../../fleet/schema";
import { configure, prepareWorkFolder, programFiles } from "../../fleet/project";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "consortium-fleet-project-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const organization = { name: "acme", apiKey: { env: "KEY" } };
const stack = (change: Partial<FleetStack> = {}): FleetStack => ({
  name: "acme-prod",
  organization,
  definition: "/networks/trade.yaml",
  adopt: false,
  dependsOn: [],
  paths: [],
  place: [],
  ...change,
});
const fleet = (): Fleet => ({
  file: "fleet.yaml",
  folder,
  project: "trade",
  concurrency: 4,
  organizations: [organization],
  stacks: [stack()],
  policyPacks: [],
  kubernetes: FleetFile.shape.kubernetes.parse(undefined),
});
const settings = (): unknown => parse(readFileSync(join(folder, "Pulumi.acme-prod.yaml"), "utf8"));

test("the configuration of a stack says which network file and name; the rest of its settings stays", () => {
  const others = "encryptionsalt: v1:abc\nconfig:\n  consortium:maxConcurrency: 4\n";
  writeFileSync(join(folder, "Pulumi.acme-prod.yaml"), others);
  configure(folder, fleet(), stack({ network: "prod" }));
  expect(settings()).toEqual({
    encryptionsalt: "v1:abc",
    config: { "consortium:maxConcurrency": 4, "trade:network": "/networks/trade.yaml", "trade:name": "prod" },
  });
  configure(folder, fleet(), stack());
  expect(settings()).toMatchObject({ encryptionsalt: "v1:abc", config: { "trade:network": "/networks/trade.yaml" } });
  expect(settings()).not.toHaveProperty(["config", "trade:name"]);
});

test("a stack with a program of its own gets no settings", () => {
  configure(folder, fleet(), stack({ definition: undefined, program: "/programs/legacy" }));
  expect(() => settings()).toThrow(/ENOENT/);
});

/** That of this package, where it is bundled. */
const plugin = join(__dirname, "../../plugin");
const plugins = existsSync(plugin) ? { providers: [{ name: "consortium", path: plugin }] } : undefined;

test("the work folder holds the program, which finds this package and Pulumi's", () => {
  const workFolder = prepareWorkFolder({ ...fleet(), backend: `file://${folder}/state` });
  expect(workFolder).toBe(join(folder, ".consortium/fleet/trade"));
  for (const [name, text] of Object.entries(programFiles("trade", plugins)))
    expect(readFileSync(join(workFolder, name), "utf8")).toBe(text);
  expect(statSync(join(folder, "state")).isDirectory()).toBe(true);
  const found = `for (const name of ["pulumi-consortium", "@pulumi/pulumi"]) require.resolve(name + "/package.json")`;
  execFileSync(process.execPath, ["-e", found], { cwd: workFolder });
});

test("files that are right already are not written again, others are", () => {
  const workFolder = join(folder, ".consortium/fleet/trade");
  mkdirSync(workFolder, { recursive: true });
  writeFileSync(join(workFolder, "Pulumi.yaml"), 'name: "trade"\nruntime: nodejs\n'); // as an older release wrote it
  prepareWorkFolder(fleet());
  const times = () => Object.keys(programFiles("trade")).map((name) => statSync(join(workFolder, name)).mtimeMs);
  const before = times();
  expect(readFileSync(join(workFolder, "Pulumi.yaml"), "utf8")).toBe(programFiles("trade", plugins)["Pulumi.yaml"]);
  prepareWorkFolder(fleet());
  expect(times()).toEqual(before);
});
