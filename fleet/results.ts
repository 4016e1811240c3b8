import { z } from "zod";
import { counted, groupBy, textOf, UserError } from "pulumi-consortium/internal/fleet";
import { type FleetStack } from "./schema";
import { indexesOf, type Planned, type Shard, stacksIn, titleOf } from "./shards";

/*
 * What is known of the stacks of a fleet, from this machine, the shards of a pipeline or the operator: the form of `--json`, and merging
 * the results of several runs. report.ts writes them.
 */

export type Command = "up" | "preview" | "destroy" | "drift";
/** `losses`: a preview of `destroy`. */
export type Verb = Command | "losses";

/** The outcome of a preview whose `up` needs somebody's agreement. */
export const losesLedger = "loses a ledger";

/** Outcomes that only the operator's Stacks have, until they are stalled or ready. */
const later = ["retrying", "waiting", "running", "new"] as const;
/** From bad to good. */
export const outcomes = [
  ...(["stalled", "failed", "drift", losesLedger, "interrupted", "not begun"] as const),
  ...later,
  "ok" as const,
];
export type Outcome = (typeof outcomes)[number];

const count = z.number();
const counts = z.object({ created: count, updated: count, replaced: count, deleted: count, unchanged: count });
/** How many resources of a stack were created, updated and so on. */
export type Counts = z.infer<typeof counts>;
export const kinds = counts.keyof().options;

const result = counts.extend({
  stack: z.string(),
  organization: z.string(),
  outcome: z.enum(outcomes),
  seconds: z.number(),
  /** Why it failed, in full. */
  error: z.string().optional(),
  /** The code of the first error that has one: docs/troubleshooting.md. */
  code: z.string().optional(),
  /** Ledgers that are replaced or deleted: "replaces Environment trade/prod". */
  ledgers: z.array(z.string()),
  /** Other replacements: "Node trade/prod/acme-1". */
  replacements: z.array(z.string()),
  /** Differences from the state: "Node trade/prod/acme-1 is gone". */
  drift: z.array(z.string()),
  /** Objects that a killed run may have created and no state has. */
  leftovers: z.array(z.string()),
  /** Whether it continued where a killed run stopped. */
  recovered: z.boolean(),
});

/** What is known of one stack. */
export interface StackResult extends z.infer<typeof result> {
  /** Of the operator's Stack, which does not count what it does. */
  operated?: Operated;
}

export interface Operated {
  namespace: string;
  name: string;
  /** Whether it only previews, beside the Stack that applies. */
  preview?: true;
  /** Since when it is in this state. */
  since?: string;
  /** End of its last successful update; unknown after a failure. */
  lastSuccess?: string;
  /** The revision that was last applied. */
  commit?: string;
  /** Who holds the lock of its state. */
  lock?: string;
}

/** A result in which nothing was done. */
export const emptyResult = (
  one: Pick<StackResult, "stack" | "organization" | "outcome"> & Partial<StackResult>,
): StackResult => ({
  ...(Object.fromEntries(kinds.map((kind) => [kind, 0])) as Counts),
  seconds: 0,
  ledgers: [],
  replacements: [],
  drift: [],
  leftovers: [],
  recovered: false,
  ...one,
});

/** The result of a stack that was not started. */
export const notBegun = ({ name, organization }: FleetStack, error?: string): StackResult =>
  emptyResult({ stack: name, organization: organization.name, outcome: "not begun", error });

const results = z.object({
  command: z.enum(["up", "preview", "destroy", "drift", "losses"]),
  project: z.string(),
  seconds: z.number(),
  /** One of several shards, or a shard of a stage; `names` has the stacks of all, in their stages, so that missing ones can be reported. */
  shard: z
    .object({
      index: z.number(),
      count: z.number(),
      stage: z.number().optional(),
      names: z.array(z.array(z.object({ stack: z.string(), organization: z.string() }))),
    })
    .optional(),
  stacks: z.array(result).readonly(),
  /** Stacks of the project that are no longer in the file. */
  strays: z.array(z.string()).readonly(),
});
type RunResults = z.infer<typeof results>;

/** What is known of the stacks of a fleet. */
export interface FleetResult extends Partial<Omit<RunResults, "command" | "stacks" | "strays">> {
  command: Verb | "status";
  stacks: readonly StackResult[];
  strays: readonly string[];
}

/** Hundredths are enough. */
export const secondsSince = (at: number): number => Math.round((performance.now() - at) / 10) / 100;

/** Failed, drifted and unfinished all mean that the stack does not match its file. */
export const isGood = ({ outcome }: Pick<StackResult, "outcome">): boolean => outcome === "ok";

/** 1: a stack failed or was not finished; 2: otherwise, if one has drifted, would lose a ledger, or is not ready yet. */
export function exitCode({ stacks }: Pick<FleetResult, "stacks">): 0 | 1 | 2 {
  if (stacks.every(isGood)) return 0;
  const milder: readonly Outcome[] = [...later, "drift", losesLedger];
  return stacks.every((one) => isGood(one) || milder.includes(one.outcome)) ? 2 : 1;
}

export interface Merged {
  merged: FleetResult;
  /** Which shards have no results. */
  missing?: string;
  /** The shards to run again, by stage: without results, or with a stack that does not match its file. */
  again: Pick<Planned, "stage" | "shard">[][];
}

/**
 * Merges the output of `--json`. Stacks without a result are "not begun". `seconds` adds up the longest run of each stage.
 * @throws if a file holds no results, or results that do not belong together
 */
export function mergeResults(names: readonly string[]): Merged {
  const parts = names.flatMap(partsIn);
  const [first] = parts;
  if (first === undefined) throw refused(`${names.join(", ")}: empty, because the run ended before it had a result.`);
  same(parts, ({ command, project }) => `results of ${command} in the project ${project}`, "files of one run");
  same(parts, spreadOf, "shards that were made of the same stacks");
  const places = parts.flatMap(({ file, stacks }) => stacks.map(({ stack }) => ({ file, stack })));
  for (const [one, other] of groupBy(places, ({ stack }) => stack).values())
    if (other) throw refused(`Name each result once: ${one.stack} is in ${one.file} and in ${other.file}.`);
  const stages = stagesIn(parts, first);
  const merged = {
    command: first.command,
    project: first.project,
    seconds: stages.reduce((sum, { own }) => sum + Math.max(0, ...own.map(({ seconds }) => seconds)), 0),
    stacks: stages.flatMap(({ stacks }) => stacks),
    strays: [...new Set(parts.flatMap(({ strays }) => strays))],
  };
  const again = stages.map(({ again, stage }) => again.map((shard) => ({ stage, shard })));
  return { merged, missing: missingIn(stages), again };
}

type Part = RunResults & { file: string };

/** None if the file is empty, as a killed job leaves it. */
function partsIn(file: string): Part[] {
  const text = textOf(file);
  try {
    return text.trim() === "" ? [] : [{ ...results.parse(JSON.parse(text)), file }];
  } catch (cause) {
    const next = "Name files that `consortium fleet … --json` printed";
    throw refused(`${next}: ${file} does not hold the results of a fleet.`, cause);
  }
}

function same(parts: readonly Part[], told: (part: Part) => string, what: string): void {
  const [first] = parts;
  const other = first && parts.find((part) => told(part) !== told(first));
  if (other)
    throw refused(`Merge only ${what}: ${other.file} has ${told(other)}, and ${first.file} has ${told(first)}.`);
}

const refused = (message: string, cause?: unknown) => new UserError("invalid-argument", message, { cause });

function spreadOf({ shard }: Part): string {
  if (shard === undefined) return "no shard";
  const { count, stage, names } = shard;
  const sizes = names.map(({ length }) => length).join(" and ");
  return `${stage === undefined ? `a shard of ${count}` : `a stage of ${names.length}`}, with ${sizes} stacks in all`;
}

interface Stage {
  stage: number;
  own: readonly Part[];
  /** All its stacks. */
  stacks: readonly StackResult[];
  /** How many of them have no result. */
  left: number;
  /** Its shards that are without results, or not good; `unseen`: those without. */
  again: readonly Shard[];
  unseen: readonly Shard[];
}

/** A run without shards is the only stage and shard. */
function stagesIn(parts: readonly Part[], { shard, stacks: whole }: Part): Stage[] {
  const most = Math.max(...parts.map(({ shard: one }) => one?.count ?? 1));
  return (shard?.names ?? [whole]).map((names, at) => {
    const own = parts.filter((part) => (part.shard?.stage ?? 1) === at + 1);
    same(own, (part) => `a shard of ${part.shard?.count}`, "shards that were made of the same stacks");
    const known = new Map(own.flatMap(({ stacks }) => stacks.map((one) => [one.stack, one])));
    const isUnseen = ({ stack }: { stack: string }) => !known.has(stack);
    const stacks = names.map(
      ({ stack, organization }) => known.get(stack) ?? emptyResult({ stack, organization, outcome: "not begun" }),
    );
    // A stage that did not run may run in any number of shards.
    const count = own[0] ? (own[0].shard?.count ?? 1) : Math.min(most, names.length);
    const shards = indexesOf(count).map((index) => ({ index, count }));
    const again = shards.filter((one) => !stacksIn(stacks, one).every(isGood));
    const unseen = again.filter((one) => stacksIn(names, one).some(isUnseen));
    return { stage: at + 1, own, stacks, left: names.filter(isUnseen).length, again, unseen };
  });
}

function missingIn(stages: readonly Stage[]): string | undefined {
  const lines = stages.flatMap(({ stage, own, stacks, left, unseen }) => {
    if (left === 0) return [];
    const isOne = stages.length === 1;
    if (!isOne && own.length === 0) return [`Stage ${stage} did not run: ${counted(stacks.length, "stack")}.`];
    const of = `${isOne ? "" : `stage ${stage}: `}${left} of ${counted(stacks.length, "stack has", "stacks have")}`;
    return [`${of} no result. There are no results of the shards ${unseen.map(titleOf).join(", ")}.`];
  });
  return lines.length === 0 ? undefined : `${lines.join(" ")} Run these shards again, and merge all of them.`;
}
