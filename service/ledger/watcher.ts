import type { ChildProcess } from "node:child_process";

/** What the watcher is told, one JSON object a line. */
export type Order =
  /** Start a process. */
  | { id: string; command: string; args: string[]; cwd: string }
  /** End it. */
  | { id: string };

/** What it tells: that a process runs, or how it ended, with the last it said of errors. */
export type News = { id: string; pid?: number; ended?: string; said?: string };

/**
 * Runs the chains, in a process of its own. When the pipe to the service closes, however the service ended, it ends them all: what a
 * chain knows is on disk before anybody hears of it. If the watcher is killed, too, a shell behind it does. Run as text (see `program`),
 * so it may use nothing around it.
 */
function watch(discard: string): void {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const { createInterface } = process.getBuiltinModule("node:readline");
  const fs = process.getBuiltinModule("node:fs");
  /** Characters of what a process says of errors. */
  const most = 2_000;
  const children = new Map<string, ChildProcess>();
  const tell = (news: News) => process.stdout.write(`${JSON.stringify(news)}\n`);
  /** Hears which processes run now, and ends the last ones that it heard of once nobody tells it more. */
  const guard =
    process.platform === "win32"
      ? undefined
      : spawn("/bin/sh", ["-c", 'while read -r line; do pids=$line; done; [ -z "$pids" ] || kill -9 $pids'], {
          stdio: ["pipe", "ignore", "ignore"],
        });
  guard?.on("error", () => undefined).stdin.on("error", () => undefined);
  const show = () => guard?.stdin.write(`${[...children.values()].map(({ pid }) => pid ?? "").join(" ")}\n`);

  const start = ({ id, command, args, cwd }: Extract<Order, { command: string }>) => {
    // memory that telling a state took is given back at once
    const env = { HOME: cwd, _RJEM_MALLOC_CONF: "dirty_decay_ms:0,muzzy_decay_ms:0,narenas:1" };
    // what it prints are its settings, keys among them, and what contracts make it print
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr?.on("data", (part: Buffer) => (said = (said + part.toString()).slice(-most)));
    children.set(id, child);
    const over = (why: string) => {
      if (children.get(id) !== child || !children.delete(id)) return;
      show();
      tell({ id, ended: why, said });
    };
    child.on("error", (error) => over(error.message));
    child.on("close", (code, signal) => over(`it ended with ${signal ?? code}`));
    show();
    tell({ id, ...(child.pid === undefined ? {} : { pid: child.pid }) });
  };

  process.stdout.on("error", () => undefined);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGXFSZ"]) process.on(signal, () => undefined); // the pipe decides
  createInterface({ input: process.stdin })
    .on("line", (text) => {
      const order = JSON.parse(text) as Order;
      if ("command" in order) start(order);
      else children.get(order.id)?.kill("SIGKILL");
    })
    .on("close", () => {
      for (const child of children.values()) child.kill("SIGKILL");
      guard?.stdin.end();
      fs.rmSync(discard, { recursive: true, force: true });
    });
}

/** The program text for `node -e`; the folder given as its argument is removed at the end. */
export const program = `(${watch.toString()})(process.argv[1])`;
