import { createHash } from "node:crypto";
import { InvalidArgumentError } from "commander";
import { type FleetStack, reached } from "./schema";

/* Shards spread a fleet over machines; stages order its stacks. Each stage has its own shards. */

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
 * The shard index of each stack. Shard sizes differ by at most one. A stack goes into the shard with the greatest hash of its name that
 * still has room, so most stacks keep their shard when others come and go.
 * @param linked keeps stacks that depend on each other in one shard, which may then be larger
 */
export function shardsOf(stacks: readonly FleetStack[], count: number, linked = false): Map<string, number> {
  const hash = (name: string, index: number) => createHash("sha256").update(`${index} ${name}`).digest("hex");
  const units = (linked ? groupsOf(stacks) : stacks.map(({ name }) => [name])).map((names) => {
    const hashes = indexesOf(count).map((index) => ({ index, hash: hash(names[0]!, index) }));
    hashes.sort((one, other) => (one.hash > other.hash ? -1 : 1));
    return { names, hash: hashes[0]!.hash, order: hashes.map(({ index }) => index) };
  });
  units.sort((one, other) => other.names.length - one.names.length || (one.hash > other.hash ? -1 : 1));
  const least = Math.floor(stacks.length / count);
  let larger = stacks.length % count;
  const sizes = new Map(indexesOf(count).map((index) => [index, 0]));
  const shards = new Map<string, number>();
  for (const { names, order } of units) {
    const sizeWith = (index: number) => sizes.get(index)! + names.length;
    const hasRoom = (index: number) => sizeWith(index) <= least || (sizeWith(index) === least + 1 && larger > 0);
    const index = order.find(hasRoom) ?? order.reduce((one, other) => (sizeWith(other) < sizeWith(one) ? other : one));
    if (sizeWith(index) > least) larger--;
    sizes.set(index, sizeWith(index));
    for (const name of names) shards.set(name, index);
  }
  return shards;
}

/** Names of stacks that `dependsOn` links, each group in order. */
function groupsOf(stacks: readonly FleetStack[]): string[][] {
  const links = new Map(stacks.map(({ name }) => [name, new Set<string>()]));
  for (const { name, dependsOn } of stacks)
    for (const other of dependsOn) {
      links.get(other)?.add(name);
      if (links.has(other)) links.get(name)!.add(other);
    }
  const seen = new Set<string>();
  return [...links.keys()].sort().flatMap((first) => {
    if (seen.has(first)) return [];
    const group = [...reached(first, (name) => [...links.get(name)!])].sort();
    group.forEach((name) => seen.add(name));
    return [group];
  });
}

/** First the stacks without dependencies, then those that depend only on the first ones, and so on. */
export function stagesOf(stacks: readonly FleetStack[]): FleetStack[][] {
  const stages: FleetStack[][] = [];
  let left = [...stacks];
  while (left.length > 0) {
    const open = new Set(left.map(({ name }) => name));
    stages.push(left.filter(({ dependsOn }) => !dependsOn.some((name) => open.has(name))));
    const done = new Set(stages.at(-1));
    left = left.filter((stack) => !done.has(stack));
  }
  return stages;
}

export interface Planned {
  /** From 1. */
  stage: number;
  shard: Shard;
  stacks: FleetStack[];
}

/**
 * The shards of each stage that have selected stacks; at least one, so that a pipeline always has a job.
 * @param count shards of each stage
 */
export function plannedShards(stacks: readonly FleetStack[], count?: number): Planned[][] {
  const stages = stagesOf(stacks).map((own, at) => {
    const many = count ?? Math.min(mostShards, Math.ceil(own.length / stacksPerShard));
    const shards = shardsOf(own, many);
    const planned = indexesOf(many).map((index) => ({
      stage: at + 1,
      shard: { index, count: many },
      stacks: own.filter(({ name }) => shards.get(name) === index),
    }));
    return planned.filter((one) => one.stacks.length > 0);
  });
  return stages.length > 0 ? stages : [[{ stage: 1, shard: { index: 1, count: count ?? 1 }, stacks: [] }]];
}

/** The matrices of a pipeline, one for each stage, by its forge. */
export const matrices = {
  /** For `fromJSON` in `strategy.matrix` of one job per stage; null if the stage has nothing to do. */
  github: (stages: readonly (readonly Pick<Planned, "stage" | "shard">[])[]): string =>
    JSON.stringify(stages.map((own) => (own.length === 0 ? null : { shard: own.map(({ shard }) => titleOf(shard)) }))),
  /** A child pipeline with a job for each stage, which extends the hidden job `.fleet` and waits for the one before. JSON is also YAML. */
  gitlab: (stages: readonly (readonly Pick<Planned, "stage" | "shard">[])[]): string => {
    const own = stages.flatMap((shards) =>
      shards[0] ? [{ name: `stage-${shards[0].stage}`, stage: shards[0].stage, shards }] : [],
    );
    const jobs = own.map(({ name, stage, shards }, at) => {
      const needs = own
        .slice(0, at)
        .slice(-1)
        .map((before) => ({ job: before.name, artifacts: false }));
      const parallel = { matrix: [{ SHARD: shards.map(({ shard }) => titleOf(shard)) }] };
      return [name, { extends: ".fleet", variables: { STAGE: String(stage) }, needs, parallel }];
    });
    return JSON.stringify(Object.fromEntries(jobs));
  },
};
