import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LocalWorkspace, PulumiCommand, Stack, Workspace } from "@pulumi/pulumi/automation";
import { noPulumi, classOf, type Definition, pathOf, type Props, definitions } from "pulumi-consortium/internal/fleet";

/** Stops a run: first as Ctrl-C does, then at once. */
export class Stop {
  #times = 0;
  readonly running = new Set<ChildProcess>();

  get raised(): boolean {
    return this.#times > 0;
  }

  /** Raised twice: the outcome of running stacks is unknown. */
  get forced(): boolean {
    return this.#times > 1;
  }

  raise(): void {
    this.#times++;
    for (const child of this.running) child.kill("SIGINT");
  }
}

/** A Pulumi command failed. `output` is what it said. */
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

interface Place {
  cwd: string;
  /** The whole environment of each process: nothing else is inherited. */
  env: NodeJS.ProcessEnv;
}

/** Older ones write the events of an update into a file, with passwords in clear text. */
const oldest = [3, 216] as const;

/**
 * The CLI, as the Automation API runs it. Unlike the command of the API, it hands on no variables of this process, and each process has
 * a group of its own, so that Ctrl-C in a terminal reaches it only from here: Pulumi ends at once at the second.
 */
export class Pulumi implements PulumiCommand {
  readonly command = "pulumi";
  version: PulumiCommand["version"] = null;

  private constructor(private readonly stop: Stop) {}

  /** @throws if there is no CLI on the PATH, or an older one than a fleet can use */
  static async find(stop: Stop, { cwd, env }: Place): Promise<Pulumi> {
    const pulumi = new Pulumi(stop);
    const text = (await pulumi.run(["version"], cwd, env)).stdout.trim();
    const [major = 0, minor = 0] = text.match(/\d+/g)?.map(Number) ?? [];
    if (major < oldest[0] || (major === oldest[0] && minor < oldest[1]))
      throw new Error(
        `A fleet needs Pulumi ${oldest.join(".")} or newer, and the one on the PATH is ${text}. Update it.`,
      );
    pulumi.version = { toString: () => text.replace(/^v/, "") } as PulumiCommand["version"];
    return pulumi;
  }

  /** @throws PulumiFailed */
  async run(args: string[], cwd: string, env: NodeJS.ProcessEnv): Promise<{ stdout: string; stderr: string; code: 0 }> {
    const isUpdate = args.includes("--event-log");
    if (isUpdate && this.stop.raised) throw new Error("it was interrupted before Pulumi began");
    // If this process is killed, a broken pipe would end an update before it has written its state. A file without a name does not.
    const said = isUpdate ? unnamedFile() : undefined;
    const output = { stdout: "", stderr: "" };
    try {
      const code = await new Promise<number | null>((resolve, reject) => {
        const child = spawn(
          this.command,
          [...args, ...(args[1] === "init" ? ["--no-select"] : []), "--non-interactive"],
          {
            cwd,
            env: { ...env, PULUMI_AUTOMATION_API: "true" },
            detached: process.platform !== "win32",
            stdio: said === undefined ? ["ignore", "pipe", "pipe"] : ["ignore", "ignore", said],
          },
        );
        this.stop.running.add(child);
        for (const name of ["stdout", "stderr"] as const)
          child[name]?.setEncoding("utf8").on("data", (text: string) => (output[name] += text));
        child.on("error", ({ code, message }: NodeJS.ErrnoException) =>
          reject(new Error(code === "ENOENT" ? noPulumi : `Pulumi cannot be started: ${message}.`)),
        );
        child.on("close", (code) => {
          this.stop.running.delete(child);
          resolve(code);
        });
      });
      if (said !== undefined) output.stderr = textIn(said);
      if (code !== 0) throw new PulumiFailed(args.slice(0, 2).join(" "), output.stderr || output.stdout, code);
      return { ...output, code };
    } finally {
      if (said !== undefined) closeSync(said);
    }
  }

  /** What the API does in a folder. The SDK is loaded now, not where nothing is run. */
  async workspace({ cwd, env }: Place, secretsProvider?: string): Promise<LocalWorkspace> {
    const { LocalWorkspace } = await import("@pulumi/pulumi/automation/index.js");
    const envVars = Object.fromEntries(
      Object.entries(env).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
    );
    return LocalWorkspace.create({ workDir: cwd, envVars, secretsProvider, pulumiCommand: this });
  }
}

/** A stack that exists. */
export async function stackIn(name: string, workspace: Workspace): Promise<Stack> {
  const { Stack } = await import("@pulumi/pulumi/automation/index.js");
  // Each of these would start the CLI once more, and nothing needs what it tells.
  workspace.selectStack = () => Promise.resolve();
  workspace.stackOutputs = () => Promise.resolve({});
  const stack = await Stack.select(name, workspace);
  stack.info = () => Promise.resolve(undefined);
  return stack;
}

/** A file that is gone with the last process that has it open. */
function unnamedFile(): number {
  const path = join(tmpdir(), `consortium-fleet-${randomUUID()}`);
  const file = openSync(path, "wx+", 0o600);
  rmSync(path);
  return file;
}

function textIn(file: number): string {
  const bytes = Buffer.alloc(fstatSync(file).size);
  readSync(file, bytes, 0, bytes.length, 0);
  return bytes.toString("utf8");
}

/** A resource in the state of a stack. */
export interface StateResource {
  type: string;
  urn: string;
  id?: string;
  inputs?: Props;
  outputs?: Props;
}

/** The resources in the state of a stack; none if there is no such stack. */
export async function resourcesIn(stack: string, workspace: Workspace): Promise<StateResource[]> {
  try {
    const { deployment } = (await workspace.exportStack(stack)) as { deployment?: { resources?: StateResource[] } };
    return deployment?.resources ?? [];
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Whether there is no such stack. */
export const isMissing = (error: unknown): boolean =>
  error instanceof PulumiFailed && /no stack named/.test(error.output);

/** The paths of the objects in the state of a stack. */
export const pathsIn = async (stack: string, workspace: Workspace): Promise<string[]> =>
  (await resourcesIn(stack, workspace)).flatMap(({ id, type, inputs, outputs }) => {
    const definition = Object.values<Definition>(definitions).find((one) => one.type === classOf(type ?? ""));
    return id === undefined || id === "" || !definition ? [] : [pathOf(definition, { ...inputs, ...outputs }, id)];
  });
