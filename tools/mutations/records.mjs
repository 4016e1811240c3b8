// @ts-check
/** What earlier runs have found out: it counts as long as the files are the same. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/prepare.mjs";
import { reachOf } from "./near.mjs";

/** @type {Map<string, string>} */
const digests = new Map();
const hash = (/** @type {string} */ text) => createHash("sha256").update(text).digest("hex").slice(0, 16);

/** Of what is in some files. @param {string[]} files @returns {string} */
function digest(files) {
  for (const file of files)
    if (!digests.has(file))
      digests.set(file, existsSync(join(root, file)) ? hash(readFileSync(join(root, file), "utf8")) : "");
  return hash(files.map((file) => `${file} ${digests.get(file)}`).join("\n"));
}

/**
 * @typedef {object} Covered a test file without a mutant
 * @property {[name: string, ms: number][]} tests
 * @property {Record<string, number[] | 0>} by which tests execute a mutant; 0: it may matter to all
 * @property {string[]} alone tests that pass without the others of the file
 * @property {boolean} whole whether tests need each other
 */
/** @typedef {import("./mutants.mjs").Drawable} Drawable */
/** @typedef {{ status: import("./figures.mjs").Status, by?: string | undefined, of: string }} Result */

const nameOf = (/** @type {string} */ test) => `${test.replaceAll("/", "+")}.json`;

/** What a result depends on. @param {string} file @param {string} [by] @param {string[]} [near] */
const basis = (file, by, near = []) => digest([file, ...(by === undefined ? near : [by])]);

/** @param {string} home the folder */
export function recordsIn(home) {
  mkdirSync(home, { recursive: true });
  const load = (/** @type {string} */ name) =>
    existsSync(join(home, name)) ? JSON.parse(readFileSync(join(home, name), "utf8")) : undefined;
  const save = (/** @type {string} */ name, /** @type {unknown} */ value) => {
    writeFileSync(join(home, `${name}.new`), JSON.stringify(value));
    renameSync(join(home, `${name}.new`), join(home, name));
  };
  /** @type {Record<string, Result>} */
  const results = load("results.json") ?? {};
  /** @type {Record<string, { of: string, is: boolean }>} */
  const compiled = load("compiles.json") ?? {};
  return {
    /** Whether a mutant compiles; undefined: nobody knows. @param {Drawable} one */
    compiles: ({ key, place }) => (compiled[key]?.of === digest([place.file]) ? compiled[key]?.is : undefined),

    /** @param {Drawable[]} some @param {(one: Drawable) => boolean} is */
    keepCompiles(some, is) {
      for (const one of some) compiled[one.key] = { of: digest([one.place.file]), is: is(one) };
      save("compiles.json", compiled);
    },

    /** @param {string} test @returns {Covered | undefined} */
    covered(test) {
      const known = load(nameOf(test));
      const isSame = known?.of === digest(reachOf(test)) && known.sources === digest(known.files);
      return isSame ? known.covered : undefined;
    },

    /** @param {string} test @param {Covered} covered with keys of mutants */
    keepCovered(test, covered) {
      const files = [...new Set(Object.keys(covered.by).map((key) => key.split("\0", 1)[0] ?? ""))].sort();
      save(nameOf(test), { of: digest(reachOf(test)), files, sources: digest(files), covered });
    },

    /** @param {string} key @param {string} file @param {string[]} near @returns {Result | undefined} */
    resultOf(key, file, near) {
      const known = results[key];
      return known?.of === basis(file, known?.by, near) ? known : undefined;
    },

    /** @param {string} key @param {string} file @param {string[]} near @param {Omit<Result, "of">} result */
    keepResult(key, file, near, result) {
      results[key] = { ...result, of: basis(file, result.by, near) };
      save("results.json", results);
    },

    /** How many mutants of a source each test has noticed. @param {string} file @returns {Map<string, number>} */
    kills(file) {
      const found = new Map();
      for (const [key, { by }] of Object.entries(results))
        if (by !== undefined && key.startsWith(`${file}\0`)) found.set(by, (found.get(by) ?? 0) + 1);
      return found;
    },
  };
}
