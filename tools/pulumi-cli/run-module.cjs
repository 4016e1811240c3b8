// Runs a module of the current folder's packages, like `node <its file>`.
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
