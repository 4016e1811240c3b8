// @ts-check
/** Mutants that TypeScript refuses, such as `a?.b` → `a.b`: nobody can land these, so a sample has none. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { root } from "../lib/prepare.mjs";

/** @typedef {import("./mutants.mjs").Drawable} Drawable */

function service() {
  const { config } = ts.readConfigFile(join(root, "tsconfig.base.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, { ...ts.sys, readDirectory: () => [] }, root);
  /** @type {Map<string, { text: string, version: number }>} */
  const own = new Map();
  const read = (/** @type {string} */ file) => own.get(file)?.text ?? ts.sys.readFile(file);
  const host = {
    getCompilationSettings: () => ({ ...options, composite: false, noEmit: true, declaration: false }),
    getScriptFileNames: () => [...own.keys()],
    getScriptVersion: (/** @type {string} */ file) => String(own.get(file)?.version ?? 0),
    getScriptSnapshot: (/** @type {string} */ file) => {
      const text = read(file);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: read,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    realpath: ts.sys.realpath,
  };
  const language = ts.createLanguageService(host);
  return {
    /** @param {string} file @param {string} text */
    change: (file, text) => void own.set(file, { text, version: (own.get(file)?.version ?? 0) + 1 }),
    errors: (/** @type {string} */ file) =>
      language.getSyntacticDiagnostics(file).length + language.getSemanticDiagnostics(file).length,
  };
}

/** @type {ReturnType<typeof service> | undefined} */
let compiler;
/**
 * Those that compile.
 * @param {Drawable[]} some
 * @param {ReturnType<typeof import("./records.mjs").recordsIn>} records
 * @returns {Drawable[]}
 */
export function compiling(some, { compiles, keepCompiles }) {
  // One mutant of each file at a time: the compiler looks at all of them at once.
  for (let open = some; ;) {
    open = open.filter((one) => compiles(one) === undefined);
    if (open.length === 0) return some.filter(compiles);
    compiler ??= service();
    const { change, errors } = compiler;
    const round = [...new Map(open.map((one) => [one.place.file, one])).values()];
    for (const { mutant } of round) change(mutant.fileName, mutated(mutant));
    keepCompiles(round, ({ mutant }) => errors(mutant.fileName) === 0);
    for (const { mutant } of round) change(mutant.fileName, readFileSync(mutant.fileName, "utf8"));
  }
}

/** @param {import("./mutants.mjs").Mutant} mutant */
function mutated({ fileName, replacement, location: { start, end } }) {
  const text = readFileSync(fileName, "utf8");
  const lines = text.split("\n");
  const at = ({ line = 0, column = 0 }) => lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, column);
  return text.slice(0, at(start)) + replacement + text.slice(at(end));
}
