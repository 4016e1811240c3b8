import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type EngineEvent, LocalWorkspace, type PulumiFn, Stack } from "@pulumi/pulumi/automation";
import { Network } from "../../sdk/network/network";
import { Changes, type Counts } from "./changes";
import { type FleetStack } from "./file";
import { type Journal, type OwnRun } from "./journal";
import { deadRuns, holdersOf, isLocked, lockedMessage, mayClear } from "./locks";
import { Cli, PulumiFailed, type Stop } from "./pulumi";
import { type Secrets } from "./secrets";
import { stackEnvironment } from "./workspace";

export type Command = "up" | "preview" | "destroy" | "drift";
export type Outcome = "ok" | "failed" | "drift" | "interrupted" | "not begun";

/** What became of one stack. */
export interface Result {
  stack: string;
  organization: string;
  outcome: Outcome;
  counts: Counts;
  seconds: number;
  /** Why it failed, all of it. */
  error?: string;
  /** Ledgers that are replaced or deleted. */
  ledgers: string[];
  /** What is not as it should be. */
  drift: string[];
  /** It went on with what a killed run had left. */
  recovered: boolean;
}

/** What all stacks of a run have in common. */
export interface Shop {
  command: Command;
  workFolder: string;
  journal: Journal;
  run: OwnRun;
  secrets: Secrets;
  environment: Record<string, string | undefined>;
  pulumi: { command: string; version: Cli["version"] };
  secretsProvider?: string;
  /** Look first at what is there. */
  refresh: boolean;
  /** Stacks that exist. */
  known: ReadonlySet<string>;
  stop: Stop;
  tell: (stack: string, changes: Changes, lines: string[]) => void;
}

const kinds = { up: "done", destroy: "done", preview: "planned", drift: "compared" } as const;

/** Pulumi, or the process that talks to the service for it, was killed: for want of memory, say. */
const wasKilled = (error: unknown): boolean =>
  error instanceof PulumiFailed &&
  (error.code === null || /error reading from server|transport is closing/.test(error.output));

const pendingAdvice = /pending operations from previous deployment|`pulumi refresh`/;

/** What a person reads of an exception: the message of anything else than Pulumi's own classes. */
function reasonOf(error: unknown, changes: Changes): string {
  if (changes.errors.length > 0) return changes.errors.join("\n");
  if (!(error instanceof PulumiFailed)) return error instanceof Error ? error.message : String(error);
  const said = error.output.split("\n").filter((line) => /^\s*error: /.test(line));
  const lines = said.length > 0 ? said : error.output.trim().split("\n").slice(-5);
  return [error.message, ...new Set(lines.map((line) => line.trim().replace(/^error: /, "")))].join(": ");
}

/** One stack of a fleet: brings it where the command wants it, whatever an earlier run left. */
export class StackRun {
  readonly changes: Changes;
  #recovered = false;

  constructor(
    readonly spec: FleetStack,
    readonly shop: Shop,
  ) {
    // How the key gets to Pulumi is nothing that a person knows of.
    const source = `apiKey of the organization ${spec.organization.name}`;
    const said = (text: string): string =>
      shop.secrets
        .mask(text)
        .replaceAll("environment variable CONSORTIUM_API_KEY", source)
        .replaceAll(
          /Unset CONSORTIUM_API_KEY, or set it to a key of/g,
          "Correct the fleet file: it has to be a key of",
        );
    this.changes = new Changes(said, kinds[shop.command]);
  }

  async result(): Promise<Result> {
    const startedAt = performance.now();
    const { shop, spec, changes } = this;
    const done = (outcome: Outcome, error?: string): Result => ({
      ...{ stack: spec.name, organization: spec.organization.name, outcome, counts: changes.counts },
      seconds: (performance.now() - startedAt) / 1000,
      ...{ error: error && shop.secrets.mask(error), ledgers: changes.ledgers, drift: changes.drift },
      recovered: this.#recovered,
    });
    rmSync(this.#log, { force: true });
    try {
      await this.#perform();
      return done(changes.drift.length > 0 ? "drift" : "ok");
    } catch (error) {
      if (shop.command === "drift" && changes.drift.length > 0 && changes.errors.length === 0) return done("drift");
      return done(shop.stop.raised ? "interrupted" : "failed", reasonOf(error, changes));
    }
  }

  async #perform(): Promise<void> {
    const { spec, shop } = this;
    const { known } = shop;
    // A program of its own is a project of its own, whose stacks nobody has listed.
    const exists =
      spec.program === undefined ? known.has(spec.name) : shop.command !== "up" && shop.command !== "preview";
    if (!exists && shop.command === "destroy") return;
    if (!exists && shop.command === "drift") {
      this.changes.drift.push("the stack has not been made yet");
      return;
    }
    const changing = shop.command === "up" || shop.command === "destroy";
    const left = this.#isLeft();
    if (changing) await shop.run.begin(spec.name);
    let settled = false;
    try {
      const made = !exists && (await this.#init());
      try {
        await this.#unlocking(() => this.#verb(spec.adopt || left));
      } finally {
        // Pulumi has nothing to compare with otherwise. One that somebody fills meanwhile is not removed: Pulumi refuses.
        if (made && shop.command === "preview") await this.#plain(["stack", "rm", spec.name, "--yes"]);
      }
      if (left && changing) await this.#clearPending();
      if (changing) await shop.journal.settle(spec.name);
      settled = true;
    } catch (error) {
      settled = !shop.stop.forced && !wasKilled(error);
      throw error;
    } finally {
      // Where nobody knows what was done last, the next run adopts it.
      if (changing && settled) shop.run.end(spec.name);
    }
  }

  /** Whether it was made by this: somebody else may have been faster. */
  async #init(): Promise<boolean> {
    const { secretsProvider } = this.shop;
    const encryption = secretsProvider === undefined ? [] : ["--secrets-provider", secretsProvider];
    try {
      await this.#plain(["stack", "init", this.spec.name, "--no-select", ...encryption]);
      return true;
    } catch (error) {
      if (!(error instanceof PulumiFailed) || !/already exists/.test(error.output)) throw error;
      return false;
    }
  }

  /** Whether a killed run was at work on this stack; nothing of it is left. */
  #isLeft(): boolean {
    const { spec, shop } = this;
    this.#recovered = deadRuns(spec.name, shop.journal).length > 0;
    if (this.#recovered) shop.tell(spec.name, this.changes, ["goes on with what a killed run left"]);
    return this.#recovered;
  }

  /** Runs it; if a dead run of ours has left its lock, ends that and runs it again. */
  async #unlocking(work: () => Promise<void>): Promise<void> {
    const { spec, shop } = this;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof PulumiFailed) || !isLocked(error.output)) throw error;
      const holders = holdersOf(error.output);
      await shop.journal.exclusively(async () => {
        if (!mayClear(spec.name, holders, shop.journal))
          throw new Error(lockedMessage(spec.name, holders, shop.journal, shop.workFolder), { cause: error });
        shop.tell(spec.name, this.changes, ["ends the lock of the killed run"]);
        await this.#plain(["cancel", "--yes", "--stack", spec.name]);
      });
      this.changes.errors.length = 0;
      await work();
    }
  }

  async #verb(adopt: boolean): Promise<void> {
    const stack = await this.#stack(adopt);
    const options = { color: "never" as const, suppressProgress: true, suppressOutputs: true, onEvent: this.#listen };
    const { refresh } = this.shop;
    switch (this.shop.command) {
      case "up":
        return void (await stack.up({ ...options, refresh }));
      case "preview":
        return void (await stack.preview({ ...options, refresh }));
      case "destroy":
        return void (await stack.destroy({ ...options, refresh }));
      case "drift":
        return void (await stack.previewRefresh({ ...options, expectNoChanges: true }));
    }
  }

  readonly #listen = (event: EngineEvent): void => {
    const { changes, shop, spec } = this;
    const lines = changes.take(event);
    // Pulumi's advice about what the killed run had begun: it is followed here.
    shop.tell(spec.name, changes, this.#recovered ? lines.filter((line) => !pendingAdvice.test(line)) : lines);
  };

  /** What the killed run had begun is known by now, and needs no warning any more. */
  async #clearPending(): Promise<void> {
    if (!this.changes.pending) return;
    await this.#plain(["refresh", "--yes", "--skip-preview", "--clear-pending-creates", "--stack", this.spec.name]);
  }

  #cli(adopt: boolean): Cli {
    const { shop, spec } = this;
    const env = stackEnvironment(shop.environment, spec, shop.secrets, adopt);
    return new Cli({ ...shop.pulumi, env, log: this.#log, stop: shop.stop });
  }

  get #log(): string {
    return join(this.shop.workFolder, "logs", `${this.spec.name}.log`);
  }

  #plain(args: string[]): Promise<unknown> {
    return this.#cli(false).run([...args, "--color", "never"], this.#folder, {});
  }

  get #folder(): string {
    return this.spec.program ?? this.shop.workFolder;
  }

  async #stack(adopt: boolean): Promise<Stack> {
    const { spec } = this;
    const program: PulumiFn | undefined = spec.definition === undefined ? undefined : networkProgram(spec);
    const pulumiCommand = this.#cli(adopt).forAutomation;
    const workspace = await LocalWorkspace.create({ workDir: this.#folder, program, pulumiCommand });
    // That it exists is known, and its outputs and history are not asked for: each would be one more process.
    workspace.selectStack = () => Promise.resolve();
    const stack = await Stack.select(spec.name, workspace);
    return Object.assign(stack, { outputs: () => Promise.resolve({}), info: () => Promise.resolve(undefined) });
  }
}

const networkProgram =
  ({ definition, network, name }: FleetStack): PulumiFn =>
  () => {
    if (!existsSync(definition!)) throw new Error(`The network file of ${name} is gone: ${definition!}`);
    return Promise.resolve(void Network.fromFile(definition!, { name: network }));
  };
