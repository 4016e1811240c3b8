import { type ChildProcess, fork } from "node:child_process";
import { on, once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { type Answer, type Order, sharedArgument, UserError } from "pulumi-consortium/internal/fleet";

/** Runs the provider plugin in one process for all stacks of a run. It starts at once and ends with the run, however the run ends. */
export class SharedProvider {
  #child?: Promise<ChildProcess>;

  /** @param file the bundled plugin; log: file for its output; env: must not contain any organization's key */
  constructor(
    private readonly file: string,
    private readonly log: string,
    private readonly env: NodeJS.ProcessEnv,
  ) {
    this.#child = this.#start();
    this.#child.catch(() => undefined); // prints the address of each stack
  }

  /** Serves a stack with its own settings. Returns the variable that points Pulumi to it (meant for debugging providers). */
  async serve(stack: string, environment: NodeJS.ProcessEnv): Promise<Record<string, string>> {
    this.#child ??= this.#start();
    const port = await this.#ask(stack, { serve: stack, environment });
    if (port === undefined) throw new UserError("interrupted", `Look into ${this.log}: the provider has ended.`);
    const others = environment.PULUMI_DEBUG_PROVIDERS ?? "";
    return { PULUMI_DEBUG_PROVIDERS: [`consortium:${port}`, others].filter(Boolean).join(",") };
  }

  /** Stops serving a stack, even in the middle of a call. @param whole whether Pulumi has ended as it should */
  async end(stack: string, whole: boolean): Promise<void> {
    await this.#ask(stack, { end: stack, whole });
  }

  /** The port of the stack; undefined if it is not served. */
  async #ask(stack: string, order: Order): Promise<number | undefined> {
    const child = await this.#child;
    if (!child?.connected) return undefined;
    const answers = on(child, "message", { close: ["exit"] }) as AsyncIterable<[Answer]>;
    child.send(order, () => undefined);
    for await (const [{ served, port }] of answers) if (served === stack) return port;
    return undefined;
  }

  async close(): Promise<void> {
    const child = await this.#child?.catch(() => undefined);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.disconnect();
    await ended;
  }

  async #start(): Promise<ChildProcess> {
    const log = openSync(this.log, "a", 0o600);
    const stdio = ["ignore", log, log, "ipc"] as const;
    const child = fork(this.file, [sharedArgument], { env: this.env, execArgv: [], stdio: [...stdio] });
    closeSync(log);
    child.setMaxListeners(0); // each stack adds a listener until it is served
    child.on("exit", () => (this.#child = undefined));
    await once(child, "spawn");
    return child;
  }
}
