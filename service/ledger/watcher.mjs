// @ts-check
/**
 * Runs the chains' processes, in a process of its own. When the pipe to the service closes, however the service ended, it kills them
 * all: what a chain acknowledged is on disk. If the watcher is killed, too, a shell behind it does that. This is JavaScript because
 * Node.js runs the file as it is, in the sources and in the package.
 */
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";

/** @typedef {import("./watcher-client.js").Order} Order */
/** @typedef {import("./watcher-client.js").News} News */

/** The folder to remove at the end. */
const discard = process.argv[2] ?? "";
/** Characters of a process's error output that are kept. */
const most = 2_000;
/** @type {Map<string, import("node:child_process").ChildProcess>} */
const children = new Map();

/** A shell that reads the ids of the running processes, and kills the last ones it read when its input ends. */
const guard =
  process.platform === "win32"
    ? undefined
    : spawn("/bin/sh", ["-c", 'while read -r line; do pids=$line; done; [ -z "$pids" ] || kill -9 $pids'], {
        stdio: ["pipe", "ignore", "ignore"],
      });
guard?.on("error", () => undefined).stdin.on("error", () => undefined);
const show = () => guard?.stdin.write(`${[...children.values()].map(({ pid }) => pid ?? "").join(" ")}\n`);

/** @param {News} news */
const tell = (news) => process.stdout.write(`${JSON.stringify(news)}\n`);

/** @param {Extract<Order, { command: string }>} order */
function start({ id, command, args, cwd }) {
  // jemalloc returns memory at once, such as that of a dumped state
  const env = { HOME: cwd, _RJEM_MALLOC_CONF: "dirty_decay_ms:0,muzzy_decay_ms:0,narenas:1" };
  // its standard output would show keys, and what contracts print
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (/** @type {Buffer} */ part) => (said = (said + part.toString()).slice(-most)));
  children.set(id, child);
  const over = (/** @type {string} */ why) => {
    if (children.get(id) !== child || !children.delete(id)) return;
    show();
    tell({ id, ended: why, said });
  };
  child.on("error", (error) => over(error.message));
  child.on("close", (code, signal) => over(`it ended with ${signal ?? code}`));
  show();
  tell({ id, ...(child.pid === undefined ? {} : { pid: child.pid }) });
}

process.stdout.on("error", () => undefined);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGXFSZ"]) process.on(signal, () => undefined); // only the closed pipe ends it
createInterface({ input: process.stdin })
  .on("line", (text) => {
    /** @type {Order} */
    const order = JSON.parse(text);
    if ("command" in order) start(order);
    else children.get(order.id)?.kill("SIGKILL");
  })
  .on("close", () => {
    for (const child of children.values()) child.kill("SIGKILL");
    guard?.stdin.end();
    rmSync(discard, { recursive: true, force: true });
  });
