import { readFileSync, statSync } from "node:fs";
import { brokenReason, brokenTexts } from "../../provider/api/printable";
import { readYaml } from "../yaml/document";
import { type IsOutput, readData } from "../yaml/plain-data";
import { isWithin, type Path, placed, type Problem, type Reading } from "../yaml/problems";
import { checkShape } from "../yaml/shape";
import { type NetworkDefinition } from "./generated";
import { planOf } from "./plan";
import { checkRules } from "./rules";
import { Network } from "./schema";
import { markSecrets, secretsIn } from "./secrets";

/* Loaded by Network when the first one is made: this brings yaml and zod with it. The fleet loads it without Pulumi's SDK. */

/** A network of a thousand members has 30 KiB; what is larger is another file, and would take seconds to parse. */
const mostKiB = 256;

/** The text of a network file, or why it is none. */
function textOf(file: string): { text: string } | { message: string } {
  try {
    const stats = statSync(file);
    if (stats.isDirectory()) return { message: "this is a folder: name the file in it" };
    if (!stats.isFile()) return { message: "this is not a regular file" };
    const kiB = stats.size / 1024;
    if (kiB > mostKiB) return { message: `it has ${Math.ceil(kiB)} KiB: a network file has at most ${mostKiB}` };
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file)) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") return { message: "it is not text in UTF-8" };
    const where = "paths are relative to the folder that the program runs in, usually that of Pulumi.yaml";
    return { message: code === "ENOENT" ? `there is no such file (${where})` : message };
  }
}

/** Definitions that were read from files: their errors have a line. */
const readings = new WeakMap<object, Reading>();

/** Reads a file. Its errors are reported when it is planned; as much as can be used is given back. */
export function readFile(file: string): NetworkDefinition {
  const found = textOf(file);
  const reading: Reading =
    "text" in found
      ? readYaml(found.text, file, { one: "network", least: "a name and members" })
      : { value: undefined, problems: [{ path: [], message: found.message }], file };
  const value = typeof reading.value === "object" && reading.value !== null ? reading.value : {};
  readings.set(value, reading);
  return value;
}

/** Remembers where a definition is secret: those arguments stay secret, and errors do not show them. */
export function keepSecret(definition: NetworkDefinition, secrets: readonly Path[]): void {
  readings.set(definition, { ...readData(definition, () => false), secrets });
}

/** What a definition stands for, where nothing is wrong with it; and `what` it is, as errors call it. */
export function check(
  name: string,
  given: NetworkDefinition,
  adopt: boolean | undefined,
  isOutput: IsOutput = () => false,
) {
  const reading = readings.get(given) ?? readData(given, isOutput);
  const problems = [...reading.problems];
  const secrets = secretsIn(reading);
  if (reading.value !== undefined) problems.push(...checkShape(reading, Network));
  problems.push(...brokenTexts(reading.value).map((path) => ({ path, message: brokenReason })));
  const definition = reading.value as NetworkDefinition | undefined;
  const made = definition && planOf(name, definition, adopt);
  problems.push(...markSecrets(made, reading));
  if (made) problems.push(...checkRules(made, definition).filter((one) => isNews(problems, one)));
  const shown = problems.map((problem) => ({ ...problem, message: secrets.mask(problem.message) }));
  const what =
    reading.file === undefined ? `The definition of the network ${name}` : `The network file ${reading.file}`;
  return { plan: problems.length === 0 ? made : undefined, what, problems: placed(reading, shown) };
}

/** What is wrong elsewhere may be why something is missing here. */
const isNews = (said: readonly Problem[], { unless }: Problem): boolean =>
  unless === undefined || !said.some(({ path }) => isWithin(path, unless) && path.length <= unless.length + 1);
