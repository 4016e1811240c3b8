const Module = require("node:module");

/*
 * As in unit tests (tests/support/jest/unused.ts): what Pulumi's SDK loads, and nothing here uses, is not loaded: the compiler and the
 * package manager that serialize functions, what sends spans to `--tracing`, and its automation. To load them takes two thirds of a
 * program's time. TypeScript programs have their compiler all the same.
 */
const unused = [
  [/(typescript-shim|runtime[\\/]closure[\\/]codePaths)\.js$/, /^(typescript|@npmcli\/arborist)$/],
  [/cmd[\\/]run[\\/]tracing\.js$/, /^@opentelemetry\/(?!api$)/],
  [/pulumi[\\/]index\.js$/, /^\.\/automation$/],
  // Of policy packs: ours is JavaScript, and gets a compiler all the same.
  [
    /(run-policy-pack[\\/]run|tsutils)\.js$/,
    /^(typescript|ts-node)$|[\\/]vendor[\\/]/,
    () => /policy-pack$/.test(process.argv.at(-1)),
  ],
];
const load = Module._load;
Module._load = function (request, parent, ...rest) {
  const file = parent?.filename ?? "";
  const isUnused =
    file.includes("pulumi") &&
    unused.some(([by, what, when]) => what.test(request) && by.test(file) && (when === undefined || when()));
  return isUnused ? { register() {} } : load.call(this, request, parent, ...rest);
};
