import { join } from "node:path";
import type { Workspace } from "@pulumi/pulumi/automation";
import limited from "p-limit";
import {
  ConsortiumClient,
  resolveProviderSettings,
  systemClock,
  isOffline,
  keyProved,
} from "pulumi-consortium/internal/fleet";
import { type Fleet, type FleetStack } from "./schema";
import { failBeyondLimits, type Previewed } from "./limits";
import { lastOf, Ownership } from "./ownership";
import { hasYamlHost, pluginFile, prepareBackend, prepareWorkFolder } from "./project";
import { SharedProvider } from "./provider";
import { pathsIn, Pulumi, PulumiFailed } from "./pulumi";
import { type Command, type FleetResult, type StackResult } from "./results";
import { dropTornAttributes } from "./leftovers";
import { RunLocks } from "./run-locks";
import { type Secrets, sharedEnvironment, stackEnvironment } from "./secrets";
import { resultOf, type RunContext, type RunOptions, StackRun } from "./stack";

/** Runs a command for many stacks in parallel. One that fails does not stop the others. */
export async function runFleet(fleet: Fleet, options: RunOptions): Promise<Pick<FleetResult, "stacks" | "strays">> {
  const { command, stacks, parallel, secrets, view, stop } = options;
  prepareBackend(fleet);
  const workFolder = prepareWorkFolder(fleet);
  const locks = new RunLocks(workFolder);
  let provider: SharedProvider | undefined;
  try {
    const environment = sharedEnvironment(fleet, secrets, options.env);
    if (await locks.recover(stacks.map(({ name }) => name))) dropTornAttributes(environment.PULUMI_BACKEND_URL);
    const pulumi = await Pulumi.find(stop, { cwd: workFolder, env: environment });
    const workspace = await pulumi.workspace({ cwd: workFolder, env: environment });
    const ownership = new Ownership(fleet, workspace);
    const all = await ownership.list().catch(explained);
    const known = new Set(all.map(({ name }) => lastOf(name)));
    provider = sharedProvider(environment, join(workFolder, "logs", "fleet.log"));
    const context: RunContext = {
      ...options,
      fleet,
      pulumi,
      workFolder,
      locks,
      environment,
      known,
      ownership,
      ...(command === "preview" && !isOffline(environment) && { proveKey: keyProver(environment, secrets) }),
      provider,
      otherPaths: pathReader(fleet, known, workspace, (cwd) => pulumi.workspace({ cwd, env: environment })),
    };
    const limit = limited(parallel);
    const previewed: Previewed[] = [];
    const results = await inOrder(stacks, command, (stack, failed) =>
      limit(async () => {
        if (stop.raised) return resultOf(stack, "not begun");
        if (failed !== undefined)
          return {
            ...resultOf(stack, "not begun"),
            error: `skipped: ${failed}, which this stack depends on, did not finish`,
          };
        view.begin(stack.name);
        const run = new StackRun(stack, context);
        const result = await run.result();
        if (command === "preview" && result.outcome === "ok")
          previewed.push({ stack, result, progress: run.progress, env: stackEnvironment(environment, stack, secrets) });
        view.end(result);
        return result;
      }),
    );
    if (!isOffline(environment)) await failBeyondLimits(previewed, fleet.stacks);
    return { stacks: results, strays: stop.raised ? [] : await ownership.strays(all) };
  } finally {
    await provider?.close();
    await locks.close();
    view.close();
  }
}

/** Asks the service once for each organization whether its key is valid. */
function keyProver(environment: NodeJS.ProcessEnv, secrets: Secrets): RunContext["proveKey"] {
  const asked = new Map<string, Promise<string | undefined>>();
  return async (stack) => {
    const { name } = stack.organization;
    const first = asked.get(name);
    if (first) return void (await first);
    const env = stackEnvironment(environment, stack, secrets);
    const asking = keyProved(() => ({
      client: new ConsortiumClient(resolveProviderSettings({}, env)),
      clock: systemClock,
    }));
    asked.set(name, asking);
    return asking;
  };
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
  const named = new Map(stacks.map((one) => [one.name, one]));
  const before = new Map<string, FleetStack[]>(stacks.map(({ name }) => [name, []]));
  const isOrdered = command === "up" || command === "destroy"; // the others change nothing
  for (const stack of isOrdered ? stacks : [])
    for (const other of stack.dependsOn.flatMap((name) => named.get(name) ?? [])) {
      const [first, second] = command === "destroy" ? [stack, other] : [other, stack];
      before.get(second.name)!.push(first);
    }
  const results = new Map<string, Promise<StackResult>>();
  const begin = async (stack: FleetStack): Promise<StackResult> => {
    const earlier = await Promise.all(before.get(stack.name)!.map(resultOf));
    return run(stack, earlier.find(({ outcome }) => outcome !== "ok")?.stack);
  };
  const resultOf = (stack: FleetStack): Promise<StackResult> => {
    const result = results.get(stack.name) ?? begin(stack);
    results.set(stack.name, result);
    return result;
  };
  return Promise.all(stacks.map(resultOf));
}

/** Returns the paths of the objects in the states of all stacks but one. It reads the states at the first call. */
function pathReader(
  { stacks }: Fleet,
  known: ReadonlySet<string>,
  workspace: Workspace,
  workspaceIn: (folder: string) => Promise<Workspace>,
): RunContext["otherPaths"] {
  const limit = limited(4);
  const read = () => {
    const programs = stacks.flatMap(({ name, program }) => (program === undefined ? [] : [{ name, program }]));
    const all = [...[...known].map((name) => ({ name, program: undefined })), ...programs];
    const pathsOf = async (name: string, program?: string) =>
      pathsIn(name, program === undefined ? workspace : await workspaceIn(program));
    return Promise.all(
      all.map(({ name, program }) => limit(async () => ({ name, paths: await pathsOf(name, program) }))),
    );
  };
  let states: ReturnType<typeof read> | undefined;
  return async (stack) => (await (states ??= read())).flatMap(({ name, paths }) => (name === stack ? [] : paths));
}

/** Explains a failure of the first call to the backend. */
function explained(cause: unknown): never {
  if (!(cause instanceof PulumiFailed)) throw cause;
  throw new Error(`Cannot list the stacks of the backend: ${cause.output.trim().replace(/^error: /, "")}`, { cause });
}
