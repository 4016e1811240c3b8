import { junitXml, newTable, type TestCase } from "pulumi-consortium/internal/fleet";
import { type Counts, noCounts, type Progress } from "./progress";
import { type FleetResult, type StackResult } from "./results";

/** Failed, drifted and unfinished all mean that the stack is not as its file says. */
export const isGood = ({ outcome }: StackResult): boolean => outcome === "ok";

/** 1: a stack failed or was not finished; 2: there is drift, and nothing worse. */
export function exitCode({ stacks }: FleetResult): 0 | 1 | 2 {
  if (stacks.every(isGood)) return 0;
  return stacks.every((one) => isGood(one) || one.outcome === "drift") ? 2 : 1;
}

const replacementsShown = 3;

function remarks({ error, replacements, drift, recovered, leftovers }: StackResult): string {
  const more = replacements.length - replacementsShown;
  return [
    ...(error === undefined ? [] : [error]),
    ...replacements.slice(0, replacementsShown).map((title) => `replaces ${title}`),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...drift,
    ...leftovers,
    ...(recovered ? ["continued where a killed run stopped"] : []),
  ].join("\n");
}

/** Shows a failure that stacks share, such as a refused key, in full only once. */
function toldOnce(results: readonly StackResult[]): StackResult[] {
  const told = new Map<string, string>();
  return results.map((result) => {
    const { stack, error } = result;
    if (error === undefined) return result;
    const failure = error.replaceAll(/^[A-Z]\w+ [^:\s]+: /gm, ""); // without the resource that it happened to
    const first = told.get(failure) ?? stack;
    told.set(failure, first);
    return first === stack ? result : { ...result, error: `the same failure as in the stack ${first}` };
  });
}

const hasLongWord = (text: string, width: number): boolean => text.split(/\s+/).some(({ length }) => length > width);

interface TableOptions {
  /** Columns of the terminal. */
  width: number;
  colors: boolean;
}

/** Minimum columns of the remarks. */
const narrow = 50;

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

/** The table at the end of a run. In a preview, what matters most comes first. */
export function summaryTable({ command, stacks }: FleetResult, options: TableOptions): string {
  const planned = command === "preview";
  const ordered = planned ? [...stacks].sort((one, other) => weight(one) - weight(other)) : stacks;
  const shown = ordered.length > manyStacks ? ordered.filter((one) => !isQuiet(one)) : ordered;
  const rest = stacks.length - shown.length;
  return [
    ...(shown.length > 0 ? [tableOf(toldOnce(shown), planned, options)] : []),
    ...(rest > 0 ? [`${rest} ${shown.length > 0 ? "more " : ""}stack${rest === 1 ? "" : "s"} without changes`] : []),
  ].join("\n");
}

function tableOf(results: readonly StackResult[], planned: boolean, { width, colors }: TableOptions): string {
  const kinds = planned ? ["create", "update", "replace", "delete"] : changedKinds;
  const head = ["stack", "result", ...kinds, "seconds", "remarks"];
  const name = Math.max(5, ...results.map(({ stack }) => stack.length)) + 2;
  const last = Math.max(narrow, width - name - 13 - 9 * 5 - 9);
  // Lines break between words, unless a word is longer than a line and would be cut off.
  const wrapOnWordBoundary = !results.some((one) => hasLongWord(remarks(one), last - 2));
  const colWidths = [name, 13, 9, 9, 10, 9, 9, last];
  const colAligns = head.map((_, at) => (at > 1 && at < 7 ? "right" : "left"));
  const table = newTable({ head, colWidths, colAligns, wordWrap: true, wrapOnWordBoundary }, colors);
  for (const result of results) {
    const { stack, outcome, seconds } = result;
    const counts = changedKinds.map((kind) => result[kind] || "");
    table.push([stack, outcome, ...counts, seconds === 0 ? "" : seconds.toFixed(1), remarks(result)]);
  }
  return table.toString();
}

export function ledgerWarnings({ command, stacks }: FleetResult): string[] {
  const would = command === "preview" ? "WOULD BE" : "IS";
  return stacks.flatMap(({ stack, ledgers }) =>
    ledgers.map((text) => `WARNING: ${stack}: ${text}: THE LEDGER, AND ALL THAT IS WRITTEN IN IT, ${would} DESTROYED`),
  );
}

/** "48 of 50 stacks ok, 1 failed, 1 not begun; 600 created; 61.2 s" */
export function summaryLine({ command, stacks, seconds }: FleetResult): string {
  const planned = command === "preview";
  const good = stacks.filter(isGood).length;
  const others = ["failed", "drift", "interrupted", "not begun"].flatMap((outcome) => {
    const many = stacks.filter((one) => one.outcome === outcome).length;
    return many > 0 ? [`${many} ${outcome}`] : [];
  });
  const total = totals(stacks);
  const changed = changedKinds.flatMap((kind) =>
    total[kind] > 0 ? [`${total[kind]} ${planned ? `to be ${kind}` : kind}`] : [],
  );
  const outcomes = [`${good} of ${stacks.length} stack${stacks.length === 1 ? "" : "s"} ok`, ...others].join(", ");
  const nothing = planned ? "nothing to change" : "nothing changed";
  return `${outcomes}; ${changed.join(", ") || nothing}; ${seconds.toFixed(1)} s`;
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

/** Shows stacks in progress. */
export interface View {
  begin(stack: string): void;
  tell(stack: string, progress: Progress, lines: string[]): void;
  end(result: StackResult): void;
  close(): void;
}

/** For logs: a line for each event, which begins with the name of the stack. */
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

/** For terminals: a table that is redrawn while the stacks run. */
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
    tell: (stack, { now }) => set(stack, { now: now.replaceAll(/\s+/g, " ") }),
    end: ({ stack, outcome, seconds, error }) => set(stack, { outcome, seconds, now: (error ?? "").split("\n")[0]! }),
    close: () => {
      clearInterval(timer);
      update.clear(); // the summary follows
      update.done();
    },
  };
}
