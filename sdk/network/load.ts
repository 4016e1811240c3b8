import { readFileSync, statSync } from "node:fs";
import { checkShape } from "./check-shape";
import { type NetworkDefinition } from "./generated";
import { type Plan, planOf } from "./plan";
import { readData } from "./plain-data";
import { NetworkDefinitionError } from "./problems";
import { type Found, isWithin, type Reading } from "./reading";
import { checkRules } from "./rules";
import { readYaml } from "./yaml-text";

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
    if (!stats.isFile()) throw refused(file, "this is no ordinary file");
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

/** Reads a file. What is wrong with it is said when it is planned; as much as can be used is given back. */
export function readFile(file: string): NetworkDefinition {
  const reading = readYaml(textOf(file), file);
  const value = typeof reading.value === "object" && reading.value !== null ? reading.value : {};
  readings.set(value, reading);
  return value;
}

/** What a definition stands for. @throws NetworkDefinitionError with everything that is wrong */
export function plan(name: string, given: NetworkDefinition, adopt: boolean | undefined): Plan {
  const reading = readings.get(given) ?? readData(given);
  const found = [...reading.found];
  const shape = reading.value === undefined ? undefined : checkShape(reading);
  found.push(...(shape?.found ?? []));
  const made = shape?.definition && planOf(name, shape.definition, adopt);
  if (made) found.push(...checkRules(made, shape.definition!).filter((one) => isNews(found, one)));
  if (!made || found.length > 0) throw refusedAll(name, reading, found);
  return made;
}

function refusedAll(name: string, reading: Reading, found: readonly Found[]): NetworkDefinitionError {
  const what =
    reading.file === undefined ? `The definition of the network ${name}` : `The network file ${reading.file}`;
  return new NetworkDefinitionError(what, inOrder(reading, found));
}

/** What is wrong elsewhere may be why something is missing here. */
const isNews = (said: readonly Found[], { unless }: Found): boolean =>
  unless === undefined || !said.some(({ path }) => isWithin(path, unless) && path.length <= unless.length + 1);

function inOrder(reading: Reading, found: readonly Found[]): NetworkDefinitionError["problems"] {
  const problems = found.map((one) => {
    const path = one.path.reduce<string>(
      (text, step) => (typeof step === "number" ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`),
      "",
    );
    return { path, message: one.message, file: reading.file, ...reading.position(one) };
  });
  return problems.sort((one, other) => (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0));
}
