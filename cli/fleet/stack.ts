import { appendFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type EngineEvent } from "../../inventory/plan/read";
import { ConsortiumClient, resolveSettings } from "../../provider/api";
import { createLogVariable } from "../../provider/core/create-log";
import { offlineVariable } from "../../provider/core/session";
import { type Fleet, type FleetStack } from "./schema";
import { holdersOf, isLocked, lockedMessage, markName, mayClear, type RunRecords } from "./run-records";
import { continueFrom, createsOf, forgetCreates, idsIn, leftoversOf } from "./leftovers";
import { type Ownership } from "./ownership";
import { type Counts, Progress } from "./progress";
import { configure, mayBeYaml, prepareYaml } from "./project";
import { type SharedProvider } from "./provider";
import { pulumi, pulumiEvents, PulumiFailed, type PulumiOptions, type Stop } from "./pulumi";
import { type Secrets, stackEnvironment } from "./secrets";

export type Command = "up" | "preview" | "destroy" | "drift";
export type Outcome = "ok" | "failed" | "drift" | "interrupted" | "not begun";

/** The result of one stack. */
export interface Result {
  stack: string;
  organization: string;
  outcome: Outcome;
  counts: Counts;
  seconds: number;
  /** Why it failed, in full. */
  error?: string;
  /** Ledgers that are replaced or deleted. */
  ledgers: string[];
  /** What else is replaced: "Node trade/prod/acme-1". */
  replacements: string[];
  /** What differs from the state. */
  drift: string[];
  /** Continued where a killed run stopped. */
  recovered: boolean;
  /** What a killed run may have created and no state has. */
  leftovers: string[];
}

/** What all stacks of a run have in common. */
export interface RunContext {
  fleet: Fleet;
  command: Command;
  workFolder: string;
  records: RunRecords;
  secrets: Secrets;
  environment: NodeJS.ProcessEnv;
  /** Whether to refresh first. */
  refresh: boolean;
  /** Whether to take over what belongs to another fleet file. */
  takeOver: boolean;
  ownership: Ownership;
  /** In a preview, asks for the key of a stack, once for each organization. @returns a warning that nobody was told yet */
  proveKey?: (stack: FleetStack) => Promise<string | undefined>;
  /** Serves the stacks that are YAML; undefined where Pulumi has no host of YAML. */
  provider?: SharedProvider;
  /** Stacks that exist. */
  known: ReadonlySet<string>;
  /** Ids in the states of all stacks but one, which the fleet knows of. */
  idsBut: (stack: string) => Promise<string[]>;
  stop: Stop;
  tell: (stack: string, progress: Progress, lines: string[]) => void;
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

/** The flag for configurations has to be there for every pack, or for none. */
const policyArgs = ({ fleet: { policyPacks } }: RunContext): string[] => [
  ...policyPacks.flatMap(({ path }) => ["--policy-pack", path]),
  ...(policyPacks.some(({ config }) => config !== undefined)
    ? policyPacks.flatMap(({ config = "" }) => ["--policy-pack-config", config])
    : []),
];

const pendingAdvice = /pending operations from previous deployment|`pulumi refresh`/;

/** The reason of a failure, for people: what Pulumi's engine said, else what the CLI printed. */
function reasonOf(error: unknown, { errors }: Progress): string {
  if (errors.length > 0) return errors.join("\n");
  if (!(error instanceof PulumiFailed)) return error instanceof Error ? error.message : String(error);
  const said = error.output.split("\n").filter((line) => /^\s*error: /.test(line));
  const lines = said.length > 0 ? said : error.output.trim().split("\n").slice(-5);
  return [error.message, ...new Set(lines.map((line) => line.trim().replace(/^error: /, "")))].join(": ");
}

/** Runs the command for one stack, after cleaning up an earlier run. */
export class StackRun {
  readonly progress: Progress;
  readonly #log: string;
  readonly #creates: string;
  /** Folder of the program, and how Pulumi finds its provider, where that is the shared one. */
  #program: { cwd: string; variables: Record<string, string> };
  #leftovers: string[] = [];

  constructor(
    readonly spec: FleetStack,
    readonly context: RunContext,
  ) {
    this.#log = join(context.workFolder, "logs", `${spec.name}.log`);
    this.#creates = createsOf(context.workFolder, spec.name);
    this.#program = { cwd: spec.program ?? context.workFolder, variables: {} };
    this.progress = new Progress(context.secrets.mask, kinds[context.command]);
  }

  async result(): Promise<Result> {
    const startedAt = performance.now();
    const { context, spec, progress } = this;
    const done = (outcome: Outcome, error?: string): Result => ({
      stack: spec.name,
      organization: spec.organization.name,
      outcome,
      counts: progress.counts,
      seconds: (performance.now() - startedAt) / 1000,
      error: error && context.secrets.mask(error),
      ledgers: progress.ledgers,
      replacements: progress.replacements,
      drift: progress.drift,
      recovered: this.#isLeft,
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
    const { command, known, records, stop } = context;
    const warning = await context.proveKey?.(spec);
    if (warning !== undefined) this.#tell(`WARNING: ${warning}`);
    const changes = command === "up" || command === "destroy";
    // A stack with its own program belongs to another project, whose stacks were not listed.
    const exists = spec.program === undefined ? known.has(spec.name) : !this.#runsProgram;
    if (!exists && command === "destroy") return;
    if (!exists && command === "drift") {
      this.progress.drift.push("the stack has not been made yet");
      return;
    }
    await records.begin(spec.name, { changes });
    if (this.#isLeft) this.#tell("continues where a killed run stopped");
    let settled = false;
    try {
      await this.#serve();
      const made = !exists && (await this.#init());
      try {
        await this.#own(made);
        if (changes) await this.#prepare();
        await this.#unlocking(() => this.#verb());
      } finally {
        // Pulumi needs a stack to compare with. If it was filled in the meantime, Pulumi refuses to remove it.
        if (made && command === "preview") await this.#pulumi(["stack", "rm", spec.name, "--yes"]);
      }
      // The killed run's pending operations are resolved, so Pulumi need not warn again.
      if (this.#isLeft && changes && this.progress.pending)
        await this.#pulumi(["refresh", "--yes", "--skip-preview", "--clear-pending-creates", "--stack", spec.name]);
      if (this.#isLeft && changes) await this.#nameLeftovers();
      settled = true;
    } catch (error) {
      // Where the last step is not known, the next run adopts what it finds, and likewise what a killed run left.
      settled = !this.#isLeft && !stop.forced && !wasKilled(error, this.progress);
      throw error;
    } finally {
      await context.provider?.end(spec.name);
      await records.end(spec.name, { settled: changes && settled });
    }
  }

  /** Where Pulumi YAML can say the network file, the program is that, and the provider is the one that the stacks share. */
  async #serve(): Promise<void> {
    const { spec, context } = this;
    const { provider, workFolder, fleet, environment } = context;
    if (!provider || !mayBeYaml(workFolder, spec, environment)) return;
    const cwd = prepareYaml(workFolder, fleet, spec);
    if (cwd === undefined) return;
    const variables = await provider.serve(spec.name, this.#options({ adopt: spec.adopt }).env);
    this.#program = { cwd, variables };
  }

  /** Whether a killed run was at work on this stack. */
  get #isLeft(): boolean {
    return this.context.records.unfinished.has(this.spec.name);
  }

  get #runsProgram(): boolean {
    return this.context.command === "up" || this.context.command === "preview";
  }

  /** A stack is changed by its own fleet file only, which it remembers from its first `up` on. */
  async #own(isNew: boolean): Promise<void> {
    const { spec, context } = this;
    const { ownership, takeOver, command } = context;
    const options = this.#options({ adopt: false });
    const refusal = isNew || takeOver ? undefined : await ownership.refusal(spec, options);
    if (refusal !== undefined) throw new Error(refusal);
    if (command === "up") await ownership.claim(spec, options, { isNew });
  }

  /** What an earlier run wrote of its creates is of use only where it was killed. */
  async #prepare(): Promise<void> {
    const { spec, context } = this;
    if (!this.#isLeft) return forgetCreates(this.#creates);
    await continueFrom(this.#creates, { own: () => this.#ids(), others: () => context.idsBut(spec.name) });
  }

  /** Ids in the state of the stack. */
  #ids(): Promise<string[]> {
    return exportedIds(this.spec.name, join(this.context.workFolder, "logs"), this.#options({ adopt: false }));
  }

  /** Names objects that belong to the stack but are in no state. */
  async #nameLeftovers(): Promise<void> {
    if (!existsSync(this.#creates)) return;
    const client = new ConsortiumClient(resolveSettings({ env: this.#options({ adopt: false }).env }));
    try {
      const { certain, doubtful } = await leftoversOf(this.#creates, await this.#ids(), client);
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

  /** Does the work; if a killed run left its lock on the stack, clears that and does it again. */
  async #unlocking(work: () => Promise<void>): Promise<void> {
    const { spec, context, progress } = this;
    const { records, workFolder } = context;
    try {
      await work();
    } catch (error) {
      const output = error instanceof PulumiFailed ? [error.output, ...progress.errors].join("\n") : "";
      if (!isLocked(output)) throw error;
      const holders = holdersOf(output);
      progress.errors.length = 0;
      if (!mayClear(spec.name, holders, records))
        throw new Error(lockedMessage(spec.name, holders, records, workFolder), { cause: error });
      this.#tell("releases the lock of the killed run");
      await this.#pulumi(["cancel", "--yes", "--stack", spec.name]);
      await work();
    }
  }

  async #verb(): Promise<void> {
    const { spec, context } = this;
    const { command, refresh, fleet, workFolder } = context;
    if (this.#runsProgram) configure(workFolder, fleet, spec);
    const options = refresh && command !== "drift" ? ["--refresh"] : [];
    const packs = this.#runsProgram ? policyArgs(context) : [];
    const run = (args: string[]) =>
      pulumiEvents(
        [...args, ...options, ...packs, "--stack", spec.name],
        this.#options({ adopt: spec.adopt }),
        this.#listen,
      );
    // Policies of whole stacks are judged at the end of a run: before anything is made, that is of a preview.
    if (command === "up" && packs.length > 0) {
      this.progress.isJudging = true;
      await run(commandLines.preview);
      this.progress.isJudging = false;
    }
    await run(commandLines[command]);
  }

  readonly #listen = (event: EngineEvent): void => {
    const lines = this.progress.take(event);
    // Pulumi's advice about what the killed run had begun is followed here already.
    this.#tell(...(this.#isLeft ? lines.filter((line) => !pendingAdvice.test(line)) : lines));
  };

  #tell(...lines: string[]): void {
    const { context, spec, progress } = this;
    const masked = lines.map(context.secrets.mask);
    appendFileSync(this.#log, masked.map((line) => `${line}\n`).join(""));
    context.tell(spec.name, progress, masked);
  }

  #pulumi(args: string[]): Promise<string> {
    return pulumi(args, this.#options({ adopt: false }));
  }

  #options({ adopt }: { adopt: boolean }): PulumiOptions {
    const { spec, context } = this;
    const { environment, secrets, records, stop } = context;
    return {
      cwd: this.#program.cwd,
      env: {
        ...stackEnvironment(environment, { ...spec, adopt }, secrets),
        [markName]: records.markOf(spec.name),
        [createLogVariable]: this.#creates,
        ...(this.context.proveKey && { [offlineVariable]: "true" }), // it was asked for already
        ...this.#program.variables,
      },
      log: this.#log,
      stop,
      started: (pid) => records.started(spec.name, pid),
    };
  }
}

/** Ids in the state of a stack; none where there is no such stack. */
export async function exportedIds(name: string, folder: string, options: PulumiOptions): Promise<string[]> {
  const file = join(folder, `${name}.${process.pid}.state.json`);
  try {
    await pulumi(["stack", "export", "--stack", name, "--file", file], options);
    return idsIn(file);
  } catch (error) {
    if (error instanceof PulumiFailed && /no stack named/.test(error.output)) return [];
    throw error;
  } finally {
    rmSync(file, { force: true });
  }
}
