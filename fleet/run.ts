import { join } from "node:path";
import type { Workspace } from "@pulumi/pulumi/automation";
import limited from "p-limit";
import { isOffline } from "pulumi-consortium/internal/fleet";
import { type Fleet, type FleetStack } from "./schema";
import { failBeyondLimits, type Previewed } from "./limits";
import { lastOf, Ownership } from "./ownership";
import { hasYamlHost, pluginFile, prepareWorkFolder } from "./project";
import { SharedProvider } from "./provider";
import { findPulumi, pathsIn, saidIn, workspaceIn } from "./pulumi";
import { type Command, type FleetResult, isGood, type StackResult } from "./results";
import { dropTornAttributes, RunLocks } from "./recovery";
import { sharedEnvironment, stackEnvironment } from "./secrets";
import { resultOf, type RunContext, type RunOptions, StackRun } from "./stack";

/** Runs a command for many stacks in parallel. One that fails does not stop the others. */
export async function runFleet(fleet: Fleet, options: RunOptions): Promise<Pick<FleetResult, "stacks" | "strays">> {
  const { secrets, stop } = options;
  const workFolder = prepareWorkFolder(fleet);
  const environment = sharedEnvironment(fleet, secrets, options.env);
  const locks = new RunLocks(workFolder);
  if (locks.isAnyOpen()) dropTornAttributes(environment.PULUMI_BACKEND_URL);
  const pulumi = await findPulumi();
  const open = (cwd = workFolder) => workspaceIn({ cwd, env: environment }, pulumi);
  const workspace = await open();
  const all = await workspace.listStacks().catch((cause: Error) => {
    throw new Error(`Cannot list the stacks of the backend: ${saidIn(cause)}`, { cause });
  });
  const known = new Set(all.map(({ name }) => lastOf(name)));
  const provider = sharedProvider(environment, join(workFolder, "logs", "fleet.log"));
  const ownership = new Ownership(fleet);
  const context: RunContext = {
    ...options,
    fleet,
    pulumi,
    workFolder,
    locks,
    environment,
    known,
    ownership,
    provider,
    otherPaths: pathReader(fleet, open),
  };
  try {
    const previewed: Previewed[] = [];
    const stacks = await resultsOf(context, previewed);
    if (!isOffline(environment)) await failBeyondLimits(previewed, fleet.stacks);
    return { stacks, strays: stop.raised ? [] : await ownership.strays(all, workspace) };
  } finally {
    await provider?.close();
  }
}

/** @param previewed gets the stacks whose preview succeeded */
function resultsOf(context: RunContext, previewed: Previewed[]): Promise<StackResult[]> {
  const { stacks, command, parallel, planned = [], destroys, environment, secrets, say, stop } = context;
  const limit = limited(parallel);
  return inOrder(stacks, command, (stack, failed) =>
    limit(async () => {
      const plan = planned.find((one) => one.stack === stack.name);
      if (plan && !isGood(plan)) return plan;
      if (stop.raised) return resultOf(stack, "not begun");
      if (failed !== undefined) {
        const error = `skipped: ${failed}, which this stack depends on, did not finish`;
        return { ...resultOf(stack, "not begun"), error };
      }
      say(stack.name, "begins");
      const one = new StackRun(stack, context);
      const result = await one.result();
      if (command === "preview" && !destroys && isGood(result))
        previewed.push({ stack, result, progress: one.progress, env: stackEnvironment(environment, stack, secrets) });
      say(stack.name, `${result.outcome}, ${result.seconds.toFixed(1)} s`);
      return result;
    }),
  );
}

/** The provider for stacks that run as YAML; undefined if Pulumi has no YAML host, or you debug the provider. */
function sharedProvider(env: NodeJS.ProcessEnv, log: string): SharedProvider | undefined {
  const file = pluginFile();
  if (file === undefined || !hasYamlHost(env) || /(^|,)consortium:/.test(env.PULUMI_DEBUG_PROVIDERS ?? ""))
    return undefined;
  return new SharedProvider({ file, log, env });
}

/**
 * Runs each stack after those of these that it depends on; `destroy` goes the other way round.
 * @param run gets the name of a stack that failed and comes before this one
 */
function inOrder(
  stacks: readonly FleetStack[],
  command: Command,
  run: (stack: FleetStack, failed?: string) => Promise<StackResult>,
): Promise<StackResult[]> {
  const before = ({ name, dependsOn }: FleetStack): FleetStack[] => {
    if (command === "up") return stacks.filter((one) => dependsOn.includes(one.name));
    return command === "destroy" ? stacks.filter((one) => one.dependsOn.includes(name)) : []; // the others change nothing
  };
  const results = new Map<FleetStack, Promise<StackResult>>();
  const begin = async (stack: FleetStack): Promise<StackResult> => {
    const earlier = await Promise.all(before(stack).map(ran));
    return run(stack, earlier.find((one) => !isGood(one))?.stack);
  };
  const ran = (stack: FleetStack): Promise<StackResult> => {
    const result = results.get(stack) ?? begin(stack);
    results.set(stack, result);
    return result;
  };
  return Promise.all(stacks.map(ran));
}

/** Returns the paths of the objects in the states of all stacks but one. It reads the states at the first call. */
function pathReader({ stacks }: Fleet, open: (program?: string) => Promise<Workspace>): RunContext["otherPaths"] {
  const limit = limited(4);
  const read = () =>
    stacks.map(({ name, program }) => limit(async () => ({ name, paths: await pathsIn(name, await open(program)) })));
  let states: ReturnType<typeof read> | undefined;
  return async (stack) => {
    const all = await Promise.all((states ??= read()));
    return all.flatMap(({ name, paths }) => (name === stack ? [] : paths));
  };
}
