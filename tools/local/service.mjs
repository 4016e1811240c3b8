// @ts-check
/** The embedded Consortium service in the background: start it once, find it again, stop it. */
import { execFileSync, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { withLock } from "../lib/cache.mjs";
import { fingerprint } from "../lib/prepare.mjs";
import { isAlive } from "../lib/processes.mjs";
import { log, UserError } from "../lib/terminal.mjs";

/**
 * @typedef {object} Running what .consortium/service.json keeps of a service
 * @property {number} pid
 * @property {number} port
 * @property {string} data its data folder, by which its command line is recognised
 * @property {string} baseUrl
 * @property {string} apiKeyFile
 * @property {string | null} console address of its console, if it has one
 * @property {string} identity changes with its code and its arguments
 */
/** @typedef {Running | { port: number, pid?: undefined } | undefined} Recorded after a stop the port is kept */

export const usualPort = 4280;
const startMs = 30_000;
const stopMs = 10_000;

/** @param {string} root the repository */
const places = (root) => {
  const folder = join(root, ".consortium");
  const file = (/** @type {string} */ name) => join(folder, name);
  return {
    folder,
    data: file("service"),
    log: file("service.log"),
    stack: file("stack.json"),
    record: file("service.json"),
    lock: file("service.lock"),
  };
};

/** @param {string} root @returns {Recorded} */
export function recorded(root) {
  try {
    return JSON.parse(readFileSync(places(root).record, "utf8"));
  } catch {
    return undefined;
  }
}

/**
 * The service that answers, started if need be.
 * @param {string} root
 * @param {string} tetherId the tether service that it offers
 * @param {string} [program] instead of the built one
 * @returns {Promise<Running>}
 */
export function startService(root, tetherId, program = join(root, "dist", "cli", "consortium.js")) {
  const { folder, lock, record, data, stack } = places(root);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return withLock(lock, async () => {
    const identity = `${fingerprint(["cli", "console", "inventory", "observe", "service"], root)} ${tetherId}`;
    const before = recorded(root);
    if (before?.pid !== undefined && (await isOurs(before))) {
      if (before.identity === identity && (await answers(before))) return before;
      log("The service runs other code, or does not answer: starting it anew.");
      await end(before);
      // A process that has ended may hold its port for a moment longer.
      for (let looks = 0; looks < 20 && !(await tryPort(before.port)); looks++) await sleep(50);
    }
    const port = await choosePort([before?.port, usualPort]);
    log(`Starting the embedded Consortium service on port ${port} …`);
    const running = await launch(root, program, [
      ...["--port", `${port}`, "--data", data, "--tether", tetherId],
      ...["--stack-export", stack],
    ]);
    const found = { ...running, port, data, identity };
    writeFileSync(record, `${JSON.stringify(found, null, 2)}\n`);
    return found;
  });
}

/**
 * @param {string} root
 * @param {number} [patienceMs] before it is ended by force
 * @returns {Promise<boolean>} false: none was running
 */
export async function stopService(root, patienceMs) {
  const running = recorded(root);
  if (running?.pid === undefined) return false;
  const ours = await isOurs(running);
  if (ours) await end(running, patienceMs);
  writeFileSync(places(root).record, `${JSON.stringify({ port: running.port })}\n`);
  return ours;
}

/**
 * Whether that process is the service that was recorded, and not a stranger that got its number later.
 * @param {Running} running
 */
export async function isOurs(running) {
  if (!isAlive(running.pid)) return false;
  const line = commandLine(running.pid);
  return line === undefined ? answers(running) : line.includes("serve") && line.includes(running.data);
}

/** @param {number} pid @returns {string | undefined} undefined where it cannot be read; empty for a process that has ended */
function commandLine(pid) {
  try {
    if (process.platform === "linux") return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    if (process.platform === "win32") return undefined;
    return execFileSync("ps", ["-ww", "-o", "command=", "-p", `${pid}`], { encoding: "utf8" });
  } catch {
    return isAlive(pid) ? undefined : "";
  }
}

/**
 * @param {string} apiKeyFile
 * @param {string} url
 * @param {string} [method]
 * @returns {Promise<Response | undefined>} undefined: it does not answer, or not well
 */
async function called(apiKeyFile, url, method = "GET") {
  try {
    const headers = { Authorization: `Bearer ${readFileSync(apiKeyFile, "utf8").trim()}` };
    const response = await fetch(url, { method, headers, signal: AbortSignal.timeout(3_000) });
    return response.ok ? response : undefined;
  } catch {
    return undefined;
  }
}

/** @param {Pick<Running, "baseUrl" | "apiKeyFile">} service */
export const answers = async ({ baseUrl, apiKeyFile }) => Boolean(await called(apiKeyFile, `${baseUrl}/consortia`));

/**
 * A link that opens the service's console once; the console makes one for whoever has the service's key.
 * @param {Pick<Running, "console" | "apiKeyFile">} service
 * @returns {Promise<string | undefined>} undefined: there is no console, or it does not answer
 */
export async function consoleLink({ console: url, apiKeyFile }) {
  const response = url ? await called(apiKeyFile, `${url}/links`, "POST") : undefined;
  return response && /** @type {{ link: string }} */ (await response.json()).link;
}

/** The file with the state of the stack, for the console. @param {string} root */
export const stackFile = (root) => places(root).stack;

/** @param {Running} running */
async function end(running, patienceMs = stopMs) {
  const gone = async () => {
    for (const limit = Date.now() + patienceMs; Date.now() < limit; await sleep(50))
      if (!isAlive(running.pid)) return true; // a process that is ending has no command line any more, but its port still
    return false;
  };
  process.kill(running.pid, "SIGTERM");
  if (await gone()) return;
  process.kill(running.pid, "SIGKILL");
  if (!(await gone())) throw new UserError(`The service (process ${running.pid}) does not end.`);
}

/**
 * @param {(number | undefined)[]} wanted in the order of preference
 * @returns {Promise<number>} the first free one, else any free one
 */
export async function choosePort(wanted) {
  for (const port of wanted) if (port !== undefined && (await tryPort(port))) return port;
  return /** @type {Promise<number>} */ (tryPort(0));
}

/** @param {number} port @returns {Promise<number | undefined>} */
function tryPort(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? address?.port : undefined));
    });
  });
}

/**
 * @param {string} root
 * @param {string} program
 * @param {string[]} args
 * @returns {Promise<Pick<Running, "pid" | "baseUrl" | "apiKeyFile" | "console">>}
 */
async function launch(root, program, args) {
  const { log } = places(root);
  const output = openSync(log, "w", 0o600);
  const child = spawn(process.execPath, [program, "serve", ...args, "--json"], {
    cwd: root,
    detached: true,
    stdio: ["ignore", output, output],
  });
  closeSync(output);
  child.unref();
  for (const limit = Date.now() + startMs; Date.now() < limit && child.exitCode === null; await sleep(50)) {
    const ready = announcement(readFileSync(log, "utf8"));
    if (ready && child.pid !== undefined && (await answers(ready))) return { ...ready, pid: child.pid };
  }
  child.kill("SIGKILL");
  const last = readFileSync(log, "utf8").trim().split("\n").slice(-15).join("\n");
  throw new UserError(`The service did not start; the last lines of ${log} are:\n${last}`);
}

/** @param {string} text @returns {Pick<Running, "baseUrl" | "apiKeyFile" | "console"> | undefined} the line that says it is ready */
function announcement(text) {
  const line = text.split("\n").find((candidate) => candidate.startsWith("{") && candidate.includes('"baseUrl"'));
  try {
    const { baseUrl, apiKeyFile, console = null } = JSON.parse(line ?? "");
    return { baseUrl, apiKeyFile, console };
  } catch {
    return undefined;
  }
}
