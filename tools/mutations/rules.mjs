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

export const rules = [...coreRules, ...roomRules, ...serviceRules];

/**
 * Some of the rules, in their order. The seed alone decides which.
 * @param {readonly Mutation[]} all @param {number} count @param {number} seed
 */
export function drawn(all, count, seed) {
  const rank = (/** @type {Mutation} */ { rule }) => hash("sha256", `${seed} ${rule}`);
  const chosen = new Set(all.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, count));
  return all.filter((one) => chosen.has(one));
}
