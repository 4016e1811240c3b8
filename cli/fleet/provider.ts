import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { type Answer, type Order } from "../../plugin/shared";
import { sharedArgument } from "../../provider/constants";

export interface SharedOptions {
  /** The bundled plugin. */
  file: string;
  /** Gets what it prints. */
  log: string;
  /** Of the process, without the key of any organization. */
  env: NodeJS.ProcessEnv;
}

/** The provider plugin, in one process for all stacks of a run. It ends with the run, however that ends. */
export class SharedProvider {
  #child?: Promise<ChildProcess>;

  constructor(private readonly options: SharedOptions) {}

  /**
   * Serves a stack with its own settings, and answers the variable by which Pulumi finds it. Pulumi has that for debugging; to the
   * engine, it is a plugin like any other.
   */
  async serve(stack: string, environment: NodeJS.ProcessEnv): Promise<Record<string, string>> {
    const child = await (this.#child ??= this.#start());
    const gone = new AbortController();
    const answer = new Promise<Answer>((resolve, reject) => {
      const take = (message: Answer): void => (message.served === stack ? resolve(message) : undefined);
      const fail = () => reject(new Error(`the provider has ended; see ${this.options.log}`));
      child.on("message", take).once("exit", fail);
      gone.signal.addEventListener("abort", () => child.off("message", take).off("exit", fail));
    }).finally(() => gone.abort());
    tell(child, { serve: stack, environment });
    const { port } = await answer;
    const others = environment.PULUMI_DEBUG_PROVIDERS ?? "";
    return { PULUMI_DEBUG_PROVIDERS: [`consortium:${port}`, others].filter(Boolean).join(",") };
  }

  /** Ends what it does for a stack, even in the middle. */
  async end(stack: string): Promise<void> {
    const child = await this.#child;
    if (child) tell(child, { end: stack });
  }

  async close(): Promise<void> {
    const child = await this.#child?.catch(() => undefined);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.disconnect();
    await ended;
  }

  async #start(): Promise<ChildProcess> {
    const { file, env } = this.options;
    const log = openSync(this.options.log, "a", 0o600);
    const child = fork(file, [sharedArgument], { env, execArgv: [], stdio: ["ignore", log, log, "ipc"] });
    closeSync(log);
    child.on("exit", () => (this.#child = undefined));
    await once(child, "spawn");
    return child;
  }
}

const tell = (child: ChildProcess, order: Order): void => void (child.connected && child.send(order, () => undefined));
