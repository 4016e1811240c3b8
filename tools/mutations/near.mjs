// @ts-check
/** Which test files may notice a change of a source, nearest first. */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize, relative } from "node:path";
import ts from "typescript";
import jest from "../../jest.config.mjs";
import { root } from "../lib/prepare.mjs";

/** The packages of this repository, as the tests find their sources. */
const packages = Object.entries(jest.projects[0]?.moduleNameMapper ?? {})
  .filter(([name]) => name.startsWith("^pulumi-consortium") || name.startsWith("^consortium-"))
  .map(([name, file]) => ({ name: new RegExp(name), file: file.replace("<rootDir>/", "") }));

/** @type {Map<string, string[]>} */
const read = new Map();

/** The files of this repository that one imports. @param {string} file relative, as all here @returns {string[]} */
function importsOf(file) {
  const known = read.get(file);
  if (known) return known;
  const text = readFileSync(join(root, file), "utf8");
  const imported = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
  const found = [...imported.flatMap((name) => resolved(file, name)), ...startedIn(text)];
  read.set(file, found);
  return found;
}

/** Sources that a file starts as a process: what is built from them, a command's package, a script. @param {string} text */
const startedIn = (text) =>
  [
    ...Array.from(text.matchAll(/(\w+\/)?\bdist\/([\w/-]+)\.js\b/g), ([, folder = "", name]) => `${folder}${name}.ts`),
    ...Array.from(text.matchAll(/"(consortium-\w+)"/g), ([, name]) => resolved("", `${name}/command`)[0] ?? ""),
    ...Array.from(text.matchAll(/"([\w-]+\.mjs)"/g), ([, name]) => `gitops/${name}`),
  ].filter((source) => source !== "" && existsSync(join(root, source)));

/** @param {string} from @param {string} specifier @returns {string[]} one, or none outside the repository */
function resolved(from, specifier) {
  const own = packages.find(({ name }) => name.test(specifier));
  if (own) return [specifier.replace(own.name, own.file)];
  if (!specifier.startsWith(".")) return [];
  const plain = normalize(join(dirname(from), specifier));
  const names = [plain, plain.replace(/\.js$/, ".ts"), `${plain}.ts`, join(plain, "index.ts")];
  return names.filter((name) => /\.(ts|mjs)$/.test(name) && existsSync(join(root, name))).slice(0, 1);
}

/** How many imports away each file is. @param {string} test @returns {Map<string, number>} */
function distances(test) {
  const found = new Map([[test, 0]]);
  for (const [file, far] of found) for (const next of importsOf(file)) if (!found.has(next)) found.set(next, far + 1);
  return found;
}

/** A test and all that it imports or starts. @param {string} test */
export const reachOf = (test) => [...distances(test).keys()];

/** Folders that both have, and a name that both have. @param {string} source @param {string} test @returns {number} */
function kinship(source, test) {
  const folders = dirname(relative("tests", test)).split("/");
  const own = dirname(source).split("/");
  const different = own.findIndex((folder, at) => folder !== folders[at]);
  const word = basename(source).replace(/\.\w+$/, "");
  return (different < 0 ? own.length : different) + (basename(test).includes(word) ? 2 : 0);
}

/**
 * @param {string[]} tests
 * @returns {(source: string, most: number) => string[]} the nearest tests of a source
 */
export function nearness(tests) {
  const reach = tests.map((test) => ({ test, far: distances(test) }));
  return (source, most) =>
    reach
      .flatMap(({ test, far }) => {
        const steps = far.get(source);
        return steps === undefined ? [] : [{ test, kin: kinship(source, test), steps }];
      })
      .sort((one, other) => other.kin - one.kin || one.steps - other.steps || one.test.localeCompare(other.test))
      .slice(0, most)
      .map(({ test }) => test);
}
