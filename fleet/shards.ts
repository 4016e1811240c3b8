import { InvalidArgumentError } from "commander";
import { type FleetStack } from "./schema";

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

/** The stacks of a shard. They take turns, so shards differ by at most one stack. */
export const stacksIn = <T>(stacks: readonly T[], { index, count }: Shard): T[] =>
  stacks.filter((_, at) => at % count === index - 1);

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
    const shards = indexesOf(Math.min(many, own.length)).map((index) => ({ index, count: many }));
    return shards.map((shard) => ({ stage: at + 1, shard, stacks: stacksIn(own, shard) }));
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
