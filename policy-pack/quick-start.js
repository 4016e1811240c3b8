/*
 * Pulumi's SDK loads its automation API, and TypeScript and a package manager to pack the closures of programs: two thirds of
 * what starting a policy process takes, though no policy uses any of it. Here they are loaded only if somebody asks after all.
 */
/* global require */
"use strict";

const sdk = require.resolve("@pulumi/pulumi");

function defer(name) {
  const file = require.resolve(name, { paths: [sdk] });
  if (require.cache[file]) return;
  const load = () => {
    if (require.cache[file] === standIn) delete require.cache[file];
    return require(file);
  };
  const exports = new Proxy({}, { get: (_, key) => (key === "__esModule" ? true : load()[key]) });
  const standIn = { id: file, filename: file, path: file, loaded: true, children: [], paths: [], exports };
  require.cache[file] = standIn;
}

for (const name of ["@pulumi/pulumi/automation", "@npmcli/arborist", "@pulumi/pulumi/typescript-shim"]) {
  try {
    defer(name);
  } catch {
    // An SDK without it: nothing to spare.
  }
}
