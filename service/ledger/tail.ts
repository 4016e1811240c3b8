import type { LedgerFolder } from "./ledger-folder";

const MiB = 1_048_576;

/** The size of blocks in an engine's memory and in a journal. */
export interface Load {
  blocks: number;
  /** About how many bytes of memory an engine takes for them. */
  weight: number;
  /** Bytes of the journal. */
  bytes: number;
}

const sum = (all: Iterable<Load>): Load => {
  const total = { blocks: 0, weight: 0, bytes: 0 };
  for (const { blocks, weight, bytes } of all) {
    total.blocks += blocks;
    total.weight += weight;
    total.bytes += bytes;
  }
  return total;
};
const exceeds = (load: Load, most: Load) =>
  load.blocks > most.blocks || load.weight > most.weight || load.bytes > most.bytes;

/** When journals end and become snapshots. */
export interface TailPace {
  /** Where a journal ends, and the next one begins. */
  journal: Load;
  /** What one snapshot takes in at most; a single journal always. The service holds what an engine tells of it. */
  snapshot: Load;
  /** What may follow the last snapshot. No transactions are taken above that, so that a start and its memory stay bounded. */
  most: Load;
  /**
   * How many blocks a contract can look back. An engine that begins with a state knows the hashes of those alone that it made itself:
   * so a state becomes a snapshot only if as many blocks follow it, and come out as they were.
   */
  lookback: number;
}

export const usualTail: TailPace = {
  journal: { blocks: 256, weight: 32 * MiB, bytes: 8 * MiB },
  snapshot: { blocks: 8_192, weight: 128 * MiB, bytes: 64 * MiB },
  most: { blocks: 4_096, weight: 1_024 * MiB, bytes: 256 * MiB },
  lookback: 256,
};

/** What a chain was told since its last snapshot: every engine goes through it, and holds what comes of it. */
export class Tail {
  /** By journal. */
  #loads = new Map<string, Load>();
  /** Journals that do not come out as they were, if they are begun with the state before them. */
  readonly #bound = new Set<string>();

  constructor(
    private readonly folder: LedgerFolder,
    readonly pace: TailPace,
  ) {}

  /** An engine went through all journals. */
  measured(loads: ReadonlyMap<string, Load>): void {
    this.#loads = new Map(loads);
  }

  /** Blocks were made. */
  add({ blocks, weight }: Pick<Load, "blocks" | "weight">): void {
    const { name } = this.folder.journals.at(-1)!;
    const { bytes } = this.folder;
    const before = this.#loads.get(name) ?? { blocks: 0, weight: 0, bytes };
    this.#loads.set(name, { blocks: before.blocks + blocks, weight: before.weight + weight, bytes });
  }

  get load(): Load {
    return sum(this.folder.journals.map(({ name }) => this.#of(name)));
  }

  /** Whether the journal that is written now is long enough. */
  get ends(): boolean {
    const { journal } = this.pace;
    const { blocks, weight, bytes } = this.#of(this.folder.journals.at(-1)!.name);
    return blocks >= journal.blocks || weight >= journal.weight || bytes >= journal.bytes;
  }

  /** Whether too much follows the snapshot, including waiting transactions, to accept more. */
  isFull(waiting: number): boolean {
    const { blocks, weight, bytes } = this.load;
    return exceeds({ blocks, weight: weight + waiting, bytes }, this.pace.most);
  }

  /** How many of the first journals can become a snapshot now; 0: none. */
  get due(): number {
    const { journals } = this.folder;
    const end = (journals.at(-1)!.after?.number ?? 0) - this.pace.lookback;
    let found = 0;
    for (let count = 1; count < journals.length && journals[count]!.after!.number <= end; count++) {
      const taken = sum(journals.slice(0, count).map(({ name }) => this.#of(name)));
      if (found > 0 && exceeds(taken, this.pace.snapshot)) break;
      if (!this.#bound.has(journals[count]!.name)) found = count;
    }
    return found;
  }

  /** How many journals show whether those from this one on come out as they were after a snapshot. */
  provenBy(count: number): number {
    const { journals } = this.folder;
    const end = journals[count]!.after!.number + this.pace.lookback;
    return journals.findIndex(({ after }) => after !== undefined && after.number >= end);
  }

  /** A journal cannot follow a snapshot: its blocks look further back. */
  bind(name: string): void {
    this.#bound.add(name);
  }

  /** How many blocks without transactions had better begin the next journal, so that it is not one of them. */
  get quiet(): number {
    const { length } = this.folder.journals.filter(({ name }) => this.#bound.has(name));
    return length === 0 ? 0 : Math.min(this.pace.lookback, 4 ** (length - 1));
  }

  #of = (name: string): Load => this.#loads.get(name) ?? { blocks: 0, weight: 0, bytes: 0 };
}
