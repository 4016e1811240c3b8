// @ts-check
/** The embedded Consortium service in the background: started once, found again, stopped. */
import { execFileSync, spawn } from "node:child_process";
import { hash } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { withLock } from "../lib/cache.mjs";
import { isAlive } from "../lib/processes.mjs";
import { log, UserError } from "../lib/terminal.mjs";

/**
 * @typedef {object} Running a service, as .consortium/service.json keeps it; after a stop, the file keeps the port
 * @property {number} pid
 * @property {number} port
 * @property {string} data its data folder, which its command line names
 * @property {string} baseUrl
 * @property {string} apiKeyFile
 * @property {string | null} console address of its console, if it has one
 * @property {string} identity changes with its code and its tether
 */

const usualPort = 4280;
const startMs = 30_000;
const stopMs = 10_000;

/** Files that the build writes again when the code of the service or of its console has changed. */
const builds = [
  ...["dist", "service/dist", "console/dist"].map((folder) => `${folder}/.tsbuildinfo`),
  ...["js", "css"].map((type) => `console/dist/page/main.${type}`),
];

/** @param {string} root the repository @param {string} name */
const place = (root, name) => join(root, ".consortium", name);

/** The file with the state of the stack, for the console. @param {string} root */
export const stackFile = (root) => place(root, "stack.json");

/** @param {string} root @returns {Partial<Running>} */
export function recorded(root) {
  try {
    return JSON.parse(readFileSync(place(root, "service.json"), "utf8"));
  } catch {
    return {};
  }
}

/** The service that was started, and that nobody has stopped. @param {string} root */
export function started(root) {
  const found = recorded(root);
  return found.pid === undefined ? undefined : /** @type {Running} */ (found);
}

/**
 * Finds the running service, or starts it.
 * @param {string} root
 * @param {string} tetherId the tether service that it offers
 * @param {string} [program] instead of the built one
 * @returns {Promise<Running>}
 */
export function startService(root, tetherId, program = join(root, "dist", "cli", "consortium.js")) {
  const data = place(root, "service");
  mkdirSync(place(root, ""), { recursive: true, mode: 0o700 });
  return withLock(place(root, "service.lock"), async () => {
    const code = builds.map((file) => join(root, file)).filter((file) => existsSync(file));
    const identity = hash("sha256", [tetherId, ...code.map((file) => readFileSync(file, "utf8"))].join("\n"));
    const before = started(root);
    if (before && (await isOurs(before))) {
      if (before.identity === identity && (await answers(before))) return before;
      log("The service runs other code, or does not answer: restarting it.");
      await end(before);
    }
    const wanted = recorded(root).port ?? usualPort;
    const port = (await isFree(wanted)) ? wanted : 0;
    log("Starting the embedded Consortium service …");
    const options = ["--port", `${port}`, "--data", data, "--tether", tetherId, "--stack-export", stackFile(root)];
    const running = { ...(await launch(root, program, options)), data, identity };
    writeFileSync(place(root, "service.json"), `${JSON.stringify(running, null, 2)}\n`);
    return running;
  });
}

/**
 * @param {string} root
 * @param {number} [patienceMs] before it is killed
 * @returns {Promise<boolean>} false: none was running
 */
export async function stopService(root, patienceMs) {
  const running = started(root);
  if (!running) return false;
  const ours = await isOurs(running);
  if (ours) await end(running, patienceMs);
  writeFileSync(place(root, "service.json"), `${JSON.stringify({ port: running.port })}\n`);
  return ours;
}

/** Whether the process is the recorded service, not another one that got its number later. @param {Running} running */
async function isOurs(running) {
  if (!isAlive(running.pid)) return false;
  const line = commandLine(running.pid);
  return line === undefined ? answers(running) : line.includes("serve") && line.includes(running.data);
}

/** @param {number} pid @returns {string | undefined} undefined where it cannot be read; empty for a process that has ended */
function commandLine(pid) {
  try {
    return execFileSync("ps", ["-ww", "-o", "command=", "-p", `${pid}`], { encoding: "utf8" });
  } catch {
    return isAlive(pid) ? undefined : "";
  }
}

/**
 * @param {string} apiKeyFile
 * @param {string} url
 * @param {string} [method]
 * @returns {Promise<Response | undefined>} undefined: no answer, or an error
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
const answers = async ({ baseUrl, apiKeyFile }) => Boolean(await called(apiKeyFile, `${baseUrl}/consortia`));

/**
 * A link that opens the service's console once. The console makes one for every caller with the service's key.
 * @param {Pick<Running, "console" | "apiKeyFile">} service
 * @returns {Promise<string | undefined>} undefined: there is no console, or it does not answer
 */
export async function consoleLink({ console: url, apiKeyFile }) {
  const response = url ? await called(apiKeyFile, `${url}/links`, "POST") : undefined;
  return response && /** @type {{ link: string }} */ (await response.json()).link;
}

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

/** @param {number} port @returns {Promise<boolean>} */
const isFree = (port) =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });

/**
 * @param {string} root
 * @param {string} program
 * @param {string[]} args
 * @returns {Promise<Pick<Running, "pid" | "port" | "baseUrl" | "apiKeyFile" | "console">>}
 */
async function launch(root, program, args) {
  const file = place(root, "service.log");
  const output = openSync(file, "w", 0o600);
  const child = spawn(process.execPath, [program, "serve", ...args, "--json"], {
    cwd: root,
    detached: true,
    stdio: ["ignore", output, output],
  });
  closeSync(output);
  child.unref();
  for (const limit = Date.now() + startMs; Date.now() < limit && child.exitCode === null; await sleep(50)) {
    const [ready] = /^\{.*"baseUrl".*\}$/m.exec(readFileSync(file, "utf8")) ?? []; // the line that says that it is ready
    const { port, baseUrl, apiKeyFile, console = null } = JSON.parse(ready ?? "{}");
    const pid = Number(child.pid);
    if (ready && (await answers({ baseUrl, apiKeyFile }))) return { pid, port, baseUrl, apiKeyFile, console };
  }
  child.kill("SIGKILL");
  const last = readFileSync(file, "utf8").trim().split("\n").slice(-15).join("\n");
  throw new UserError(`The service did not start. The last lines of ${file} are:\n${last}`);
}
