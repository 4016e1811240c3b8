import { junitXml, type TestCase, textOf } from "pulumi-consortium/internal/fleet";

/* What a fleet command did: the form of `--json`, and the results of several runs, such as those of all shards, as those of one. */

export type Outcome = "ok" | "failed" | "drift" | "interrupted" | "not begun";
export type Command = "up" | "preview" | "destroy" | "drift";

/** How many resources of a stack were created, updated and so on. */
export type Counts = Record<"created" | "updated" | "replaced" | "deleted" | "unchanged", number>;
export const noCounts = (): Counts => ({ created: 0, updated: 0, replaced: 0, deleted: 0, unchanged: 0 });

/** The result of one stack. */
export interface StackResult extends Counts {
  stack: string;
  organization: string;
  outcome: Outcome;
  seconds: number;
  /** Why it failed, in full. */
  error?: string;
  /** Ledgers that are replaced or deleted: "replaces Environment trade/prod". */
  ledgers: string[];
  /** What else is replaced: "Node trade/prod/acme-1". */
  replacements: string[];
  /** What differs from the state: "Node trade/prod/acme-1 is gone". */
  drift: string[];
  /** What a killed run may have created and no state has. */
  leftovers: string[];
  /** Whether it continued where a killed run stopped. */
  recovered: boolean;
}

export interface FleetResult {
  command: Command;
  project: string;
  seconds: number;
  /** One of several shards, and how many stacks all of them have. */
  shard?: { index: number; count: number; inAll: number };
  stacks: readonly StackResult[];
  /** Stacks of the project that are no longer in the file. */
  strays: readonly string[];
}

/** Failed, drifted and unfinished all mean that the stack is not as its file says. */
export const isGood = ({ outcome }: Pick<StackResult, "outcome">): boolean => outcome === "ok";

/** 1: a stack failed or was not finished; 2: there is drift, and nothing worse. */
export function exitCode({ stacks }: FleetResult): 0 | 1 | 2 {
  if (stacks.every(isGood)) return 0;
  return stacks.every((one) => isGood(one) || one.outcome === "drift") ? 2 : 1;
}

interface Part extends FleetResult {
  file: string;
}

/**
 * Merges files that `--json` wrote. `missing` says which shards have no results; `seconds` are those of the longest run.
 * @throws if a file holds no results, or results that do not belong together
 */
export function mergeResults(files: readonly string[]): { merged: FleetResult; missing?: string } {
  const texts = files.map((file) => ({ file, text: textOf(file) }));
  const parts = texts.filter(({ text }) => text.trim() !== "").map(partIn); // a killed job leaves an empty file
  const [first] = parts;
  if (first === undefined) throw new Error(`${files.join(", ")}: empty. The run ended before it had any result.`);
  const seen = new Map<string, string>();
  for (const part of parts) {
    const [own, other] = [part, first].map(({ command, project }) => `${command} in the project ${project}`);
    if (own !== other)
      throw new Error(
        `${part.file} has results of ${own}, and ${first.file} of ${other}: merge only files of one run.`,
      );
    const [shard, firstShard] = [part, first].map(titleOf);
    if (shard !== firstShard)
      throw new Error(
        `${part.file} has ${shard}, and ${first.file} has ${firstShard}: merge only shards that were made of the same stacks.`,
      );
    for (const { stack } of part.stacks) {
      if (seen.has(stack))
        throw new Error(`${stack} is in ${seen.get(stack)} and in ${part.file}: name each result once.`);
      seen.set(stack, part.file);
    }
  }
  const merged = {
    command: first.command,
    project: first.project,
    seconds: Math.max(...parts.map(({ seconds }) => seconds)),
    stacks: parts.flatMap(({ stacks }) => stacks),
    strays: [...new Set(parts.flatMap(({ strays }) => strays))],
  };
  return { merged, missing: missingIn(parts, seen.size) };
}

const titleOf = ({ shard }: Part): string =>
  shard === undefined ? "no shard" : `a shard of ${shard.count}, with ${shard.inAll} stacks in all`;

/** Shards without stacks may be left out. */
function missingIn(parts: readonly Part[], found: number): string | undefined {
  const shard = parts[0]?.shard;
  if (shard === undefined || found === shard.inAll) return undefined;
  const given = new Set(parts.map((part) => part.shard?.index));
  const lacking = Array.from({ length: shard.count }, (_, at) => at + 1).filter((index) => !given.has(index));
  return (
    `${shard.inAll - found} of ${shard.inAll} stacks have no result. There are no results of the shards ` +
    `${lacking.map((index) => `${index}/${shard.count}`).join(", ")}. Run these shards again, and merge all of them.`
  );
}

function partIn({ file, text }: { file: string; text: string }): Part {
  let part: Partial<FleetResult> = {};
  try {
    part = (JSON.parse(text) as Partial<FleetResult> | null) ?? {};
  } catch {
    // It has no stacks either.
  }
  if (part.command && part.stacks?.every((one) => Array.isArray(one?.ledgers)))
    return { ...(part as FleetResult), file };
  throw new Error(
    `${file} does not hold the results of a fleet. Name files that \`consortium fleet … --json\` printed.`,
  );
}

/* How it is shown. */

/** In a summary of more stacks than this, those without changes are only counted. */
const manyStacks = 20;

const changedKinds = ["created", "updated", "replaced", "deleted"] as const;

const isQuiet = (result: StackResult): boolean =>
  isGood(result) &&
  changedKinds.every((kind) => result[kind] === 0) &&
  result.drift.length + result.leftovers.length === 0 &&
  !result.recovered;

/** Orders a preview: ledgers that would be lost, then replacements, then failures, changes, and the rest. */
function weight(result: StackResult): number {
  const kinds = [result.ledgers.length > 0, result.replaced > 0, !isGood(result), !isQuiet(result)];
  return kinds.includes(true) ? kinds.indexOf(true) : kinds.length;
}

/** What was changed: "8 created, 1 replaced", or "8 to be created". */
const changesIn = (counts: Counts, { command }: Pick<FleetResult, "command">): string =>
  changedKinds
    .flatMap((kind) => (counts[kind] > 0 ? [`${counts[kind]} ${command === "preview" ? "to be " : ""}${kind}`] : []))
    .join(", ");

/** Each stack, and below what is to be said of it. In a preview, what matters most comes first. */
export function summaryOfStacks({ command, stacks }: FleetResult): string[] {
  const ordered = command === "preview" ? [...stacks].sort((one, other) => weight(one) - weight(other)) : stacks;
  const shown = ordered.length > manyStacks ? ordered.filter((one) => !isQuiet(one)) : ordered;
  const rest = stacks.length - shown.length;
  const width = Math.max(...shown.map(({ stack }) => stack.length));
  const lines = shown.flatMap((result) => {
    const { stack, outcome, error, replacements, drift, recovered, leftovers } = result;
    const changes = changesIn(result, { command });
    const remarks = [
      ...(error?.split("\n") ?? []),
      ...replacements.map((title) => `replaces ${title}`),
      ...drift,
      ...leftovers,
      ...(recovered ? ["continued where a killed run stopped"] : []),
    ];
    const line = `${stack.padEnd(width)}  ${outcome}${changes && `: ${changes}`}; ${result.seconds.toFixed(1)} s`;
    return [line, ...remarks.map((remark) => `  ${remark}`)];
  });
  if (rest > 0) lines.push(`${rest} ${shown.length > 0 ? "more " : ""}stack${rest === 1 ? "" : "s"} without changes`);
  return lines;
}

/** @param when "WOULD BE", "WILL BE" or "IS" */
export const ledgerWarnings = ({ stacks }: Pick<FleetResult, "stacks">, when: string): string[] =>
  stacks.flatMap(({ stack, ledgers }) =>
    ledgers.map((text) => `WARNING: ${stack}: ${text}: THE LEDGER, AND ALL THAT IS WRITTEN IN IT, ${when} DESTROYED`),
  );

/** "48 of 50 stacks ok, 1 failed, 1 not begun; 600 created; 61.2 s" */
export function summaryLine(result: FleetResult): string {
  const { command, stacks, seconds } = result;
  const others = ["failed", "drift", "interrupted", "not begun"].flatMap((outcome) => {
    const many = stacks.filter((one) => one.outcome === outcome).length;
    return many > 0 ? [`${many} ${outcome}`] : [];
  });
  const good = `${stacks.filter(isGood).length} of ${stacks.length} stack${stacks.length === 1 ? "" : "s"} ok`;
  const changed =
    changesIn(totals(stacks), result) || (command === "preview" ? "nothing to change" : "nothing changed");
  return `${[good, ...others].join(", ")}; ${changed}; ${seconds.toFixed(1)} s`;
}

function totals(results: readonly StackResult[]): Counts {
  const sum = noCounts();
  for (const result of results) for (const kind of Object.keys(sum) as (keyof Counts)[]) sum[kind] += result[kind];
  return sum;
}

const rounded = (seconds: number): number => Number(seconds.toFixed(2));

/** For programs. */
export function summaryJson({ command, project, shard, seconds, stacks, strays }: FleetResult): string {
  const document = {
    command,
    project,
    shard,
    ok: stacks.every(isGood),
    seconds: rounded(seconds),
    total: totals(stacks),
    stacks: stacks.map((one) => ({ ...one, seconds: rounded(one.seconds) })),
    strays,
  };
  return JSON.stringify(document, undefined, 2);
}

/** For tools that read JUnit: each stack is a test case. */
export function summaryJunit({ command, project, stacks, seconds }: FleetResult): string {
  const cases = stacks.map((one): TestCase => {
    const lines = [
      [...changedKinds, "unchanged" as const].map((kind) => `${one[kind]} ${kind}`).join(", "),
      ...one.ledgers.map((text) => `WARNING: ${text}, with its ledger`),
    ];
    const attributes = {
      classname: `${project}.${one.organization}`,
      name: one.stack,
      time: one.seconds.toFixed(3),
    };
    return { attributes, result: junitResult(one), output: lines.join("\n") };
  });
  return junitXml(`consortium fleet ${command}: ${project}`, cases, seconds.toFixed(3));
}

function junitResult({ outcome, error, drift }: StackResult): TestCase["result"] {
  if (outcome === "ok") return undefined;
  if (outcome !== "failed" && outcome !== "drift") return { element: "skipped", message: outcome };
  const text = error ?? drift.join("\n");
  return { element: "failure", type: outcome, message: text.split("\n")[0]!, text };
}
