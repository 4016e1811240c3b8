// @ts-check
/** The mutants of the sources, as Stryker makes them, and samples of them. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "../lib/prepare.mjs";
import { UserError } from "../lib/terminal.mjs";

/** @typedef {import("@stryker-mutator/api/core").Mutant} Mutant */
/** @typedef {{ file: string, mutatorName: string, replacement: string, start: [number, number] }} Place line and column from 0 */
/** @typedef {{ place: Place, key: string, text: string, mutant: Mutant }} Drawable */

/** Where guards are: each a row of the figures. */
export const rooms = [
  ...["provider/api", "provider/core", "provider/resources", "provider", "plugin", "sdk", "inventory", "observe"],
  ...["cli", "service", "fleet", "console/server", "gitops"],
];

/** The innermost one. @param {string} file */
export const roomOf = (file) => rooms.find((room) => file.startsWith(`${room}/`)) ?? "other";

/** Mutators that say nothing about a guard. */
const excludedMutations = [
  "StringLiteral", // the wording of messages, and names that the API or the types fix
  "Regex", // most variants accept the same texts
  "ObjectLiteral", // data that the compiler checks: {} in its place does not compile
  "ArrayDeclaration", // data as well: lists of names and cases
];

/** The mutators for a change: conditions and their halves, comparisons, `every` and `some`, order. */
export const guards = ["ConditionalExpression", "LogicalOperator", "EqualityOperator", "MethodExpression"];

/** The sources with these names. @param {string[]} names files or folders @returns {string[]} relative to the repository */
export function sourcesIn(names) {
  const isSource = (/** @type {string} */ file) =>
    /\.(ts|mjs)$/.test(file) && !/\.(d|generated|test)\.\w+$|(^|\/)(dist|node_modules)\//.test(file);
  return names.flatMap((name) => {
    const file = relative(root, join(root, name));
    const found = statSync(join(root, file), { throwIfNoEntry: false });
    if (!found) throw new UserError(`There is no ${name}: name files or folders of ${rooms.join(", ")}.`);
    if (found.isFile()) return [file];
    const inside = /** @type {string[]} */ (readdirSync(join(root, file), { recursive: true }));
    return inside.map((one) => join(file, one)).filter(isSource);
  });
}

/** @type {any} */
const silent = new Proxy({}, { get: () => () => false });

/** @param {Mutant} mutant @returns {Place} */
const placeOf = ({ fileName, mutatorName, replacement, location: { start } }) => ({
  file: relative(root, fileName),
  mutatorName,
  replacement,
  start: [start.line, start.column],
});

/**
 * All mutants that may be drawn: those that a comment marks as equivalent are left out.
 * @param {string[]} files
 * @returns {Promise<{ mutants: Drawable[], sources: Map<string, string> }>} and the sources with all of them
 */
export async function mutantsOf(files) {
  const { Instrumenter } = await import("@stryker-mutator/instrumenter"); // Jest cannot load it
  const contents = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));
  const { mutants, files: broken } = await new Instrumenter(silent).instrument(
    [...contents].map(([file, content]) => ({ name: join(root, file), content, mutate: true })),
    { plugins: null, excludedMutations, ignorers: [] },
  );
  /** @type {Map<string, number>} */
  const seen = new Map();
  const drawable = mutants
    .filter(({ status }) => status !== "Ignored")
    .map((mutant) => {
      const place = placeOf(mutant);
      const text = textAt(contents.get(place.file) ?? "", mutant.location);
      // Without its line: a sample stays the same while a file grows elsewhere.
      const name = [place.file, place.mutatorName, text, place.replacement].join("\0");
      const nth = seen.get(name) ?? 0;
      seen.set(name, nth + 1);
      return { place, text, key: `${name}\0${nth}`, mutant };
    });
  return { mutants: drawable, sources: new Map(broken.map(({ name, content }) => [relative(root, name), content])) };
}

/** @param {string} content @param {Mutant["location"]} location */
function textAt(content, { start, end }) {
  const lines = content.split("\n").slice(start.line, end.line + 1);
  lines[lines.length - 1] = lines.at(-1)?.slice(0, end.column) ?? "";
  return lines.join("\n").slice(start.column);
}

/**
 * The same seed draws the same mutants.
 * @param {Drawable[]} all
 * @param {string} seed
 * @param {number} size
 * @param {(some: Drawable[]) => Drawable[]} valid which of some may be drawn
 * @returns {Drawable[]}
 */
export function drawnBy(all, seed, size, valid) {
  const lot = (/** @type {Drawable} */ { key }) => createHash("sha256").update(`${seed}\0${key}`).digest("hex");
  const order = all.map((one) => ({ one, at: lot(one) })).sort((a, b) => (a.at < b.at ? -1 : 1));
  /** @type {Drawable[]} */
  const drawn = [];
  while (order.length > 0 && drawn.length < size)
    drawn.push(...valid(order.splice(0, size - drawn.length).map(({ one }) => one)));
  return drawn;
}
