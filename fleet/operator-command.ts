import type { Command as Program } from "commander";
import limited from "p-limit";
import { confirm, messageOf, repeatable, replaceFile, writable } from "pulumi-consortium/internal/fleet";
import { Cluster } from "./cluster";
import { readFleet } from "./file";
import { labelsOf, namespaceOf } from "./manifests";
import { matrixOption, only, reporting } from "./options";
import { cancelStack } from "./pulumi";
import { holdersOf } from "./recovery";
import { counted, isGood, type Merged, mergeResults } from "./results";
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
      console.log(flags.json ? status.statusJson(all) : status.statusText(all));
      if (flags.junit !== undefined) replaceFile(flags.junit, status.statusJunit(all));
      if (flags.prometheus !== undefined) replaceFile(flags.prometheus, status.statusMetrics(all));
      if (missing !== undefined) console.error(missing);
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
    const { found } = await stacksOf(fleet, flags);
    const all = found.map(status.statusOf);
    return { all: [...all, ...notThere(fleet, all, flags)] };
  }
  const { merged, missing } = mergeResults(files);
  return { all: status.statusOfResults(merged).filter(({ stack }) => isWanted(stack, flags)), missing };
}

const isResult = (file: string | undefined): boolean => file !== undefined && !/\.ya?ml$/.test(file);

/** Shards to run again, in the order of their stages. */
function remaining({ merged, again }: Merged, { matrix, json }: Flags): void {
  if (matrix !== undefined) return console.log(matrices[matrix](again));
  if (json) return console.log(JSON.stringify(again, undefined, 2));
  const several = again.length > 1;
  for (const { stage, shard } of again.flat())
    console.log(`${several ? `--stage ${stage} ` : ""}--shard ${titleOf(shard)}`);
  const bad = merged.stacks.filter((one) => !isGood(one)).length;
  console.error(`${counted(again.flat().length, "shard")} to run again; ${counted(bad, "stack")} not ok`);
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

/** Stacks of the file that the cluster lacks. */
function notThere(fleet: Fleet | undefined, all: readonly StackStatus[], flags: Flags): StackStatus[] {
  const there = new Set(all.map(({ stack }) => stack));
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
  const gone = stalled.filter((object) => locks.get(object)?.isGone);
  const question = `Clear the locks of ${counted(gone.length, "stack")}, whose workspaces are gone (${gone.map(({ spec }) => spec.stack).join(", ")})?`;
  const clears = gone.length > 0 && (flags.yes === true || (await confirm(question)));
  const limit = limited(4);
  const results = await Promise.all(
    stalled.map((object) => limit(() => resumed(object, { fleet, cluster, clears, lock: locks.get(object) }))),
  );
  const line = ({ stack, namespace, done, left }: Resumed) =>
    `${namespace}/${stack}  ${[...done, ...(left === undefined ? [] : [`NOT STARTED: ${left}`])].join("; ")}`;
  const started = results.filter(({ left }) => left === undefined).length;
  const summary = `${started} of ${counted(stalled.length, "stalled Stack")} started again`;
  console.log(flags.json ? JSON.stringify(results, undefined, 2) : [...results.map(line), summary].join("\n"));
  if (started < stalled.length) process.exitCode = 1;
}

interface Lock {
  /** Who holds it. */
  who: string;
  /** Whether all holders were this Stack's workspace, which has ended. */
  isGone: boolean;
}

/** The lock that made the last update fail. A recreated pod has the same name. */
async function lockOf(object: StackObject, cluster: Cluster): Promise<Lock | undefined> {
  const { lock } = status.statusOf(object);
  const holders = holdersOf(object.status?.lastUpdate?.message ?? "");
  if (lock === undefined) return undefined;
  const { name, namespace } = object.metadata;
  const pod = `${name}-workspace-0`;
  const since = await cluster.podSince({ name: pod, namespace });
  const isGone = holders.every(
    (one) => one.host === pod && (since === undefined || Date.parse(since) > Date.parse(one.since)),
  );
  return { who: holders.map(({ user, host, since: at }) => `${user}@${host} since ${at}`).join(", "), isGone };
}

interface Context {
  fleet: Fleet | undefined;
  cluster: Cluster;
  clears: boolean;
  lock: Lock | undefined;
}

async function resumed({ metadata, spec, status: now }: StackObject, context: Context): Promise<Resumed> {
  const { fleet, cluster, clears, lock } = context;
  const done: string[] = [];
  const result = { stack: spec.stack, namespace: metadata.namespace, done };
  try {
    if (lock) {
      const byHand = `pulumi cancel --yes --stack ${spec.stack}`;
      if (!lock.isGone)
        return { ...result, left: `its lock is held by ${lock.who}, which may be at work. If not: ${byHand}` };
      if (!clears) return { ...result, left: `its lock, of ${lock.who}, was not cleared: answer y, or use --yes` };
      const project = now?.projectInfo?.name ?? spec.programRef?.name ?? fleet?.project;
      const backend = fleet?.backend ?? process.env.PULUMI_BACKEND_URL;
      if (project === undefined || backend === undefined)
        return {
          ...result,
          left: `the backend with its lock is unknown: name the fleet file, or set PULUMI_BACKEND_URL`,
        };
      await cancelStack(project, spec.stack, { ...process.env, PULUMI_BACKEND_URL: backend });
      done.push(`lock of ${lock.who} cleared`);
    }
    // A workspace does not retry a failed installation.
    if (now?.conditions?.some(({ type, reason }) => type === "Stalled" && reason === "WorkspaceFailed")) {
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
