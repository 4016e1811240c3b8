import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { cacheRoot, pulumiCli } from "../../tools/lib/pulumi-cli.mjs";
import { isOlder } from "../../tools/lib/node-version.mjs";
import { languageHosts } from "../../tools/pulumi-cli/languages.mjs";
import { companions, Sandbox } from "./sandbox";

const copy = `pulumi-v3.276.0-${process.platform}-${process.arch}`;
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

const resolve = (options = {}) => pulumiCli({ canDownload: () => Promise.resolve(false), ...options });
const builds = () => sandbox.calls().filter((call) => call === "go build").length;

describe("a pulumi on PATH", () => {
  test("is used, and its folder comes first on PATH", async () => {
    const command = sandbox.pulumi("bin");
    sandbox.env.PATH = ["/nowhere", sandbox.path("bin")].join(delimiter);
    const cli = await resolve();
    expect(cli).toEqual({
      command,
      env: { PATH: [dirname(command), "/nowhere"].join(delimiter), PULUMI_SKIP_UPDATE_CHECK: "true" },
    });
    expect(sandbox.said).toEqual([]);
  });

  test("may be a link, with its companions beside the real file", async () => {
    const real = sandbox.pulumi("opt");
    mkdirSync(sandbox.path("bin"));
    symlinkSync(real, sandbox.path("bin", "pulumi"));
    expect((await resolve()).command).toBe(sandbox.path("bin", "pulumi"));
  });

  test.each([
    ["is too old", () => sandbox.pulumi("bin", "v3.99.0"), "v3.99.0 is older than v3.150.0"],
    [
      "does not answer",
      () => [sandbox.pulumi("bin"), sandbox.script("bin/pulumi", "exit 1")],
      'does not answer "pulumi version"',
    ],
  ])("that %s is skipped, with the reason, for the next one", async (_, make, reason) => {
    make();
    const next = sandbox.pulumi("second");
    sandbox.env.PATH += delimiter + sandbox.path("second");
    expect((await resolve()).command).toBe(next);
    expect(sandbox.said).toEqual([expect.stringContaining(reason)]);
    expect(sandbox.said[0]).toContain(`${sandbox.path("bin", "pulumi")} is not used: `);
  });

  test("without a language host is skipped, unless there is one elsewhere on PATH", async () => {
    sandbox.script("bin/pulumi", "echo v3.276.0");
    sandbox.go();
    expect((await resolve()).command).toBe(join(sandbox.cache, copy, "bin", "pulumi"));
    expect(sandbox.said[0]).toContain("is not used: there is no pulumi-language-nodejs beside it or on PATH");
    for (const name of companions) sandbox.script(`other/${name}`, "exit 0");
    sandbox.env.PATH += delimiter + sandbox.path("other");
    expect((await resolve()).command).toBe(sandbox.path("bin", "pulumi"));
  });

  test("that is this very wrapper is not taken for a Pulumi", async () => {
    mkdirSync(sandbox.path("bin"));
    symlinkSync(join(__dirname, "../../tools/pulumi"), sandbox.path("bin", "pulumi"));
    sandbox.go();
    expect((await resolve()).command).toBe(join(sandbox.cache, copy, "bin", "pulumi"));
    expect(sandbox.said.join()).not.toContain("is not used");
  });

  test("that leads back here ends instead of going round", async () => {
    sandbox.env.PULUMI_CONSORTIUM_ASKING = "true";
    await expect(resolve()).rejects.toThrow("this is a wrapper and not a Pulumi of its own");
  });
});

describe("a copy in the cache", () => {
  test("is used without another look at anything", async () => {
    const command = sandbox.pulumi(join("cache", copy, "bin"));
    sandbox.go();
    expect((await resolve()).command).toBe(command);
    expect(sandbox.calls()).toEqual([]);
  });

  test("is used from PATH, too, without being asked", async () => {
    const command = sandbox.pulumi(join("cache", copy, "bin"));
    sandbox.env.PATH = dirname(command);
    expect(await resolve()).toMatchObject({ command, env: { PATH: dirname(command) } });
    expect(sandbox.calls()).toEqual([]);
  });

  test("that is not whole is made anew", async () => {
    sandbox.script(join("cache", copy, "bin", "pulumi"), "exit 1");
    sandbox.go();
    await resolve();
    expect(builds()).toBe(2);
  });
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

describe("a build with Go", () => {
  test("makes both programs and the scripts, and says what it does", async () => {
    sandbox.go();
    await resolve();
    expect(sandbox.calls()).toEqual(["go env", "go build", "go build"]);
    expect(sandbox.cached()).toEqual([copy]);
    expect(sandbox.said[0]).toMatch(/Building Pulumi v3\.276\.0 from its sources .* once for this user/);
    expect(sandbox.said.at(-1)).toMatch(/^Pulumi v3\.276\.0 is in .* now \(\d/);
    await resolve();
    expect(builds()).toBe(2);
  });

  const threeWays = /install Pulumi \(.*\), or install Go 1\.\d+\.\d+ or newer \(.*\), or put .* on PATH/;

  test("without Go is one sentence with three ways out", async () => {
    await expect(resolve()).rejects.toThrow(
      /cannot be downloaded here, and Go, which could build it, is not installed/,
    );
    await expect(resolve()).rejects.toThrow(threeWays);
    expect(sandbox.cached()).toEqual([]);
  });

  test("with an old Go says which is there", async () => {
    sandbox.go({ version: "1.19.2" });
    await expect(resolve()).rejects.toThrow(/and Go 1\.19\.2 \(.*\) is too old to build it/);
    await expect(resolve()).rejects.toThrow(threeWays);
  });

  test("that fails shows Go's last words and leaves nothing behind", async () => {
    sandbox.go({ build: 'echo "no space left on device" >&2; exit 1' });
    await expect(resolve()).rejects.toThrow(/Go could not build pulumi; its last words were:\nno space left on device/);
    expect(sandbox.cached()).toEqual([]);
  });
});

describe("PULUMI_CONSORTIUM_CLI", () => {
  test.each([
    ["", "3.276.0"],
    ["newest", "3.276.0"],
    ["oldest", "3.220.0"],
  ])("%j makes Pulumi %s", async (name, version) => {
    sandbox.env.PULUMI_CONSORTIUM_CLI = name;
    sandbox.go();
    expect((await resolve()).command).toContain(`pulumi-v${version}-`);
  });

  test("must be one of the two", async () => {
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
  ])("%j takes an official Pulumi %s from PATH: %s", async (name, version, isTaken) => {
    sandbox.env.PULUMI_CONSORTIUM_CLI = name;
    const command = sandbox.pulumi("bin", version);
    sandbox.go();
    expect((await resolve()).command === command).toBe(isTaken);
    const wanted = name === "oldest" ? "v3.220.0" : "v3.276.0";
    const why = `${command} is not used: it is ${version}, and Pulumi ${wanted} was asked for`;
    expect(sandbox.said.includes(why)).toBe(!isTaken);
  });

  test("a copy of one release is never taken for the other, not even from PATH", async () => {
    const other = sandbox.pulumi(join("cache", copy, "bin"));
    sandbox.env.PATH += delimiter + dirname(other);
    sandbox.go();
    expect((await resolve({ release: "oldest" })).command).toContain("pulumi-v3.220.0-");
    expect((await resolve()).command).toBe(other);
  });
});

describe("with language hosts", () => {
  test("a pulumi on PATH that has them is used, and nothing is built; one that lacks a host, for Node.js alone", async () => {
    const command = sandbox.pulumi("bin", "v3.276.0", languageHosts);
    expect((await resolve({ languages: true })).command).toBe(command);
    expect(sandbox.calls()).toEqual(["pulumi version"]);
    rmSync(sandbox.path("bin", "pulumi-language-yaml"));
    sandbox.go();
    sandbox.sdkModule();
    expect((await resolve()).command).toBe(command);
    expect(sandbox.said).toEqual([]);
    expect((await resolve({ languages: true })).command).toContain(sandbox.cache);
    expect(sandbox.said[0]).toContain("is not used: there is no pulumi-language-yaml beside it or on PATH");
  });

  test("a copy in the cache that came with them is used as it is", async () => {
    const command = sandbox.pulumi(join("cache", copy, "bin"), "v3.276.0", languageHosts);
    expect((await resolve({ languages: true })).command).toBe(command);
    expect(sandbox.calls()).toEqual([]);
  });

  test("they are built beside a copy without them, once, and only when they are asked for", async () => {
    sandbox.pulumi(join("cache", copy, "bin"));
    sandbox.go();
    sandbox.sdkModule();
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
  ["v3.150.0", "3.150.0", false],
  ["v4.0.0", "3.150.0", false],
  ["v3.220.0-dev.1", "3.150.0", false],
  ["1.9", "1.25.11", true],
  ["1.25.11", "1.25.11", false],
  ["20.18.0", ">=20.18.1", true],
  ["20.18.1", ">=20.18.1", false],
  ["20.17.9", ">=20.18.1", true],
  ["22.1.0", ">=20.18.1", false],
])("%s is older than %s: %s", (version, oldest, expected) => {
  expect(isOlder(version, oldest)).toBe(expected);
});
