import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { EngineEvent as ApiEvent, PulumiCommand, Stack, UpOptions, Workspace } from "@pulumi/pulumi/automation";
import limited from "p-limit";
import { codedMessage, codeIn, createLogVariable, type EngineEvent, UserError } from "pulumi-consortium/internal/fleet";
import { type Fleet, type FleetStack } from "./schema";
import { lastOf, own, straysIn } from "./ownership";
import { Progress } from "./progress";
import { configure, hasYamlHost, pluginFile, prepareWorkFolder, prepareYaml } from "./project";
import { SharedProvider } from "./provider";
import { findPulumi, isFailure, listStacks, pathsIn, saidIn, stackIn, unless, workspaceIn } from "./pulumi";
import { type FleetResult, isGood, losesLedger, notBegun, secondsSince, type StackResult, type Verb } from "./results";
import * as recovery from "./recovery";
import { type Secrets, stackEnvironment } from "./secrets";

/** Stops a run as Ctrl-C does: no stack begins any more, and those at work are cancelled. */
export class Stop {
  readonly running = new Set<Pick<StackRun, "cancel">>();
  raised = false;

  raise(): void {
    this.raised = true;
    for (const run of this.running) run.cancel();
  }
}

export interface RunOptions {
  command: Verb;
  /** The stacks of the fleet to run. */
  stacks: FleetStack[];
  parallel: number;
  /** Whether to refresh first. */
  refresh?: boolean;
  /** Whether to take over stacks that belong to another fleet file. */
  takeOver?: boolean;
  /** Previews of the same stacks, which somebody agreed to: a stack with a failed preview does not run. */
  planned?: readonly StackResult[];
  /** Stacks that may lose a ledger, though nobody was asked. */
  mayLoseLedger?: ReadonlySet<string>;
  secrets: Secrets;
  /** Takes the progress of a stack. */
  say: (stack: string, line: string) => void;
  stop: Stop;
}

/** The context that all stacks of a run share. */
interface RunContext extends RunOptions {
  fleet: Fleet;
  pulumi: PulumiCommand;
  workFolder: string;
  /** Serves stacks that run as YAML; undefined if Pulumi has no YAML host. */
  provider?: SharedProvider;
  /** How many resources each stack has that exists. */
  known: ReadonlyMap<string, number>;
  /** Limits how many run at once, and how many are prepared, so that their programs do not all start together. */
  turns: ReturnType<typeof limited>;
  readying: ReturnType<typeof limited>;
}

/** Runs a command for many stacks in parallel. A failed stack does not stop the others. */
export async function runFleet(fleet: Fleet, options: RunOptions): Promise<FleetResult> {
  const startedAt = performance.now();
  const { command, stacks } = options;
  // Without stacks there is nothing to ask the backend.
  const done = stacks.length === 0 ? { stacks: [], strays: [] } : await ran(fleet, options);
  return { command, project: fleet.project, seconds: secondsSince(startedAt), ...done };
}

async function ran(fleet: Fleet, options: RunOptions): Promise<Pick<FleetResult, "stacks" | "strays">> {
  const { environment } = options.secrets;
  const workFolder = prepareWorkFolder(fleet);
  if (recovery.isAnyOpen(workFolder)) recovery.dropTornAttributes(environment.PULUMI_BACKEND_URL);
  // It starts while Pulumi's API loads and the stacks are listed.
  const provider = sharedProvider(options, join(workFolder, "logs", "fleet.log"));
  try {
    const pulumi = await findPulumi();
    const workspace = await workspaceIn(workFolder, environment, pulumi);
    const all = await listStacks(workspace);
    const known = new Map(all.map(({ name, resourceCount = 0 }) => [lastOf(name), resourceCount]));
    const limits = { turns: limited(options.parallel), readying: limited(1) };
    const stacks = await resultsOf({ ...options, ...limits, fleet, pulumi, workFolder, known, provider });
    return { stacks, strays: options.stop.raised ? [] : await straysIn(all, fleet, workspace) };
  } catch (error) {
    if (!options.stop.raised) throw error;
    return { stacks: options.stacks.map((one) => notBegun(one)), strays: [] }; // the same Ctrl-C ends Pulumi
  } finally {
    await provider?.close();
  }
}

/** Runs each stack after the stacks that it depends on; `destroy` reverses the order, and commands without changes ignore it. */
function resultsOf(context: RunContext): Promise<StackResult[]> {
  const { stacks, command, parallel } = context;
  // Prepares one stack more than can run at once.
  const limit = limited(parallel + 1);
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

/** @param failed the name of a failed stack that this one depends on */
async function resultOf(stack: FleetStack, context: RunContext, failed?: string): Promise<StackResult> {
  const { planned = [], say, stop } = context;
  const plan = planned.find((one) => one.stack === stack.name);
  if (plan && !isGood(plan) && plan.outcome !== losesLedger) return plan;
  if (stop.raised) return notBegun(stack);
  if (failed !== undefined) return notBegun(stack, `skipped: ${failed}, which this stack depends on, did not finish`);
  say(stack.name, "begins");
  const run = new StackRun(stack, context);
  await run.end();
  const { result } = run;
  say(stack.name, `${result.outcome}, ${result.seconds.toFixed(1)} s`);
  return result;
}

/** The provider for stacks that run as YAML; undefined if there are none, Pulumi has no YAML host, or you debug the provider. */
function sharedProvider({ stacks, secrets: { environment } }: RunOptions, log: string): SharedProvider | undefined {
  const file = pluginFile();
  const isDebugged = /(^|,)consortium:/.test(environment.PULUMI_DEBUG_PROVIDERS ?? "");
  const isNeeded = stacks.some(({ definition }) => definition !== undefined) && hasYamlHost(environment) && !isDebugged;
  return file !== undefined && isNeeded ? new SharedProvider(file, log, environment) : undefined;
}

/** Whether Pulumi or its provider was killed, for example because memory ran out. */
const wasKilled = (error: unknown, { errors }: Progress): boolean =>
  isFailure(error) &&
  /was killed with|error reading from server|transport is closing|transport: Error while dialing/.test(
    [error.message, ...errors].join("\n"),
  );

const pendingAdvice = /pending operations from previous deployment|`pulumi refresh`/;

/** How long Pulumi may take to report that it received the terminal's Ctrl-C. */
const hearingMs = 1_000;

/** Runs the command for one stack, after cleaning up an earlier run. */
export class StackRun {
  /** `recovered`: a killed run was changing this stack. */
  readonly result: StackResult;
  readonly progress: Progress;
  readonly #log: string;
  readonly #creates: string;
  readonly #record: string;
  readonly #changes: boolean;
  readonly #cancelling = new AbortController();
  #hasHeard = false;
  /** Ends this stack's turn; turns follow the order of the file. */
  #leave: () => void = () => undefined;
  readonly #turn: Promise<void>;

  constructor(
    readonly spec: FleetStack,
    readonly context: RunContext,
  ) {
    const { workFolder, secrets, command } = context;
    this.#log = join(workFolder, "logs", `${spec.name}.log`);
    this.#creates = join(workFolder, "creates");
    this.#record = recovery.recordOf(workFolder, spec.name);
    this.#changes = command === "up" || command === "destroy";
    this.result = notBegun(spec);
    this.progress = new Progress(this.result, secrets.mask, command);
    const left = new Promise<void>((leave) => (this.#leave = leave));
    this.#turn = new Promise((enter) => void context.turns(() => (enter(), left)));
  }

  /** Fills the result. */
  async end(): Promise<void> {
    const startedAt = performance.now();
    const { result, progress, context } = this;
    const { stop, secrets } = context;
    rmSync(this.#log, { force: true });
    stop.running.add(this);
    try {
      await this.#perform();
      const isRefused =
        context.command === "preview" && result.ledgers.length > 0 && !context.mayLoseLedger?.has(result.stack);
      result.outcome = result.drift.length > 0 ? "drift" : isRefused ? losesLedger : "ok";
    } catch (error) {
      const said = isFailure(error) ? saidIn(error) : codedMessage(error);
      if (stop.raised && result.outcome === "not begun") return;
      result.outcome = stop.raised ? "interrupted" : "failed";
      result.error = secrets.mask(progress.errors.join("\n") || said);
      result.code = codeIn(result.error);
    } finally {
      this.#leave();
      stop.running.delete(this);
      result.seconds = secondsSince(startedAt);
    }
  }

  /** Cancels as Ctrl-C does. In a terminal, Pulumi receives Ctrl-C itself, and a second signal would end it at once. */
  cancel = (): void => {
    setTimeout(() => this.#hasHeard || this.#cancelling.abort(), hearingMs).unref();
  };

  async #perform(): Promise<void> {
    const { spec, context, progress, result } = this;
    const { command, known } = context;
    const runsProgram = command === "up" || command === "preview";
    // A stack with its own program belongs to another project, which was not listed.
    const exists = spec.program === undefined ? known.has(spec.name) : !runsProgram;
    if (!exists && command === "drift") return void result.drift.push("the stack has not been created yet");
    if (!exists && !runsProgram) return;
    const begun = await recovery.begin(this.#record, this.#changes);
    result.recovered = begun.isContinued;
    if (begun.isContinued) this.#tell("continues where a killed run stopped");
    let isSettled = false;
    try {
      const leftovers = await this.#run(exists);
      isSettled = true;
      if (leftovers) this.#name(leftovers);
    } catch (error) {
      // The next run continues if the outcome of the last step is unknown, or if this run continued a killed one.
      isSettled ||= !result.recovered && (result.outcome === "not begun" || !wasKilled(error, progress));
      throw error;
    } finally {
      await begun.end(isSettled);
    }
  }

  /** Returns what a killed run has left, if this run continued it. */
  async #run(exists: boolean): Promise<recovery.Leftovers | undefined> {
    const { spec, context } = this;
    const { command, fleet, takeOver, known } = context;
    const workspace = await this.#workspace();
    const isContinuing = this.#changes && this.result.recovered;
    const held = isContinuing ? await pathsIn(spec.name, workspace) : [];
    const mayBeOthers = this.#changes && !isContinuing && (known.get(spec.name) ?? 0) > 0;
    let [isNew, isWhole] = [false, true];
    const steps = async () => {
      const create = () => workspace.createStack(spec.name).then(() => true);
      await context.readying(async () => {
        isNew ||= !exists && (await unless("StackAlreadyExistsError", create(), false));
        await own(spec, fleet, workspace, { isNew, mayBeOthers, takeOver, claims: command === "up" });
      });
      await this.#verb(workspace, isNew);
    };
    try {
      await steps().catch(async (error: unknown) => {
        await this.#releaseLock(error, workspace);
        await steps();
      });
    } catch (error) {
      isWhole = !wasKilled(error, this.progress);
      throw error;
    } finally {
      // The preview created an empty stack to compare with. If it has resources by now, Pulumi refuses to remove it.
      if (isNew && command === "preview") await workspace.removeStack(spec.name);
      await context.provider?.end(spec.name, isWhole);
    }
    if (!isContinuing) return undefined;
    return recovery.leftoversOf(this.#creates, spec.name, held, await pathsIn(spec.name, workspace));
  }

  /** If Pulumi YAML can express the network file, the stack runs as YAML, on the provider that all stacks share. */
  async #workspace(): Promise<Workspace> {
    const { spec, context } = this;
    const { provider, workFolder, fleet, pulumi, secrets } = context;
    const env = {
      ...stackEnvironment(spec, secrets),
      [createLogVariable]: this.#creates,
      ...(this.#changes && recovery.markOf(this.#record)),
    };
    const yaml = provider && prepareYaml(workFolder, fleet, spec, secrets.environment);
    if (yaml) Object.assign(env, await provider.serve(spec.name, env));
    return workspaceIn(yaml ?? spec.program ?? workFolder, env, pulumi, fleet.secretsProvider);
  }

  async #verb(workspace: Workspace, isNew: boolean): Promise<void> {
    const { spec, context, progress } = this;
    const { command, refresh, fleet, workFolder, stop } = context;
    await this.#turn;
    if (stop.raised) throw new UserError("interrupted", "it was interrupted before Pulumi started");
    this.result.outcome = "interrupted"; // until it ends
    const stack = await stackIn(spec.name, workspace);
    const options = { onEvent: this.#listen, signal: this.#cancelling.signal, color: "never", refresh } as const;
    if (command === "drift") return void (await stack.previewRefresh(options));
    if (command === "destroy") await stack.destroy(options);
    else if (command === "losses") await stack.previewDestroy(options);
    else {
      configure(workFolder, fleet, spec);
      const { policyPacks: packs } = fleet;
      const hasConfig = packs.some(({ config }) => config !== undefined);
      const run = {
        ...options,
        policyPacks: packs.map(({ path }) => path),
        // Pulumi needs a configuration for every pack or for none.
        policyPackConfigs: hasConfig ? packs.map(({ config = "" }) => config) : [],
      };
      if (command === "up") await this.#foresee(stack, run, isNew);
      await (command === "up" ? stack.up(run) : stack.preview(run));
    }
    // The killed run's operations are settled now, so that Pulumi does not warn of them again.
    if (this.result.recovered && this.#changes && progress.pending)
      await stack.refresh({ clearPendingCreates: true, color: "never", onEvent: () => undefined });
  }

  /**
   * What only a preview tells before anything is changed: violations of stack policies, which are evaluated at the end of a run, and
   * ledgers that would be lost.
   */
  async #foresee(stack: Stack, run: UpOptions, isNew: boolean): Promise<void> {
    const { spec, context } = this;
    const { planned = [], fleet, secrets } = context;
    const isAgreed = isNew || context.mayLoseLedger?.has(spec.name) || planned.some((one) => one.stack === spec.name);
    if (isAgreed && fleet.policyPacks.length === 0) return;
    const foreseen = new Progress(notBegun(spec), secrets.mask, "preview");
    const onEvent = (event: ApiEvent): void => {
      foreseen.take(event as unknown as EngineEvent);
      this.#judge(event);
    };
    await stack.preview({ ...run, onEvent });
    const { ledgers } = foreseen.result;
    if (isAgreed || ledgers.length === 0) return;
    throw new UserError(
      "loses-ledger",
      `Run this again with \`--allow-ledger-loss ${spec.name}\` if that is meant: ${spec.name} would lose a ledger, and all that is ` +
        `written in it: ${ledgers.join(", ")}. Nothing was changed.`,
    );
  }

  /** Releases the lock that a killed run left in the backend. @throws for any other error, and any other lock */
  async #releaseLock(error: unknown, workspace: Workspace): Promise<void> {
    const { spec, context, progress } = this;
    if (!isFailure(error, "ConcurrentUpdateError")) throw error;
    const holders = recovery.holdersOf([error.message, ...progress.errors].join("\n"));
    progress.errors.length = 0;
    if (!this.result.recovered || !recovery.haveEnded(holders))
      throw recovery.lockedError(
        holders,
        `If it is certain that no run is active, run \`pulumi cancel --yes --stack ${spec.name}\` in ${context.workFolder}, with ` +
          "the fleet's backend as PULUMI_BACKEND_URL, and this again.",
        error,
      );
    this.#tell("releases the lock of the killed run");
    await (await stackIn(spec.name, workspace)).cancel();
  }

  /** Warns of objects that belong to the stack but are not in its state. @throws if `destroy` leaves them */
  #name({ certain, open }: recovery.Leftovers): void {
    const { leftovers } = this.result;
    leftovers.push(...certain.map((one) => `the killed run created ${one}, which is not in the stack`));
    leftovers.push(...open.map((one) => `the killed run may have created an object in ${one}`));
    this.#tell(...leftovers.map((line) => `Warning: ${line}`));
    if (this.context.command === "destroy" && certain.length > 0)
      throw new UserError(
        "unclear-create",
        "Delete it with `npx --no-install consortium sweep --id <id>`, if it still exists: the killed run created " +
          `${certain.join(", ")}, which was not in the stack.`,
      );
  }

  readonly #listen = (event: ApiEvent): void => {
    if (/received; cancelling/.test(event.stdoutEvent?.message ?? "")) this.#hasHeard = true;
    const lines = this.progress.take(event as unknown as EngineEvent);
    // Removes Pulumi's advice about pending operations of the killed run, which this run follows already.
    this.#tell(...(this.result.recovered ? lines.filter((line) => !pendingAdvice.test(line)) : lines));
  };

  /** Keeps only policies and errors from the preview of an `up`; the update reports the rest. */
  readonly #judge = (event: ApiEvent): void => {
    const { policyEvent, diagnosticEvent, stdoutEvent } = event;
    if (policyEvent ?? stdoutEvent ?? diagnosticEvent?.severity === "error") this.#listen(event);
  };

  #tell(...lines: string[]): void {
    const { context, spec } = this;
    const masked = lines.map(context.secrets.mask);
    appendFileSync(this.#log, masked.map((line) => `${line}\n`).join(""), { mode: 0o600 });
    masked.forEach((line) => context.say(spec.name, line));
  }
}
