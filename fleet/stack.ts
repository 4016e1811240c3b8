import { appendFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
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
import { pathsIn, pulumi, pulumiEvents, PulumiFailed, type PulumiOptions, type Stop } from "./pulumi";
import { type Command, type Outcome, type StackResult } from "./results";
import { holdersOf, isLocked, lockedMessage, markName, mayClear, type RunLocks } from "./run-locks";
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

const commandLines: Record<Command, string[]> = {
  up: ["up", "--yes", "--skip-preview"],
  preview: ["preview"],
  destroy: ["destroy", "--yes", "--skip-preview"],
  drift: ["refresh", "--preview-only"],
};

/** Whether Pulumi or its provider was killed, for example because memory ran out. */
const wasKilled = (error: unknown, { errors }: Progress): boolean =>
  error instanceof PulumiFailed &&
  (error.code === null ||
    /error reading from server|transport is closing|transport: Error while dialing/.test(
      [error.output, ...errors].join("\n"),
    ));

/** Pulumi takes the configuration of every pack, or of none. */
const policyArgs = ({ fleet: { policyPacks } }: RunContext): string[] => [
  ...policyPacks.flatMap(({ path }) => ["--policy-pack", path]),
  ...(policyPacks.some(({ config }) => config !== undefined)
    ? policyPacks.flatMap(({ config = "" }) => ["--policy-pack-config", config])
    : []),
];

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
  /** The folder of the program, and the variables by which Pulumi finds the shared provider. */
  #program: { cwd: string; variables: Record<string, string> };
  #leftovers: string[] = [];

  constructor(
    readonly spec: FleetStack,
    readonly context: RunContext,
  ) {
    this.#log = join(context.workFolder, "logs", `${spec.name}.log`);
    this.#createLog = createLogOf(context.workFolder, spec.name);
    this.#program = { cwd: spec.program ?? context.workFolder, variables: {} };
    this.progress = new Progress(context.secrets.mask, kinds[context.command]);
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
    rmSync(this.#log, { force: true });
    try {
      await this.#perform();
      return done(progress.drift.length > 0 ? "drift" : "ok");
    } catch (error) {
      return done(context.stop.raised ? "interrupted" : "failed", reasonOf(error, progress));
    }
  }

  async #perform(): Promise<void> {
    const { spec, context } = this;
    const { command, known, locks, stop } = context;
    const warning = await context.proveKey?.(spec);
    if (warning !== undefined) this.#tell(`WARNING: ${warning}`);
    const changes = command === "up" || command === "destroy";
    // A stack with its own program belongs to another project, whose stacks were not listed.
    const exists = spec.program === undefined ? known.has(spec.name) : !this.#runsProgram;
    if (!exists && command === "destroy") return;
    if (!exists && command === "drift") {
      this.progress.drift.push("the stack has not been created yet");
      return;
    }
    await locks.begin(spec.name, { changes });
    if (this.#isContinued) this.#tell("continues where a killed run stopped");
    let settled = false;
    try {
      await this.#serve();
      const made = !exists && (await this.#clearingStaleLock(() => this.#init()));
      try {
        await this.#clearingStaleLock(() => this.#own(made));
        if (changes) await this.#prepareCreateLog();
        await this.#clearingStaleLock(() => this.#verb());
      } finally {
        // The preview needed a stack to compare with. If something was created in it meanwhile, Pulumi refuses to remove it.
        if (made && command === "preview") await this.#pulumi(["stack", "rm", spec.name, "--yes"]);
      }
      // What the killed run had begun is settled now: Pulumi need not warn of it again.
      if (this.#isContinued && changes && this.progress.pending)
        await this.#pulumi(["refresh", "--yes", "--skip-preview", "--clear-pending-creates", "--stack", spec.name]);
      if (this.#isContinued && changes) await this.#nameLeftovers();
      settled = true;
    } catch (error) {
      // The next run continues if the outcome of the last step is unknown, or if this run continued a killed one.
      settled = !this.#isContinued && !stop.forced && !wasKilled(error, this.progress);
      throw error;
    } finally {
      await context.provider?.end(spec.name);
      await locks.end(spec.name, { settled: changes && settled });
    }
  }

  /** If Pulumi YAML can express the network file, the stack runs as YAML, on the provider that all stacks share. */
  async #serve(): Promise<void> {
    const { spec, context } = this;
    const { provider, workFolder, fleet, environment } = context;
    if (!provider || !mayBeYaml(workFolder, spec, environment)) return;
    const cwd = prepareYaml(workFolder, fleet, spec);
    if (cwd === undefined) return;
    const variables = await provider.serve(spec.name, this.#options(spec).env);
    this.#program = { cwd, variables };
  }

  /** Whether a killed run was at work on this stack. */
  get #isContinued(): boolean {
    return this.context.locks.unfinished.has(this.spec.name);
  }

  get #runsProgram(): boolean {
    return this.context.command === "up" || this.context.command === "preview";
  }

  /** Only its own fleet file changes a stack, which remembers that file from its first `up` on. */
  async #own(isNew: boolean): Promise<void> {
    const { spec, context } = this;
    const { ownership, takeOver, command } = context;
    const options = this.#options();
    const refusal = isNew || takeOver ? undefined : await ownership.refusal(spec, options);
    if (refusal !== undefined) throw new Error(refusal);
    if (command === "up") await ownership.claim(spec, options, { isNew });
  }

  async #prepareCreateLog(): Promise<void> {
    const { spec, context } = this;
    if (!this.#isContinued) return removeCreateLog(this.#createLog);
    await continueFrom(this.#createLog, { own: () => this.#paths(), others: () => context.otherPaths(spec.name) });
  }

  readonly #paths = (): Promise<string[]> => pathsIn(this.spec.name, this.#options());

  /** Names objects that belong to the stack but are in no state. */
  async #nameLeftovers(): Promise<void> {
    if (!existsSync(this.#createLog)) return;
    const client = new ConsortiumClient(resolveProviderSettings({}, this.#options().env));
    try {
      const { certain, doubtful } = await leftoversOf(this.#createLog, await this.#paths(), client);
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

  /** Creates the stack. Returns false if it exists already. */
  async #init(): Promise<boolean> {
    const { secretsProvider } = this.context.fleet;
    const encryption = secretsProvider === undefined ? [] : ["--secrets-provider", secretsProvider];
    try {
      await this.#pulumi(["stack", "init", this.spec.name, "--no-select", ...encryption]);
      return true;
    } catch (error) {
      if (!(error instanceof PulumiFailed) || !/already exists/.test(error.output)) throw error;
      return false;
    }
  }

  /** Runs a part of the command. If a killed run left its lock on the stack, clears that and runs the part again. */
  async #clearingStaleLock<T>(run: () => Promise<T>): Promise<T> {
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
        throw new Error(lockedMessage(spec.name, holders, locks, workFolder), { cause: error });
      this.#tell("releases the lock of the killed run");
      await this.#pulumi(["cancel", "--yes", "--stack", spec.name]);
      return await run();
    }
  }

  async #verb(): Promise<void> {
    const { spec, context } = this;
    const { command, refresh, fleet, workFolder } = context;
    if (this.#runsProgram) configure(workFolder, fleet, spec);
    const options = refresh && command !== "drift" ? ["--refresh"] : [];
    const packs = this.#runsProgram ? policyArgs(context) : [];
    const run = (args: string[]) =>
      pulumiEvents([...args, ...options, ...packs, "--stack", spec.name], this.#options(spec), this.#listen);
    // Policies of whole stacks are judged at the end of a run: only a preview judges them before anything is created.
    if (command === "up" && packs.length > 0) {
      this.progress.isJudging = true;
      await run(commandLines.preview);
      this.progress.isJudging = false;
    }
    await run(commandLines[command]);
  }

  readonly #listen = (event: EngineEvent): void => {
    const lines = this.progress.take(event);
    // Without Pulumi's advice on what the killed run had begun: this run follows it already.
    this.#tell(...(this.#isContinued ? lines.filter((line) => !pendingAdvice.test(line)) : lines));
  };

  #tell(...lines: string[]): void {
    const { context, spec, progress } = this;
    const masked = lines.map(context.secrets.mask);
    appendFileSync(this.#log, masked.map((line) => `${line}\n`).join(""));
    context.view.tell(spec.name, progress, masked);
  }

  #pulumi(args: string[]): Promise<string> {
    return pulumi(args, this.#options());
  }

  #options({ adopt } = { adopt: false }): PulumiOptions {
    const { spec, context } = this;
    const { environment, secrets, locks, stop } = context;
    return {
      cwd: this.#program.cwd,
      env: {
        ...stackEnvironment(environment, { ...spec, adopt }, secrets),
        [markName]: locks.markOf(spec.name),
        [createLogVariable]: this.#createLog,
        ...(context.proveKey && { [offlineVariable]: "true" }), // it is proven already
        ...this.#program.variables,
      },
      log: this.#log,
      stop,
      started: (pid) => locks.started(spec.name, pid),
    };
  }
}
