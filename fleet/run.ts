import { join } from "node:path";
import type { Workspace } from "@pulumi/pulumi/automation";
import limited from "p-limit";
import { isOffline } from "pulumi-consortium/internal/fleet";
import { type Fleet, type FleetStack } from "./schema";
import { failBeyondLimits, type Previewed } from "./limits";
import { lastOf, straysIn } from "./ownership";
import { hasYamlHost, pluginFile, prepareWorkFolder } from "./project";
import { SharedProvider } from "./provider";
import { findPulumi, pathsIn, saidIn, workspaceIn } from "./pulumi";
import { type FleetResult, isGood, notBegun, secondsSince, type StackResult } from "./results";
import { dropTornAttributes, isAnyOpen } from "./recovery";
import { stackEnvironment } from "./secrets";
import { type RunContext, type RunOptions, StackRun } from "./stack";

/** Runs a command for many stacks in parallel. One that fails does not stop the others. */
export async function runFleet(fleet: Fleet, options: RunOptions): Promise<FleetResult> {
  const startedAt = performance.now();
  const done = await ran(fleet, options);
  return { command: options.command, project: fleet.project, seconds: secondsSince(startedAt), ...done };
}

async function ran(fleet: Fleet, options: RunOptions): Promise<Pick<FleetResult, "stacks" | "strays">> {
  if (options.stacks.length === 0) return { stacks: [], strays: [] }; // there is nothing to ask the backend
  const { environment } = options.secrets;
  const workFolder = prepareWorkFolder(fleet);
  if (isAnyOpen(workFolder)) dropTornAttributes(environment.PULUMI_BACKEND_URL);
  const pulumi = await findPulumi();
  const open = (cwd = workFolder) => workspaceIn(cwd, environment, pulumi);
  const workspace = await open();
  const all = await workspace.listStacks().catch((cause: Error) => {
    throw new Error(`Cannot list the stacks of the backend: ${saidIn(cause)}`, { cause });
  });
  const known = new Set(all.map(({ name }) => lastOf(name)));
  const provider = sharedProvider(environment, join(workFolder, "logs", "fleet.log"));
  const otherPaths = pathReader(fleet, open);
  const previewed: Previewed[] = [];
  const context = { ...options, fleet, pulumi, workFolder, known, provider, otherPaths, previewed };
  try {
    const stacks = await resultsOf(context);
    if (!isOffline(environment)) await failBeyondLimits(previewed, fleet.stacks);
    return { stacks, strays: options.stop.raised ? [] : await straysIn(all, fleet, workspace) };
  } finally {
    await provider?.close();
  }
}

/** Runs each stack after those of these that it depends on; `destroy` goes the other way round, and the others change nothing. */
function resultsOf(context: RunContext): Promise<StackResult[]> {
  const { stacks, command, parallel } = context;
  const limit = limited(parallel);
  const isBefore = (one: FleetStack, stack: FleetStack): boolean =>
    (command === "up" && stack.dependsOn.includes(one.name)) ||
    (command === "destroy" && one.dependsOn.includes(stack.name));
  const results = new Map<FleetStack, Promise<StackResult>>();
  const begin = async (stack: FleetStack): Promise<StackResult> => {
    const earlier = await Promise.all(stacks.filter((one) => isBefore(one, stack)).map(resultIn));
    return limit(() => resultOf(stack, context, earlier.find((one) => !isGood(one))?.stack));
  };
  const resultIn = (stack: FleetStack): Promise<StackResult> => {
    const result = results.get(stack) ?? begin(stack);
    results.set(stack, result);
    return result;
  };
  return Promise.all(stacks.map(resultIn));
}

/** @param failed the name of a stack that failed and comes before this one */
async function resultOf(stack: FleetStack, context: RunContext, failed?: string): Promise<StackResult> {
  const { command, planned = [], secrets, say, stop, previewed } = context;
  const plan = planned.find((one) => one.stack === stack.name);
  if (plan && !isGood(plan)) return plan;
  if (stop.raised) return notBegun(stack);
  if (failed !== undefined) return notBegun(stack, `skipped: ${failed}, which this stack depends on, did not finish`);
  say(stack.name, "begins");
  const run = new StackRun(stack, context);
  await run.end();
  const { result, progress } = run;
  if (command === "preview" && isGood(result))
    previewed.push({ organization: stack.organization, result, progress, env: stackEnvironment(stack, secrets) });
  say(stack.name, `${result.outcome}, ${result.seconds.toFixed(1)} s`);
  return result;
}

/** The provider for stacks that run as YAML; undefined if Pulumi has no YAML host, or you debug the provider. */
function sharedProvider(env: NodeJS.ProcessEnv, log: string): SharedProvider | undefined {
  const file = pluginFile();
  if (file === undefined || !hasYamlHost(env) || /(^|,)consortium:/.test(env.PULUMI_DEBUG_PROVIDERS ?? ""))
    return undefined;
  return new SharedProvider(file, log, env);
}

/** Returns the paths of the objects in the states of all stacks but one. It reads the states at the first call. */
function pathReader({ stacks }: Fleet, open: (program?: string) => Promise<Workspace>): RunContext["otherPaths"] {
  const limit = limited(4);
  let states: Promise<{ name: string; paths: string[] }[]> | undefined;
  return async (stack) => {
    states ??= Promise.all(
      stacks.map(({ name, program }) => limit(async () => ({ name, paths: await pathsIn(name, await open(program)) }))),
    );
    return (await states).flatMap(({ name, paths }) => (name === stack ? [] : paths));
  };
}
