import { Accounts } from "./admission";
import { Feeds } from "./feeds";
import { sealed } from "./header";
import type { Entry, LedgerData, ChainSpec, Head, Made, Sealed } from "./ledger-data";
import { Pool } from "./pool";
import { SteadyClock } from "../storage/steady-clock";

export interface Pace {
  /** Replace an engine after this many blocks. */
  growth: number;
  /** Blocks, gas and transactions between snapshots of the state. A start replays later entries. */
  snapshot: { blocks: number; gas: number; transactions: number };
  /** A start that replays more entries is not waited for: calls that need the state are refused until its end. */
  patience: number;
  /** How many blocks a contract can look back: a start replays at least as many. */
  lookback: number;
  /** How long after the last call (ms) a chain with a period still makes empty blocks. */
  idle: number;
}

export const usualPace: Pace = {
  growth: 4_096,
  snapshot: { blocks: 1_024, gas: 3e9, transactions: 8_192 },
  patience: 2_048,
  lookback: 256,
  idle: 3_600_000,
};

/** Tracks whether a ledger is in use. Without users, it needs no empty blocks. */
class Presence {
  subscribers = 0;
  #until = -Infinity;
  /** Whether there was a call since the latest block, whatever the period. */
  #called = false;

  /** @param idle how long a call keeps the ledger in use (ms) */
  constructor(private readonly idle: number) {}

  get isSomebody(): boolean {
    return this.#called || this.subscribers > 0 || performance.now() < this.#until;
  }

  calls(): void {
    this.#called = true;
    this.#until = performance.now() + this.idle;
  }

  gotBlock(): void {
    this.#called = false;
  }
}

const mostLines = 1_000;

export class ChainBase {
  readonly feeds = new Feeds();
  readonly pool = new Pool();
  known = new Accounts();
  /** The users of the chain, except the service itself. */
  readonly presence: Presence;
  readonly lines: string[] = [];
  /** The ledger's time. It continues from the latest block, even if the clock was ahead at that time. */
  readonly clock: SteadyClock;
  closed = false;
  /** Why the last input could not be recorded, if so. */
  #problem: string | undefined;
  #head!: Head;

  constructor(
    readonly spec: ChainSpec,
    readonly data: LedgerData,
    readonly pace: Pace,
    readonly warn: (text: string) => void,
    clock: () => number,
  ) {
    this.clock = new SteadyClock(clock);
    this.presence = new Presence(pace.idle);
  }

  get perMs(): number {
    return this.spec.profile?.clock === "nanoseconds" ? 1e6 : 1e-3;
  }

  /** The latest block; known once an engine has all blocks. */
  get head(): Head {
    return this.#head;
  }

  set head(head: Head) {
    this.#head = head;
    this.clock.saw(head.timestamp / this.perMs);
  }

  get fails(): boolean {
    return this.#problem !== undefined;
  }

  log(text: string): void {
    this.lines.push(`${new Date().toISOString()} INFO [geth] ${text}`);
    if (this.lines.length > 2 * mostLines) this.lines.splice(0, mostLines);
  }

  /** The account that seals its blocks, where the client that it imitates has one. */
  get sealer(): string | undefined {
    return this.spec.profile && this.data.sealer?.address;
  }

  /** Gives a block of an engine the header of the client that the ledger imitates. */
  async seal(made: Made): Promise<Sealed> {
    const { data, spec } = this;
    const number = Number(made.block.number);
    const parent = number === 0 ? undefined : await data.sealed(number - 1);
    return sealed(made, parent, spec.profile, data.sealer);
  }

  keep(sealed: Sealed): void {
    this.data.keep(sealed);
    this.feeds.block(sealed);
  }

  /** Records input of the chain; resolves when it is on disk. Warns once if it cannot be recorded. */
  async record(entries: readonly Entry[]): Promise<void> {
    try {
      await this.data.record(entries);
      this.#problem = undefined;
    } catch (error) {
      const { message } = error as Error;
      if (this.#problem !== message) {
        this.log(message);
        this.warn(message);
      }
      this.#problem = message;
      throw error;
    }
  }
}
