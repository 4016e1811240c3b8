import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import limited from "p-limit";
import { check, lock } from "proper-lockfile";
import { remainsOf, type Started } from "./processes";

/** What a run writes down before it begins with a stack, so that the next run knows what to make of a lock, or of objects in no state. */
export interface Run extends Started {
  command: string;
  pid: number;
  host: string;
  startedAt: string;
  /** Stacks that it, or a killed run before it, began and did not end. */
  unfinished: Record<string, number[]>;
}

/** Each run holds a lock on its own record. A killed one no longer refreshes it, which makes the lock stale after so long. */
const staleMs = 6_000;
const record = { stale: staleMs, update: 1_000, realpath: false };

/** Whoever holds the journal works on it for a moment, or for as long as `pulumi cancel` takes: a minute at most. */
const waiting = { retries: 600, minTimeout: 20, maxTimeout: 100 };

/** The runs of one work folder: a file each. This one is the journal's own. */
export class Journal {
  readonly own: Run;
  /** Stacks that a killed run had left unfinished. */
  readonly left = new Set<string>();
  readonly #folder: string;
  readonly #oneByOne = limited(1);
  #release: () => Promise<void> = () => Promise.resolve();

  private constructor(workFolder: string, command: string) {
    this.#folder = join(workFolder, "runs");
    const startedAt = new Date().toISOString();
    this.own = { id: randomUUID(), command, pid: process.pid, host: hostname(), startedAt, unfinished: {} };
  }

  /** Begins a run of this process. */
  static async open(workFolder: string, command: string): Promise<Journal> {
    const journal = new Journal(workFolder, command);
    mkdirSync(journal.#folder, { recursive: true });
    // A machine that slept may come back to a lock that another run took for stale: what it does is still in the journal.
    const release = await lock(journal.#file(journal.own.id), { ...record, onCompromised: () => undefined });
    journal.#release = () => release().catch(() => undefined);
    journal.#write(journal.own);
    return journal;
  }

  /** Its record stays where a stack was not finished: for the next run, this one is dead. */
  async close(): Promise<void> {
    if (Object.keys(this.own.unfinished).length === 0) this.#remove(this.own);
    await this.#release();
  }

  /** Runs that were killed. One that may be at work on one of these stacks is given the time to show that it is. */
  async deadRuns(stacks: readonly string[] = []): Promise<Run[]> {
    for (const end = Date.now() + staleMs; ; await sleep(200)) {
      const others = this.#others();
      const alive = new Set<Run>();
      for (const run of others) if (await this.#isAlive(run)) alive.add(run);
      const unsure = [...alive].some((run) => stacks.some((stack) => isUnfinished(run, stack)));
      if (!unsure || Date.now() > end) return others.filter((run) => !alive.has(run));
    }
  }

  /** Runs of other processes that are at work on a stack. */
  async othersAt(stack: string): Promise<Run[]> {
    const dead = new Set((await this.deadRuns()).map(({ id }) => id));
    return this.#others().filter((run) => isUnfinished(run, stack) && !dead.has(run.id));
  }

  /**
   * Begins with a stack. What a killed run had left of it becomes a matter of this run, once nothing of that run is at work any
   * more. Never while another run looks whether somebody is at work on this stack.
   * @param changes whether a kill of this run would leave it unfinished, too
   */
  begin(stack: string, { changes }: { changes: boolean }): Promise<void> {
    return this.exclusively(async () => {
      const left = (await this.deadRuns()).filter((run) => isUnfinished(run, stack) && remainsOf(run).length === 0);
      if (left.length > 0) this.left.add(stack);
      if (changes || left.length > 0) this.own.unfinished[stack] = left.flatMap((run) => run.unfinished[stack]!);
      this.#write(this.own);
      for (const run of left) {
        delete run.unfinished[stack];
        if (Object.keys(run.unfinished).length === 0) this.#remove(run);
        else this.#write(run);
      }
    });
  }

  /** A Pulumi process was started for a stack. */
  started(stack: string, pid: number): void {
    this.own.unfinished[stack]?.push(pid);
    this.#write(this.own);
  }

  /** It is known what became of a stack. */
  end(stack: string): void {
    delete this.own.unfinished[stack];
    this.#write(this.own);
  }

  /** Does something that depends on what the runs write down, while no other run, of whatever process, does. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#oneByOne(async () => {
      const release = await lock(this.#folder, { retries: waiting });
      try {
        return await work();
      } finally {
        await release();
      }
    });
  }

  #others(): Run[] {
    const files = readdirSync(this.#folder).filter((file) => file.endsWith(".json"));
    return files.flatMap((file) => {
      try {
        const run = JSON.parse(readFileSync(join(this.#folder, file), "utf8")) as Run;
        return run.id === this.own.id ? [] : [run];
      } catch {
        return []; // ended in this moment
      }
    });
  }

  readonly #isAlive = ({ id }: Run): Promise<boolean> => check(this.#file(id), record);

  #write(run: Run): void {
    const draft = `${this.#file(run.id)}.draft`;
    writeFileSync(draft, JSON.stringify(run));
    renameSync(draft, this.#file(run.id));
  }

  readonly #remove = ({ id }: Run): void => rmSync(this.#file(id), { force: true });
  readonly #file = (id: string): string => join(this.#folder, `${id}.json`);
}

const isUnfinished = (run: Run, stack: string): boolean => Object.hasOwn(run.unfinished, stack);
