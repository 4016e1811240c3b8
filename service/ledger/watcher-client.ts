import { spawn, type ChildProcessByStdio } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** An order to the watcher, one JSON object a line. */
export type Order =
  /** Start a process. */
  | { id: string; command: string; args: string[]; cwd: string }
  /** End it. */
  | { id: string };

/** News from the watcher: a process runs, or ended, with its last error output. */
export type News = { id: string; pid?: number; ended?: string; said?: string };

const program = join(__dirname, "watcher.mjs");

type Listener = (news: Omit<News, "id">) => void;

/** Starts the chains' processes through a watcher, which ends them when this process is gone, however it ended. */
export class Watched {
  #child: ChildProcessByStdio<Writable, Readable, null> | undefined;
  readonly #listeners = new Map<string, Listener>();
  readonly #pids = new Map<string, number>();

  /** @param discard the folder that the watcher removes at the end */
  constructor(private readonly discard: string) {}

  start(order: Extract<Order, { command: string }>, listener: Listener): void {
    this.#listeners.set(order.id, listener);
    this.#send(order);
  }

  end(id: string): void {
    if (this.#listeners.has(id)) this.#send({ id });
  }

  /** Ends all processes, and waits for that. */
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
      env: {}, // the service's environment may contain keys and passwords
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

  /** Ends what a watcher left running that has ended itself. */
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
