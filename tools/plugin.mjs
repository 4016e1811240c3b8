// @ts-check
/*
 * Bundles the provider plugin: one file, `plugin/pulumi-resource-consortium`, that a shell and Node.js both read, and the `.cmd`
 * that starts it on Windows. With --executables PLATFORM,PLATFORM… (or `all`), it also makes a plugin with Node.js in it for each
 * platform, and packs it into dist-plugin/ as `pulumi plugin install` downloads it.
 */
import { build } from "esbuild";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = join(root, "plugin");
const file = join(folder, "pulumi-resource-consortium");
const draft = join(folder, ".draft");

const missing = "pulumi-resource-consortium needs Node.js 20 or newer on the PATH: install it from https://nodejs.org";
/** A shell reads one command, which passes the file to Node.js. Node.js reads a string and a comment. */
const start = `":" //# ; case "$(node --version 2>/dev/null)" in v2[0-9].*|v[3-9][0-9].*) ;; *) echo "${missing}" >&2; exit 1;; esac; exec node "$0" "$@"`;
const windows = `@echo off\r\nnode -e "process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)" 2>nul || (echo ${missing}>&2 & exit /b 1)\r\nnode "%~dp0pulumi-resource-consortium" %*\r\n`;

mkdirSync(folder, { recursive: true });
await build({
  entryPoints: [join(root, "plugin/main.ts")],
  outfile: draft,
  bundle: true,
  platform: "node",
  target: "node20",
  minify: true,
  legalComments: "none",
  // Pulumi's SDK needs these to serialize functions, which no component does.
  alias: Object.fromEntries(
    ["typescript", "ts-node", "@npmcli/arborist"].map((name) => [name, join(root, "tools/lib/nothing.cjs")]),
  ),
  banner: { js: `#!/bin/sh\n${start}` },
  logLevel: "warning",
});
chmodSync(draft, 0o755);
renameSync(draft, file); // a plugin that is running or starting keeps its file
writeFileSync(`${file}.cmd`, windows);

/** Node.js in the executables. The same version makes those of all platforms. */
const nodeVersion = "26.10.0";

/** @param {import("./lib/nodes.mjs").Platform[]} platforms @param {string} out */
async function executables(platforms, out) {
  const { nodeOf, platform: here } = await import("./lib/nodes.mjs");
  const { succeed } = await import("./lib/processes.mjs");
  const { create } = await import("tar");
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  mkdirSync(out, { recursive: true });
  for (const platform of platforms) {
    const name = `pulumi-resource-consortium${platform.startsWith("windows") ? ".exe" : ""}`;
    const own = join(out, platform);
    mkdirSync(own, { recursive: true });
    const config = join(own, "sea.json");
    const settings = {
      main: file,
      executable: await nodeOf(nodeVersion, platform),
      output: join(own, name),
      disableExperimentalSEAWarning: true,
      useCodeCache: platform === here, // compiled code fits one kind of processor only
    };
    writeFileSync(config, JSON.stringify(settings));
    await succeed(await nodeOf(nodeVersion), ["--build-sea", config]);
    chmodSync(settings.output, 0o755);
    const archive = join(out, `pulumi-resource-consortium-v${version}-${platform}.tar.gz`);
    await create({ file: archive, cwd: own, gzip: { level: 9 }, portable: true, noMtime: true }, [name]);
    rmSync(own, { recursive: true });
    console.log(archive);
  }
}

const asked = process.argv.indexOf("--executables");
if (asked > 0) {
  const { nodePackages } = await import("./lib/nodes.mjs");
  const given = process.argv[asked + 1] ?? "";
  const platforms = given === "all" ? Object.keys(nodePackages) : given.split(",");
  await executables(/** @type {import("./lib/nodes.mjs").Platform[]} */ (platforms), join(root, "dist-plugin"));
}
