// Runs the host of policy packs of the project in the current folder. It loads TypeScript for every pack, which takes longer
// than all else that it does; a pack in JavaScript is run without.
"use strict";
const { existsSync } = require("node:fs");
const { join } = require("node:path");

const host = "@pulumi/pulumi/cmd/run-policy-pack";
const pack = process.argv.at(-1) ?? "";
const inTypeScript = ["tsconfig.json", "index.ts"].some((name) => existsSync(join(pack, name)));

if (!inTypeScript && existsSync(join(pack, "index.js"))) {
  try {
    const runner = require(require.resolve(`${host}/run`, { paths: [process.cwd()] }));
    const { run } = runner;
    runner.run = (options) => run({ ...options, typeScript: false });
  } catch {
    // Whatever is wrong, the host itself says it better.
  }
}
process.argv.splice(2, 0, host);
require("./run-module.cjs");
