// @ts-check
/** Loaded into every Node.js process of a traced preview: notes when it starts, loads what matters, and ends. */
"use strict";
const { appendFileSync } = require("node:fs");
const { Module } = require("node:module");
const { basename } = require("node:path");

const record = process.env.BENCH_TRACE ?? "";
const command = process.argv.join(" ");
const program = /dynamic-provider/.test(command) ? "provider" : /[\\/]cmd[\\/]run/.test(command) ? "program" : "other";
// Written at once: the engine ends the provider process by force.
const note = (/** @type {string} */ event, at = performance.timeOrigin + performance.now()) =>
  appendFileSync(record, `${JSON.stringify({ at, program, event })}\n`);

/** @param {string} request */
function nameOf(request) {
  if (/[\\/]index\.ts$/.test(request)) return "program";
  if (request === "pulumi-consortium" || request === "./empty") return "classes";
  return request === "pulumi-consortium/runtime" ? "runtime" : undefined;
}

note("start", performance.timeOrigin);
process.on("exit", () => note("end"));

// A provider prints its port when it is ready.
if (program === "provider") {
  const write = process.stdout.write;
  /** @type {any} */ (process.stdout).write = (/** @type {Parameters<typeof write>} */ ...args) => {
    note("ready");
    process.stdout.write = write;
    return write.apply(process.stdout, args);
  };
}

/** @type {{ _load(request: string, ...rest: unknown[]): unknown, prototype: { _compile(code: string, file: string): unknown } }} */
const loader = /** @type {any} */ (Module);
const load = loader._load;
loader._load = function (request, ...rest) {
  const name = nameOf(request);
  if (name) note(`load ${name}`);
  const module = load.call(this, request, ...rest);
  if (name) note(`loaded ${name}`);
  return module;
};

// ts-node has checked and translated a file when its JavaScript gets here.
const compile = loader.prototype._compile;
loader.prototype._compile = function (/** @type {string} */ code, /** @type {string} */ file) {
  if (/\.ts$/.test(file)) note(`checked ${basename(file) === "index.ts" ? "program" : "classes"}`);
  return compile.call(this, code, file);
};
