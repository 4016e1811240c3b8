// Runs a module of the packages of the project in the current folder, as if `node <its file>` had been asked for.
"use strict";
const [, , name] = process.argv;
let file;
try {
  file = require.resolve(name, { paths: [process.cwd()] });
} catch {
  console.error(
    `${name} cannot be found from ${process.cwd()}: install the project's packages there (npm install) first.`,
  );
  process.exit(1);
}
process.argv.splice(1, 2, file);
require(file);
