import { setTimeout as sleep } from "node:timers/promises";
import { type Command, InvalidArgumentError, Option } from "commander";
import { ConsortiumClient, resolveSettings } from "../provider/api";
import { printableLines } from "../provider/api/printable";
import type { FactOptions, Result } from "../observe/check";
import { connectionHelp } from "./shared/connection";
import { jsonOf, junitOf, metricsOf, summaryOf, tableOf } from "./check/formats";
import { exportStack } from "./shared/stack-export";
import { replaceFile, textOf } from "./shared/text-file";

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
/** How long the service may take for one answer: what it does not answer by then is told, and the rest is checked. */
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
        .argParser(target)
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
  const { check, exitCode, gatherFacts } = await import("../observe/check/index.js"); // with ethers, so only here
  const { prove, ...options } = await optionsFor(flags);
  const client = new ConsortiumClient(resolveSettings(), { patienceMs });
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  try {
    await client.requireOrganization();
    await prove(client);
    if (flags.watch === undefined) {
      const results = check(await gatherFacts(client, options));
      show(results, flags);
      process.exitCode = exitCode(results);
      return;
    }
    process.once("SIGINT", stop).once("SIGTERM", stop);
    const everyMs = (flags.watch === true ? watchSeconds : flags.watch) * 1000;
    while (!stopped.signal.aborted) {
      process.exitCode = await look(async () => check(await gatherFacts(client, options)), exitCode, flags);
      await sleep(everyMs, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    await client.close();
  }
}

/** One look of many: a service that does not answer now may answer the next time. */
async function look(
  work: () => Promise<Result[]>,
  exitCode: (results: readonly Result[]) => number,
  flags: Flags,
): Promise<number> {
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
}: Flags): Promise<FactOptions & { prove: (client: ConsortiumClient) => Promise<void> }> {
  const { heldInOutputs } = await import("../inventory/credentials.js");
  const { heldInStack, modelOfStack, proveKeyOf } = await import("../inventory/stack.js");
  const document = stack === undefined ? undefined : await exportStack(stack, { secrets: true });
  const what = `The stack ${stack}`;
  const held = [
    ...(document === undefined ? [] : heldInStack(document, what)),
    ...(outputs === undefined ? [] : heldInOutputs(jsonIn(outputs))),
  ];
  return {
    ...{ held, tethers: tether, targets: target, pinsAhead: pins, write },
    ...(consortium !== undefined && { consortium }),
    ...(document !== undefined && { stack: modelOfStack(document, what) }),
    prove: (client) => (document === undefined ? Promise.resolve() : proveKeyOf(client, document, what)),
  };
}

/** Outputs hold passwords: what is wrong with them is never quoted. */
function jsonIn(file: string): unknown {
  try {
    return JSON.parse(textOf(file)) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const name = file === "-" ? "Standard input" : file;
    throw new Error(`${name} is no JSON. Make it with: pulumi stack output --json --show-secrets`, { cause: error });
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
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError("It must be a whole number from 1.");
  return number;
}

function target(text: string, before: Record<string, string>): Record<string, string> {
  const [, network, url = ""] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (network === undefined || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new InvalidArgumentError("It must be a network and its address, such as rinkeby=https://….");
  return { ...before, [network]: url };
}
