import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import limited from "p-limit";
import { lock } from "proper-lockfile";
import { beginningOf, leadersOf, remainsOf, signal, thisMachine } from "./processes";

/** What a run writes down before it begins with a stack, so that the next run knows what to make of a lock, or of objects in no state. */
export interface Run {
  id: string;
  command: string;
  pid: number;
  /** When that process began, since ids of processes are used again. */
  began?: string;
  host: string;
  boot: string;
  startedAt: string;
  /** Stacks that were begun, and of which no end is written down. */
  unfinished: string[];
}

export interface Machine {
  host: string;
  boot: string;
  beginningOf(pid: number): string | undefined;
  remainsOf(run: string): number[];
  leadersOf: (pids: readonly number[]) => number[];
  signal(pid: number, name: NodeJS.Signals): void;
  now(): number;
  sleep(ms: number): Promise<void>;
}

export const realMachine = (): Machine => ({
  ...thisMachine(),
  ...{ beginningOf, remainsOf, leadersOf, signal },
  now: () => Date.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
});

/** A run shows that it is at work this often, for those who cannot see its process. */
export const beatMs = 5_000;
/** One that has not for so long, on a machine of the same name, is dead: that machine was started anew. */
export const silentMs = 60_000;
/** How long what is left of a dead run may take to end after Ctrl-C, before it is killed; and after that. */
const patienceMs = { interrupted: 45_000, killed: 10_000 };

/** Whoever holds the journal works on it for a moment, or for as long as `pulumi cancel` takes: a minute at most. */
const waiting = { retries: 600, minTimeout: 20, maxTimeout: 100 };

export type Verdict = "alive" | "dead" | "elsewhere";

/** The runs of one work folder, each a file of its own. */
export class Journal {
  readonly #folder: string;
  readonly #oneByOne = limited(1);

  constructor(
    workFolder: string,
    readonly machine: Machine = realMachine(),
  ) {
    this.#folder = join(workFolder, "runs");
    mkdirSync(this.#folder, { recursive: true });
  }

  /** Begins a run of this process. */
  open(command: string): OwnRun {
    const { host, boot } = this.machine;
    const began = this.machine.beginningOf(process.pid);
    const startedAt = new Date(this.machine.now()).toISOString();
    const run: Run = { id: randomUUID(), command, pid: process.pid, began, host, boot, startedAt, unfinished: [] };
    return new OwnRun(this, run);
  }

  /** Runs before this one that left stacks unfinished, or are still at work. */
  runs(): Run[] {
    const files = readdirSync(this.#folder).filter((file) => file.endsWith(".json"));
    return files.flatMap((file) => {
      try {
        return [JSON.parse(readFileSync(join(this.#folder, file), "utf8")) as Run];
      } catch {
        return []; // ended in this moment
      }
    });
  }

  /** Whether a run is at work, on this machine or on one that cannot be seen from here. */
  verdict(run: Run): Verdict {
    if (run.host !== this.machine.host) return "elsewhere";
    if (run.boot === this.machine.boot)
      return run.began !== undefined && this.machine.beginningOf(run.pid) === run.began ? "alive" : "dead";
    const beat = statSync(this.#file(run.id), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return this.machine.now() - beat > silentMs ? "dead" : "elsewhere";
  }

  /** Whether anything that a dead run started is still there. */
  remains = (run: Run): boolean => this.machine.remainsOf(run.id).length > 0;

  /** Ends what a dead run left: as Ctrl-C does, so that Pulumi writes its state down; by force where that takes too long. */
  async endRemains(run: Run): Promise<boolean> {
    const { machine } = this;
    const all = (pids: number[]): number[] => pids;
    for (const [name, ms, chosen] of [
      ["SIGINT", patienceMs.interrupted, machine.leadersOf],
      ["SIGKILL", patienceMs.killed, all],
    ] as const) {
      for (const pid of chosen(machine.remainsOf(run.id))) machine.signal(pid, name);
      const end = machine.now() + ms;
      while (machine.remainsOf(run.id).length > 0 && machine.now() < end) await machine.sleep(200);
    }
    return machine.remainsOf(run.id).length === 0;
  }

  /** Does something that depends on what the runs write down, while no other run, of whatever process, does. */
  exclusively<T>(work: () => T | Promise<T>): Promise<T> {
    return this.#oneByOne(async () => {
      const release = await lock(this.#folder, { retries: waiting });
      try {
        return await work();
      } finally {
        await release();
      }
    });
  }

  /** A stack is as it should be: what dead runs left of it is settled. */
  async settle(stack: string): Promise<void> {
    const left = () => this.runs().filter((run) => run.unfinished.includes(stack) && this.verdict(run) === "dead");
    if (left().length === 0) return;
    await this.exclusively(() => {
      for (const run of left()) {
        const unfinished = run.unfinished.filter((one) => one !== stack);
        if (unfinished.length === 0) this.remove(run.id);
        else this.write({ ...run, unfinished });
      }
    });
  }

  write(run: Run): void {
    const draft = `${this.#file(run.id)}.draft`;
    writeFileSync(draft, JSON.stringify(run));
    renameSync(draft, this.#file(run.id));
  }

  beat(id: string): void {
    const now = this.machine.now() / 1000;
    if (statSync(this.#file(id), { throwIfNoEntry: false })) utimesSync(this.#file(id), now, now);
  }

  remove(id: string): void {
    rmSync(this.#file(id), { force: true });
  }

  readonly #file = (id: string): string => join(this.#folder, `${id}.json`);
}

/** The run of this process. */
export class OwnRun {
  readonly #beating: NodeJS.Timeout;
  constructor(
    readonly journal: Journal,
    readonly run: Run,
  ) {
    journal.write(run);
    this.#beating = setInterval(() => journal.beat(run.id), beatMs).unref();
  }

  /** Never while another run looks whether somebody is at work on this stack. */
  async begin(stack: string): Promise<void> {
    await this.journal.exclusively(() => {
      this.run.unfinished.push(stack);
      this.journal.write(this.run);
    });
  }

  end(stack: string): void {
    this.run.unfinished = this.run.unfinished.filter((one) => one !== stack);
    this.journal.write(this.run);
  }

  close(): void {
    clearInterval(this.#beating);
    if (this.run.unfinished.length === 0) this.journal.remove(this.run.id);
  }
}
