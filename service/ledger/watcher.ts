import type { ChildProcess } from "node:child_process";

/** What the watcher is told, one JSON object a line: to start a chain, or to end it. */
export type Order = { id: string; command: string; args: string[]; cwd: string } | { id: string; command?: undefined };

/** What it tells. */
export type News = { id: string; pid?: number; line?: string; ended?: string };

/**
 * Runs the chains, in a process of its own. When the pipe to the service closes, however the service ended, it ends them
 * all in good order, so that each still writes its state. Run as text (see `program`), so it may use nothing around it.
 */
function watch(discard: string | undefined): void {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const { createInterface } = process.getBuiltinModule("node:readline");
  const { rmSync } = process.getBuiltinModule("node:fs");
  const chains = new Map<string, ChildProcess>();
  const tell = (news: News) => process.stdout.write(`${JSON.stringify(news)}\n`);
  const end = (chain: ChildProcess | undefined) => {
    chain?.kill("SIGTERM");
    setTimeout(() => chain?.kill("SIGKILL"), 5_000).unref();
  };

  process.stdout.on("error", () => undefined);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined); // the pipe decides
  process.on("exit", () => discard !== undefined && rmSync(discard, { recursive: true, force: true }));
  createInterface({ input: process.stdin })
    .on("line", (text) => {
      const order = JSON.parse(text) as Order;
      if (order.command === undefined) return end(chains.get(order.id));
      const { id, command, args, cwd } = order;
      const chain = spawn(command, args, { cwd, env: { HOME: cwd }, stdio: ["ignore", "pipe", "pipe"] });
      chains.set(id, chain);
      const over = (why: string) => {
        if (!chains.delete(id)) return;
        tell({ id, ended: why });
      };
      chain.on("error", (error) => over(error.message));
      chain.on("close", (code, signal) => over(`it ended with ${signal ?? code}`));
      tell({ id, ...(chain.pid === undefined ? {} : { pid: chain.pid }) });
      for (const output of [chain.stdout, chain.stderr]) {
        createInterface({ input: output }).on("line", (line) => {
          // each call is a line with its method, which nobody needs
          if (line.trim() !== "" && !/^[a-z]+\d?_\w+$/i.test(line)) tell({ id, line: line.trim() });
        });
      }
    })
    .on("close", () => chains.forEach(end));
}

/** The program text for `node -e`; a folder given as its argument is removed at the end. */
export const program = `(${watch.toString()})(process.argv[1])`;
