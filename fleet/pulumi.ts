import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync, readSync, rmSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import {
  type EngineEvent,
  eventIn,
  noPulumi,
  classOf,
  type Definition,
  pathOf,
  type Props,
  definitions,
} from "pulumi-consortium/internal/fleet";

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

/** A Pulumi command failed. `output` is the last part of what it printed. */
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

export interface PulumiOptions {
  cwd: string;
  /** The whole environment of the process: nothing else is inherited. */
  env: NodeJS.ProcessEnv;
  /** Gets what it prints. */
  log: string;
  stop: Stop;
  started?: (pid: number) => void;
}

const pollMs = 100;
const tailBytes = 256 * 2 ** 10;

/**
 * Runs the Pulumi CLI and returns what it printed. @throws PulumiFailed
 * - It prints into a file: if this process is killed, a broken pipe would end Pulumi before it has written its state.
 * - It has a process group of its own, so that Ctrl-C in the terminal reaches it only from here: Pulumi ends at once at the second.
 */
export const pulumi = (args: string[], options: PulumiOptions): Promise<string> =>
  logged(args, options, (log) => ended(args, { out: log, err: log }, options));

/** Runs a Pulumi command with `--json`, and passes on the events of its engine as they come. @throws PulumiFailed */
export async function pulumiEvents(
  args: string[],
  options: PulumiOptions,
  onEvent: (event: EngineEvent) => void,
): Promise<void> {
  const events = openSync(`${options.log}.json`, "w+", 0o600);
  const readNew = lineReader(events, (line) => {
    const event = eventIn(line);
    if (event) onEvent(event);
  });
  const timer = setInterval(readNew, pollMs);
  try {
    await logged(args, options, (log) => ended([...args, "--json"], { out: events, err: log }, options));
  } finally {
    clearInterval(timer);
    readNew();
    closeSync(events);
  }
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
export async function resourcesIn(stack: string, options: PulumiOptions): Promise<StateResource[]> {
  const file = `${options.log}.${randomUUID()}.state.json`;
  try {
    await pulumi(["stack", "export", "--stack", stack, "--file", file], options);
    const { deployment } = JSON.parse(readFileSync(file, "utf8")) as { deployment?: { resources?: StateResource[] } };
    return deployment?.resources ?? [];
  } catch (error) {
    if (error instanceof PulumiFailed && /no stack named/.test(error.output)) return [];
    throw error;
  } finally {
    rmSync(file, { force: true });
  }
}

/** The paths of the objects in the state of a stack. */
export const pathsIn = async (stack: string, options: PulumiOptions): Promise<string[]> =>
  (await resourcesIn(stack, options)).flatMap(({ id, type, inputs, outputs }) => {
    const definition = Object.values<Definition>(definitions).find((one) => one.type === classOf(type ?? ""));
    return id === undefined || id === "" || !definition ? [] : [pathOf(definition, { ...inputs, ...outputs }, id)];
  });

/** Does the work, which ends with an exit code, and returns what it added to the log. */
async function logged(
  args: string[],
  options: PulumiOptions,
  work: (log: number) => Promise<number | null>,
): Promise<string> {
  const log = openSync(options.log, "a+", 0o600);
  try {
    const start = fstatSync(log).size;
    const code = await work(log);
    const output = tailOf(log, start);
    if (code !== 0) throw new PulumiFailed(args.slice(0, 2).join(" "), output, code);
    return output;
  } finally {
    closeSync(log);
  }
}

function ended(
  args: string[],
  { out, err }: { out: number; err: number },
  { cwd, env, stop, started }: PulumiOptions,
): Promise<number | null> {
  const all = [...args, "--color", "never", "--non-interactive"];
  const detached = process.platform !== "win32";
  return new Promise((resolve, reject) => {
    const child = spawn("pulumi", all, { cwd, env, detached, stdio: ["ignore", out, err] });
    stop.running.add(child);
    child.on("spawn", () => started?.(child.pid!));
    child.on("error", ({ code, message }: NodeJS.ErrnoException) =>
      reject(new Error(code === "ENOENT" ? noPulumi : `Pulumi cannot be started: ${message}.`)),
    );
    child.on("close", (code) => {
      stop.running.delete(child);
      resolve(code);
    });
  });
}

/** Returns a function that passes on each line that was added to a file since its last call. */
function lineReader(file: number, take: (line: string) => void): () => void {
  const [buffer, decoder] = [Buffer.alloc(2 ** 16), new StringDecoder()];
  let position = 0;
  let unfinished = "";
  return () => {
    for (let size; (size = readSync(file, buffer, 0, buffer.length, position)) > 0; position += size) {
      const lines = (unfinished + decoder.write(buffer.subarray(0, size))).split("\n");
      unfinished = lines.pop()!;
      lines.forEach(take);
    }
  };
}

function tailOf(file: number, start: number): string {
  const { size } = fstatSync(file);
  const from = Math.max(start, size - tailBytes);
  const bytes = Buffer.alloc(size - from);
  readSync(file, bytes, 0, bytes.length, from);
  return bytes.toString("utf8");
}
