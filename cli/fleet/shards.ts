import { createHash } from "node:crypto";
import { InvalidArgumentError } from "commander";
import { type FleetStack } from "./schema";

/* Shares of a fleet, for as many machines. */

/** One of `count` shares; `index` is from 1. */
export interface Shard {
  index: number;
  count: number;
}

/** GitLab makes at most so many jobs of one matrix, GitHub 256. */
export const mostShards = 200;

/** How many stacks a machine gets unless it is said. */
const stacksPerShard = 50;

export const titleOf = ({ index, count }: Shard): string => `${index}/${count}`;

/** Parses an option such as `2/5`. */
export function shardIn(text: string): Shard {
  const [, index, count] = /^(\d+)\/(\d+)$/.exec(text)?.map(Number) ?? [];
  if (index === undefined || count === undefined || index < 1 || index > count || count > mostShards)
    throw new InvalidArgumentError(`It must be one of how many, such as 2/5, and there are at most ${mostShards}.`);
  return { index, count };
}

/**
 * The share of each stack, by its name alone: it stays, whatever else comes and goes, and where one share is added, only those move
 * that go into it. (The greatest of its hashes with each share: rendezvous hashing.) Stacks that depend on each other share one.
 * @param all every stack of the file, whichever are wanted
 */
export function sharesOf(all: readonly FleetStack[], count: number): Map<string, number> {
  const hash = (name: string, index: number) => createHash("sha256").update(`${index} ${name}`).digest("hex");
  const shares = Array.from({ length: count }, (_, index) => index + 1);
  const shareOf = (name: string) =>
    shares.reduce((best, index) => (hash(name, index) > hash(name, best) ? index : best));
  return new Map([...groupsOf(all)].map(([name, group]) => [name, shareOf(group)]));
}

/** What stands for a stack and all that it is linked to by `dependsOn`: the first name among them. */
function groupsOf(all: readonly FleetStack[]): Map<string, string> {
  const links = new Map<string, string[]>(all.map(({ name }) => [name, []]));
  for (const { name, dependsOn } of all)
    for (const other of dependsOn) {
      links.get(name)!.push(other);
      links.get(other)!.push(name);
    }
  const groups = new Map<string, string>();
  for (const first of [...links.keys()].sort()) {
    if (groups.has(first)) continue;
    const found = new Set([first]);
    for (const name of found) links.get(name)!.forEach((one) => found.add(one));
    found.forEach((name) => groups.set(name, first));
  }
  return groups;
}

/** Those of the wanted stacks that are in a share. */
export function inShard(
  all: readonly FleetStack[],
  wanted: readonly FleetStack[],
  { index, count }: Shard,
): FleetStack[] {
  const shares = sharesOf(all, count);
  return wanted.filter(({ name }) => shares.get(name) === index);
}

/** The shares that have any of the stacks, with them. One at least, so that a pipeline always has a job. */
export function plannedShards(
  all: readonly FleetStack[],
  wanted: readonly FleetStack[],
  count = Math.min(mostShards, Math.max(1, Math.ceil(wanted.length / stacksPerShard))),
): { shard: Shard; stacks: FleetStack[] }[] {
  const shares = sharesOf(all, count);
  const planned = Array.from({ length: count }, (_, at) => ({
    shard: { index: at + 1, count },
    stacks: wanted.filter(({ name }) => shares.get(name) === at + 1),
  }));
  const filled = planned.filter(({ stacks }) => stacks.length > 0);
  return filled.length > 0 ? filled : planned.slice(0, 1);
}

/** What forges read a matrix from. */
export const matrices = {
  /** For `fromJSON` in `strategy.matrix`. */
  github: (shards: readonly Shard[]): string => JSON.stringify({ shard: shards.map(titleOf) }),
  /** A child pipeline with one job, which extends the hidden job `.fleet`. JSON is YAML, too. */
  gitlab: (shards: readonly Shard[]): string =>
    JSON.stringify(
      { fleet: { extends: ".fleet", parallel: { matrix: [{ SHARD: shards.map(titleOf) }] } } },
      undefined,
      2,
    ),
};
