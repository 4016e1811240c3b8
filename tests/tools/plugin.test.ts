import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { nodeOf } from "../../tools/lib/nodes.mjs";
import { bundle, root } from "../../tools/lib/prepare.mjs";
import { Sandbox } from "./sandbox";
import { patiently } from "../support/jest/patience";

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const plugin = join(root, "plugin/pulumi-resource-consortium");

beforeAll(bundle);

/** Starts the plugin, which a shell and Node.js both read, on a machine of a test's own. */
const started = (sandbox: Sandbox, ...args: string[]) =>
  spawnSync("/bin/sh", [plugin, ...args], { env: sandbox.env, encoding: "utf8", timeout: patiently(30_000) });
const sentence =
  "pulumi-resource-consortium needs Node.js 20 or newer on the PATH: install it from https://nodejs.org\n";

/** Puts a Node.js of this version on the PATH. */
function versionOf(sandbox: Sandbox, version: string): void {
  const versions = `{ ...process.versions, node: ${JSON.stringify(version)} }`;
  writeFileSync(sandbox.path("version.cjs"), `Object.defineProperty(process, "versions", { value: ${versions} });\n`);
  sandbox.script("bin/node", `exec "${process.execPath}" --require "${sandbox.path("version.cjs")}" "$@"`);
}

test.each([
  ["no Node.js", undefined],
  ["Node.js 18", "18.20.4"],
  ["Node.js 2", "2.5.0"],
])("on a machine with %s the plugin says what it needs, and no more", (_, node) => {
  const sandbox = new Sandbox();
  if (node !== undefined) versionOf(sandbox, node);
  expect(started(sandbox)).toMatchObject({ status: 1, stdout: "", stderr: sentence });
});

test.each(["20.18.1", "22.1.0", "30.0.0"])("Node.js %s gets the file and the arguments", (node) => {
  const sandbox = new Sandbox();
  versionOf(sandbox, node);
  expect(started(sandbox, "--version")).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: "" });
});

describe("what Node.js compiled", () => {
  /** A plugin in a folder of its own, and its compiled code. */
  function copied() {
    const sandbox = new Sandbox();
    const copy = sandbox.path("pulumi-resource-consortium");
    copyFileSync(plugin, copy);
    cpSync(join(root, "plugin/dist"), sandbox.path("dist"), {
      recursive: true,
      filter: (file) => !file.endsWith("/compiled"),
    });
    return { copy, kept: sandbox.path("dist/compiled") };
  }

  /** Starts it, and ends it as the engine does, which waits for that. */
  async function use(copy: string, node: string): Promise<void> {
    const child = spawn(node, [copy], { stdio: ["ignore", "pipe", "inherit"], env: process.env });
    try {
      expect(String((await once(child.stdout, "data"))[0])).toMatch(/^\d+\n$/);
      child.kill("SIGINT");
      expect(await once(child, "exit")).toEqual([null, "SIGINT"]);
    } finally {
      child.kill("SIGKILL");
    }
  }

  /** Each file of compiled code, and when it was written. */
  const filesIn = (folder: string) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => [
      name,
      statSync(join(folder, name)).mtimeMs,
    ]);

  test("is beside the plugin after the first run on Node.js 24, and used from then on", async () => {
    const node = await nodeOf("24");
    const { copy, kept } = copied();
    await use(copy, node);
    const files = filesIn(kept);
    expect(files.length).toBeGreaterThan(2);
    await use(copy, node); // had anything been compiled again, it would be another file
    expect(filesIn(kept)).toEqual(files);
  });

  test("is not missed where it cannot be kept, or by an older Node.js", async () => {
    const { copy, kept } = copied();
    await use(copy, await nodeOf("20"));
    expect(existsSync(kept)).toBe(false);
    writeFileSync(kept, "");
    await use(copy, await nodeOf("24"));
    expect(readFileSync(kept, "utf8")).toBe("");
  });
});

test("bundling again leaves a running plugin its parts, and old ones go", async () => {
  const parts = join(root, "plugin/dist");
  const written = () =>
    readdirSync(parts)
      .filter((name) => name.endsWith(".cjs"))
      .map((name) => [name, statSync(join(parts, name)).ino]);
  const before = written();
  writeFileSync(join(parts, "OLD.cjs"), "");
  await bundle();
  expect(written()).toEqual(before);
});

test("undici, a sixth of it, is loaded with the first request", async () => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["plugin/main.ts"],
    bundle: true,
    platform: "node",
    packages: "external",
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  const imports = Object.values(metafile.inputs).flatMap((one) => one.imports);
  const kinds = imports.filter(({ path }) => path === "provider/api/transport.ts").map(({ kind }) => kind);
  expect(kinds).toEqual(["dynamic-import"]);
});

test("consortium plugin install without a Pulumi CLI says where to get one; path names the folder", () => {
  const script = join(root, "dist/cli/consortium.js");
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [script, "plugin", ...args], { env: new Sandbox().env, encoding: "utf8" });
  expect(run("install")).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^consortium: Install Pulumi first: .* \[not-installed: .*\n$/) as string,
  });
  expect(existsSync(join(run("path").stdout.trim(), "pulumi-resource-consortium"))).toBe(true);
});
