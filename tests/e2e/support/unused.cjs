const Module = require("node:module");

/*
 * As in unit tests (tests/support/jest/unused.ts): a compiler and a package manager that Pulumi's SDK loads to serialize functions, which
 * nothing here does, are not loaded. To load them takes half of a program's time. TypeScript programs have their compiler all the same.
 */
const load = Module._load;
Module._load = function (request, parent, ...rest) {
  const isUnused = /[\\/]@pulumi[\\/]pulumi[\\/](typescript-shim|runtime[\\/]closure[\\/]codePaths)\.js$/.test(
    parent?.filename,
  );
  return isUnused && /^(typescript|@npmcli\/arborist)$/.test(request) ? {} : load.call(this, request, parent, ...rest);
};
