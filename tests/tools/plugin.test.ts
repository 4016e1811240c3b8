import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { CheckRequest, type CheckResponse } from "@pulumi/pulumi/proto/provider_pb";
import { type PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import { ProviderService } from "../../plugin/service";
import { bundle, root } from "../../tools/lib/prepare.mjs";
import { Sandbox } from "./sandbox";

const read = (file: string) => JSON.parse(readFileSync(join(root, file), "utf8")) as { version: string };
const { version } = read("package.json");
const plugin = join(root, "plugin/pulumi-resource-consortium");
const { calls } = new ProviderService();

beforeAll(bundle);

/** Starts the plugin, which a shell and Node.js both read, on a machine of a test's own. */
const started = (sandbox: Sandbox) =>
  spawnSync("/bin/sh", [plugin], { env: sandbox.env, encoding: "utf8", timeout: 30_000 });
const sentence =
  "pulumi-resource-consortium needs Node.js 20 or newer on the PATH: install it from https://nodejs.org\n";

test.each([
  ["no Node.js", undefined],
  ["Node.js 18", "v18.20.4"],
  ["Node.js 2", "v2.5.0"],
])("on a machine with %s the plugin says what it needs, and no more", (_, node) => {
  const sandbox = new Sandbox();
  if (node !== undefined) sandbox.script("bin/node", `echo ${node}`);
  expect(started(sandbox)).toMatchObject({ status: 1, stdout: "", stderr: sentence });
});

test.each(["v20.18.1", "v22.1.0", "v30.0.0"])("Node.js %s gets the file and the arguments", (node) => {
  const sandbox = new Sandbox();
  sandbox.script("bin/node", `if [ "$1" = --version ]; then echo ${node}; else echo "ran $1"; fi`);
  expect(started(sandbox)).toMatchObject({ status: 0, stdout: `ran ${plugin}\n` });
});

test("--version prints it and ends", () => {
  expect(spawnSync(plugin, ["--version"], { encoding: "utf8", timeout: 30_000 })).toMatchObject({
    status: 0,
    stdout: `${version}\n`,
    stderr: "",
  });
});

test("the signal by which the engine ends a plugin ends it: the engine waits for that", async () => {
  const child = spawn(plugin, { stdio: ["ignore", "pipe", "inherit"], env: process.env });
  try {
    await once(child.stdout, "data"); // its port: it listens
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([null, "SIGINT"]);
  } finally {
    child.kill("SIGKILL");
  }
});

test("the version is the same everywhere; a program of another version is refused in one sentence", async () => {
  const info = await new Promise<PluginInfo>((resolve) =>
    calls.getPluginInfo({ request: new Empty() } as never, (_, answer) => resolve(answer!)),
  );
  expect([info.getVersion(), read("schemas/schema.json").version]).toEqual([version, version]);
  const request = new CheckRequest();
  request.setUrn("urn:pulumi:test::test::consortium:index:Consortium::c");
  request.setNews(Struct.fromJavaScript({ name: "c", __program: "0.0.9" }));
  const response = await new Promise<CheckResponse>((resolve) =>
    calls.check({ request } as never, (_, answer) => resolve(answer!)),
  );
  expect(response.getFailuresList().map((failure) => failure.getReason())).toEqual([
    `the program has pulumi-consortium 0.0.9, but the provider plugin is ${version}: install the plugin of the same version, ` +
      "with `npx --no-install pulumi-consortium plugin install` in the folder of the program.",
  ]);
});

test("consortium plugin install without a Pulumi CLI says where to get one; path names the folder", () => {
  const script = join(root, "dist/cli/consortium.js");
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [script, "plugin", ...args], { env: new Sandbox().env, encoding: "utf8" });
  expect(run("install")).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^consortium: There is no Pulumi CLI on the PATH\. .*\n$/) as string,
  });
  expect(existsSync(join(run("path").stdout.trim(), "pulumi-resource-consortium"))).toBe(true);
});
