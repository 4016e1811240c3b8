import { setTimeout as sleep } from "node:timers/promises";
import { type Command, Option } from "@commander-js/extra-typings";
import { check, type Outcome, type Result, type Verdict, verdictOf } from "../observe/check/checks";
import { type ConsortiumClient } from "../provider/api";
import { printable } from "../provider/api/printable";
import { UserError } from "../provider/errors";
import { groupBy } from "../provider/plain";
import { type ListenAddress, listenAddress, serveMetrics } from "./check/listen";
import { counted, metricsOf } from "./check/metrics";
import { connectionHelp, exportStack, withClient } from "./shared/connection";
import { junitXml, type TestCase } from "./shared/formats";
import {
  fail,
  type FlagsOf,
  jsonText,
  print,
  replaceFile,
  say,
  targetOption,
  textOf,
  wholeNumber,
  writable,
} from "./shared/terminal";

/** The exit code if the check could not run. 1 means broken, 3 unknown. */
const couldNotCheck = 2;
const watchSeconds = 30;
/** How long one answer may take. A later one is reported as unseen. */
const patienceMs = 10_000;

const options = (command: Command) =>
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
    .addOption(targetOption("JSON-RPC address of a public chain, to verify pins there"))
    .option("--pins <count>", "minimum number of pins that a tether's funds must cover", wholeNumber(1), 24)
    .option("--write", "also send a transaction of value 0 through each node, and wait for its block")
    .option("--json", "print one JSON document")
    .option("--junit <file>", "also write the results as JUnit XML")
    .option("--metrics <file>", "also write the results as a text file for Prometheus")
    .addOption(
      new Option(
        "--listen <address>",
        "serve the results for Prometheus at this host:port, under /metrics, until Ctrl-C",
      )
        .argParser(listenAddress)
        .conflicts(["watch", "json"]),
    )
    .option("--every <seconds>", "with --listen: seconds between two checks", wholeNumber(1), 60)
    .option(
      "--watch [seconds]",
      `check again every so many seconds (default: ${watchSeconds}), until Ctrl-C`,
      wholeNumber(1),
    );

type Flags = FlagsOf<typeof options>;

export function define(command: Command): void {
  options(command)
    .addHelpText(
      "after",
      "\nChecks whether applications can use the network: nodes started, reachable with their credentials, on the right chain\n" +
        "and at the same height; credentials that open them; blocks that are due; members with their minimum of nodes; tethers\n" +
        `active, on time, verified and funded. Changes nothing; only --write adds to the ledgers.\n${connectionHelp}\n` +
        "Exit code 0: everything is fine. 1: something is wrong. 2: the check could not run, or something did not answer.\n" +
        "3: nothing seems wrong, but some nodes could not be asked, for lack of a credential.",
    )
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : couldNotCheck)) // invalid arguments
    .action((flags) =>
      checkNetwork(flags).catch((error: unknown) => fail(error, { exitCode: couldNotCheck, ...flags })),
    );
}

async function checkNetwork(flags: Flags): Promise<void> {
  for (const file of [flags.junit, flags.metrics]) if (file !== undefined) writable(file);
  const { observeNetwork } = await import("../observe/check/observations.js"); // loads ethers
  const { prove, ...options } = await optionsFor(flags);
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  const once = async (client: ConsortiumClient): Promise<void> => {
    const results = check(await observeNetwork(client, options));
    show(results, flags);
    process.exitCode = verdictOf(results).exitCode;
  };
  /** Checks again and again, until Ctrl-C. */
  const repeatedly = async (seconds: number, look: () => Promise<void>): Promise<void> => {
    process.once("SIGINT", stop).once("SIGTERM", stop);
    while (!stopped.signal.aborted) {
      await look().catch((error: unknown) => fail(error, { exitCode: couldNotCheck, ...flags })); // the service may answer the next time
      await sleep(seconds * 1000, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
    process.off("SIGINT", stop).off("SIGTERM", stop);
  };
  const serve = async (client: ConsortiumClient, address: ListenAddress): Promise<void> => {
    const served = await serveMetrics(address);
    print(`Serving ${served.url}, checked every ${flags.every} s.`);
    try {
      await repeatedly(flags.every, () => served.look(async () => check(await observeNetwork(client, options))));
    } finally {
      await served.close();
    }
  };
  await withClient(
    async (client) => {
      await prove(client);
      if (flags.listen) await serve(client, flags.listen);
      else if (flags.watch === undefined) await once(client);
      else await repeatedly(flags.watch === true ? watchSeconds : flags.watch, () => once(client));
    },
    { patienceMs },
  );
}

async function optionsFor({ stack, outputs, consortium, ...flags }: Flags) {
  const { credentialsInOutputs } = await import("../inventory/credentials.js");
  const { readStack } = await import("../inventory/stack.js");
  const document = stack === undefined ? undefined : await exportStack(stack, { secrets: true });
  const state = document === undefined ? undefined : readStack(document, `The stack ${stack}`);
  const given = outputs === undefined ? [] : credentialsInOutputs(jsonIn(outputs));
  if (outputs !== undefined && given.length === 0)
    say(`consortium: warning: ${nameOf(outputs)} has no user name with its password. ${howToWrite}`);
  return {
    credentials: [...(state?.credentials ?? []), ...given],
    tethers: flags.tether,
    targets: flags.target,
    pinsAhead: flags.pins,
    write: flags.write ?? false,
    ...(consortium !== undefined && { consortium }),
    ...(state && { stack: state }),
    prove: async (client: ConsortiumClient) => state?.prove(client),
  };
}

const nameOf = (file: string): string => (file === "-" ? "Standard input" : file);
const howToWrite = "Create it with: pulumi stack output --json --show-secrets";

/** Outputs contain passwords, so errors never quote them. */
function jsonIn(file: string): unknown {
  try {
    return JSON.parse(textOf(file)) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UserError("invalid-file", `${nameOf(file)} is not valid JSON. ${howToWrite}`, { cause: error });
  }
}

function show(results: readonly Result[], { json, junit, metrics, ...flags }: Flags): void {
  const now = Date.now();
  print(json ? jsonOf(results) : [listOf(results), notTested(results, flags), summaryOf(results)].join("\n"));
  if (junit !== undefined) replaceFile(junit, junitOf(results));
  if (metrics !== undefined) replaceFile(metrics, metricsOf(results, now));
}

/** A symbol beside the word: no outcome depends on color alone. */
const signs: Record<Outcome, string> = {
  ok: "✓",
  failed: "✗ FAILED",
  skipped: "- skipped",
  unseen: "? unseen",
  unknown: "? unknown",
};

const subjectName = ({ subject: { kind, name, within } }: Result): string =>
  printable(`${kind} ${name}${within === undefined ? "" : ` in ${within}`}`);

/** Names with the same reason. JSON and JUnit have all. */
const namesShown = 8;

function namesOf(results: readonly Result[]): string[] {
  const more = results.length - namesShown;
  const named = results.slice(0, more === 1 ? results.length : namesShown).map(subjectName);
  return [...named, ...(more > 1 ? [`and ${more} more`] : [])];
}

/** Everything that is not as it should be, one thing a line, and for each check a line that counts the rest. */
export function listOf(results: readonly Result[]): string {
  const lines: string[] = [];
  for (const [check, some] of groupBy(results, (one) => one.check)) {
    const good = some.filter(({ outcome }) => outcome === "ok");
    if (good.length === 1) {
      const about = subjectName(good[0]!); // "environment ledger" says that it is about an environment
      const lead = about.startsWith(`${check} `) ? about : `${check}: ${about}`;
      lines.push(`${signs.ok} ${lead}: ${printable(good[0]!.text)}`);
    }
    if (good.length > 1)
      lines.push(`${signs.ok} ${check}: all ${good.length === some.length ? "" : "other "}${good.length}`);
    const others = some.filter(({ outcome }) => outcome !== "ok");
    // Objects with the same reason share it.
    const reasons = groupBy(others, ({ outcome, text, next }) => JSON.stringify([outcome, text, next]));
    for (const alike of reasons.values()) {
      const { outcome, text, next } = alike[0];
      lines.push(`${signs[outcome]} ${check}: ${printable(text)}`, ...namesOf(alike).map((name) => `    ${name}`));
      if (next !== undefined) lines.push(`    → ${printable(next)}`);
    }
  }
  return lines.join("\n");
}

/** What was not asked for, and how to. */
function notTested(results: readonly Result[], { stack, write }: Pick<Flags, "stack" | "write">): string {
  const has = (kind: string): boolean => results.some(({ subject }) => subject.kind === kind);
  const lines = [
    ...(stack === undefined ? ["whether the service matches a stack: name one with --stack"] : []),
    ...(has("tether") ? [] : ["tethers: the service lists none, so name them with --tether or --stack"]),
    ...(write || !has("node") ? [] : ["whether the ledgers take transactions: --write sends one through each node"]),
  ];
  return ["", ...(lines.length > 0 ? ["Not tested:", ...lines.map((line) => `- ${line}`), ""] : [])].join("\n");
}

const sentences: Record<Verdict, string> = {
  usable: "The network is usable",
  "nothing wrong": "Nothing wrong was found, but not everything could be asked",
  wrong: "SOMETHING IS WRONG",
  unseen: "Not everything could be seen",
  unknown: "It is NOT KNOWN whether the network is usable",
  "nothing to check": "There is nothing to check",
};

export function summaryOf(results: readonly Result[]): string {
  const { ok, failed, skipped, unseen, unknown } = counted(results);
  const others = Object.entries({ failed, skipped, "could not be seen": unseen, "not known": unknown });
  const counts = [`${ok} ok`, ...others.flatMap(([what, count]) => (count > 0 ? `${count} ${what}` : []))].join(", ");
  return `${sentences[verdictOf(results).verdict]}: ${counts}.`;
}

/** For programs. */
export const jsonOf = (results: readonly Result[]): string =>
  jsonText({
    ok: verdictOf(results).exitCode === 0,
    verdict: verdictOf(results).verdict,
    counts: counted(results),
    results,
  });

/** For tools that read JUnit: each check of each object is a test case. */
export function junitOf(results: readonly Result[]): string {
  const elements = {
    ...({ ok: undefined, failed: "failure", skipped: "skipped" } as const),
    ...({ unseen: "error", unknown: "error" } as const),
  };
  const cases = results.map((one): TestCase => {
    const attributes = { classname: one.check, name: subjectName(one) };
    const element = elements[one.outcome];
    const text = [one.text, one.next ?? ""].join(" ").trim();
    if (element === undefined) return { attributes };
    if (element === "skipped") return { attributes, result: { element, message: text } };
    return { attributes, result: { element, message: one.text, text } };
  });
  return junitXml("consortium check", cases);
}
