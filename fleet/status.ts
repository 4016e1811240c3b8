import type { Command as Program } from "commander";
import { setTimeout as sleep } from "node:timers/promises";
import limited from "p-limit";
import {
  confirm,
  counted,
  holdersText,
  jsonText,
  messageOf,
  print,
  printableLines,
  repeatable,
  say,
  UserError,
  writable,
} from "pulumi-consortium/internal/fleet";
import { Cluster, podNameOf, resultOfStack, type StackObject } from "./cluster";
import { readFleet } from "./file";
import { labelsOf, namespaceOf } from "./manifests";
import { matrixOption, only, reporting } from "./options";
import { cancelStack } from "./pulumi";
import { holdersOf } from "./recovery";
import { report, type Reports } from "./report";
import {
  exitCode,
  type FleetResult,
  isGood,
  type Merged,
  mergeResults,
  emptyResult,
  type StackResult,
} from "./results";
import { type Fleet } from "./schema";
import { patternOf } from "./selection";
import { matrices, titleOf } from "./shards";

/* `merge`, `status` and `resume`: what became of all stacks, by several runs or by the operator, and what to run again. */

interface Flags extends Reports {
  only: string[];
  namespace: string[];
  context?: string;
  matrix?: keyof typeof matrices;
  yes?: boolean;
}

export function defineMerge(program: Program): void {
  const command = program
    .command("merge")
    .description("merge the results of several runs, such as those of all shards")
    .argument("<files...>", "what --json printed");
  reporting(command)
    .addHelpText("after", "\nThe exit code is the same as for one run of all these stacks; 1 if a shard is missing.")
    .action((files: string[], flags: Flags) => {
      const { merged, missing } = mergeResults(files);
      tell(merged, missing, flags);
    });
}

const inCluster = (command: Program) =>
  command
    .addOption(
      repeatable("--namespace <name>", "all Stacks of a namespace", "the fleet file's namespaces, or the context's"),
    )
    .option("--context <name>", "context of kubectl's configuration (default: the current one)")
    .addOption(only());

export function defineStatus(program: Program): void {
  const command = program
    .command("status")
    .description("show the progress of all stacks, and which are stalled or locked")
    .argument("[files...]", "the fleet file, or the --json output of its runs");
  reporting(inCluster(command))
    .option("--prometheus <file>", "also write them as metrics of Prometheus", (file) => writable(file, true))
    .addHelpText("after", "\nExit code 1: a stack is stalled or has failed; 2: no failure, but not all are ready.")
    .action(async (files: string[], flags: Flags) => {
      if (!isResult(files[0])) return tell(await seen(files, flags), undefined, flags);
      const { merged, missing } = mergeResults(files);
      const stacks = merged.stacks.filter(({ stack }) => isWanted(stack, flags));
      tell({ ...merged, stacks, command: "status" }, missing, flags);
    });
}

function tell(result: FleetResult, missing: string | undefined, flags: Flags): void {
  report(result, flags);
  if (missing !== undefined) say(missing);
  process.exitCode = missing === undefined ? exitCode(result) : 1;
}

export function defineResume(program: Program): void {
  const command = program
    .command("resume")
    .description("start stalled Stacks of the operator again, or list the shards of a run that are missing")
    .argument(
      "[files...]",
      "the fleet file, whose backend has the locks (default: PULUMI_BACKEND_URL), or the --json output of its runs",
    );
  inCluster(command)
    .addOption(matrixOption())
    .option("--json", "print one JSON document")
    .option("--yes", "clear locks without asking")
    .addHelpText("after", "\nExit code 1: a stalled Stack was not started.")
    .action(resume);
}

const isResult = (file: string | undefined): boolean => file !== undefined && !/\.ya?ml$/.test(file);

/** Shards to run again, in the order of their stages. */
function remaining({ merged, again }: Merged, { matrix, json }: Flags): void {
  if (matrix !== undefined) return print(matrices[matrix](again));
  if (json) return print(jsonText(again));
  const several = again.length > 1;
  for (const { stage, shard } of again.flat()) print(`${several ? `--stage ${stage} ` : ""}--shard ${titleOf(shard)}`);
  const bad = merged.stacks.filter((one) => !isGood(one)).length;
  say(`${counted(again.flat().length, "shard")} to run again; ${counted(bad, "stack")} not ok`);
}

const isWanted = (stack: string, { only }: Flags): boolean =>
  only.length === 0 || only.some((pattern) => patternOf(pattern).test(stack));

interface Found {
  fleet?: Fleet;
  cluster: Cluster;
  found: StackObject[];
}

/** The Stacks of a fleet, or of a namespace. */
async function stacksOf([file, more]: string[], flags: Flags): Promise<Found> {
  if (more !== undefined) throw new UserError("invalid-argument", "Name one fleet file, or the results of its runs.");
  const fleet = file === undefined ? undefined : readFleet(file, { limits: false });
  const cluster = await Cluster.open(flags.context);
  const labels = fleet && Object.entries(labelsOf(fleet)).map(([key, value]) => `${key}=${value}`);
  const own = fleet?.organizations.map((organization) => namespaceOf(fleet, organization)) ?? [cluster.ownNamespace];
  const namespaces = flags.namespace.length > 0 ? flags.namespace : own;
  const found = [];
  for (const namespace of new Set(namespaces)) found.push(...(await cluster.stacksIn(namespace, labels?.join(","))));
  return { fleet, cluster, found: found.filter(({ spec }) => isWanted(spec.stack, flags)) };
}

/** The Stacks in the cluster, and those of the file that it lacks. */
async function seen(files: string[], flags: Flags): Promise<FleetResult> {
  const { fleet, cluster, found } = await stacksOf(files, flags);
  const limit = limited(4);
  const there = await Promise.all(found.map((object) => limit(() => resultIn(cluster, object))));
  const applied = new Set(there.flatMap(({ stack, operated }) => (operated?.preview ? [] : [stack])));
  const missing = (fleet?.stacks ?? []).flatMap(({ name, organization }) => {
    const namespace = namespaceOf(fleet!, organization);
    const [error, operated] = [`no Stack in the namespace ${namespace}`, { namespace, name }];
    const lacking = emptyResult({ stack: name, organization: organization.name, outcome: "new", error, operated });
    return applied.has(name) || !isWanted(name, flags) ? [] : [lacking];
  });
  const own = new Set(fleet?.stacks.map(({ name }) => name));
  for (const { metadata, spec } of fleet ? found.filter((one) => !own.has(one.spec.stack)) : [])
    say(
      `${metadata.namespace}/${spec.stack} is not in ${fleet?.file}, and the operator still runs it. To stop that: ` +
        `kubectl -n ${metadata.namespace} delete stacks.pulumi.com ${metadata.name}. Its ledgers and its state stay.`,
    );
  return { command: "status", project: fleet?.project, stacks: [...there, ...missing], strays: [] };
}

/** What is known of a Stack. If it waits for its pod, the pod knows why. */
async function resultIn(cluster: Cluster, object: StackObject): Promise<StackResult> {
  const one = resultOfStack(object);
  if (!["new", "running"].includes(one.outcome) || !/workspace/i.test(one.error ?? "")) return one;
  const pod = await cluster.podOf(object.metadata);
  if (pod?.waiting === undefined) return one;
  return { ...one, error: printableLines(`${pod.waiting} (${podNameOf(object.metadata.name)})`) };
}

/** What became of a stalled Stack. */
interface Resumed {
  stack: string;
  namespace: string;
  done: string[];
  /** Why it was not started. */
  left?: string;
}

async function resume(files: string[], flags: Flags): Promise<void> {
  if (isResult(files[0])) return remaining(mergeResults(files), flags);
  const { fleet, cluster, found } = await stacksOf(files, flags);
  const stalled = found.filter((object) => resultOfStack(object).outcome === "stalled");
  const over = stalled.filter((object) => lockOf(object)?.isOver).map(({ spec }) => spec.stack);
  const question = `Clear the locks of ${counted(over.length, "stack")}, whose updates have ended (${over.join(", ")})?`;
  const clears = over.length > 0 && (flags.yes === true || (await confirm(question)));
  const limit = limited(4);
  const resumed = stalled.map((object) =>
    limit(async (): Promise<Resumed> => {
      const result: Resumed = { stack: object.spec.stack, namespace: object.metadata.namespace, done: [] };
      const context = { fleet, cluster, clears, done: result.done };
      await startAgain(object, context).catch((error: unknown) => (result.left = messageOf(error)));
      return result;
    }),
  );
  const results = await Promise.all(resumed);
  const line = ({ stack, namespace, done, left }: Resumed) =>
    `${namespace}/${stack}  ${[...done, ...(left === undefined ? [] : [`NOT STARTED: ${left}`])].join("; ")}`;
  const started = results.filter(({ left }) => left === undefined).length;
  const summary = `${started} of ${counted(stalled.length, "stalled Stack")} started again`;
  print(flags.json ? jsonText(results) : [...results.map(line), summary]);
  if (started < stalled.length) process.exitCode = 1;
}

interface Lock {
  /** Who holds it. */
  who: string;
  /** Whether all holders were this Stack's workspace: the operator runs nothing for a stalled Stack, unless it was just started again. */
  isOver: boolean;
}

/** The lock that made the last update fail. */
function lockOf(object: StackObject): Lock | undefined {
  if (resultOfStack(object).operated?.lock === undefined) return undefined;
  const holders = holdersOf(object.status?.lastUpdate?.message ?? "");
  const isOwn = holders.every(({ host }) => host === podNameOf(object.metadata.name));
  return { who: holdersText(holders), isOver: isOwn && object.status?.currentUpdate === undefined };
}

interface Context extends Pick<Found, "fleet" | "cluster"> {
  clears: boolean;
  /** Gets what was done, also before a failure. */
  done: string[];
}

/** How long a pod may take to end, in half seconds. */
const patience = 120;

/** @throws if it was not started */
async function startAgain(object: StackObject, { fleet, cluster, clears, done }: Context): Promise<void> {
  const { metadata, spec, status } = object;
  const lock = lockOf(object);
  const project = status?.projectInfo?.name ?? spec.programRef?.name ?? fleet?.project;
  const backend = fleet?.backend ?? process.env.PULUMI_BACKEND_URL;
  if (lock && !lock.isOver) {
    const full = spec.stack.includes("/") ? spec.stack : `organization/${project ?? "<project>"}/${spec.stack}`;
    throw new UserError(
      "stack-locked",
      `its lock is held by ${lock.who}, which may be at work. If not: pulumi cancel --yes --stack ${full}`,
    );
  }
  if (lock && !clears)
    throw new UserError("stack-locked", `its lock, of ${lock.who}, was not cleared: answer y, or use --yes`);
  if (lock && (project === undefined || backend === undefined))
    throw new UserError(
      "missing-argument",
      "the backend with its lock is unknown: name the fleet file, or set PULUMI_BACKEND_URL",
    );
  // A workspace does not retry a failed installation. In one with a lock, Pulumi may live on, or another pod have the same name.
  if (lock ?? status?.conditions?.some(({ type, reason }) => type === "Stalled" && reason === "WorkspaceFailed")) {
    const before = lock && (await cluster.podOf(metadata));
    await cluster.removeWorkspace(metadata);
    done.push("workspace deleted");
    for (let left = patience; before && (await cluster.podOf(metadata))?.since === before.since; left--) {
      if (left === 0)
        throw new UserError(
          "not-ready",
          `its pod ${podNameOf(metadata.name)} has not ended yet: run this again in a minute`,
        );
      await sleep(500);
    }
  }
  if (lock) {
    await cancelStack(project!, spec.stack, { ...process.env, PULUMI_BACKEND_URL: backend });
    done.push(`lock of ${lock.who} cleared`);
  }
  await cluster.request(metadata, `resume-${new Date().toISOString()}`);
  done.push("started again");
}
