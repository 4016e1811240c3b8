import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { type Fleet, type FleetStack } from "../../fleet/schema";
import { SharedProvider } from "../../fleet/provider";
import { configure, prepareWorkFolder, sdkVersion } from "../../fleet/project";
import { programFiles } from "../../sdk/network/programs";
import { fleetOf, stackOf, temporary, writeIn } from "./made";

let folder: string;
beforeEach(() => (folder = temporary()));

const stack = (change: Partial<FleetStack> = {}) => stackOf({ definition: "/networks/trade.yaml", ...change });
const fleet = (change: Partial<Fleet> = {}) => fleetOf([stack().organization], { folder, ...change });
const settings = (): unknown => parse(readFileSync(join(folder, "Pulumi.acme-prod.yaml"), "utf8"));

test("the configuration of a stack sets the network file and name, and keeps its other settings", () => {
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

test("a stack with its own program gets no settings", () => {
  configure(folder, fleet(), stack({ definition: undefined, program: "/programs/legacy" }));
  expect(() => settings()).toThrow(/ENOENT/);
});

/** The plugin of this package, if it is bundled. */
const plugin = join(__dirname, "../../plugin");
const plugins = existsSync(join(plugin, "pulumi-resource-consortium"))
  ? { providers: [{ name: "consortium", path: plugin }] }
  : undefined;

test("the program in the work folder finds this package and Pulumi's", () => {
  const workFolder = prepareWorkFolder(fleet({ backend: `file://${folder}/state` }));
  expect(workFolder).toBe(join(folder, ".consortium/fleet/trade"));
  for (const [name, text] of Object.entries(programFiles("trade", sdkVersion(), plugins)))
    expect(readFileSync(join(workFolder, name), "utf8")).toBe(text);
  expect(statSync(join(folder, "state")).isDirectory()).toBe(true);
  const found = `for (const name of ["pulumi-consortium", "@pulumi/pulumi"]) require.resolve(name + "/package.json")`;
  execFileSync(process.execPath, ["-e", found], { cwd: workFolder });
});

test("only changed files are written again", () => {
  const workFolder = join(folder, ".consortium/fleet/trade");
  mkdirSync(workFolder, { recursive: true });
  writeFileSync(join(workFolder, "Pulumi.yaml"), 'name: "trade"\nruntime: nodejs\n'); // as an older release wrote it
  prepareWorkFolder(fleet());
  const times = () =>
    Object.keys(programFiles("trade", "1.0.0")).map((name) => statSync(join(workFolder, name)).mtimeMs);
  const before = times();
  expect(readFileSync(join(workFolder, "Pulumi.yaml"), "utf8")).toBe(
    programFiles("trade", "1.0.0", plugins)["Pulumi.yaml"],
  );
  prepareWorkFolder(fleet());
  expect(times()).toEqual(before);
});

/* The provider process of a run. (With Pulumi and the plugin: tests/e2e/fleet.) */

/** In place of the plugin: serves each stack at another port, and ends when it is told to serve "fatal". */
const double = `
let port = 4000;
process.on("message", ({ serve, end }) => {
  if (serve === "fatal") process.exit(1);
  console.log(serve ?? "end " + end);
  process.send(end ? { served: end } : { served: serve, port: ++port });
});
process.on("disconnect", () => process.exit(0));
`;

test("each stack has its own port beside providers that you debug; a process that has ended is started again", async () => {
  const log = join(folder, "log");
  const provider = new SharedProvider(writeIn(folder, "double.js", double), log, process.env);
  const served = async (stack: string, others?: string) =>
    (await provider.serve(stack, { PULUMI_DEBUG_PROVIDERS: others })).PULUMI_DEBUG_PROVIDERS;
  expect(await Promise.all([served("a"), served("b", "aws:1,gcp:2")])).toEqual([
    "consortium:4001",
    "consortium:4002,aws:1,gcp:2",
  ]);
  await provider.end("a", true);
  await expect(served("fatal")).rejects.toThrow(`Look into ${log}: the provider has ended.`);
  expect(await served("c", "aws:1")).toBe("consortium:4001,aws:1");
  await provider.close();
  expect(readFileSync(log, "utf8").split("\n").sort()).toEqual(["", "a", "b", "c", "end a"]);
});
