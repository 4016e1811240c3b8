// @ts-check
/*
 * Bundles the provider plugin: one file, `plugin/pulumi-resource-consortium`, that a shell and Node.js both read, and the `.cmd`
 * that starts it on Windows. Beside them are the licences of the packages in it, and its bill of materials. With --executables
 * PLATFORM,PLATFORM… (or `all`), it also makes a plugin with Node.js in it for each platform, and packs it into dist-plugin/ as
 * `pulumi plugin install` downloads it.
 */
import { build, transform } from "esbuild";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { billOf, componentOf, nodeComponent, noticesOf, packagesIn } from "./lib/materials.mjs";
import { root } from "./lib/prepare.mjs";

const folder = join(root, "plugin");
const file = join(folder, "pulumi-resource-consortium");
const draft = join(folder, ".draft");

const missing = "pulumi-resource-consortium needs Node.js 20 or newer on the PATH: install it from https://nodejs.org";
/** A shell reads one command, which passes the file to Node.js. Node.js reads a string and a comment, and looks at its version. */
const start = `#!/bin/sh
":" //# ; command -v node >/dev/null 2>&1 || { echo "${missing}" >&2; exit 1; }; exec node "$0" "$@"
if (!(parseInt(process.versions.node) >= 20)) { console.error("${missing}"); process.exit(1); }
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

/** @satisfies {import("esbuild").BuildOptions} */
const common = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20",
  minify: true,
  legalComments: "none",
  alias: Object.fromEntries(unused.map((name) => [name, nothing])),
  plugins: [withoutLanguages],
  logLevel: "warning",
};

/** In the place of the end of a comment. */
const commentEnd = "*\u0001/";

/**
 * The plugin as one file: the beginning for plugin/loader.ts, and in a comment the parts that it loads on demand. Compiling everything
 * would take most of the time of a start.
 */
async function inParts() {
  const options = /** @type {const} */ ({ ...common, metafile: true, write: false });
  const { metafile, outputFiles } = await build({
    ...options,
    entryPoints: ["plugin/main.ts"],
    outdir: "plugin",
    format: "esm",
    splitting: true,
    chunkNames: "[hash]",
  });
  /** @type {Record<string, [fromEnd: number, length: number, digest: string]>} */
  const parts = {};
  const texts = [];
  let fromEnd = 3; // the end of the comment
  for (const { path, text } of outputFiles) {
    // Modules that are loaded at once and in order, as `require` does.
    const supported = { "dynamic-import": false };
    const { code } = await transform(text, {
      format: "cjs",
      platform: "node",
      target: "node20",
      minify: true,
      supported,
    });
    if (code.includes(commentEnd)) throw new Error(`${path} contains the text that replaces the end of a comment.`);
    const part = Buffer.from(code.replaceAll("*/", commentEnd));
    fromEnd += part.length;
    parts[`./${basename(path)}`] = [fromEnd, part.length, createHash("sha256").update(part).digest("hex").slice(0, 16)];
    texts.unshift(part);
  }
  const loader = await build({
    ...options,
    entryPoints: ["plugin/loader.ts"],
    format: "cjs",
    target: "node10",
    define: { parts: JSON.stringify(parts), first: '"./main.js"', commentEnd: JSON.stringify(commentEnd) },
    banner: { js: start },
  });
  const [{ text: head }] = /** @type {[import("esbuild").OutputFile]} */ (loader.outputFiles);
  return { metafile, file: Buffer.concat([Buffer.from(`${head}/*`), ...texts, Buffer.from("*/\n")]) };
}

mkdirSync(folder, { recursive: true });
const { metafile, file: content } = await inParts();
writeFileSync(draft, content, { mode: 0o755 });
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
    const bill = billOf({ ...named, name: release }, [nodeComponent(nodeVersion), ...parts]);
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
