import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { cacheRoot, pulumiCli } from "../../tools/lib/pulumi-cli.mjs";
import { isOlder } from "../../tools/lib/node-version.mjs";
import { languageHosts } from "../../tools/pulumi-cli/languages.mjs";
import { companions, Sandbox } from "./sandbox";

const copyOf = (version: string) => `pulumi-v${version}-${process.platform}-${process.arch}`;
const copy = copyOf("3.276.0");
let sandbox: Sandbox;
const { env } = process;
beforeEach(() => {
  sandbox = new Sandbox();
  process.env = sandbox.env;
  jest.spyOn(process.stderr, "write").mockImplementation((text) => sandbox.said.push(String(text).trimEnd()) > 0);
});
afterEach(() => {
  process.env = env;
  jest.restoreAllMocks();
});

type Options = Parameters<typeof pulumiCli>[0];
const resolve = (options: Options = {}) => pulumiCli({ canDownload: () => Promise.resolve(false), ...options });
const builds = () => sandbox.calls().filter((call) => call === "go build").length;
const cached = (version = "3.276.0") => join("cache", copyOf(version), "bin");
const onPath = (folder: string) => (sandbox.env.PATH += delimiter + sandbox.path(folder));
const linked = (to: string) => (mkdirSync(sandbox.path("bin")), symlinkSync(to, sandbox.path("bin", "pulumi")));
const noHost = "there is no pulumi-language-nodejs beside it or on PATH";

/** What is on a machine beside Go; the folder of the Pulumi that is used, built if it is not there; why the one in bin is not. */
const machines: [what: string, make: () => unknown, used: string, because?: string, options?: Options][] = [
  ["a Pulumi", () => sandbox.pulumi("bin"), "bin"],
  ["a link, with the companions beside the real file", () => linked(sandbox.pulumi("opt")), "bin"],
  [
    "one that is too old, and another one",
    () => [sandbox.pulumi("bin", "v3.99.0"), sandbox.pulumi("second"), onPath("second")],
    "second",
    "v3.99.0 is older than v3.150.0",
  ],
  [
    "one that does not answer",
    () => [sandbox.pulumi("bin"), sandbox.script("bin/pulumi", "exit 1")],
    cached(),
    'it does not answer "pulumi version"',
  ],
  ["one without a language host", () => sandbox.script("bin/pulumi", "echo v3.276.0"), cached(), noHost],
  [
    "one whose hosts are elsewhere on PATH",
    () => [...companions.map((name) => sandbox.script(`other/${name}`)), onPath("other"), sandbox.pulumi("bin")],
    "bin",
  ],
  ["this very wrapper", () => linked(join(__dirname, "../../tools/pulumi")), cached()],
  ["a copy in the cache", () => sandbox.pulumi(cached()), cached()],
  ["a copy in the cache that is on PATH", () => [sandbox.pulumi(cached()), onPath(cached())], cached()],
  ["a copy in the cache that is not whole", () => sandbox.script(join(cached(), "pulumi"), "exit 1"), cached()],
  ["nothing", () => undefined, cached("3.220.0"), undefined, { release: "oldest" }],
  [
    "a copy of the other release, even on PATH",
    () => [sandbox.pulumi(cached()), onPath(cached())],
    cached("3.220.0"),
    undefined,
    { release: "oldest" },
  ],
  [
    "one that has all language hosts",
    () => sandbox.pulumi("bin", "v3.276.0", languageHosts),
    "bin",
    undefined,
    { languages: true },
  ],
  [
    "a copy that has all language hosts",
    () => sandbox.pulumi(cached(), "v3.276.0", languageHosts),
    cached(),
    undefined,
    { languages: true },
  ],
];
test.each(machines)("with %s", async (_, make, used, because = "", options = {}) => {
  make();
  const command = sandbox.path(used, "pulumi");
  const wasThere = used === "bin" || existsSync(sandbox.path(used, companions[0]!));
  sandbox.go();
  const cli = await resolve(options);
  const others = sandbox.env.PATH!.split(delimiter).filter((folder) => folder !== dirname(command));
  const path = [dirname(command), ...others].join(delimiter);
  expect(cli).toEqual({ command, env: { PATH: path, PULUMI_SKIP_UPDATE_CHECK: "true" } });
  expect(builds()).toBe(wasThere ? 0 : 2);
  const reasons = sandbox.said.filter((line) => line.includes("is not used"));
  expect(reasons).toEqual(because !== "" ? [`${sandbox.path("bin", "pulumi")} is not used: ${because}`] : []);
});

test("a wrapper that leads back here ends instead of going round", async () => {
  sandbox.env.PULUMI_CONSORTIUM_ASKING = "true";
  await expect(resolve()).rejects.toThrow("this is a wrapper and not a Pulumi of its own");
});

describe("the official installer", () => {
  const automation = (body: string) => {
    mkdirSync(sandbox.path("node_modules"));
    const semver =
      "exports.SemVer = class { constructor(text) { this.text = text; } toString() { return this.text; } };";
    writeFileSync(sandbox.path("node_modules", "semver.js"), semver);
    writeFileSync(sandbox.path("automation.cjs"), `exports.PulumiCommand = { async install(options) { ${body} } };`);
    return { canDownload: () => Promise.resolve(true), automation: sandbox.path("automation.cjs") };
  };
  const installs = `
    if (!(options.version instanceof require("semver").SemVer)) throw new Error("the version must be a SemVer");
    const { mkdirSync, writeFileSync } = require("node:fs");
    const bin = options.root + "/bin";
    mkdirSync(bin, { recursive: true });
    for (const name of ["pulumi", "pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs", "pulumi-analyzer-policy"])
      writeFileSync(bin + "/" + name, String(options.version), { mode: 0o755 });`;

  test("is preferred to a build where the download host answers", async () => {
    sandbox.go();
    const cli = await resolve(automation(installs));
    expect(cli.command).toBe(join(sandbox.cache, copy, "bin", "pulumi"));
    expect(sandbox.calls()).toEqual([]);
    expect(sandbox.cached()).toEqual([copy]);
  });

  test.each([
    ["fails", "throw new Error('no such release')", "no such release"],
    ["leaves something out", "", "its installation is incomplete"],
  ])("that %s gives way to a build", async (_, body, reason) => {
    sandbox.go();
    await resolve(automation(body));
    expect(builds()).toBe(2);
    expect(sandbox.said.join("\n")).toContain(reason);
  });
});

const threeWays = /install Pulumi \(.*\), or install Go 1\.\d+\.\d+ or newer \(.*\), or put .* on PATH/;
test.each<[string, () => unknown, RegExp, RegExp?]>([
  ["no Go", () => undefined, /cannot be downloaded here, and Go, which could build it, is not installed/, threeWays],
  ["an old Go", () => sandbox.go({ version: "1.19.2" }), /and Go 1\.19\.2 \(.*\) is too old to build it/, threeWays],
  [
    "a Go that fails",
    () => sandbox.go({ build: 'echo "no space left on device" >&2; exit 1' }),
    /Go could not build pulumi; its last words were:\nno space left on device/,
  ],
])("with %s nothing is built, and the error says what to do", async (_, make, why, ways = why) => {
  make();
  for (const text of [why, ways]) await expect(resolve()).rejects.toThrow(text);
  expect(sandbox.cached()).toEqual([]);
});

test("PULUMI_CONSORTIUM_CLI must be oldest or newest", async () => {
  sandbox.env.PULUMI_CONSORTIUM_CLI = "latest";
  await expect(resolve()).rejects.toThrow('PULUMI_CONSORTIUM_CLI must be oldest or newest, not "latest".');
});

test.each([
  ["", "v3.210.1", true],
  ["oldest", "v3.220.4", true],
  ["oldest", "v3.276.0", false],
  ["newest", "v3.276.0", true],
  ["newest", "v3.300.0", true],
  ["newest", "v3.275.9", false],
])("PULUMI_CONSORTIUM_CLI=%s takes an official Pulumi %s from PATH: %s", async (name, version, isTaken) => {
  sandbox.env.PULUMI_CONSORTIUM_CLI = name;
  const command = sandbox.pulumi("bin", version);
  sandbox.go();
  const wanted = name === "oldest" ? "3.220.0" : "3.276.0";
  expect((await resolve()).command).toBe(isTaken ? command : sandbox.path(cached(wanted), "pulumi"));
  const why = `${command} is not used: it is ${version}, and Pulumi v${wanted} was asked for`;
  expect(sandbox.said.includes(why)).toBe(!isTaken);
});

test.each([
  [{ PULUMI_CONSORTIUM_CACHE: "/c" }, "linux", "/c"],
  [{ XDG_CACHE_HOME: "/x" }, "darwin", "/x/pulumi-consortium"],
  [{}, "linux", "/home/me/.cache/pulumi-consortium"],
  [{}, "darwin", "/home/me/Library/Caches/pulumi-consortium"],
] as const)("the cache with %j on %s is %s", (given, platform, expected) => {
  process.env = given;
  expect(cacheRoot(platform, "/home/me")).toBe(expected);
});

test.each([
  ["v3.149.9", "3.150.0", true],
  ["v4.0.0", "3.150.0", false],
  ["v3.220.0-dev.1", "3.150.0", false],
  ["1.9", "1.25.11", true],
  ["20.18.0", ">=20.18.1", true],
  ["20.18.1", ">=20.18.1", false],
])("%s is older than %s: %s", (version, oldest, expected) => {
  expect(isOlder(version, oldest)).toBe(expected);
});
