// @ts-check
/*
 * Bundles the provider plugin: one file, `plugin/pulumi-resource-consortium`, that a shell and Node.js both read, and the `.cmd`
 * by which Windows starts it. With --tarballs also packs it as `pulumi plugin install` downloads it, into dist-plugin/: a file for
 * each platform, all with the same in it. That needs the build in dist/.
 */
import { build } from "esbuild";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = join(root, "plugin");
const file = join(folder, "pulumi-resource-consortium");
const draft = join(folder, ".draft");

const missing = "pulumi-resource-consortium needs Node.js 20 or newer on the PATH: install it from https://nodejs.org";
/** For a shell it is one command, which hands the file to Node.js; for Node.js a text and a comment. */
const start = `":" //# ; case "$(node --version 2>/dev/null)" in v2[0-9].*|v[3-9][0-9].*) ;; *) echo "${missing}" >&2; exit 1;; esac; exec node "$0" "$@"`;
const windows = `@echo off\r\nnode -e "process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)" 2>nul || (echo ${missing}>&2 & exit /b 1)\r\nnode "%~dp0pulumi-resource-consortium" %*\r\n`;

mkdirSync(folder, { recursive: true });
await build({
  entryPoints: [join(root, "provider/plugin/main.ts")],
  outfile: draft,
  bundle: true,
  platform: "node",
  target: "node20",
  minify: true,
  legalComments: "none",
  // What Pulumi's SDK needs to serialize functions, which no component does.
  alias: Object.fromEntries(
    ["typescript", "ts-node", "@npmcli/arborist"].map((name) => [name, join(root, "tools/lib/nothing.cjs")]),
  ),
  banner: { js: `#!/bin/sh\n${start}` },
  logLevel: "warning",
});
chmodSync(draft, 0o755);
renameSync(draft, file); // one that runs, or is started just now, stays whole
writeFileSync(`${file}.cmd`, windows);

if (process.argv.includes("--tarballs")) {
  const { pack } = createRequire(import.meta.url)(join(root, "dist/cli/plugin.js"));
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const out = join(root, "dist-plugin");
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out);
  for (const os of ["linux", "darwin", "windows"])
    for (const arch of ["amd64", "arm64"])
      await pack(folder, join(out, `pulumi-resource-consortium-v${version}-${os}-${arch}.tar.gz`));
}
