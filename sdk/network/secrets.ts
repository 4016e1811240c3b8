import { Secrets } from "../../provider/api/secrets";
import { isWithin, type Path, type Problem, type Reading } from "../yaml/problems";
import { type Plan, type Planned } from "./plan";

/*
 * What is secret in a definition, which only the component of the plugin can be given: programs in TypeScript write plain values,
 * and read secrets with the resource classes.
 */

/** The path within a consortium, whether it is one of several or the only one. */
const within = (path: Path): Path => (path[0] === "consortia" ? path.slice(2) : path);

const isIndex = (step: string | number | undefined): boolean => typeof step === "number";

/** Where a definition says what resources are called, and how many there are: Pulumi shows that, in clear. */
function namesResources(path: Path): boolean {
  const [group, key, part, entry, detail] = within(path);
  const { length } = within(path);
  if (path.at(isIndex(path.at(-1)) ? -2 : -1) === "formerly") return true;
  if (group === "members") return length === 1 || isIndex(key);
  if (part === "nodes") return length === 4 || isIndex(detail);
  return part === "credentials" && (length === 3 || isIndex(entry) || detail === "member");
}

/** Whether it is, or holds, the one argument that a network shows again among its outputs: the chain id of an environment. */
export function isShownAgain(path: Path): boolean {
  const [group, , part] = within(path);
  return group === undefined || (group === "environments" && (part === undefined || part === "chainId"));
}

const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, step) => (inner as Record<string | number, unknown> | undefined)?.[step], value);

const isMapping = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

const overlaps = (one: Path, other: Path): boolean => isWithin(one, other) || isWithin(other, one);

/** Every resource of a plan. */
const partsOf = ({ consortia }: Plan): Planned<object>[] =>
  consortia.flatMap((consortium) => [
    ...[consortium, ...consortium.members],
    ...consortium.environments.flatMap((one) => [
      one,
      ...one.nodes,
      ...one.credentials,
      ...(one.tether ? [one.tether] : []),
    ]),
  ]);

/** Marks the arguments that are secret, wholly or in part. Gives what cannot be, since it becomes a name. */
export function markSecrets(plan: Plan | undefined, { value, secrets = [] }: Reading): Problem[] {
  if (secrets.length === 0) return [];
  for (const part of plan ? partsOf(plan) : [])
    part.secrets = Object.keys(part.args).filter((key) => secrets.some((path) => overlaps(path, [...part.path, key])));
  // The name of the network is that of its only consortium, too.
  const [only, another] = plan?.consortia ?? [];
  if (only && !another && secrets.some((path) => overlaps(path, ["name"]))) only.secrets = [...only.secrets!, "name"];
  return secrets
    .filter((path) => !isMapping(at(value, path)) && namesResources(path))
    .map((path) => ({
      path,
      message: "it cannot be secret: keys and counts become names of resources, which Pulumi shows",
      atKey: true,
    }));
}

/** What errors must not show of a definition. */
export const secretsIn = ({ value, secrets = [] }: Reading): Secrets =>
  new Secrets(secrets.map((path) => at(value, path)));
