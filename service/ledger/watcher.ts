import type { ChildProcess } from "node:child_process";

/** What the watcher is told, one JSON object a line. */
export type Order =
  /** Start a chain. `socket`: where it speaks. */
  | { id: string; command: string; args: string[]; cwd: string; socket: string }
  /** From now on its state is worth keeping, in this folder. */
  | { id: string; keep: string }
  /** End it; its state is not wanted any more. */
  | { id: string };

/** What it tells. `problem` is empty when the state could be kept again. */
export type News = { id: string; pid?: number; line?: string; ended?: string; problem?: string };

/** Files of a chain's folder. */
export const files = { state: "state.gz", last: "state.last.gz", height: "height" };

/**
 * Runs the chains, in a process of its own, and keeps their states. When the pipe to the service closes, however the service
 * ended, it ends them all in good order. Run as text (see `program`), so it may use nothing around it.
 */
function watch(discard: string, names: typeof files): void {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const { createInterface } = process.getBuiltinModule("node:readline");
  const { connect } = process.getBuiltinModule("node:net");
  const path = process.getBuiltinModule("node:path");
  const fs = process.getBuiltinModule("node:fs");
  /** ms: between two states, after a transaction, and otherwise; the longest that writing one at the end may take */
  const pace = { busy: 1_000, idle: 10_000, end: 3_000 };
  type Chain = {
    id: string;
    child: ChildProcess;
    socket: string;
    keep?: string;
    touched: "no" | "idle" | "busy";
    next: number;
    writing?: Promise<void> | undefined;
    ending?: boolean;
  };
  const chains = new Map<string, Chain>();
  const tell = (news: News) => process.stdout.write(`${JSON.stringify(news)}\n`);
  const now = () => performance.now();
  /** What may fail, since a disk that is full shows when the state is written. */
  const forgiven = (act: () => void) => {
    try {
      act();
    } catch {
      return;
    }
  };

  const ask = (socket: string, method: string, ...params: unknown[]) =>
    new Promise<unknown>((done, fail) => {
      const parts: Buffer[] = [];
      const connection = connect(socket, () =>
        connection.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })}\n`),
      );
      connection.on("data", (part: Buffer) => {
        parts.push(part);
        if (part.at(-1) !== 10) return;
        connection.destroy();
        done((JSON.parse(Buffer.concat(parts).toString()) as { result?: unknown }).result);
      });
      connection.once("error", fail).once("close", () => fail(new Error("the chain ended")));
    });

  /** A whole state is there at any time: the new one is written beside, and the one before is kept. */
  const write = (dir: string, state: Buffer) => {
    const [file, fresh] = [path.join(dir, names.state), path.join(dir, `${names.state}.new`)];
    const descriptor = fs.openSync(fresh, "w", 0o600);
    try {
      fs.writeFileSync(descriptor, state);
      fs.fsyncSync(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
    if (fs.existsSync(file)) fs.renameSync(file, path.join(dir, names.last));
    fs.renameSync(fresh, file);
  };

  const save = async (chain: Chain) => {
    const { id, socket, keep } = chain;
    if (keep === undefined || chain.touched === "no") return;
    const begun = now();
    chain.touched = "no";
    try {
      const state = await ask(socket, "anvil_dumpState");
      if (typeof state !== "string") throw new Error("the chain does not tell its state");
      write(keep, Buffer.from(state.slice(2), "hex"));
      tell({ id, problem: "" });
    } catch (error) {
      if (chains.has(id)) chain.touched = "idle";
      const { syscall, message } = error as NodeJS.ErrnoException;
      if (syscall !== undefined && syscall !== "connect") tell({ id, problem: message });
      forgiven(() => fs.rmSync(path.join(keep, `${names.state}.new`), { force: true }));
    }
    chain.next = now() + 20 * (now() - begun); // a large state is written less often
  };
  const saved = (chain: Chain) => (chain.writing ??= save(chain).finally(() => (chain.writing = undefined)));

  const kill = ({ child }: Chain) => {
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), 1_000).unref();
  };
  const end = (chain: Chain) => {
    if (chain.ending) return;
    chain.ending = true;
    const last = async () => {
      if (chain.keep === undefined) return;
      await ask(chain.socket, "anvil_setIntervalMining", 0); // no block may come after the state that is kept
      await chain.writing;
      await saved(chain);
    };
    const late = new Promise<void>((done) => setTimeout(done, pace.end).unref());
    void Promise.race([last(), late])
      .catch(() => undefined)
      .then(() => kill(chain));
  };

  const heard = (chain: Chain, line: string) => {
    const [, height] = /^Block Number: (\d+)$/.exec(line) ?? [];
    if (height !== undefined && chain.keep !== undefined) {
      const file = path.join(chain.keep, names.height);
      forgiven(() => fs.writeFileSync(file, height, { mode: 0o600 }));
    }
    const method = /^[a-z]+\d?_\w+$/i.test(line);
    const reads = /^(eth_(get|call|block|chain|accounts|estimate|gas|fee|sub)|net_|web3_|anvil_dumpState)/.test(line);
    if (!method || !reads) {
      const busy = method || line.startsWith("Transaction:");
      if (chain.touched !== "busy") chain.touched = busy ? "busy" : "idle";
    }
    if (!method) tell({ id: chain.id, line });
  };

  const start = ({ id, command, args, cwd, socket }: Extract<Order, { command: string }>) => {
    // memory that telling a state took is given back at once
    const env = { HOME: cwd, _RJEM_MALLOC_CONF: "dirty_decay_ms:0,muzzy_decay_ms:0,narenas:1" };
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const chain: Chain = { id, child, socket, touched: "no", next: 0 };
    chains.set(id, chain);
    const over = (why: string) => {
      if (chains.get(id) === chain && chains.delete(id)) tell({ id, ended: why });
    };
    child.on("error", (error) => over(error.message));
    child.on("close", (code, signal) => over(`it ended with ${signal ?? code}`));
    tell({ id, ...(child.pid === undefined ? {} : { pid: child.pid }) });
    // what it prints before it listens are its settings, keys among them; errors are on the other channel
    let listening = false;
    createInterface({ input: child.stdout }).on("line", (line) => {
      const text = line.trim();
      listening ||= text.startsWith("Listening on ");
      if (listening && text !== "") heard(chain, text);
    });
    createInterface({ input: child.stderr }).on("line", (line) => tell({ id, line: line.trim() }));
  };

  process.stdout.on("error", () => undefined);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGXFSZ"]) process.on(signal, () => undefined); // the pipe decides
  process.on("exit", () => fs.rmSync(discard, { recursive: true, force: true }));
  const timer = setInterval(() => {
    for (const chain of chains.values()) {
      const due = chain.next + (chain.touched === "busy" ? pace.busy : pace.idle);
      if (!chain.ending && chain.touched !== "no" && now() >= due) void saved(chain);
    }
  }, 250);
  createInterface({ input: process.stdin })
    .on("line", (text) => {
      const order = JSON.parse(text) as Order;
      if ("command" in order) return start(order);
      const chain = chains.get(order.id);
      if (!chain) return;
      if ("keep" in order) [chain.keep, chain.next] = [order.keep, now()];
      else kill(chain);
    })
    .on("close", () => {
      clearInterval(timer);
      chains.forEach(end);
    });
}

/** The program text for `node -e`; the folder given as its argument is removed at the end. */
export const program = `(${watch.toString()})(process.argv[1], ${JSON.stringify(files)})`;
