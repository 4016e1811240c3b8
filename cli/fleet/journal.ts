import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { check, lock } from "proper-lockfile";
import { endRemains, remainsOf, type Started } from "./processes";

/** What a run records before it changes a stack, so that the next run can judge locks, and objects that are in no state. */
export interface Entry extends Started {
  command: string;
  pid: number;
  host: string;
  startedAt: string;
}

/** A run holds a lock on the entry of each stack that it works on. A killed run no longer renews it, and it becomes stale. */
const held = (stale: number) => ({ stale, update: 1_000, realpath: false });
const untilStale = (stale: number) => ({ retries: stale / 200 + 5, factor: 1, minTimeout: 200, maxTimeout: 200 });

interface Taken {
  entry: Entry;
  release: () => Promise<void>;
}

/** The stacks of one work folder that are at work, or were when a run was killed: an entry and a lock each. */
export class Journal {
  /** Stacks that a killed run left unfinished, and that this run continues. */
  readonly left = new Set<string>();
  readonly #folder: string;
  readonly #command: string;
  readonly #taken = new Map<string, Taken>();

  constructor(
    workFolder: string,
    command: string,
    private readonly staleMs = 10_000,
  ) {
    this.#folder = join(workFolder, "journal");
    this.#command = command;
    mkdirSync(this.#folder, { recursive: true });
  }

  /** Ends what killed runs left at work on these stacks. Answers whether a killed run left anything, of whatever stack. */
  async takeOver(stacks: readonly string[]): Promise<boolean> {
    await Promise.all(stacks.filter((stack) => this.entryOf(stack)).map((stack) => this.#take(stack)));
    const files = readdirSync(this.#folder).filter((file) => file.endsWith(".json"));
    const atWork = await Promise.all(files.map((file) => check(join(this.#folder, file), held(this.staleMs))));
    return this.left.size > 0 || atWork.includes(false);
  }

  /** Begins with a stack. @throws when another run is changing it, and this one would, too */
  async begin(stack: string, { changes }: { changes: boolean }): Promise<void> {
    if (!changes && !this.entryOf(stack)) return;
    if (!(await this.#take(stack)) && changes)
      throw new Error(`${atWork(this.entryOf(stack))} is at work on this stack. Wait until it has ended.`);
    if (changes) this.#write(stack);
  }

  /** The mark of the processes that are started for a stack. */
  markOf = (stack: string): string => this.#taken.get(stack)?.entry.id ?? "";

  /** The Pulumi processes that were started for a stack, by this run or a killed one. */
  startedFor = (stack: string): readonly number[] => this.#taken.get(stack)?.entry.started ?? [];

  started(stack: string, pid: number): void {
    const entry = this.#taken.get(stack)?.entry;
    entry?.started.push(pid);
    if (entry && this.entryOf(stack)?.id === entry.id) this.#write(stack);
  }

  /** Ends with a stack. Its entry stays where it is not known what became of it. */
  async end(stack: string, { settled }: { settled: boolean }): Promise<void> {
    const taken = this.#taken.get(stack);
    if (!taken) return;
    if (settled) rmSync(this.#file(stack), { force: true });
    this.#taken.delete(stack);
    await taken.release().catch(() => undefined);
  }

  async close(): Promise<void> {
    for (const stack of [...this.#taken.keys()]) await this.end(stack, { settled: false });
  }

  /** What is recorded of a stack that is at work or was left unfinished. */
  entryOf(stack: string): Entry | undefined {
    try {
      return JSON.parse(readFileSync(this.#file(stack), "utf8")) as Entry;
    } catch {
      return undefined;
    }
  }

  /** Locks the stack. Answers false if another run is at work on it; waits until the lock of a killed run is stale. */
  async #take(stack: string): Promise<boolean> {
    if (this.#taken.has(stack)) return true;
    // After a sleep of the machine, another run may have taken the lock: what this one did is still in the journal.
    const options = { ...held(this.staleMs), retries: untilStale(this.staleMs), onCompromised: () => undefined };
    const release = await lock(this.#file(stack), options).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ELOCKED") throw error;
    });
    if (!release) return false;
    const before = this.entryOf(stack);
    const run = { command: this.#command, pid: process.pid, host: hostname(), startedAt: new Date().toISOString() };
    this.#taken.set(stack, { entry: { id: randomUUID(), ...run, started: before?.started ?? [] }, release });
    if (!before) return true;
    this.left.add(stack);
    if (await endRemains(before)) return true;
    throw new Error(
      `Processes of a fleet run that was killed (${before.command}, begun ${before.startedAt}) do not end: ` +
        `${remainsOf(before).join(", ")}. End them by hand.`,
    );
  }

  #write(stack: string): void {
    const draft = `${this.#file(stack)}.draft`;
    writeFileSync(draft, JSON.stringify(this.#taken.get(stack)!.entry));
    renameSync(draft, this.#file(stack));
  }

  readonly #file = (stack: string): string => join(this.#folder, `${stack}.json`);
}

/** Who is at work on a stack, for people. */
export const atWork = (entry: Entry | undefined): string =>
  entry
    ? `a fleet run (${entry.command}) of process ${entry.pid} on ${entry.host}, begun ${entry.startedAt},`
    : "another fleet run";
