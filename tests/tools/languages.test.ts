import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { languageHosts } from "../../tools/pulumi-cli/languages.mjs";
import { pulumiCli } from "../../tools/lib/pulumi-cli.mjs";
import { companions, Sandbox } from "./sandbox";

let sandbox: Sandbox;
beforeEach(() => (sandbox = new Sandbox()));

const resolve = (options = {}) =>
  pulumiCli({ env: sandbox.env, log: sandbox.log, canDownload: () => Promise.resolve(false), ...options });
const builds = () => sandbox.calls().filter((call) => call === "go build").length;
const machine = `${process.platform}-${process.arch}`;
const copy = `pulumi-v3.220.0-${machine}`;

test("a pulumi on PATH that has the hosts is used, and nothing is built", async () => {
  const command = sandbox.pulumi("bin", "v3.220.0", languageHosts);
  expect((await resolve({ languages: true })).command).toBe(command);
  expect(sandbox.calls()).toEqual(["pulumi version"]);
});

test("one that lacks a host is used for Node.js alone", async () => {
  const command = sandbox.pulumi("bin");
  sandbox.go();
  sandbox.sdkModule();
  expect((await resolve()).command).toBe(command);
  expect(sandbox.said).toEqual([]);
  const cli = await resolve({ languages: true });
  expect(cli.command).toContain(sandbox.cache);
  expect(sandbox.said[0]).toContain("is not used: there is no pulumi-language-yaml beside it or on PATH");
});

test("a copy in the cache that came with them is used as it is", async () => {
  const command = sandbox.pulumi(join("cache", copy, "bin"), "v3.220.0", languageHosts);
  expect((await resolve({ languages: true })).command).toBe(command);
  expect(sandbox.calls()).toEqual([]);
});

describe("hosts that have to be built", () => {
  beforeEach(() => {
    sandbox.pulumi(join("cache", copy, "bin"));
    sandbox.go();
    sandbox.sdkModule();
  });

  test("lie beside a pulumi, once, and only when they are asked for", async () => {
    await resolve();
    expect(builds()).toBe(0);
    const { command, env } = await resolve({ languages: true });
    const bin = dirname(command);
    expect(env.PATH.startsWith(bin)).toBe(true);
    expect(readdirSync(bin)).toEqual(expect.arrayContaining(["pulumi", ...companions, ...languageHosts]));
    expect(existsSync(join(bin, "..", "released", "pulumi-language-python-exec"))).toBe(true);
    expect(builds()).toBe(2);
    expect(sandbox.said.join("\n")).toMatch(/Building the language hosts .* once for this user[^]* is in .* now/);
    expect((await resolve({ languages: true })).command).toBe(command);
    expect(builds()).toBe(2);
    expect((await resolve()).command).toBe(sandbox.path("cache", copy, "bin", "pulumi"));
  });
});
