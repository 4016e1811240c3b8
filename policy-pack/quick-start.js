/*
 * Pulumi's SDK loads a package manager, with which it packs the closures of programs: a quarter of the time that a policy
 * process takes to start, though no policy has a closure. Here it is loaded only if somebody asks for it after all.
 */
/* global require */
"use strict";

function defer(file) {
  const load = () => {
    delete require.cache[file];
    return require(file);
  };
  const exports = new Proxy({}, { get: (_, key) => (key === "__esModule" ? true : load()[key]) });
  require.cache[file] = { id: file, filename: file, path: file, loaded: true, children: [], paths: [], exports };
}

try {
  const file = require.resolve("@npmcli/arborist", { paths: [require.resolve("@pulumi/pulumi")] });
  if (!require.cache[file]) defer(file);
} catch {
  // An SDK without it: nothing to spare.
}
