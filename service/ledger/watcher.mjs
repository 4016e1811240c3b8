// @ts-check
/**
 * Runs the chains, in a process of its own. When the pipe to the service closes, however the service ended, it ends them all: what a
 * chain knows is on disk before anybody hears of it. If the watcher is killed, too, a shell behind it does. JavaScript, since Node.js
 * runs this file as it is, in the sources and in the package.
 */
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";

/** @typedef {import("./watcher-client.js").Order} Order */
/** @typedef {import("./watcher-client.js").News} News */

/** A folder that is removed at the end. */
const discard = process.argv[2] ?? "";
/** Characters of what a process says of errors. */
const most = 2_000;
/** @type {Map<string, import("node:child_process").ChildProcess>} */
const children = new Map();

/** Hears which processes run now, and ends the last ones that it heard of once nobody tells it more. */
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
  // memory that telling a state took is given back at once
  const env = { HOME: cwd, _RJEM_MALLOC_CONF: "dirty_decay_ms:0,muzzy_decay_ms:0,narenas:1" };
  // what it prints are its settings, keys among them, and what contracts make it print
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
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGXFSZ"]) process.on(signal, () => undefined); // the pipe decides
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
