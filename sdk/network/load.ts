import { readFileSync, statSync } from "node:fs";
import { basename, extname } from "node:path";
import { type Environment } from "../../provider/api/environment";
import { brokenReason, brokenTexts } from "../../provider/api/printable";
import { Secrets } from "../../provider/api/secrets";
import { at, isObject } from "../../provider/plain";
import { readYaml } from "../yaml/document";
import { type IsOutput, readData } from "../yaml/data";
import { isWithin, type Path, placed, type Problem, type Reading } from "../yaml/problems";
import { checkShape } from "../yaml/shape";
import { type NetworkDefinition } from "./generated";
import { partsOf } from "./parts";
import { type Plan, planOf } from "./plan";
import { checkRules } from "./rules";
import { Network } from "./schema";

export { coded } from "../../provider/errors";

/* Loaded with the first Network, because it brings yaml and zod with it. The fleet loads it without Pulumi's SDK. */

/** A network of a thousand members has 30 KiB. A larger file is probably something else and would take seconds to parse. */
const mostKiB = 256;

/** The text of a network file, or why it cannot be read. */
function textOf(file: string): { text: string } | { message: string } {
  try {
    const stats = statSync(file);
    if (stats.isDirectory()) return { message: "this is a folder: name the file in it" };
    if (!stats.isFile()) return { message: "this is not a regular file" };
    const kiB = stats.size / 1024;
    if (kiB > mostKiB) return { message: `it has ${Math.ceil(kiB)} KiB: a network file must have at most ${mostKiB}` };
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file)) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") return { message: "it must be text in UTF-8" };
    const where = "paths are relative to the folder that the program runs in, usually the one with Pulumi.yaml";
    return { message: code === "ENOENT" ? `there is no such file (${where})` : message };
  }
}

/** Definitions that were read from files, whose errors have lines, and those with secrets. */
const readings = new WeakMap<object, Reading>();

/** Reads a file as far as it is usable. `check` reports its errors. */
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

/** Reads a file. Its network has the given name, or else the one in the file, or else the file's name without its extension. */
export function readNetwork(file: string, name?: string): { name: string; definition: NetworkDefinition } {
  const definition = readFile(file);
  const own = typeof definition.name === "string" ? definition.name : basename(file, extname(file));
  if (name !== undefined) delete definition.name;
  return { name: name ?? own, definition };
}

/** Remembers where a definition is secret, so that those arguments stay secret and errors do not show them. */
export function keepSecret(definition: NetworkDefinition, secrets: readonly Path[]): void {
  readings.set(definition, { ...readData(definition), secrets });
}

export interface CheckOptions {
  isOutput?: IsOutput;
  /** Environment variables, if those that the definition uses must be set. */
  environment?: Environment;
}

/** The plan of a definition if nothing is wrong with it; `what` is how errors call the definition. */
export function check(
  name: string,
  given: NetworkDefinition,
  adopt: boolean | undefined,
  { isOutput, environment }: CheckOptions = {},
) {
  const reading = readings.get(given) ?? readData(given, isOutput, isWithinDetails);
  const problems = [...reading.problems];
  const secrets = secretsIn(reading);
  if (reading.value !== undefined) problems.push(...checkShape(reading, Network));
  problems.push(...brokenTexts(reading.value).map((path) => ({ path, message: brokenReason })));
  const definition = reading.value as NetworkDefinition | undefined;
  const made = definition && planOf(name, definition, adopt);
  problems.push(...markSecrets(made, reading));
  if (made) problems.push(...checkRules(made, definition).filter((one) => isNews(problems, one)));
  if (made) problems.push(...badVariables(made, environment));
  const shown = problems.map((problem) => ({ ...problem, message: secrets.mask(problem.message) }));
  const what =
    reading.file === undefined ? `The definition of the network ${name}` : `The network file ${reading.file}`;
  return { plan: problems.length === 0 ? made : undefined, what, problems: placed(reading, shown) };
}

const badVariables = (plan: Plan, environment: Environment | undefined): Problem[] =>
  partsOf(plan)
    .flatMap(({ planned }) => planned.variables ?? [])
    .flatMap(({ name, path }): Problem[] => {
      if (!/^[A-Za-z_]\w*$/.test(name))
        return [{ path, message: "env must be the name of an environment variable: letters, digits and _" }];
      return !environment || environment[name]
        ? []
        : [{ path, message: `the environment variable ${name} is not set` }];
    });

/** Something may only be missing here because of a problem elsewhere. */
const isNews = (said: readonly Problem[], { unless }: Problem): boolean =>
  unless === undefined || !said.some(({ path }) => isWithin(path, unless) && path.length <= unless.length + 1);

/*
 * Secrets in a definition. Only the plugin's component can have them: TypeScript programs write plain values, and use the
 * resource classes for secrets.
 */

/** The path within a consortium, whether it is one of several or the only one. */
const within = (path: Path): Path => (path[0] === "consortia" ? path.slice(2) : path);

const isIndex = (step: string | number | undefined): boolean => typeof step === "number";

/** Whether a place gives resources their names or their number, which Pulumi shows in clear text. */
function namesResources(path: Path): boolean {
  const [group, key, part, entry, detail, inner] = within(path);
  const { length } = within(path);
  if (path.at(isIndex(path.at(-1)) ? -2 : -1) === "formerly") return true;
  if (group === "members") return length === 1 || isIndex(key);
  if (part === "nodes") return length === 4 || isIndex(detail);
  if (part === "configurations" || part === "services") {
    if (detail === "destinations") return length === 5 || isIndex(inner);
    return detail === "member";
  }
  return part === "credentials" && (length === 3 || isIndex(entry) || detail === "member");
}

/** Whether a place is within `details`, which may be known later because nothing here depends on it. */
function isWithinDetails(path: Path): boolean {
  const [group, , part, , detail, ...inner] = within(path);
  const hasDetails = part === "configurations" || part === "services";
  return group === "environments" && hasDetails && detail === "details" && inner.length > 0;
}

/** Whether a place is or contains the chain id of an environment, the only argument that is also an output of a network. */
export function isShownAgain(path: Path): boolean {
  const [group, , part] = within(path);
  return group === undefined || (group === "environments" && (part === undefined || part === "chainId"));
}

const overlaps = (one: Path, other: Path): boolean => isWithin(one, other) || isWithin(other, one);

/** Marks the arguments that are secret, entirely or in part. @returns problems for secrets that become names */
function markSecrets(plan: Plan | undefined, { value, secrets = [] }: Reading): Problem[] {
  if (secrets.length === 0) return [];
  for (const { planned } of plan ? partsOf(plan) : [])
    planned.secrets = Object.keys(planned.args).filter(
      (key) =>
        planned.secrets?.includes(key) ||
        [planned.path, ...(planned.shared ? [planned.shared] : [])].some((place) =>
          secrets.some((path) => overlaps(path, [...place, key])),
        ),
    );
  // The only consortium has the name of the network.
  const [only, another] = plan?.consortia ?? [];
  if (only && !another && secrets.some((path) => overlaps(path, ["name"]))) only.secrets = [...only.secrets!, "name"];
  const references = plan?.consortia.flatMap(({ environments }) => environments.flatMap((one) => one.references)) ?? [];
  const isReference = (path: Path): boolean =>
    references.some((one) => one.path.length === path.length && isWithin(path, one.path));
  return secrets
    .filter((path) => (!isObject(at(value, path)) && namesResources(path)) || isReference(path))
    .map((path) => ({
      path,
      message: "it must not be secret: keys and counts become names of resources, which Pulumi shows",
      atKey: true,
    }));
}

/** The values that errors must not show. */
const secretsIn = ({ value, secrets = [] }: Reading): Secrets => new Secrets(secrets.map((path) => at(value, path)));
