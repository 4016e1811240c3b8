import { z } from "zod";
import { counted, groupBy, jsonText, junitXml, type TestCase, textOf } from "pulumi-consortium/internal/fleet";
import { type FleetStack } from "./schema";
import { indexesOf, type Planned, type Shard, titleOf } from "./shards";

/* Results of a fleet command: the form of `--json`, and merging results of several runs, such as all shards. */

export type Command = "up" | "preview" | "destroy" | "drift";
/** `losses`: a preview of `destroy`. */
export type Verb = Command | "losses";

const count = z.number();
const counts = z.object({ created: count, updated: count, replaced: count, deleted: count, unchanged: count });
const kinds = counts.keyof().options;
const changes = kinds.filter((kind) => kind !== "unchanged");

/** How many resources of a stack were created, updated and so on. */
export type Counts = z.infer<typeof counts>;

/** The outcome of a preview whose `up` needs somebody's agreement. */
export const losesLedger = "loses a ledger";

const result = counts.extend({
  stack: z.string(),
  organization: z.string(),
  outcome: z.enum(["ok", "failed", "drift", losesLedger, "interrupted", "not begun"]),
  seconds: z.number(),
  /** Why it failed, in full. */
  error: z.string().optional(),
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

/** The result of one stack. */
export type StackResult = z.infer<typeof result>;

/** The result of a stack that was not started. */
export const notBegun = ({ name, organization }: FleetStack, error?: string): StackResult =>
  withoutResult({ stack: name, organization: organization.name }, error);

const withoutResult = (one: Pick<StackResult, "stack" | "organization">, error?: string): StackResult => ({
  ...one,
  outcome: "not begun",
  ...totals([]),
  seconds: 0,
  error,
  ledgers: [],
  replacements: [],
  drift: [],
  leftovers: [],
  recovered: false,
});

const results = z.object({
  command: z.enum(["up", "preview", "destroy", "drift", "losses"]),
  project: z.string(),
  seconds: z.number(),
  /**
   * One of several shards, with the number of stacks in all shards; for stages, its stage, with the number of stacks in each. `names` has
   * the stacks of each stage, so that those of a stage that did not run can be reported.
   */
  shard: z
    .object({
      index: z.number(),
      count: z.number(),
      inAll: z.number(),
      stage: z.number().optional(),
      stages: z.array(z.number()).optional(),
      names: z.array(z.array(z.object({ stack: z.string(), organization: z.string() }))).optional(),
    })
    .optional(),
  stacks: z.array(result).readonly(),
  /** Stacks of the project that are no longer in the file. */
  strays: z.array(z.string()).readonly(),
});
export type FleetResult = z.infer<typeof results>;

/** Hundredths are enough. */
export const secondsSince = (at: number): number => Math.round((performance.now() - at) / 10) / 100;

/** Failed, drifted and unfinished all mean that the stack does not match its file. */
export const isGood = ({ outcome }: Pick<StackResult, "outcome">): boolean => outcome === "ok";

/** 1: a stack failed or was not finished; 2: otherwise, if there is drift, or a ledger would be lost. */
export function exitCode({ stacks }: FleetResult): 0 | 1 | 2 {
  if (stacks.every(isGood)) return 0;
  return stacks.every((one) => isGood(one) || ["drift", losesLedger].includes(one.outcome)) ? 2 : 1;
}

type Part = FleetResult & { file: string };

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
  const texts = names.map((file) => ({ file, text: textOf(file) }));
  const parts = texts.filter(({ text }) => text.trim() !== "").map(partIn); // a killed job leaves an empty file
  const [first] = parts;
  if (first === undefined) throw new Error(`${names.join(", ")}: empty, because the run ended before it had a result.`);
  same(parts, ({ command, project }) => `results of ${command} in the project ${project}`, "files of one run");
  same(parts, spreadOf, "shards that were made of the same stacks");
  const places = parts.flatMap(({ file, stacks }) => stacks.map(({ stack }) => ({ file, stack })));
  for (const [one, other] of groupBy(places, ({ stack }) => stack).values())
    if (other) throw new Error(`${one.stack} is in ${one.file} and in ${other.file}: name each result once.`);
  const stages = stagesIn(parts);
  const merged = {
    command: first.command,
    project: first.project,
    seconds: stages.reduce((sum, { own }) => sum + Math.max(0, ...own.map(({ seconds }) => seconds)), 0),
    stacks: stages.flatMap(({ own, left }) => [...own.flatMap(({ stacks }) => stacks), ...left]),
    strays: [...new Set(parts.flatMap(({ strays }) => strays))],
  };
  return { merged, missing: missingIn(stages), again: stages.map(againIn) };
}

function same(parts: readonly Part[], told: (part: Part) => string, what: string): void {
  const [first] = parts;
  const other = first && parts.find((part) => told(part) !== told(first));
  if (other)
    throw new Error(`${other.file} has ${told(other)}, and ${first.file} has ${told(first)}: merge only ${what}.`);
}

const stageOf = ({ shard }: Part): number => shard?.stage ?? 1;

const spreadOf = ({ shard }: Part): string => {
  if (shard === undefined) return "no shard";
  const { count, stages, inAll } = shard;
  return `${stages ? `a stage of ${stages.length}` : `a shard of ${count}`}, with ${stages?.join(" and ") ?? inAll} stacks in all`;
};

/** The results of a stage. */
interface Stage {
  stage: number;
  /** Whether it has other shards. */
  isOne: boolean;
  own: readonly Part[];
  /** Its stacks without a result. */
  left: readonly StackResult[];
  /** The numbers of its stacks without a result and in total. */
  lacking: number;
  size: number;
  shards: readonly Shard[];
}

function stagesIn(parts: readonly Part[]): Stage[] {
  const found = parts.reduce((sum, { stacks }) => sum + stacks.length, 0);
  const { stages = [parts[0]?.shard?.inAll ?? found] } = parts[0]?.shard ?? {};
  const most = Math.max(1, ...parts.map(({ shard }) => shard?.count ?? 1));
  return stages.map((size, at) => {
    const own = parts.filter((part) => stageOf(part) === at + 1);
    same(own, ({ shard }) => `a shard of ${shard?.count}`, "shards that were made of the same stacks");
    const there = new Set(own.flatMap(({ stacks }) => stacks.map(({ stack }) => stack)));
    const names = parts[0]?.shard?.names?.[at] ?? [];
    const left = names.filter(({ stack }) => !there.has(stack)).map((one) => withoutResult(one));
    // A stage that did not run may run in any number of shards.
    const count = own[0]?.shard?.count ?? Math.min(most, size);
    const shards = indexesOf(count).map((index) => ({ index, count }));
    return { stage: at + 1, isOne: stages.length === 1, own, left, lacking: size - there.size, size, shards };
  });
}

const unseen = ({ own, shards }: Stage): Shard[] => {
  const given = new Set(own.map(({ shard }) => shard?.index ?? 1));
  return shards.filter(({ index }) => !given.has(index));
};

const againIn = (one: Stage): Merged["again"][number] => {
  const bad = one.own.filter(({ stacks }) => !stacks.every(isGood)).map(({ shard }) => shard?.index ?? 1);
  const lost = one.lacking > 0 ? unseen(one).map(({ index }) => index) : [];
  const isAgain = ({ index }: Shard) => bad.includes(index) || lost.includes(index);
  return one.shards.filter(isAgain).map((shard) => ({ stage: one.stage, shard }));
};

/** Shards without stacks may be left out. */
function missingIn(stages: readonly Stage[]): string | undefined {
  const lines = stages
    .filter(({ lacking }) => lacking > 0)
    .map((one) => {
      const { stage, isOne, own, lacking, size } = one;
      if (!isOne && own.length === 0) return `Stage ${stage} did not run: ${counted(size, "stack")}.`;
      const where = isOne ? "" : `stage ${stage}: `;
      const titles = unseen(one).map(titleOf).join(", ");
      return `${where}${lacking} of ${counted(size, "stack has", "stacks have")} no result. There are no results of the shards ${titles}.`;
    });
  return lines.length === 0 ? undefined : `${lines.join(" ")} Run these shards again, and merge all of them.`;
}

function partIn({ file, text }: { file: string; text: string }): Part {
  try {
    return { ...results.parse(JSON.parse(text)), file };
  } catch (cause) {
    const next = "Name files that `consortium fleet … --json` printed.";
    throw new Error(`${file} does not hold the results of a fleet. ${next}`, { cause });
  }
}

/* Output. */

/** A summary of more stacks than this only counts stacks without changes. */
const manyStacks = 20;

const isQuiet = (result: StackResult): boolean =>
  isGood(result) &&
  changes.every((kind) => result[kind] === 0) &&
  result.drift.length + result.leftovers.length === 0 &&
  !result.recovered;

/** Orders a preview: ledgers that would be lost, then replacements, then failures, changes, and the rest. */
function weight(result: StackResult): number {
  const reasons = [result.ledgers.length > 0, result.replaced > 0, !isGood(result), !isQuiet(result)];
  return reasons.includes(true) ? reasons.indexOf(true) : reasons.length;
}

/** The changes: "8 created, 1 replaced", or "8 to be created". */
const changesIn = (counts: Counts, command: Verb): string =>
  changes
    .flatMap((kind) => (counts[kind] > 0 ? [`${counts[kind]} ${command === "preview" ? "to be " : ""}${kind}`] : []))
    .join(", ");

/** Each stack with its details below. In a preview, the most important stacks come first. */
export function summaryOfStacks({ command, stacks }: FleetResult): string[] {
  const ordered = command === "preview" ? [...stacks].sort((one, other) => weight(one) - weight(other)) : stacks;
  const shown = ordered.length > manyStacks ? ordered.filter((one) => !isQuiet(one)) : ordered;
  const rest = stacks.length - shown.length;
  const width = Math.max(...shown.map(({ stack }) => stack.length));
  const lines = shown.flatMap((result) => {
    const { stack, outcome, error, replacements, drift, recovered, leftovers } = result;
    const changed = changesIn(result, command);
    const remarks = [
      ...(error?.split("\n") ?? []),
      ...replacements.map((title) => `replaces ${title}`),
      ...drift,
      ...leftovers,
      ...(recovered && outcome === "ok" ? ["continued where a killed run stopped"] : []),
    ];
    const line = `${stack.padEnd(width)}  ${outcome}${changed && `: ${changed}`}; ${result.seconds.toFixed(1)} s`;
    return [line, ...remarks.map((remark) => `  ${remark}`)];
  });
  if (rest > 0) lines.push(`${counted(rest, shown.length > 0 ? "more stack" : "stack")} without changes`);
  return lines;
}

/** @param when "WOULD BE", "WILL BE" or "IS" */
export const ledgerWarnings = ({ stacks }: Pick<FleetResult, "stacks">, when: string): string[] =>
  stacks.flatMap(({ stack, ledgers }) =>
    ledgers.map((text) => `WARNING: ${stack}: ${text}: THE LEDGER, AND ALL THAT IS WRITTEN IN IT, ${when} DESTROYED`),
  );

/** "48 of 50 stacks ok, 1 failed, 1 not begun; 600 created; 61.2 s" */
export function summaryLine({ command, stacks, seconds }: FleetResult): string {
  const others = ["failed", "drift", losesLedger, "interrupted", "not begun"].flatMap((outcome) => {
    const many = stacks.filter((one) => one.outcome === outcome).length;
    return many > 0 ? [`${many} ${outcome}`] : [];
  });
  const good = `${stacks.filter(isGood).length} of ${counted(stacks.length, "stack")} ok`;
  const isPlanned = command === "preview";
  const lost = stacks.flatMap(({ ledgers }) => ledgers).length;
  const ledgers = lost === 0 ? [] : [`${counted(lost, "ledger")} ${isPlanned ? "to be " : ""}destroyed`];
  const changed = [changesIn(totals(stacks), command), ...ledgers].filter(Boolean).join(", ");
  const none = isPlanned ? "nothing to change" : "nothing changed";
  return `${[good, ...others].join(", ")}; ${changed || none}; ${seconds.toFixed(1)} s`;
}

function totals(results: readonly StackResult[]): Counts {
  const all = kinds.map((kind) => [kind, results.reduce((sum, one) => sum + one[kind], 0)]);
  return Object.fromEntries(all) as Counts;
}

/** For programs. */
export const summaryJson = (result: FleetResult): string =>
  jsonText({ ...result, ok: result.stacks.every(isGood), total: totals(result.stacks) });

/** For tools that read JUnit: each stack is a test case. */
export function summaryJunit({ command, project, stacks, seconds }: FleetResult): string {
  const cases = stacks.map((one): TestCase => {
    const lines = [
      kinds.map((kind) => `${one[kind]} ${kind}`).join(", "),
      ...one.ledgers.map((text) => `WARNING: ${text}, with its ledger`),
    ];
    const { stack: name, organization } = one;
    const attributes = { classname: `${project}.${organization}`, name, time: one.seconds.toFixed(3) };
    return { attributes, result: junitResult(one), output: lines.join("\n") };
  });
  return junitXml(`consortium fleet ${command}: ${project}`, cases, seconds.toFixed(3));
}

function junitResult({ outcome, error, drift, ledgers }: StackResult): TestCase["result"] {
  if (outcome === "ok") return undefined;
  if (outcome !== "failed" && outcome !== "drift" && outcome !== losesLedger)
    return { element: "skipped", message: outcome };
  const text = error ?? [...ledgers, ...drift].join("\n");
  return { element: "failure", type: outcome, message: text.split("\n")[0]!, text };
}
