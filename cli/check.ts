import { setTimeout as sleep } from "node:timers/promises";
import { type Command, InvalidArgumentError, Option } from "commander";
import { check, exitCode, type Outcome, type Result } from "../observe/check/checks";
import type { ObserveOptions } from "../observe/check/observations";
import { ConsortiumClient, resolveSettings } from "../provider/api";
import { printable, printableLines } from "../provider/api/printable";
import { groupBy } from "../provider/core/values";
import { connectionHelp, exportStack } from "./shared/connection";
import { junitXml, newTable, type TestCase } from "./shared/formats";
import { networkUrl, replaceFile, textOf } from "./shared/terminal";

interface Flags {
  stack?: string;
  outputs?: string;
  consortium?: string;
  tether: string[];
  target: Record<string, string>;
  pins: number;
  write?: boolean;
  json?: boolean;
  junit?: string;
  metrics?: string;
  /** Seconds between two looks. */
  watch?: number | true;
}

/** All commands end with 1 where they fail; here that says that the network is broken. */
const couldNotLook = 2;
const watchSeconds = 30;
/** How long one answer may take. Later ones are reported as unseen, and the rest is checked. */
const patienceMs = 10_000;
const widthOfLogs = 120;

export function define(command: Command): void {
  command
    .option(
      "--stack <name>",
      "check what this stack of the Pulumi project in this folder manages, with its credentials",
    )
    .option("--outputs <file>", "credentials from `pulumi stack output --json --show-secrets` (-: standard input)")
    .option("--consortium <name or id>", "only this consortium (default: those of the stack, or all)")
    .addOption(
      new Option("--tether <id...>", "tether services to check besides those of the stack").default([], "none"),
    )
    .addOption(
      new Option("--target <network=url>", "JSON-RPC address of a public chain, to verify pins there; repeatable")
        .argParser(networkUrl)
        .default({}, "none"),
    )
    .option("--pins <count>", "for how many pins the funds of a tether have to last", count, 24)
    .option("--write", "also send a transaction of value 0 through each node, and see whether a block takes it")
    .option("--json", "print one JSON document")
    .option("--junit <file>", "also write the results as JUnit XML")
    .option("--metrics <file>", "also write the results as a text file for Prometheus")
    .option("--watch [seconds]", `check again every so many seconds (default: ${watchSeconds}), until Ctrl-C`, count)
    .addHelpText(
      "after",
      "\nChecks whether applications can use the network: nodes started, reachable with their credentials, on the right chain\n" +
        "and at the same height; credentials that open them; blocks that are due; members with their minimum of nodes; tethers\n" +
        `active, on time, verified and funded. Changes nothing; only --write adds to the ledgers.\n${connectionHelp}\n` +
        "Exit code 0: everything that could be checked is fine. 1: something is wrong. 2: it could not look.",
    )
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : couldNotLook)) // arguments that are not valid
    .action((flags: Flags) => run(flags));
}

async function run(flags: Flags): Promise<void> {
  try {
    await checkAll(flags);
  } catch (error) {
    console.error(printableLines(`consortium: ${error instanceof Error ? error.message : String(error)}`));
    process.exitCode = couldNotLook;
  }
}

async function checkAll(flags: Flags): Promise<void> {
  const { observeNetwork } = await import("../observe/check/observations.js"); // with ethers, so only here
  const { prove, ...options } = await optionsFor(flags);
  const client = new ConsortiumClient(resolveSettings(), { patienceMs });
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  try {
    await client.requireOrganization();
    await prove(client);
    if (flags.watch === undefined) {
      const results = check(await observeNetwork(client, options));
      show(results, flags);
      process.exitCode = exitCode(results);
      return;
    }
    process.once("SIGINT", stop).once("SIGTERM", stop);
    const everyMs = (flags.watch === true ? watchSeconds : flags.watch) * 1000;
    while (!stopped.signal.aborted) {
      process.exitCode = await look(async () => check(await observeNetwork(client, options)), flags);
      await sleep(everyMs, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    await client.close();
  }
}

/** One of many looks: the service may answer the next time. */
async function look(work: () => Promise<Result[]>, flags: Flags): Promise<number> {
  try {
    const results = await work();
    show(results, flags);
    return exitCode(results);
  } catch (error) {
    console.error(printableLines(error instanceof Error ? error.message : String(error)));
    return couldNotLook;
  }
}

async function optionsFor({
  stack,
  outputs,
  consortium,
  tether,
  target,
  pins,
  write = false,
}: Flags): Promise<ObserveOptions & { prove: (client: ConsortiumClient) => Promise<void> }> {
  const { credentialsInOutputs } = await import("../inventory/credentials.js");
  const { credentialsInStack, modelOfStack, proveKeyOf } = await import("../inventory/stack.js");
  const document = stack === undefined ? undefined : await exportStack(stack, { secrets: true });
  const what = `The stack ${stack}`;
  const credentials = [
    ...(document === undefined ? [] : credentialsInStack(document, what)),
    ...(outputs === undefined ? [] : credentialsInOutputs(jsonIn(outputs))),
  ];
  return {
    credentials,
    tethers: tether,
    targets: target,
    pinsAhead: pins,
    write,
    ...(consortium !== undefined && { consortium }),
    ...(document !== undefined && { stack: modelOfStack(document, what) }),
    prove: (client) => (document === undefined ? Promise.resolve() : proveKeyOf(client, document, what)),
  };
}

/** Outputs contain passwords, so errors never quote them. */
function jsonIn(file: string): unknown {
  try {
    return JSON.parse(textOf(file)) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const name = file === "-" ? "Standard input" : file;
    throw new Error(`${name} is not valid JSON. Create it with: pulumi stack output --json --show-secrets`, {
      cause: error,
    });
  }
}

function show(results: readonly Result[], { json, junit, metrics }: Flags): void {
  const now = Date.now();
  if (json) console.log(jsonOf(results));
  else {
    const colors = process.stdout.isTTY && !process.env.NO_COLOR;
    console.log(tableOf(results, { width: process.stdout.columns || widthOfLogs, colors }));
    console.log(summaryOf(results));
  }
  if (junit !== undefined) replaceFile(junit, junitOf(results));
  if (metrics !== undefined) replaceFile(metrics, metricsOf(results, now));
}

function count(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new InvalidArgumentError("It must be a whole number of at least 1.");
  return number;
}

/** A symbol beside the word, so that no outcome depends on color alone. */
const signs: Record<Outcome, string> = { ok: "✓ ok", failed: "✗ FAILED", skipped: "- skipped", unseen: "? unseen" };

const subjectName = ({ subject: { kind, name, within } }: Result): string =>
  printable(`${kind} ${name}${within === undefined ? "" : ` in ${within}`}`);

/** Everything that is not as it should be, and a line for each check of what is. */
export function tableOf(results: readonly Result[], { width, colors }: { width: number; colors: boolean }): string {
  const widths = [20, 12, Math.max(16, Math.min(40, Math.floor(width * 0.25)))];
  const rest = Math.max(36, width - widths.reduce((sum, one) => sum + one, 0) - 5);
  const head = ["check", "outcome", "what", "why, and what next"];
  const table = newTable({ head, colWidths: [...widths, rest], wordWrap: true }, colors);
  for (const [check, some] of groupBy(results, (one) => one.check)) {
    const good = some.filter(({ outcome }) => outcome === "ok");
    if (good.length === 1) table.push([check, signs.ok, subjectName(good[0]!), printable(good[0]!.text)]);
    if (good.length > 1)
      table.push([check, signs.ok, `all ${good.length === some.length ? "" : "other "}${good.length}`, ""]);
    const others = some.filter(({ outcome }) => outcome !== "ok");
    // Those with the same reason stand together.
    const reasons = groupBy(others, ({ outcome, text, next }) => JSON.stringify([outcome, text, next]));
    for (const [one, ...alike] of reasons.values()) {
      const why = [one.text, ...(one.next === undefined ? [] : [`→ ${one.next}`])].map(printable);
      table.push([check, signs[one.outcome], [one, ...alike].map(subjectName).join("\n"), why.join("\n")]);
    }
  }
  return table.toString();
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
  const isEmpty = results.every(({ check }) => check === "limits"); // those say nothing about a network
  return `${isEmpty ? "There is nothing to check" : partly}: ${counts}.`;
}

/** For programs. */
export const jsonOf = (results: readonly Result[]): string =>
  JSON.stringify({ ok: exitCode(results) === 0, counts: counted(results), results }, undefined, 2);

/** For tools that read JUnit: each check of each object is a test case. */
export function junitOf(results: readonly Result[]): string {
  const elements = { ok: undefined, failed: "failure", unseen: "error", skipped: "skipped" } as const;
  const cases = results.map((one): TestCase => {
    const attributes = { classname: one.check, name: subjectName(one) };
    const element = elements[one.outcome];
    const text = printable([one.text, one.next ?? ""].join(" ").trim());
    if (element === undefined) return { attributes };
    if (element === "skipped") return { attributes, result: { element, message: text } };
    return { attributes, result: { element, message: printable(one.text), text } };
  });
  return junitXml("consortium check", cases);
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
