import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { client } from "./helpers";

const root = resolve(__dirname, "../..");
const script = join(root, "dist/cli/consortium.js");

/** These processes run what is in dist/, which must be built from the current sources. */
export function built(): void {
  const compiler = join(root, "node_modules/typescript-7/bin/tsc");
  const said = execFileSync(process.execPath, [compiler, "--build", "console", "fleet", "--dry"], { cwd: root });
  if (said.includes("would build")) throw new Error("dist/ is not built from these sources. Run `npm run build`.");
}

interface Ready {
  baseUrl: string;
  url: string;
  pid: number;
  dataDir: string | null;
  apiKeyFile: string;
  organizations: { name: string; id: string }[];
}

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** A program that starts Node. */
interface Through {
  command: string;
  args: string[];
}

/** `out` is what it has printed so far. */
function run(args: string[], env: Record<string, string> = {}, through?: Through) {
  const { command, args: before } = through ?? { command: process.execPath, args: [] };
  const child = spawn(command, [...before, script, ...args], { env: { ...process.env, ...env }, stdio: "pipe" });
  children.push(child);
  const out = { stdout: "", stderr: "" };
  child.stdout.on("data", (part: Buffer) => (out.stdout += part.toString()));
  child.stderr.on("data", (part: Buffer) => (out.stderr += part.toString()));
  return { child, out };
}

/** Starts the command. */
export function begun(args: string[], env?: Record<string, string>) {
  const { child, out } = run(args, env);
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, ...out }));
  return { child, out, ended };
}

/** Runs the command to its end. */
export const consortium = (args: string[], env?: Record<string, string>) => begun(args, env).ended;

/** Starts `consortium serve` on a free port and waits for its first line. */
export async function serve(args: string[], env?: Record<string, string>, through?: Through) {
  const { child, out } = run(["serve", "--port", "0", ...args], env, through);
  const ended = once(child, "exit").then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as string | null,
  }));
  const lines: string[] = [];
  const reader = createInterface(child.stdout).on("line", (line) => lines.push(line));
  await Promise.race([
    once(reader, "line"),
    ended.then(({ code }) => Promise.reject(new Error(`it ended with ${code}`))),
  ]);
  return { child, ended, lines, out };
}

/** The same with `--json`, and a client with its key. `stop` ends it as it should. */
export async function serveJson(args: string[], env?: Record<string, string>, through?: Through) {
  const { child, ended, lines, out } = await serve([...args, "--json"], env, through);
  const ready = JSON.parse(lines[0]!) as Ready;
  const key = readFileSync(ready.apiKeyFile, "utf8").trim();
  const stop = async () => {
    child.kill("SIGTERM");
    expect(await ended).toEqual({ code: 0, signal: null });
  };
  return { child, ended, out, ready, key, send: client(ready.baseUrl, key), stop };
}
