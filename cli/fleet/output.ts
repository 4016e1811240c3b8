import { junitXml, newTable, type TestCase } from "../shared/formats";
import { type Counts, type Progress } from "./progress";
import { type Shard } from "./shards";
import { type Command, type Result } from "./stack";

/** Failed, drifted and unfinished all mean that the fleet is not as its file says. */
export const isGood = ({ outcome }: Result): boolean => outcome === "ok";

/** 1: a stack failed or was not finished; 2: there is drift, and nothing worse. */
export function exitCode(results: readonly Result[]): 0 | 1 | 2 {
  if (results.every(isGood)) return 0;
  return results.every((one) => isGood(one) || one.outcome === "drift") ? 2 : 1;
}

const seconds = (value: number): string => (value === 0 ? "" : value.toFixed(1));
const count = (value: number): string => (value === 0 ? "" : String(value));

const replacementsShown = 3;

/** What people have to know besides the counts. */
function remark({ error, replacements, drift, recovered, leftovers }: Result): string {
  const more = replacements.length - replacementsShown;
  const lines = [
    ...(error === undefined ? [] : [error]),
    ...replacements.slice(0, replacementsShown).map((title) => `replaces ${title}`),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...drift,
    ...leftovers,
    ...(recovered ? ["continued where a killed run stopped"] : []),
  ];
  return lines.join("\n");
}

/** A failure that stacks share, such as a refused key, is shown in full once. For people only: programs get all of it. */
function toldOnce(results: readonly Result[]): Result[] {
  const told = new Map<string, string>();
  return results.map((result) => {
    const { stack, error } = result;
    if (error === undefined) return result;
    const failure = error.replaceAll(/^[A-Z]\w+ [^:\s]+: /gm, ""); // which resource it is
    const first = told.get(failure) ?? stack;
    told.set(failure, first);
    return first === stack ? result : { ...result, error: `the same failure as in the stack ${first}` };
  });
}

const hasLongWord = (text: string, width: number): boolean => text.split(/\s+/).some(({ length }) => length > width);

export interface TableOptions {
  /** Columns of the terminal. */
  width: number;
  colors: boolean;
  /** Whether it is of a preview. */
  planned?: boolean;
}

const narrow = 50;

/** More stacks than this are not shown one by one where nothing happens to them. */
const manyStacks = 20;

const isQuiet = ({ outcome, counts, drift, leftovers, recovered }: Result): boolean =>
  outcome === "ok" &&
  counts.created + counts.updated + counts.replaced + counts.deleted + drift.length + leftovers.length === 0 &&
  !recovered;

/** Ledgers that would be lost, then replacements, then failures, changes, and the rest. */
function weight(result: Result): number {
  const kinds = [result.ledgers.length > 0, result.counts.replaced > 0, !isGood(result), !isQuiet(result)];
  return kinds.includes(true) ? kinds.indexOf(true) : kinds.length;
}

/** The one summary at the end; of a preview, what matters most comes first. */
export function summaryTable(all: readonly Result[], options: TableOptions): string {
  const ordered = options.planned ? [...all].sort((one, other) => weight(one) - weight(other)) : all;
  const shown = ordered.length > manyStacks ? ordered.filter((one) => !isQuiet(one)) : ordered;
  const rest = all.length - shown.length;
  return [
    ...(shown.length > 0 ? [tableOf(toldOnce(shown), options)] : []),
    ...(rest > 0 ? [`${rest} ${shown.length > 0 ? "more " : ""}stack${rest === 1 ? "" : "s"} without changes`] : []),
  ].join("\n");
}

function tableOf(results: readonly Result[], { width, colors, planned = false }: TableOptions): string {
  const kinds = planned ? ["create", "update", "replace", "delete"] : ["created", "updated", "replaced", "deleted"];
  const head = ["stack", "result", ...kinds, "seconds", "remarks"];
  const name = Math.max(5, ...results.map(({ stack }) => stack.length)) + 2;
  const remarks = Math.max(narrow, width - name - 13 - 9 * 5 - 9);
  // Lines break between words, unless a word is longer than a line and would be cut off.
  const wrapOnWordBoundary = !results.some((one) => hasLongWord(remark(one), remarks - 2));
  const colWidths = [name, 13, 9, 9, 10, 9, 9, remarks];
  const colAligns = head.map((_, at) => (at > 1 && at < 7 ? "right" : "left"));
  const table = newTable({ head, colWidths, colAligns, wordWrap: true, wrapOnWordBoundary }, colors);
  for (const result of results) {
    const { stack, outcome, counts } = result;
    const numbers = [counts.created, counts.updated, counts.replaced, counts.deleted].map(count);
    table.push([stack, outcome, ...numbers, seconds(result.seconds), remark(result)]);
  }
  return table.toString();
}

/** Important warnings. */
export function ledgerWarnings(command: Command, results: readonly Result[]): string[] {
  const would = command === "preview" ? "would be" : "is";
  return results.flatMap(({ stack, ledgers }) =>
    ledgers.map(
      (text) =>
        `WARNING: ${stack}: ${text}: THE LEDGER, AND ALL THAT IS WRITTEN IN IT, ${would.toUpperCase()} DESTROYED`,
    ),
  );
}

/** "48 of 50 stacks are as defined, 1 failed, 1 not begun; 600 created, in 61.2 s" */
export function summaryLine(results: readonly Result[], took: number, planned = false): string {
  const good = results.filter(isGood).length;
  const others = ["failed", "drift", "interrupted", "not begun"].flatMap((outcome) => {
    const many = results.filter((one) => one.outcome === outcome).length;
    return many > 0 ? [`${many} ${outcome}`] : [];
  });
  const total = totals(results);
  const changed = (["created", "updated", "replaced", "deleted"] as const).flatMap((kind) =>
    total[kind] > 0 ? [`${total[kind]} ${planned ? `to be ${kind}` : kind}`] : [],
  );
  const stacks = [`${good} of ${results.length} stack${results.length === 1 ? "" : "s"} ok`, ...others].join(", ");
  return `${stacks}; ${changed.length > 0 ? changed.join(", ") : planned ? "nothing to change" : "nothing changed"}; ${took.toFixed(1)} s`;
}

function totals(results: readonly Result[]): Counts {
  const sum: Counts = { created: 0, updated: 0, replaced: 0, deleted: 0, unchanged: 0 };
  for (const { counts } of results) for (const kind of Object.keys(sum) as (keyof Counts)[]) sum[kind] += counts[kind];
  return sum;
}

/** One of several shards, and how many stacks all of them have. */
export type ShardOf = Shard & { inAll: number };

/** For programs. */
export function summaryJson(
  command: Command,
  project: string,
  { results, strays }: { results: readonly Result[]; strays: readonly string[] },
  took: number,
  shard?: ShardOf,
): string {
  const stacks = results.map(({ counts, seconds: duration, ...rest }) => ({
    ...rest,
    ...counts,
    seconds: Number(duration.toFixed(2)),
  }));
  const facts = { command, project, shard, ok: results.every(isGood), seconds: Number(took.toFixed(2)) };
  return JSON.stringify({ ...facts, total: totals(results), stacks, strays }, undefined, 2);
}

/** For tools that read JUnit: each stack is a test case. */
export function summaryJunit(command: Command, project: string, results: readonly Result[], took: number): string {
  const cases = results.map((one): TestCase => {
    const { created, updated, replaced, deleted, unchanged } = one.counts;
    const lines = [
      `${created} created, ${updated} updated, ${replaced} replaced, ${deleted} deleted, ${unchanged} unchanged`,
      ...one.ledgers.map((text) => `WARNING: ${text}, with its ledger`),
    ];
    const attributes = {
      classname: `${project}.${one.organization}`,
      name: one.stack,
      time: one.seconds.toFixed(3),
    };
    return { attributes, result: junitResult(one), output: lines.join("\n") };
  });
  return junitXml(`consortium fleet ${command}: ${project}`, cases, took.toFixed(3));
}

function junitResult({ outcome, error, drift }: Result): TestCase["result"] {
  if (outcome === "ok") return undefined;
  if (outcome !== "failed" && outcome !== "drift") return { element: "skipped", message: outcome };
  const text = error ?? drift.join("\n");
  return { element: "failure", type: outcome, message: text.split("\n")[0]!, text };
}

/** Shows what is going on. */
export interface View {
  begin(stack: string): void;
  tell(stack: string, progress: Progress, lines: string[]): void;
  end(result: Result): void;
  close(): void;
}

/** A line for each event, which begins with its stack: for logs. */
export function plainView(print: (line: string) => void): View {
  const say = (stack: string, text: string) => print(`[${stack}] ${text}`);
  return {
    begin: (stack) => say(stack, "begins"),
    tell: (stack, _progress, lines) => lines.forEach((line) => say(stack, line)),
    end: ({ stack, outcome, seconds }) => say(stack, `${outcome}, ${seconds.toFixed(1)} s`),
    close: () => undefined,
  };
}

interface Row {
  stack: string;
  outcome: string;
  now: string;
  startedAt: number;
  seconds?: number;
}

/** Lines of the borders and the heading. */
const borders = 5;
const framesMs = 200;

/** Running and failed stacks, the newest last, and a count of the rest. */
export function liveTable(
  rows: readonly Row[],
  total: number,
  at: number,
  screen: { rows: number; columns: number; colors: boolean },
): string {
  const running = rows.filter(({ outcome }) => outcome === "running");
  const bad = rows.filter(({ outcome }) => outcome !== "running" && outcome !== "ok");
  const shown = [...bad, ...running].slice(-Math.max(1, screen.rows - borders));
  const name = Math.max(5, ...shown.map(({ stack }) => stack.length)) + 2;
  const colWidths = [name, 13, 9, Math.max(20, screen.columns - name - 13 - 9 - 6)];
  const table = newTable({ head: ["stack", "", "seconds", "now"], colWidths }, screen.colors);
  for (const { stack, outcome, now, startedAt, seconds } of shown)
    table.push([stack, outcome, (seconds ?? (at - startedAt) / 1000).toFixed(1), now]);
  const done = rows.length - running.length;
  return `${table.toString()}\n${done} of ${total} done, ${total - rows.length} waiting`;
}

/** A table that is redrawn while the stacks run. */
export async function liveView(stream: NodeJS.WriteStream, total: number, colors: boolean): Promise<View> {
  const { createLogUpdate } = await import("log-update");
  const update = createLogUpdate(stream);
  const rows = new Map<string, Row>();
  const draw = () => {
    const screen = { rows: stream.rows || 24, columns: stream.columns || 80, colors };
    update(liveTable([...rows.values()], total, performance.now(), screen));
  };
  const timer = setInterval(draw, framesMs);
  const set = (stack: string, change: Partial<Row>) => {
    const before = rows.get(stack) ?? { stack, outcome: "running", now: "", startedAt: performance.now() };
    rows.set(stack, { ...before, ...change });
  };
  return {
    begin: (stack) => set(stack, {}),
    tell: (stack: string, { now }: Progress) => set(stack, { now: now.replaceAll(/\s+/g, " ") }),
    end: ({ stack, outcome, seconds, error }: Result) =>
      set(stack, { outcome, seconds, now: (error ?? "").split("\n")[0]! }),
    close: () => {
      clearInterval(timer);
      update.clear(); // the summary follows
      update.done();
    },
  };
}
