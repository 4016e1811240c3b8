// @ts-check
/*
 * Bundles the provider plugin: one file, `plugin/pulumi-resource-consortium`, that a shell and Node.js both read, and the `.cmd`
 * that starts it on Windows. Beside them are the licences of the packages in it, and its bill of materials. With --executables PLATFORM,PLATFORM… (or `all`), it also makes a plugin with Node.js in it for each
 * platform, and packs it into dist-plugin/ as `pulumi plugin install` downloads it.
 */
import { build } from "esbuild";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { billOf, componentOf, nodeComponent, noticesOf, packagesIn } from "./lib/materials.mjs";
import { root } from "./lib/prepare.mjs";

const folder = join(root, "plugin");
const file = join(folder, "pulumi-resource-consortium");
const draft = join(folder, ".draft");

const missing = "pulumi-resource-consortium needs Node.js 20 or newer on the PATH: install it from https://nodejs.org";
/** A shell reads one command, which passes the file to Node.js. Node.js reads a string and a comment. */
const start = `":" //# ; case "$(node --version 2>/dev/null)" in v2[0-9].*|v[3-9][0-9].*) ;; *) echo "${missing}" >&2; exit 1;; esac; exec node "$0" "$@"`;
const windows = `@echo off\r\nnode -e "process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)" 2>nul || (echo ${missing}>&2 & exit /b 1)\r\nnode "%~dp0pulumi-resource-consortium" %*\r\n`;

mkdirSync(folder, { recursive: true });
const { metafile } = await build({
  metafile: true,
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

const about = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const packages = packagesIn(metafile, root);
const parts = packages.map(componentOf);
const named = { name: "pulumi-resource-consortium", version: about.version };
const notices = noticesOf(packages);
writeFileSync(`${file}-third-party.txt`, notices);
writeFileSync(`${file}.cdx.json`, JSON.stringify(billOf(named, parts), undefined, 2));

/** Node.js in the executables. The same version makes those of all platforms. */
const nodeVersion = "26.10.0";

/** @param {import("./lib/nodes.mjs").Platform[]} platforms @param {string} out */
async function executables(platforms, out) {
  const { nodeOf, platform: ours } = await import("./lib/nodes.mjs");
  const { succeed } = await import("./lib/processes.mjs");
  const { create } = await import("tar");
  mkdirSync(out, { recursive: true });
  const here = await nodeOf(nodeVersion);
  /** What comes with the program in an archive. @type {Record<string, string>} */
  const texts = {
    LICENSE: readFileSync(join(root, "LICENSE"), "utf8"),
    "LICENSE-nodejs": readFileSync(join(dirname(here), "..", "LICENSE"), "utf8"),
    "THIRD-PARTY-NOTICES": notices,
  };
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
      useCodeCache: platform === ours, // compiled code fits one kind of processor only
    };
    writeFileSync(config, JSON.stringify(settings));
    await succeed(here, ["--build-sea", config]);
    chmodSync(settings.output, 0o755);
    for (const [text, content] of Object.entries(texts)) writeFileSync(join(own, text), content);
    const release = `pulumi-resource-consortium-v${about.version}-${platform}`;
    const archive = join(out, `${release}.tar.gz`);
    await create({ file: archive, cwd: own, gzip: { level: 9 }, portable: true, noMtime: true }, [
      name,
      ...Object.keys(texts),
    ]);
    const bill = billOf({ ...named, name: release }, [nodeComponent(nodeVersion), ...parts]);
    writeFileSync(join(out, `${release}.cdx.json`), JSON.stringify(bill, undefined, 2));
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
