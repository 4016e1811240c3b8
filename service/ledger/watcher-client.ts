import { spawn, type ChildProcessByStdio } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** What the watcher is told, one JSON object a line. */
export type Order =
  /** Start a process. */
  | { id: string; command: string; args: string[]; cwd: string }
  /** End it. */
  | { id: string };

/** What it tells: that a process runs, or how it ended, with the last it said of errors. */
export type News = { id: string; pid?: number; ended?: string; said?: string };

const program = join(__dirname, "watcher.mjs");

type Listener = (news: Omit<News, "id">) => void;

/** The chains' processes, behind a watcher that ends them when this process is gone, however it went. */
export class Watched {
  #child: ChildProcessByStdio<Writable, Readable, null> | undefined;
  readonly #listeners = new Map<string, Listener>();
  readonly #pids = new Map<string, number>();

  /** @param discard a folder to remove when all is over */
  constructor(private readonly discard: string) {}

  start(order: Extract<Order, { command: string }>, listener: Listener): void {
    this.#listeners.set(order.id, listener);
    this.#send(order);
  }

  end(id: string): void {
    if (this.#listeners.has(id)) this.#send({ id });
  }

  /** Ends all, and waits for it. */
  async close(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    await new Promise<void>((done) => {
      child.once("close", () => done());
      child.stdin.end();
    });
  }

  #send(order: Order): void {
    (this.#child ??= this.#spawn()).stdin.write(`${JSON.stringify(order)}\n`);
  }

  #spawn() {
    const child = spawn(process.execPath, [program, this.discard], {
      cwd: this.discard,
      stdio: ["pipe", "pipe", "inherit"],
      env: {}, // the service's may contain keys and passwords
      detached: true, // its own process group: Ctrl+C at the terminal is for the service alone
    });
    child.stdin.on("error", () => undefined);
    child.once("error", () => this.#orphaned(child));
    createInterface({ input: child.stdout }).on("line", (text) => {
      const { id, ...news } = JSON.parse(text) as News;
      if (news.pid !== undefined) this.#pids.set(id, news.pid);
      if (news.ended !== undefined) this.#pids.delete(id);
      this.#listeners.get(id)?.(news);
      if (news.ended !== undefined) this.#listeners.delete(id);
    });
    child.once("close", () => this.#orphaned(child));
    return child;
  }

  /** The watcher is gone: end what it left running. */
  #orphaned(child: unknown): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    const listeners = [...this.#listeners.values()];
    for (const pid of this.#pids.values()) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        continue; // it has ended
      }
    }
    this.#pids.clear();
    this.#listeners.clear();
    for (const listener of listeners) listener({ ended: "its watcher ended" });
  }
}
