import { createHash } from "node:crypto";
import { InvalidArgumentError } from "commander";
import { type FleetStack, reached } from "./schema";

/* Shards spread a fleet over machines. */

/** One of `count` shards. `index` counts from 1. */
export interface Shard {
  index: number;
  count: number;
}

/** GitLab's limit of jobs in one matrix. GitHub's is 256. */
export const mostShards = 200;

/** The default size of a shard. */
const stacksPerShard = 50;

export const titleOf = ({ index, count }: Shard): string => `${index}/${count}`;

export const indexesOf = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

/** Parses an option such as `2/5`. */
export function shardIn(text: string): Shard {
  const [, index, count] = /^(\d+)\/(\d+)$/.exec(text)?.map(Number) ?? [];
  if (index === undefined || count === undefined || index < 1 || index > count || count > mostShards)
    throw new InvalidArgumentError(`It must be one of several shards, such as 2/5, of at most ${mostShards}.`);
  return { index, count };
}

/**
 * The index of the shard of each stack, by rendezvous hashing of its name: it has the greatest hash with that index. Other stacks may
 * come and go, and one more shard takes stacks only into itself. Stacks that depend on each other are in one shard.
 * @param all every stack of the file, whichever are wanted
 */
export function shardsOf(all: readonly FleetStack[], count: number): Map<string, number> {
  const hash = (name: string, index: number) => createHash("sha256").update(`${index} ${name}`).digest("hex");
  const indexOf = (name: string) =>
    indexesOf(count).reduce((best, index) => (hash(name, index) > hash(name, best) ? index : best));
  const links = new Map(all.map(({ name, dependsOn }) => [name, [...dependsOn]]));
  for (const { name, dependsOn } of all) dependsOn.forEach((other) => links.get(other)!.push(name));
  // All that `dependsOn` links are where the first name among them is.
  const shards = new Map<string, number>();
  for (const first of [...links.keys()].sort())
    if (!shards.has(first))
      reached(first, (name) => links.get(name)!).forEach((name) => shards.set(name, indexOf(first)));
  return shards;
}

/** The shards that have any of the stacks: at least one, so that a pipeline always has a job. */
export function plannedShards(
  all: readonly FleetStack[],
  wanted: readonly FleetStack[],
  count = Math.min(mostShards, Math.max(1, Math.ceil(wanted.length / stacksPerShard))),
): { shard: Shard; stacks: FleetStack[] }[] {
  const shards = shardsOf(all, count);
  const stacksIn = (index: number) => wanted.filter(({ name }) => shards.get(name) === index);
  const planned = indexesOf(count).map((index) => ({ shard: { index, count }, stacks: stacksIn(index) }));
  const filled = planned.filter(({ stacks }) => stacks.length > 0);
  return filled.length > 0 ? filled : planned.slice(0, 1);
}

/** The matrix of a pipeline, by its forge. */
export const matrices = {
  /** For `fromJSON` in `strategy.matrix`. */
  github: (shards: readonly Shard[]): string => JSON.stringify({ shard: shards.map(titleOf) }),
  /** A child pipeline with one job, which extends the hidden job `.fleet`. JSON is also YAML. */
  gitlab: (shards: readonly Shard[]): string =>
    JSON.stringify({ fleet: { extends: ".fleet", parallel: { matrix: [{ SHARD: shards.map(titleOf) }] } } }),
};
