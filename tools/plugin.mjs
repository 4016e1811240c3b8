// @ts-check
/*
 * Bundles the provider plugin: `plugin/pulumi-resource-consortium`, a file that a shell and Node.js both read, its parts in `plugin/dist`, and
 * the `.cmd` that starts it on Windows. Beside them are the licences of the packages in it, and its bill of materials. With --executables
 * PLATFORM,PLATFORM… (or `all`), it also makes a plugin with Node.js in it for each platform, and packs it into dist-plugin/ as
 * `pulumi plugin install` downloads it.
 */
import { build, transform } from "esbuild";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { billOf, componentOf, nodeComponent, noticesOf, packagesIn } from "./lib/materials.mjs";
import { root } from "./lib/prepare.mjs";

const folder = join(root, "plugin");
const file = join(folder, "pulumi-resource-consortium");
const parts = join(folder, "dist");

const missing = "pulumi-resource-consortium needs Node.js 20 or newer on the PATH: install it from https://nodejs.org";
/**
 * A shell reads one command, which passes the file to Node.js. Node.js reads a string and a comment, looks at its version, and keeps what it
 * compiles beside the plugin, if it can (22.1 or newer): whoever may write there can change the plugin itself.
 */
const start = `#!/bin/sh
":" //# ; command -v node >/dev/null 2>&1 || { echo "${missing}" >&2; exit 1; }; exec node "$0" "$@"
if (!(parseInt(process.versions.node) >= 20)) { console.error("${missing}"); process.exit(1); }
var node = require("module");
if (node.enableCompileCache) node.enableCompileCache(__dirname + "/dist/compiled");
require("./dist/main.cjs");
`;
const windows = `@echo off\r\nnode "%~dp0pulumi-resource-consortium" %*\r\nif %errorlevel% equ 9009 echo ${missing}>&2\r\nexit /b %errorlevel%\r\n`;

/** Pulumi's SDK needs these to serialize functions, which no component does; gRPC needs the last, for statistics that are off. */
const nothing = join(root, "tools/lib/nothing.cjs");
const unused = ["typescript", "ts-node", "@npmcli/arborist", "@grpc/proto-loader"];

/**
 * The languages of zod's messages, half of zod; it imports English by itself.
 * @type {import("esbuild").Plugin}
 */
const withoutLanguages = {
  name: "without languages",
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/locales\/index\.js$/ }, ({ importer }) =>
      importer.includes("zod") ? { path: nothing } : undefined,
    ),
};

const minified = /** @type {const} */ ({ platform: "node", target: "node20", minify: true, legalComments: "none" });
/** @satisfies {import("esbuild").BuildOptions} */
const common = {
  ...minified,
  absWorkingDir: root,
  bundle: true,
  alias: Object.fromEntries(unused.map((name) => [name, nothing])),
  plugins: [withoutLanguages],
  logLevel: "warning",
};

/** Whoever reads the file meanwhile gets the old text or the new one. @param {string} path @param {string} text @param {number} [mode] */
function replace(path, text, mode = 0o644) {
  if (existsSync(path) && readFileSync(path, "utf8") === text) return;
  writeFileSync(`${path}.new`, text, { mode });
  renameSync(`${path}.new`, path);
}

/**
 * Bundles the plugin in parts that are loaded with their first import: compiling everything would take most of the time of a start. A part is
 * named after its content, so a plugin that is running keeps those that have not changed.
 */
async function inParts() {
  const { metafile, outputFiles } = await build({
    ...common,
    metafile: true,
    write: false,
    entryPoints: ["plugin/main.ts"],
    outdir: parts,
    outExtension: { ".js": ".cjs" },
    format: "esm",
    splitting: true,
    chunkNames: "[hash]",
  });
  const supported = { "dynamic-import": false }; // `require`, which loads at once and in order
  mkdirSync(parts, { recursive: true });
  const isMain = (/** @type {{ path: string }} */ { path }) => basename(path) === "main.cjs";
  for (const { path, text } of outputFiles.sort((a, b) => Number(isMain(a)) - Number(isMain(b)))) {
    const { code } = await transform(text, { ...minified, format: "cjs", supported });
    replace(path, code); // main.cjs last: it names the others
  }
  const names = new Set(["compiled", ...outputFiles.map(({ path }) => basename(path))]);
  for (const name of readdirSync(parts).filter((one) => !names.has(one))) rmSync(join(parts, name));
  return metafile;
}

const metafile = await inParts();
replace(file, start, 0o755);
replace(`${file}.cmd`, windows);

const about = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const packages = packagesIn(metafile, root);
const components = packages.map(componentOf);
const named = { name: "pulumi-resource-consortium", version: about.version };
const notices = noticesOf(packages);
writeFileSync(`${file}-third-party.txt`, notices);
writeFileSync(`${file}.cdx.json`, JSON.stringify(billOf(named, components), undefined, 2));

/** Node.js in the executables. The same version makes those of all platforms. */
const nodeVersion = "26.10.0";

/** @param {import("./lib/nodes.mjs").Platform[]} platforms @param {string} out */
async function executables(platforms, out) {
  const { nodeOf, platform: ours } = await import("./lib/nodes.mjs");
  const { succeed } = await import("./lib/processes.mjs");
  const { create } = await import("tar");
  mkdirSync(out, { recursive: true });
  const here = await nodeOf(nodeVersion);
  const main = join(out, "main.cjs"); // whole, because an executable's file is not this text
  await build({ ...common, entryPoints: ["plugin/main.ts"], outfile: main });
  /** Other files in an archive. @type {Record<string, string>} */
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
      main,
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
    await create({ file: archive, cwd: own, gzip: true, portable: true, noMtime: true }, [name, ...Object.keys(texts)]);
    const bill = billOf({ ...named, name: release }, [nodeComponent(nodeVersion), ...components]);
    writeFileSync(join(out, `${release}.cdx.json`), JSON.stringify(bill, undefined, 2));
    rmSync(own, { recursive: true });
    console.log(archive);
  }
  rmSync(main);
}

const asked = process.argv.indexOf("--executables");
if (asked > 0) {
  const { nodePackages } = await import("./lib/nodes.mjs");
  const given = process.argv[asked + 1] ?? "";
  const platforms = given === "all" ? Object.keys(nodePackages) : given.split(",");
  await executables(/** @type {import("./lib/nodes.mjs").Platform[]} */ (platforms), join(root, "dist-plugin"));
}
