import { appendFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { EngineEvent as ApiEvent, Workspace } from "@pulumi/pulumi/automation";
import {
  type EngineEvent,
  ConsortiumClient,
  resolveProviderSettings,
  createLogVariable,
  offlineVariable,
} from "pulumi-consortium/internal/fleet";
import { type Fleet, type FleetStack } from "./schema";
import { continueFrom, createLogOf, removeCreateLog, leftoversOf } from "./leftovers";
import { type View } from "./output";
import { type Ownership } from "./ownership";
import { Progress } from "./progress";
import { configure, mayBeYaml, prepareYaml } from "./project";
import { type SharedProvider } from "./provider";
import { pathsIn, type Pulumi, PulumiFailed, stackIn, type Stop } from "./pulumi";
import { type Command, type Outcome, type StackResult } from "./results";
import { holdersOf, isLocked, lockedBy, markName, mayClear, type RunLocks } from "./run-locks";
import { type Secrets, stackEnvironment } from "./secrets";

export interface RunOptions {
  command: Command;
  /** The stacks of the fleet to run it for. */
  stacks: FleetStack[];
  parallel: number;
  /** Whether to refresh first. */
  refresh?: boolean;
  /** Whether to take over stacks that belong to another fleet file. */
  takeOver?: boolean;
  secrets: Secrets;
  env: NodeJS.ProcessEnv;
  view: View;
  stop: Stop;
}

/** What all stacks of a run have in common. */
export interface RunContext extends RunOptions {
  fleet: Fleet;
  pulumi: Pulumi;
  workFolder: string;
  locks: RunLocks;
  /** Of all Pulumi processes, without the key of any organization. */
  environment: NodeJS.ProcessEnv;
  ownership: Ownership;
  /** In a preview, proves the key of a stack, once for each organization. Returns a warning the first time. */
  proveKey?: (stack: FleetStack) => Promise<string | undefined>;
  /** Serves the stacks that run as YAML; undefined if Pulumi has no YAML host. */
  provider?: SharedProvider;
  /** Stacks that exist. */
  known: ReadonlySet<string>;
  /** Ids in the states of all other stacks of the fleet. */
  otherPaths: (stack: string) => Promise<string[]>;
}

const kinds = { up: "done", destroy: "done", preview: "planned", drift: "compared" } as const;

/** Whether Pulumi or its provider was killed, for example because memory ran out. */
const wasKilled = (error: unknown, { errors }: Progress): boolean =>
  error instanceof PulumiFailed &&
  (error.code === null ||
    /error reading from server|transport is closing|transport: Error while dialing/.test(
      [error.output, ...errors].join("\n"),
    ));

const pendingAdvice = /pending operations from previous deployment|`pulumi refresh`/;

/** The reason of a failure, for people: what Pulumi's engine said, otherwise what the CLI printed. */
function reasonOf(error: unknown, { errors }: Progress): string {
  if (errors.length > 0) return errors.join("\n");
  if (!(error instanceof PulumiFailed)) return error instanceof Error ? error.message : String(error);
  const said = error.output.split("\n").filter((line) => /^\s*error: /.test(line));
  const lines = said.length > 0 ? said : error.output.trim().split("\n").slice(-5);
  return [error.message, ...new Set(lines.map((line) => line.trim().replace(/^error: /, "")))].join(": ");
}

/** What the run of a stack has done so far: nothing, if it did not begin. */
export const resultOf = (
  { name, organization }: FleetStack,
  outcome: Outcome,
  { counts, ledgers, replacements, drift }: Progress = new Progress(String),
): StackResult => ({
  stack: name,
  organization: organization.name,
  outcome,
  ...counts,
  seconds: 0,
  ledgers,
  replacements,
  drift,
  recovered: false,
  leftovers: [],
});

/** Runs the command for one stack, after cleaning up an earlier run. */
export class StackRun {
  readonly progress: Progress;
  readonly #log: string;
  readonly #createLog: string;
  readonly #changes: boolean;
  #leftovers: string[] = [];

  constructor(
    readonly spec: FleetStack,
    readonly context: RunContext,
  ) {
    const { workFolder, secrets, command } = context;
    this.#log = join(workFolder, "logs", `${spec.name}.log`);
    this.#createLog = createLogOf(workFolder, spec.name);
    this.#changes = command === "up" || command === "destroy";
    this.progress = new Progress(secrets.mask, kinds[command]);
  }

  async result(): Promise<StackResult> {
    const startedAt = performance.now();
    const { context, spec, progress } = this;
    const done = (outcome: Outcome, error?: string): StackResult => ({
      ...resultOf(spec, outcome, progress),
      seconds: (performance.now() - startedAt) / 1000,
      error: error && context.secrets.mask(error),
      recovered: this.#isContinued,
      leftovers: this.#leftovers,
    });
    // Earlier versions kept the events of the engine, with passwords in clear text.
    for (const file of [this.#log, `${this.#log}.json`]) rmSync(file, { force: true });
    try {
      await this.#perform();
      return done(progress.drift.length > 0 ? "drift" : "ok");
    } catch (error) {
      return done(context.stop.raised ? "interrupted" : "failed", reasonOf(error, progress));
    }
  }

  async #perform(): Promise<void> {
    const { spec, context, progress } = this;
    const { command, known, locks, stop } = context;
    const warning = await context.proveKey?.(spec);
    if (warning !== undefined) this.#tell(`WARNING: ${warning}`);
    // A stack with its own program belongs to another project, whose stacks were not listed.
    const exists = spec.program === undefined ? known.has(spec.name) : !this.#runsProgram;
    if (!exists && command === "destroy") return;
    if (!exists && command === "drift") return void progress.drift.push("the stack has not been created yet");
    await locks.begin(spec.name, { changes: this.#changes });
    if (this.#isContinued) this.#tell("continues where a killed run stopped");
    let settled = false;
    try {
      await this.#run(exists);
      settled = true;
    } catch (error) {
      // The next run continues if the outcome of the last step is unknown, or if this run continued a killed one.
      settled = !this.#isContinued && !stop.forced && !wasKilled(error, progress);
      throw error;
    } finally {
      await context.provider?.end(spec.name);
      await locks.end(spec.name, { settled: this.#changes && settled });
    }
  }

  async #run(exists: boolean): Promise<void> {
    const { spec, context } = this;
    const { command, ownership, takeOver = false } = context;
    const workspace = await this.#workspace();
    const isNew = !exists && (await this.#clearingStaleLock(workspace, () => this.#init(workspace)));
    try {
      const claims = command === "up";
      await this.#clearingStaleLock(workspace, () => ownership.own(spec, workspace, { isNew, takeOver, claims }));
      if (this.#changes) await this.#prepareCreateLog(workspace);
      await this.#clearingStaleLock(workspace, () => this.#verb(workspace));
    } finally {
      // The preview needed a stack to compare with. If something was created in it meanwhile, Pulumi refuses to remove it.
      if (isNew && command === "preview") await workspace.removeStack(spec.name);
    }
    if (this.#isContinued && this.#changes) await this.#nameLeftovers(workspace);
  }

  /** If Pulumi YAML can express the network file, the stack runs as YAML, on the provider that all stacks share. */
  async #workspace(): Promise<Workspace> {
    const { spec, context } = this;
    const { provider, workFolder, fleet, pulumi, environment } = context;
    const yaml = provider && mayBeYaml(workFolder, spec, environment) && prepareYaml(workFolder, fleet, spec);
    const env = yaml
      ? { ...this.#environment, ...(await provider.serve(spec.name, this.#environment)) }
      : this.#environment;
    return pulumi.workspace({ cwd: yaml || (spec.program ?? workFolder), env }, fleet.secretsProvider);
  }

  get #environment(): NodeJS.ProcessEnv {
    const { environment, secrets, locks, proveKey } = this.context;
    return {
      ...stackEnvironment(environment, this.spec, secrets),
      [markName]: locks.markOf(this.spec.name),
      [createLogVariable]: this.#createLog,
      ...(proveKey && { [offlineVariable]: "true" }), // it is proven already
    };
  }

  /** Whether a killed run was at work on this stack. */
  get #isContinued(): boolean {
    return this.context.locks.unfinished.has(this.spec.name);
  }

  get #runsProgram(): boolean {
    return this.context.command === "up" || this.context.command === "preview";
  }

  /** Creates the stack. Returns false if it exists already. */
  async #init(workspace: Workspace): Promise<boolean> {
    try {
      await workspace.createStack(this.spec.name);
      return true;
    } catch (error) {
      if (!(error instanceof PulumiFailed) || !/already exists/.test(error.output)) throw error;
      return false;
    }
  }

  async #prepareCreateLog(workspace: Workspace): Promise<void> {
    const { spec, context } = this;
    if (!this.#isContinued) return removeCreateLog(this.#createLog);
    const own = () => pathsIn(spec.name, workspace);
    await continueFrom(this.#createLog, { own, others: () => context.otherPaths(spec.name) });
  }

  async #verb(workspace: Workspace): Promise<void> {
    const { spec, context, progress } = this;
    const { command, refresh, fleet, workFolder } = context;
    const { policyPacks } = fleet;
    const stack = await stackIn(spec.name, workspace);
    const options = { onEvent: this.#listen, color: "never", refresh } as const;
    if (command === "drift") return void (await stack.previewRefresh(options));
    if (command === "destroy") await stack.destroy(options);
    else {
      configure(workFolder, fleet, spec);
      const run = {
        ...options,
        policyPacks: policyPacks.map(({ path }) => path),
        // Pulumi takes the configuration of every pack, or of none.
        ...(policyPacks.some(({ config }) => config !== undefined) && {
          policyPackConfigs: policyPacks.map(({ config = "" }) => config),
        }),
      };
      // Policies of whole stacks are judged at the end of a run: only a preview judges them before anything is created.
      progress.isJudging = command === "up" && policyPacks.length > 0;
      if (command === "preview" || progress.isJudging) await stack.preview(run);
      progress.isJudging = false;
      if (command === "up") await stack.up(run);
    }
    // What the killed run had begun is settled now: Pulumi need not warn of it again.
    if (this.#isContinued && this.#changes && progress.pending)
      await stack.refresh({ clearPendingCreates: true, color: "never", onEvent: () => undefined });
  }

  /** Runs a part of the command. If a killed run left its lock on the stack, clears that and runs the part again. */
  async #clearingStaleLock<T>(workspace: Workspace, run: () => Promise<T>): Promise<T> {
    const { spec, context, progress } = this;
    const { locks, workFolder } = context;
    try {
      return await run();
    } catch (error) {
      const output = error instanceof PulumiFailed ? [error.output, ...progress.errors].join("\n") : "";
      if (!isLocked(output)) throw error;
      const holders = holdersOf(output);
      progress.errors.length = 0;
      if (!mayClear(spec.name, holders, locks))
        throw new Error(
          `${lockedBy(...holders)} If it is surely no longer at work, remove its lock: pulumi cancel --yes --stack ${spec.name} ` +
            `(in ${workFolder}), and run this again.`,
          { cause: error },
        );
      this.#tell("releases the lock of the killed run");
      await (await stackIn(spec.name, workspace)).cancel();
      return await run();
    }
  }

  /** Names objects that belong to the stack but are in no state. */
  async #nameLeftovers(workspace: Workspace): Promise<void> {
    if (!existsSync(this.#createLog)) return;
    const client = new ConsortiumClient(resolveProviderSettings({}, this.#environment));
    try {
      const { certain, doubtful } = await leftoversOf(
        this.#createLog,
        await pathsIn(this.spec.name, workspace),
        client,
      );
      this.#leftovers = [
        ...certain.map((one) => `the killed run created ${one}, which the stack does not hold`),
        ...doubtful.map((one) => `the killed run may have created ${one}`),
      ];
      this.#tell(...this.#leftovers.map((line) => `Warning: ${line}`));
      if (this.context.command === "destroy" && certain.length > 0)
        throw new Error(
          `the killed run created ${certain.join(", ")}, which the stack does not hold. Run \`consortium fleet up\`, which ` +
            "adopts it, and destroy again; or delete it with `consortium sweep --id <id>`, and run this again.",
        );
    } finally {
      await client.close();
    }
  }

  readonly #listen = (event: ApiEvent): void => {
    const lines = this.progress.take(event as unknown as EngineEvent);
    // Without Pulumi's advice on what the killed run had begun: this run follows it already.
    this.#tell(...(this.#isContinued ? lines.filter((line) => !pendingAdvice.test(line)) : lines));
  };

  #tell(...lines: string[]): void {
    const { context, spec, progress } = this;
    const masked = lines.map(context.secrets.mask);
    appendFileSync(this.#log, masked.map((line) => `${line}\n`).join(""), { mode: 0o600 });
    context.view.tell(spec.name, progress, masked);
  }
}
