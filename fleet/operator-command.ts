import type { Command as Program } from "commander";
import { setTimeout as sleep } from "node:timers/promises";
import limited from "p-limit";
import {
  confirm,
  counted,
  jsonText,
  messageOf,
  print,
  printableLines,
  repeatable,
  replaceFile,
  say,
  writable,
} from "pulumi-consortium/internal/fleet";
import { Cluster, podNameOf } from "./cluster";
import { readFleet } from "./file";
import { labelsOf, namespaceOf } from "./manifests";
import { matrixOption, only, reporting } from "./options";
import { cancelStack } from "./pulumi";
import { holdersOf } from "./recovery";
import { isGood, type Merged, mergeResults } from "./results";
import { type Fleet } from "./schema";
import { patternOf } from "./selection";
import { matrices, titleOf } from "./shards";
import * as status from "./status";
import { type StackObject, type StackStatus } from "./status";

/* `status` and `resume`: show the progress of the operator or the last run, and start stalled stacks again. */

interface Flags {
  only: string[];
  namespace: string[];
  context?: string;
  json?: boolean;
  junit?: string;
  prometheus?: string;
  matrix?: keyof typeof matrices;
  yes?: boolean;
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
      const { all, missing } = await seen(files, flags);
      print(flags.json ? status.statusJson(all) : status.statusText(all));
      if (flags.junit !== undefined) replaceFile(flags.junit, status.statusJunit(all));
      if (flags.prometheus !== undefined) replaceFile(flags.prometheus, status.statusMetrics(all));
      if (missing !== undefined) say(missing);
      process.exitCode = missing === undefined ? status.statusCode(all) : 1;
    });
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

async function seen(files: string[], flags: Flags): Promise<{ all: StackStatus[]; missing?: string }> {
  const [file] = files;
  if (!isResult(file)) {
    if (files.length > 1) throw new Error("Name one fleet file, or the results of its runs.");
    const fleet = file === undefined ? undefined : readFleet(file, { limits: false });
    const { cluster, found } = await stacksOf(fleet, flags);
    const limit = limited(4);
    const all = await Promise.all(found.map((object) => limit(() => statusIn(cluster, object))));
    strays(fleet, all).forEach((line) => say(line));
    return { all: [...all, ...notThere(fleet, all, flags)] };
  }
  const { merged, missing } = mergeResults(files);
  return { all: status.statusOfResults(merged).filter(({ stack }) => isWanted(stack, flags)), missing };
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

/** The Stacks of a fleet, or of a namespace. */
async function stacksOf(fleet: Fleet | undefined, flags: Flags): Promise<{ cluster: Cluster; found: StackObject[] }> {
  const cluster = await Cluster.open(flags.context);
  const labels = fleet && Object.entries(labelsOf(fleet)).map(([key, value]) => `${key}=${value}`);
  const own = fleet?.organizations.map((organization) => namespaceOf(fleet, organization)) ?? [cluster.ownNamespace];
  const namespaces = flags.namespace.length > 0 ? flags.namespace : own;
  const found = [];
  for (const namespace of new Set(namespaces)) found.push(...(await cluster.stacksIn(namespace, labels?.join(","))));
  return { cluster, found: found.filter(({ spec }) => isWanted(spec.stack, flags)) };
}

/** The status of a Stack. If it waits for its pod, the pod knows why. */
async function statusIn(cluster: Cluster, object: StackObject): Promise<StackStatus> {
  const one = status.statusOf(object);
  if (!["new", "running"].includes(one.state) || !/workspace/i.test(one.reason ?? "")) return one;
  const pod = await cluster.podOf(object.metadata);
  if (pod?.waiting === undefined) return one;
  return { ...one, reason: printableLines(`${pod.waiting} (${podNameOf(object.metadata.name)})`) };
}

/** Stacks of the cluster that left the file: the operator still runs them. */
function strays(fleet: Fleet | undefined, all: readonly StackStatus[]): string[] {
  const own = new Set(fleet?.stacks.map(({ name }) => name));
  return all.flatMap(({ stack, namespace, name }) =>
    fleet === undefined || own.has(stack)
      ? []
      : [
          `${namespace}/${stack} is not in ${fleet.file}, and the operator still runs it. To stop that: ` +
            `kubectl -n ${namespace} delete stacks.pulumi.com ${name}. Its ledgers and its state stay.`,
        ],
  );
}

/** Stacks of the file that the cluster lacks. One that only previews is not the Stack. */
function notThere(fleet: Fleet | undefined, all: readonly StackStatus[], flags: Flags): StackStatus[] {
  const there = new Set(all.flatMap(({ stack, preview }) => (preview ? [] : [stack])));
  const missing = fleet?.stacks.filter(({ name }) => !there.has(name) && isWanted(name, flags)) ?? [];
  return missing.map(({ name, organization }) => {
    const namespace = namespaceOf(fleet!, organization);
    return { stack: name, namespace, state: "new", reason: `no Stack in the namespace ${namespace}` };
  });
}

/** The outcome for a stalled Stack. */
interface Resumed {
  stack: string;
  namespace: string;
  done: string[];
  /** Why it was not started. */
  left?: string;
}

async function resume(files: string[], flags: Flags): Promise<void> {
  const [file] = files;
  if (isResult(file)) return remaining(mergeResults(files), flags);
  const fleet = file === undefined ? undefined : readFleet(file, { limits: false });
  const { cluster, found } = await stacksOf(fleet, flags);
  const stalled = found.filter((object) => status.statusOf(object).state === "stalled");
  const locks = new Map(
    await Promise.all(stalled.map(async (object) => [object, await lockOf(object, cluster)] as const)),
  );
  const over = stalled.filter((object) => locks.get(object)?.isOver);
  const question = `Clear the locks of ${counted(over.length, "stack")}, whose updates have ended (${over.map(({ spec }) => spec.stack).join(", ")})?`;
  const clears = over.length > 0 && (flags.yes === true || (await confirm(question)));
  const limit = limited(4);
  const results = await Promise.all(
    stalled.map((object) => limit(() => resumed(object, { fleet, cluster, clears, lock: locks.get(object) }))),
  );
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
  /** Whether all holders were this Stack's workspace, in which nothing is at work any more. */
  isOver: boolean;
  /** Since when the pod of the holders lives, although its Pulumi has ended, such as for lack of memory. */
  lives?: string;
}

/** The lock that made the last update fail. A recreated pod has the same name. */
async function lockOf(object: StackObject, cluster: Cluster): Promise<Lock | undefined> {
  const { lock } = status.statusOf(object);
  const holders = holdersOf(object.status?.lastUpdate?.message ?? "");
  if (lock === undefined) return undefined;
  const { name, namespace } = object.metadata;
  const since = (await cluster.podOf({ name, namespace }))?.since;
  const isOwn = holders.every(({ host }) => host === podNameOf(name));
  const isGone = since === undefined || holders.every((one) => Date.parse(since) > Date.parse(one.since));
  // The operator runs nothing for a stalled Stack, unless somebody has just started it again.
  const isAtRest = object.status?.currentUpdate === undefined;
  const who = holders.map(({ user, host, since: at }) => `${user}@${host} since ${at}`).join(", ");
  return { who, isOver: isOwn && (isGone || isAtRest), lives: isGone ? undefined : since };
}

interface Context {
  fleet: Fleet | undefined;
  cluster: Cluster;
  clears: boolean;
  lock: Lock | undefined;
}

/** How long a pod may take to end, in half seconds. */
const patience = 120;

/** Waits for the end of a pod whose workspace was deleted. */
async function hasEnded(cluster: Cluster, where: StackObject["metadata"], since: string): Promise<boolean> {
  for (let left = patience; left > 0; left--) {
    if ((await cluster.podOf(where))?.since !== since) return true;
    await sleep(500);
  }
  return false;
}

async function resumed({ metadata, spec, status: now }: StackObject, context: Context): Promise<Resumed> {
  const { fleet, cluster, clears, lock } = context;
  const done: string[] = [];
  const result = { stack: spec.stack, namespace: metadata.namespace, done };
  try {
    if (lock) {
      const project = now?.projectInfo?.name ?? spec.programRef?.name ?? fleet?.project;
      const full = spec.stack.includes("/") ? spec.stack : `organization/${project ?? "<project>"}/${spec.stack}`;
      const byHand = `pulumi cancel --yes --stack ${full}`;
      if (!lock.isOver)
        return { ...result, left: `its lock is held by ${lock.who}, which may be at work. If not: ${byHand}` };
      if (!clears) return { ...result, left: `its lock, of ${lock.who}, was not cleared: answer y, or use --yes` };
      const backend = fleet?.backend ?? process.env.PULUMI_BACKEND_URL;
      if (project === undefined || backend === undefined)
        return {
          ...result,
          left: `the backend with its lock is unknown: name the fleet file, or set PULUMI_BACKEND_URL`,
        };
      if (lock.lives !== undefined) {
        await cluster.removeWorkspace(metadata);
        done.push("workspace deleted");
        if (!(await hasEnded(cluster, metadata, lock.lives)))
          return {
            ...result,
            left: `its pod ${podNameOf(metadata.name)} has not ended yet: run this again in a minute`,
          };
      }
      await cancelStack(project, spec.stack, { ...process.env, PULUMI_BACKEND_URL: backend });
      done.push(`lock of ${lock.who} cleared`);
    }
    // A workspace does not retry a failed installation.
    if (
      lock?.lives === undefined &&
      now?.conditions?.some(({ type, reason }) => type === "Stalled" && reason === "WorkspaceFailed")
    ) {
      await cluster.removeWorkspace(metadata);
      done.push("workspace deleted");
    }
    await cluster.request(metadata, `resume-${new Date().toISOString()}`);
    done.push("started again");
    return result;
  } catch (error) {
    return { ...result, left: messageOf(error) };
  }
}
