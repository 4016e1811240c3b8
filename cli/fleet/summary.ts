import Table from "cli-table3";
import { create } from "xmlbuilder";
import { type Counts } from "./progress";
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

/** What people have to know besides the counts. */
function remark({ error, drift, recovered, leftovers }: Result): string {
  const lines = [
    ...(error === undefined ? [] : [error]),
    ...drift,
    ...leftovers,
    ...(recovered ? ["continued where a killed run stopped"] : []),
  ];
  return lines.join("\n");
}

/** What stacks meet alike, such as a key that is refused, the first of them tells whole. For people: programs get all of it. */
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

/** The one summary at the end. */
export function summaryTable(all: readonly Result[], { width, colors, planned = false }: TableOptions): string {
  const results = toldOnce(all);
  const kinds = planned ? ["create", "update", "replace", "delete"] : ["created", "updated", "replaced", "deleted"];
  const head = ["stack", "result", ...kinds, "seconds", "remarks"];
  const name = Math.max(5, ...results.map(({ stack }) => stack.length)) + 2;
  const remarks = Math.max(narrow, width - name - 13 - 9 * 5 - 9);
  const table = new Table({
    head,
    colWidths: [name, 13, 9, 9, 10, 9, 9, remarks],
    colAligns: ["left", "left", "right", "right", "right", "right", "right", "left"],
    // Between words, unless one is longer than a line: a part of it would not be shown.
    ...{ wordWrap: true, wrapOnWordBoundary: !results.some((one) => hasLongWord(remark(one), remarks - 2)) },
    style: colors ? { head: ["cyan"], compact: true } : { head: [], border: [], compact: true },
  });
  for (const result of results) {
    const { stack, outcome, counts } = result;
    const numbers = [counts.created, counts.updated, counts.replaced, counts.deleted].map(count);
    table.push([stack, outcome, ...numbers, seconds(result.seconds), remark(result)]);
  }
  return table.toString();
}

/** Warnings that nobody should miss. */
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

/** For programs. */
export function summaryJson(
  command: Command,
  project: string,
  { results, strays }: { results: readonly Result[]; strays: readonly string[] },
  took: number,
): string {
  const stacks = results.map(({ counts, seconds: duration, ...rest }) => ({
    ...rest,
    ...counts,
    seconds: Number(duration.toFixed(2)),
  }));
  const facts = { command, project, ok: results.every(isGood), seconds: Number(took.toFixed(2)) };
  return JSON.stringify({ ...facts, total: totals(results), stacks, strays }, undefined, 2);
}

/** For what reads JUnit: a stack is a test. */
export function summaryJunit(command: Command, project: string, results: readonly Result[], took: number): string {
  const failed = results.filter(({ outcome }) => outcome === "failed" || outcome === "drift");
  const skipped = results.filter(({ outcome }) => outcome === "not begun" || outcome === "interrupted");
  const root = create("testsuites", { encoding: "UTF-8", invalidCharReplacement: "?" });
  const suite = root.element("testsuite", {
    name: `consortium fleet ${command}: ${project}`,
    ...{ tests: results.length, failures: failed.length, errors: 0, skipped: skipped.length, time: took.toFixed(3) },
  });
  for (const result of results) {
    const test = suite.element("testcase", {
      classname: `${project}.${result.organization}`,
      ...{ name: result.stack, time: result.seconds.toFixed(3) },
    });
    const { created, updated, replaced, deleted, unchanged } = result.counts;
    if (failed.includes(result)) {
      const text = result.error ?? result.drift.join("\n");
      test.element("failure", { type: result.outcome, message: text.split("\n")[0] ?? "" }, text);
    }
    if (skipped.includes(result)) test.element("skipped", { message: result.outcome });
    const lines = [
      `${created} created, ${updated} updated, ${replaced} replaced, ${deleted} deleted, ${unchanged} unchanged`,
      ...result.ledgers.map((text) => `WARNING: ${text}, with its ledger`),
    ];
    test.element("system-out", {}, lines.join("\n"));
  }
  return root.end({ pretty: true });
}
