import { mkdirSync } from "node:fs";
import { join } from "node:path";
import limited from "p-limit";
import { ConsortiumClient, resolveSettings } from "../../provider/api";
import { systemClock } from "../../provider/api/clock";
import { isOffline, keyProved } from "../../provider/core/session";
import { legacyProject } from "./file";
import { type Fleet, type FleetStack } from "./schema";
import { dropTornAttributes, markName, RunRecords } from "./run-records";
import { failBeyondLimits, type Previewed } from "./limits";
import { type View } from "./output";
import { Ownership } from "./ownership";
import { hasYamlHost, pluginFile, prepareBackend, prepareWorkFolder } from "./project";
import { SharedProvider } from "./provider";
import { PulumiFailed, type PulumiOptions, type Stop } from "./pulumi";
import { type Secrets, sharedEnvironment, stackEnvironment } from "./secrets";
import { type Command, exportedIds, type Result, type RunContext, StackRun } from "./stack";

export interface RunOptions {
  command: Command;
  /** The stacks of the fleet to run it for. */
  stacks: FleetStack[];
  parallel: number;
  refresh?: boolean;
  /** Takes over stacks that belong to another fleet file. */
  takeOver?: boolean;
  secrets: Secrets;
  env: NodeJS.ProcessEnv;
  view: View;
  stop: Stop;
}

/** What became of a fleet. */
export interface Outcome {
  results: Result[];
  /** Stacks of the project that are not in the file any more. */
  strays: string[];
}

/** A fleet file without a project keeps the one that an earlier version used. */
export async function placed(
  fleet: Fleet,
  { secrets, env, stop }: Pick<RunOptions, "secrets" | "env" | "stop">,
): Promise<Fleet> {
  if (fleet.hasProject) return fleet;
  prepareBackend(fleet);
  const folder = join(fleet.folder, ".consortium", "fleet");
  mkdirSync(folder, { recursive: true });
  const options = {
    cwd: fleet.folder,
    env: sharedEnvironment(fleet, secrets, env),
    log: join(folder, "fleet.log"),
    stop,
  };
  const legacy = { ...fleet, project: legacyProject };
  return (await listing(() => new Ownership(legacy, options).isLegacy())) ? legacy : fleet;
}

/** Runs a command for many stacks in parallel; one that fails does not stop the others. */
export async function runFleet(fleet: Fleet, options: RunOptions): Promise<Outcome> {
  const { command, stacks, parallel, secrets, view, stop, refresh = false, takeOver = false } = options;
  prepareBackend(fleet);
  const workFolder = prepareWorkFolder(fleet);
  const records = new RunRecords(workFolder, command);
  let provider: SharedProvider | undefined;
  try {
    const environment = sharedEnvironment(fleet, secrets, options.env);
    if (await records.recover(stacks.map(({ name }) => name))) dropTornAttributes(environment.PULUMI_BACKEND_URL);
    const log = join(workFolder, "logs", "fleet.log");
    const ownership = new Ownership(fleet, { cwd: workFolder, env: environment, log, stop });
    const all = await listing(() => ownership.list());
    const known = new Set(all.map(({ name }) => name.split("/").at(-1)!));
    if (known.size > 0) await ownership.learn();
    const tell = view.tell.bind(view);
    const limit = limited(parallel);
    const folder = join(workFolder, "logs");
    const states = statesOf(fleet, known, { folder, options: { cwd: workFolder, env: environment, log, stop } });
    provider = sharedProvider(environment, { log, mark: records.sharedMark });
    const context: RunContext = {
      fleet,
      command,
      workFolder,
      records,
      secrets,
      environment,
      refresh,
      takeOver,
      known,
      ownership,
      ...(command === "preview" && !isOffline(environment) && { proveKey: keyProver(environment, secrets) }),
      provider,
      stop,
      tell,
      idsBut: async (stack) => (await states()).flatMap(([name, ids]) => (name === stack ? [] : ids)),
    };
    const previewed: Previewed[] = [];
    const results = await inOrder(stacks, command, (stack, failed) =>
      limit(async () => {
        if (stop.raised) return notBegun(stack);
        if (failed !== undefined) return notBegun(stack, `${failed} was not finished, which comes before this stack`);
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
    return { results, strays: stop.raised ? [] : await ownership.strays(all) };
  } finally {
    await provider?.close();
    await records.close();
    view.close();
  }
}

/** Asks once for each organization whether its key is valid. */
function keyProver(environment: NodeJS.ProcessEnv, secrets: Secrets): RunContext["proveKey"] {
  const asked = new Map<string, Promise<string | undefined>>();
  return async (stack) => {
    const { name } = stack.organization;
    const first = asked.get(name);
    if (first) return void (await first);
    const env = stackEnvironment(environment, stack, secrets);
    const asking = keyProved(() => ({ client: new ConsortiumClient(resolveSettings({ env })), clock: systemClock }));
    asked.set(name, asking);
    return asking;
  };
}

/** Where Pulumi has a host of YAML, and nobody debugs the provider. */
function sharedProvider(
  env: NodeJS.ProcessEnv,
  { log, mark }: { log: string; mark: string },
): SharedProvider | undefined {
  const file = pluginFile();
  if (file === undefined || !hasYamlHost(env) || /(^|,)consortium:/.test(env.PULUMI_DEBUG_PROVIDERS ?? ""))
    return undefined;
  return new SharedProvider({ file, log, env: { ...env, [markName]: mark } });
}

/**
 * Runs each stack after those that it depends on, as far as they are among them, or before them if everything is destroyed.
 * @param run gets the name of one of them that failed
 */
function inOrder(
  stacks: readonly FleetStack[],
  command: Command,
  run: (stack: FleetStack, failed?: string) => Promise<Result>,
): Promise<Result[]> {
  const named = new Map(stacks.map((one) => [one.name, one]));
  const before = new Map<string, FleetStack[]>(stacks.map(({ name }) => [name, []]));
  const isOrdered = command === "up" || command === "destroy"; // nobody else changes anything
  for (const stack of isOrdered ? stacks : [])
    for (const other of stack.dependsOn.flatMap((name) => named.get(name) ?? [])) {
      const [first, second] = command === "destroy" ? [stack, other] : [other, stack];
      before.get(second.name)!.push(first);
    }
  const results = new Map<string, Promise<Result>>();
  const begin = async (stack: FleetStack): Promise<Result> => {
    const earlier = await Promise.all(before.get(stack.name)!.map(resultOf));
    return run(stack, earlier.find(({ outcome }) => outcome !== "ok")?.stack);
  };
  const resultOf = (stack: FleetStack): Promise<Result> => {
    const result = results.get(stack.name) ?? begin(stack);
    results.set(stack.name, result);
    return result;
  };
  return Promise.all(stacks.map(resultOf));
}

const notBegun = ({ name, organization }: FleetStack, error?: string): Result => ({
  stack: name,
  organization: organization.name,
  outcome: "not begun",
  counts: { created: 0, updated: 0, replaced: 0, deleted: 0, unchanged: 0 },
  seconds: 0,
  error,
  ledgers: [],
  replacements: [],
  drift: [],
  recovered: false,
  leftovers: [],
});

type StateIds = [stack: string, ids: string[]];

/** Ids in the states of all stacks, read when they are first needed. */
function statesOf(
  fleet: Fleet,
  known: ReadonlySet<string>,
  { folder, options }: { folder: string; options: PulumiOptions },
): () => Promise<StateIds[]> {
  const read = async (): Promise<StateIds[]> => {
    const one = limited(4);
    const programs = fleet.stacks.flatMap(({ name, program }) =>
      program === undefined ? [] : [{ name, cwd: program }],
    );
    const all = [...[...known].map((name) => ({ name, cwd: options.cwd })), ...programs];
    return Promise.all(
      all.map(({ name, cwd }) =>
        one(async (): Promise<StateIds> => [name, await exportedIds(name, folder, { ...options, cwd })]),
      ),
    );
  };
  let states: Promise<StateIds[]> | undefined;
  return () => (states ??= read());
}

/** The first thing that is asked of the backend. */
async function listing<T>(list: () => Promise<T>): Promise<T> {
  try {
    return await list();
  } catch (error) {
    if (!(error instanceof PulumiFailed)) throw error;
    throw new Error(`Cannot list the stacks of the backend: ${error.output.trim().replace(/^error: /, "")}`, {
      cause: error,
    });
  }
}
