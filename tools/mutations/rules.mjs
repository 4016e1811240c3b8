// @ts-check
import { hash } from "node:crypto";
import { coreRules } from "./core.mjs";
import { roomRules } from "./rooms.mjs";
import { serviceRules } from "./service.mjs";

/**
 * A rule of the product, and how to break it: `find`, which is in `file` once, becomes `put`. Then a test of `tests` fails (a path below
 * tests/).
 * @typedef {{ rule: string, file: string, find: string, put: string, tests: string }} Mutation
 */

/**
 * Rules as they are written: by file, by test file, by rule.
 * @typedef {Record<string, Record<string, Record<string, [find: string, put: string]>>>} Breaks
 */

/** @type {Mutation[]} */
export const rules = [coreRules, roomRules, serviceRules].flatMap((breaks) =>
  Object.entries(breaks).flatMap(([file, ofFile]) =>
    Object.entries(ofFile).flatMap(([tests, ofTests]) =>
      Object.entries(ofTests).map(([rule, [find, put]]) => ({ rule, file, find, put, tests })),
    ),
  ),
);

/**
 * Some of the rules, in their order. The seed alone decides which.
 * @param {readonly Mutation[]} all @param {number} count @param {number} seed
 */
export function drawn(all, count, seed) {
  const rank = (/** @type {Mutation} */ { rule }) => hash("sha256", `${seed} ${rule}`);
  const chosen = new Set(all.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, count));
  return all.filter((one) => chosen.has(one));
}
