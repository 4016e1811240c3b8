import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { PulumiCommand } from "@pulumi/pulumi/automation";

type Env = Record<string, string | undefined>;

/** Stops a run: once, as Ctrl-C does, and a second time at once. */
export class Stop {
  #raised = 0;
  readonly #listeners = new Set<() => void>();

  get raised(): boolean {
    return this.#raised > 0;
  }

  /** It was asked for again: whatever was under way is in no state. */
  get forced(): boolean {
    return this.#raised > 1;
  }

  raise(): void {
    this.#raised++;
    for (const listener of this.#listeners) listener();
  }

  /** Calls back at each; answers how to leave. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** A Pulumi command that failed; `output` is what it printed, the last part of it. */
export class PulumiFailed extends Error {
  override readonly name = "PulumiFailed";
  constructor(
    command: string,
    readonly output: string,
    readonly code: number | null,
  ) {
    super(`pulumi ${command} ended with ${code === null ? "a signal" : `exit code ${code}`}`);
  }
}

interface CliOptions {
  command: string;
  version: PulumiCommand["version"];
  /** The whole environment of the process: nothing else is inherited. */
  env: Env;
  /** File that gets what it prints. */
  log: string;
  stop: Stop;
}

/** So much of what a command printed is looked at. */
const tailBytes = 256 * 2 ** 10;

/**
 * The Pulumi CLI for one stack, in the place of the one that the Automation API runs by itself, so that
 * - it has the environment of its own organization, and nothing of another one;
 * - Ctrl-C in the terminal reaches it once, from here: for Pulumi a second one means to stop at once;
 * - it prints into a file: when this process is killed it is not, by a broken pipe, before it has written its state down.
 */
export class Cli {
  readonly command: string;
  readonly version: PulumiCommand["version"];
  readonly #options: CliOptions;

  constructor(options: CliOptions) {
    this.command = options.command;
    this.version = options.version;
    this.#options = options;
  }

  /** As the Automation API calls it. */
  async run(args: string[], cwd: string, env: Env): Promise<{ stdout: string; stderr: string; code: number }> {
    const all = [...args, ...(args.includes("--non-interactive") ? [] : ["--non-interactive"])];
    const file = openSync(this.#options.log, "a+", 0o600);
    try {
      const start = fstatSync(file).size;
      const code = await this.#ended(all, file, { cwd, env: { ...this.#options.env, ...env } });
      const output = tailOf(file, start);
      if (code !== 0) throw new PulumiFailed(args.slice(0, 2).join(" "), output, code);
      return { stdout: output, stderr: "", code };
    } finally {
      closeSync(file);
    }
  }

  #ended(args: string[], output: number, { cwd, env }: { cwd: string; env: Env }): Promise<number | null> {
    return new Promise((resolve, reject) => {
      const detached = process.platform !== "win32";
      const child: ChildProcess = spawn(this.command, args, { cwd, env, detached, stdio: ["ignore", output, output] });
      const leave = this.#options.stop.listen(() => child.kill("SIGINT"));
      child.on("error", (error) => (leave(), reject(error)));
      child.on("close", (code) => (leave(), resolve(code)));
    });
  }

  /** For the Automation API, which wants its own class and calls no more than `run`. */
  get forAutomation(): PulumiCommand {
    return this;
  }
}

function tailOf(file: number, start: number): string {
  const { size } = fstatSync(file);
  const from = Math.max(start, size - tailBytes);
  const bytes = Buffer.alloc(size - from);
  readSync(file, bytes, 0, bytes.length, from);
  return bytes.toString("utf8");
}
