import Table from "cli-table3";
import { create } from "xmlbuilder";
import { exitCode, type Outcome, type Result } from "../../observe/check/results";
import { printable } from "../../provider/api/printable";

/** A sign besides the word, so that no outcome is told by its colour alone. */
const signs: Record<Outcome, string> = { ok: "✓ ok", failed: "✗ FAILED", skipped: "- skipped", unseen: "? unseen" };

const nameOf = ({ subject: { kind, name, within } }: Result): string =>
  printable(`${kind} ${name}${within === undefined ? "" : ` in ${within}`}`);

/** Everything that is not as it should be, and a line for each check of what is. */
export function tableOf(results: readonly Result[], { width, colors }: { width: number; colors: boolean }): string {
  const widths = [20, 12, Math.max(16, Math.min(40, Math.floor(width * 0.25)))];
  const rest = Math.max(36, width - widths.reduce((sum, one) => sum + one, 0) - 5);
  const table = new Table({
    head: ["check", "outcome", "what", "why, and what next"],
    colWidths: [...widths, rest],
    wordWrap: true,
    style: colors ? { head: ["cyan"], compact: true } : { head: [], border: [], compact: true },
  });
  for (const [check, some] of byCheck(results)) {
    const good = some.filter(({ outcome }) => outcome === "ok");
    if (good.length === 1) table.push([check, signs.ok, nameOf(good[0]!), printable(good[0]!.text)]);
    if (good.length > 1)
      table.push([check, signs.ok, `all ${good.length === some.length ? "" : "other "}${good.length}`, ""]);
    for (const [one, ...alike] of alikeIn(some.filter(({ outcome }) => outcome !== "ok"))) {
      const why = [one.text, ...(one.next === undefined ? [] : [`→ ${one.next}`])].map(printable);
      table.push([check, signs[one.outcome], [one, ...alike].map(nameOf).join("\n"), why.join("\n")]);
    }
  }
  return table.toString();
}

/** Those with the same reason stand together. */
function alikeIn(results: readonly Result[]): [Result, ...Result[]][] {
  const groups = new Map<string, [Result, ...Result[]]>();
  for (const one of results) {
    const key = JSON.stringify([one.outcome, one.text, one.next]);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return [...groups.values()];
}

function byCheck(results: readonly Result[]): Map<string, Result[]> {
  const groups = new Map<string, Result[]>();
  for (const one of results) groups.set(one.check, [...(groups.get(one.check) ?? []), one]);
  return groups;
}

const counted = (results: readonly Result[]): Record<Outcome, number> => {
  const counts: Record<Outcome, number> = { ok: 0, failed: 0, skipped: 0, unseen: 0 };
  for (const { outcome } of results) counts[outcome]++;
  return counts;
};

export function summaryOf(results: readonly Result[]): string {
  const { ok, failed, skipped, unseen } = counted(results);
  const others = Object.entries({ failed, skipped, "could not be seen": unseen }).filter(([, count]) => count > 0);
  const verdict = { 0: "The network is usable", 1: "SOMETHING IS WRONG", 2: "Not everything could be seen" };
  const counts = [`${ok} ok`, ...others.map(([what, count]) => `${count} ${what}`)].join(", ");
  const code = exitCode(results);
  const partly =
    code === 0 && skipped > 0 ? "Nothing wrong was found, but not everything could be asked" : verdict[code];
  const isEmpty = results.every(({ check }) => check === "limits"); // those say nothing of a network
  return `${isEmpty ? "There is nothing to check" : partly}: ${counts}.`;
}

/** For programs. */
export const jsonOf = (results: readonly Result[]): string =>
  JSON.stringify({ ok: exitCode(results) === 0, counts: counted(results), results }, undefined, 2);

/** For what reads JUnit: each check of each thing is a test. */
export function junitOf(results: readonly Result[]): string {
  const { failed, skipped, unseen } = counted(results);
  const root = create("testsuites", { encoding: "UTF-8", invalidCharReplacement: "?" });
  const numbers = { tests: results.length, failures: failed, errors: unseen, skipped };
  const suite = root.element("testsuite", { name: "consortium check", ...numbers });
  for (const one of results) {
    const test = suite.element("testcase", { classname: one.check, name: nameOf(one) });
    const text = printable([one.text, ...(one.next === undefined ? [] : [one.next])].join(" "));
    if (one.outcome === "failed") test.element("failure", { message: printable(one.text) }, text);
    if (one.outcome === "unseen") test.element("error", { message: printable(one.text) }, text);
    if (one.outcome === "skipped") test.element("skipped", { message: text });
  }
  return `${root.end({ pretty: true })}\n`;
}

/** Of Prometheus' text format (version 0.0.4): what a node exporter's textfile collector reads. */
export function metricsOf(results: readonly Result[], now: number): string {
  const family = (name: string, help: string, lines: string[]): string[] =>
    lines.length === 0 ? [] : [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, ...lines];
  const labels = ({ check, subject: { kind, id, name, within = "" } }: Result): string =>
    Object.entries({ check, kind, id, name, within })
      .map(([label, value]) => `${label}="${escaped(value)}"`)
      .join(",");
  const seen = results.filter(({ outcome }) => outcome === "ok" || outcome === "failed");
  const measured = results.filter(({ value }) => value !== undefined);
  const lines = [
    ...family(
      "consortium_check_ok",
      "Whether a check holds: 1 or 0. What could not be looked at is absent.",
      seen.map((one) => `consortium_check_ok{${labels(one)}} ${one.outcome === "ok" ? 1 : 0}`),
    ),
    ...family(
      "consortium_check_value",
      "What a check measured, such as blocks, pins or seconds.",
      measured.map((one) => `consortium_check_value{${labels(one)}} ${one.value}`),
    ),
    ...family(
      "consortium_check_results",
      "How many results there are of each outcome.",
      Object.entries(counted(results)).map(
        ([outcome, count]) => `consortium_check_results{outcome="${outcome}"} ${count}`,
      ),
    ),
    ...family("consortium_check_timestamp_seconds", "When it was checked.", [
      `consortium_check_timestamp_seconds ${now / 1000}`,
    ]),
  ];
  return `${lines.join("\n")}\n`;
}

const escaped = (text: string): string =>
  printable(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
