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
];
const load = Module._load;
Module._load = function (request, parent, ...rest) {
  const file = parent?.filename ?? "";
  const isUnused = file.includes("pulumi") && unused.some(([by, what]) => what.test(request) && by.test(file));
  return isUnused ? {} : load.call(this, request, parent, ...rest);
};
