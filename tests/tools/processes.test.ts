import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { withLock } from "../../tools/lib/cache.mjs";
import { languageHosts } from "../../tools/pulumi-cli/languages.mjs";
import { until } from "../support/until";
import { Sandbox } from "./sandbox";

const tools = join(__dirname, "../../tools");
const copy = `pulumi-v3.276.0-${process.platform}-${process.arch}`;
let sandbox: Sandbox;
beforeEach(() => (sandbox = new Sandbox()));

interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

interface Started {
  child: ChildProcess;
  texts: { stdout: string; stderr: string };
  ended: Promise<Ended>;
}

/** A Node.js program, its printed text and its end. */
function start(args: string[], input = "", more: SpawnOptions = {}): Started {
  const child = spawn(process.execPath, args, { ...more, stdio: "pipe", env: sandbox.env, cwd: sandbox.folder });
  child.stdin.end(input);
  const texts = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => (texts.stdout += String(chunk)));
  child.stderr.on("data", (chunk) => (texts.stderr += String(chunk)));
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal, ...texts }));
  });
  return { child, texts, ended };
}

describe("tools/pulumi", () => {
  const launcher = join(tools, "pulumi");
  const pulumi = (...lines: string[]): void => {
    sandbox.pulumi("bin", "v3.276.0", languageHosts);
    sandbox.script("bin/pulumi", 'if [ "$1" = version ]; then echo v3.276.0; exit; fi', ...lines);
  };

  test("hands over arguments, folder, input and output, and the exit code", async () => {
    const body = 'echo "$# $1|$2 in $(pwd -P)"; while read -r line; do echo "read $line"; done; echo aside >&2; exit 7';
    pulumi(body);
    const { code, stdout, stderr } = await start([launcher, "a b", "--c"], "hello\n").ended;
    expect(stdout).toMatch(/^2 a b\|--c in .*tools-test-\S+\nread hello\n$/);
    expect({ code, stderr }).toEqual({ code: 7, stderr: "aside\n" });
  });

  test.each([
    ["SIGINT", "its own process gets, and waits for Pulumi's end", 1],
    ["SIGTERM", "its own process gets, and waits for Pulumi's end", 1],
    ["SIGINT", "the whole group gets: Pulumi hears it once", -1],
    ["SIGTERM", "the whole group gets: Pulumi hears it once", -1],
  ] as const)("passes on a %s that %s", async (name, _, to) => {
    const up = sandbox.path("up");
    // A shell would take two signals at once for one.
    writeFileSync(
      sandbox.path("pulumi.js"),
      `process.on("${name}", () => (console.log("caught"), setTimeout(() => process.exit(5), 1000)));
      setInterval(() => {}, 1000);
      require("fs").writeFileSync("${up}", "");`,
    );
    pulumi(`exec ${process.execPath} ${sandbox.path("pulumi.js")}`);
    const { child, ended } = start([launcher, "up"], "", { detached: true });
    await until(() => existsSync(up));
    process.kill(to * child.pid!, name);
    expect(await ended).toMatchObject({ code: 5, stdout: "caught\n" });
  });

  test("ends by the signal that ended Pulumi", async () => {
    pulumi("kill -TERM $$");
    expect(await start([launcher, "up"]).ended).toMatchObject({ code: null, signal: "SIGTERM" });
  });

  test("tells a problem in one line", async () => {
    sandbox.env.PULUMI_CONSORTIUM_ASKING = "true";
    const { code, stdout, stderr } = await start([launcher, "version"]).ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^tools\/pulumi: .*\n$/);
  });
});

describe("making a copy", () => {
  const script = `
    import { pulumiCli } from ${JSON.stringify(pathToFileURL(join(tools, "lib/pulumi-cli.mjs")).href)};
    const { command } = await pulumiCli({ canDownload: async () => false });
    console.log(command);`;
  const make = () => start(["--input-type=module", "--eval", script]);
  const slowly = "i=0; while [ $i -lt 100 ] && [ ! -e go-on ]; do /bin/sleep 0.1; i=$((i+1)); done";
  const building = () => sandbox.calls().includes("go build");
  const slowGo = () => sandbox.go({ build: slowly.replace("go-on", sandbox.path("go-on")) });

  test("in two processes at once is done once, and the second says that it waits", async () => {
    slowGo();
    const first = make();
    await until(building);
    const second = make();
    await until(() => second.texts.stderr !== "");
    writeFileSync(sandbox.path("go-on"), "");
    const ended = await Promise.all([first.ended, second.ended]);
    expect(ended.map(({ stdout }) => stdout.trim())).toEqual(Array(2).fill(join(sandbox.cache, copy, "bin", "pulumi")));
    expect(ended[1].stderr).toBe("Another process is making Pulumi v3.276.0 for this user: waiting for it.\n");
    expect(sandbox.calls().filter((call) => call === "go build")).toHaveLength(2);
    expect(sandbox.cached()).toEqual([copy]);
  });

  test.each([
    ["SIGINT", []],
    ["SIGTERM", []],
    ["SIGKILL", [expect.stringContaining(`${copy}.draft-`) as string, `${copy}.lock`]],
  ] as const)("that %s ends is begun anew by the next run, which clears up", async (name, left) => {
    slowGo();
    const { child, ended } = make();
    await until(building);
    child.kill(name);
    expect(await ended).toMatchObject({ code: null, signal: name });
    expect(sandbox.cached()).toEqual(left);
    writeFileSync(sandbox.path("go-on"), "");
    expect(await make().ended).toMatchObject({ code: 0 });
    expect(sandbox.cached()).toEqual([copy]);
  });
});

test("a lock that was taken away meanwhile does not spoil the work", async () => {
  const file = sandbox.path("some", "lock");
  expect(await withLock(file, () => Promise.resolve(rmSync(file, { recursive: true })))).toBeUndefined();
});
