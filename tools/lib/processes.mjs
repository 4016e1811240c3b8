// @ts-check
/** Child processes: run and listen, run attached to the terminal, stop cleanly when interrupted. */
import { execFileSync, spawn } from "node:child_process";
import { accessSync, constants, readdirSync, readFileSync, statSync } from "node:fs";
import { constants as osConstants } from "node:os";
import { delimiter, join } from "node:path";
import { clearTimeout, setTimeout } from "node:timers";
import { setTimeout as sleep } from "node:timers/promises";
import { isatty } from "node:tty";
import { UserError } from "./terminal.mjs";

/** @typedef {NodeJS.ProcessEnv} Env */
/** @typedef {{ cwd?: string, env?: Env, timeoutMs?: number }} RunOptions */
/** @typedef {{ code: number | null, stdout: string, text: string, ms: number }} Finished code: null if it was killed; text: all that it printed */

/** @type {NodeJS.Signals[]} */
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];

/** @param {string} file */
export function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The environment of this process without settings of Pulumi and this package, but with the folder of Pulumi's own files. @returns {Env} */
export const neutralEnv = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(PULUMI_(?!HOME$)|CONSORTIUM_)/.test(name)));

/** Every executable of that name on PATH, in its order. @param {string} name */
export const onPath = (name, path = process.env.PATH ?? "") =>
  path
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .filter(isExecutable);

/** Clean-up work if a signal ends this process. @type {Set<{ tidy: () => void }>} */
const begun = new Set();
/** @param {NodeJS.Signals} name */
function end(name) {
  signals.forEach((one) => process.off(one, end));
  for (const { tidy } of [...begun].reverse()) tidy();
  process.kill(process.pid, name);
}

/**
 * Does work. If a signal ends this process meanwhile, it tidies up first, in reverse order.
 * @template T
 * @param {() => Promise<T>} work
 * @param {() => void} tidy
 * @returns {Promise<T>}
 */
export async function tidying(work, tidy) {
  const one = { tidy };
  if (begun.size === 0) signals.forEach((name) => process.on(name, end));
  begun.add(one);
  try {
    return await work();
  } finally {
    begun.delete(one);
    if (begun.size === 0) signals.forEach((name) => process.off(name, end));
  }
}

/** The end of a child. @param {import("node:child_process").ChildProcess} child @returns {Promise<Finished>} rejects if it cannot be started */
export function finished(child) {
  const startedAt = performance.now();
  let stdout = "";
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (part) => void ((stdout += part), (text += part)));
  child.stderr?.setEncoding("utf8").on("data", (part) => void (text += part));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, text, ms: performance.now() - startedAt }));
  });
}

/**
 * Runs a program without a terminal and keeps what it prints. It ends with this process. With a time limit, it leads its own process
 * group, so its children end with it.
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} [options]
 */
export function run(command, args, { cwd, env = process.env, timeoutMs } = {}) {
  const detached = timeoutMs !== undefined;
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached });
  /** @param {NodeJS.Signals} name */
  const kill = (name) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    if (!detached) child.kill(name);
    else process.kill(-child.pid, name);
  };
  const limit = timeoutMs === undefined ? undefined : setTimeout(() => kill("SIGKILL"), timeoutMs);
  return tidying(
    () => finished(child).finally(() => clearTimeout(limit)),
    () => kill("SIGINT"),
  );
}

/**
 * Runs a program that must succeed.
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<string>} its standard output
 */
export async function succeed(command, args, options) {
  const { code, stdout, text } = await run(command, args, options);
  if (code !== 0) throw new UserError(`${command} ${args.join(" ")} ended with ${code}:\n${text.trim()}`);
  return stdout;
}

/**
 * A small process in the group of this one, which ends with it, and by the first signal that the whole group gets: the terminal sends
 * Ctrl-C to all, and so does `kill` with the group's number.
 * @returns {(name: NodeJS.Signals) => Promise<boolean>} call after a signal: whether the group has got it
 */
function groupWatch() {
  const attended = isatty(0) || isatty(1) || isatty(2);
  /** @returns {Promise<boolean | undefined>} undefined: there is no such program */
  const watch = () => {
    const child = spawn("/bin/sh", ["-c", "read -r _"], { stdio: ["pipe", "ignore", "ignore"] });
    child.stdin.on("error", () => undefined);
    child.unref();
    return new Promise((resolve) => {
      child.on("exit", (_, signal) => resolve(signal !== null));
      child.on("error", () => resolve(undefined));
    });
  };
  let ended = watch();
  return async (name) => {
    const isOfGroup = await Promise.race([ended, sleep(groupMs, false, { ref: false })]);
    if (isOfGroup) ended = watch();
    return isOfGroup ?? (attended && name === "SIGINT");
  };
}

/** How long the group's other processes may take to end by a signal. */
const groupMs = 300;

/**
 * Runs a program in place of this one, with its terminal and its signals. A signal to the whole group reaches the program without us:
 * passed on as well, it would be a second one, which Pulumi takes for "stop at once".
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: Env }} [options]
 * @returns {Promise<{ code: number, signal: NodeJS.Signals | null }>}
 */
export function runAttached(command, args, options = {}) {
  const hasGroupGot = groupWatch();
  return new Promise((resolve, reject) => {
    /** @param {NodeJS.Signals} name */
    const pass = (name) => void hasGroupGot(name).then((has) => has || child.kill(name));
    const settle = () => signals.forEach((name) => process.off(name, pass));
    // Before the start: from then on a signal must not end this process and leave the child behind.
    signals.forEach((name) => process.on(name, pass));
    const child = spawn(command, args, { ...options, stdio: "inherit" });
    child.on("error", (error) => void (settle(), reject(error)));
    child.on("exit", (code, signal) => {
      settle();
      resolve({ code: code ?? 128 + (signal ? osConstants.signals[signal] : 0), signal });
    });
  });
}

/**
 * @param {number} pid
 * @returns {boolean} false also for a zombie, such as in a container without an init
 */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
  try {
    if (process.platform !== "linux" || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))) return true;
    return readdirSync(`/proc/${pid}/task`).length > 1; // its ports are taken until its last thread has ended
  } catch {
    return true;
  }
}

/** @typedef {{ pid: number, parent: number, rss: number, command: string }} Process rss: bytes */

/** @param {number} root @returns {Process[]} the process itself, then those below it */
export function treeOf(root) {
  const lines = execFileSync("ps", ["-eww", "-o", "pid=,ppid=,rss=,args="], { encoding: "utf8" }).trim().split("\n");
  const all = lines.map((line) => {
    const [, pid, parent, kB, command = ""] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return { pid: Number(pid), parent: Number(parent), rss: Number(kB) * 1024, command };
  });
  /** @param {Process} one @returns {Process[]} */
  const withChildren = (one) => [one, ...all.filter(({ parent }) => parent === one.pid).flatMap(withChildren)];
  return all.filter(({ pid }) => pid === root).flatMap(withChildren);
}
