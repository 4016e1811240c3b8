import { readFileSync, statSync } from "node:fs";
import { readYaml } from "../yaml/document";
import { readData } from "../yaml/plain-data";
import { isWithin, placed, type Problem, type Reading } from "../yaml/problems";
import { checkShape } from "../yaml/shape";
import { type NetworkDefinition } from "./generated";
import { type Plan, planOf } from "./plan";
import { NetworkDefinitionError } from "./problems";
import { checkRules } from "./rules";
import { Network } from "./schema";

/* Loaded by Network when the first one is made: this brings yaml and zod with it. */

/** A network of a thousand members has 30 KiB; what is larger is another file, and would take seconds to parse. */
const mostKiB = 256;

function refused(file: string, message: string): NetworkDefinitionError {
  return new NetworkDefinitionError(`The network file ${file}`, [{ path: "", file, message }]);
}

/** The text of a network file; a clear refusal of everything that is none. */
function textOf(file: string): string {
  let bytes: Buffer;
  try {
    const stats = statSync(file);
    if (stats.isDirectory()) throw refused(file, "this is a folder: name the file in it");
    if (!stats.isFile()) throw refused(file, "this is not a regular file");
    const kiB = stats.size / 1024;
    if (kiB > mostKiB) throw refused(file, `it has ${Math.ceil(kiB)} KiB: a network file has at most ${mostKiB}`);
    bytes = readFileSync(file);
  } catch (error) {
    if (error instanceof NetworkDefinitionError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const where = "paths are relative to the folder that the program runs in, usually that of Pulumi.yaml";
    throw refused(file, code === "ENOENT" ? `there is no such file (${where})` : message);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw refused(file, "it is not text in UTF-8");
  }
}

/** Definitions that were read from files: their errors have a line. */
const readings = new WeakMap<object, Reading>();

/** Reads a file. Its errors are reported when it is planned; as much as can be used is given back. */
export function readFile(file: string): NetworkDefinition {
  const reading = readYaml(textOf(file), file, { one: "network", least: "a name and members" });
  const value = typeof reading.value === "object" && reading.value !== null ? reading.value : {};
  readings.set(value, reading);
  return value;
}

/** What a definition stands for. @throws NetworkDefinitionError with all errors */
export function plan(name: string, given: NetworkDefinition, adopt: boolean | undefined): Plan {
  const reading = readings.get(given) ?? readData(given);
  const problems = [...reading.problems];
  if (reading.value !== undefined) problems.push(...checkShape(reading, Network));
  const definition = reading.value as NetworkDefinition | undefined;
  const made = definition && planOf(name, definition, adopt);
  if (made) problems.push(...checkRules(made, definition).filter((one) => isNews(problems, one)));
  if (made && problems.length === 0) return made;
  const what =
    reading.file === undefined ? `The definition of the network ${name}` : `The network file ${reading.file}`;
  throw new NetworkDefinitionError(what, placed(reading, problems));
}

/** What is wrong elsewhere may be why something is missing here. */
const isNews = (said: readonly Problem[], { unless }: Problem): boolean =>
  unless === undefined || !said.some(({ path }) => isWithin(path, unless) && path.length <= unless.length + 1);
