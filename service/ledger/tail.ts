import type { LedgerFolder } from "./ledger-folder";

const MiB = 1_048_576;

/** What blocks take in an engine's memory and on disk. */
export interface Load {
  blocks: number;
  /** Estimated bytes of an engine's memory. */
  weight: number;
  /** Bytes of the segment. */
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

/** When segments end and become snapshots. */
export interface TailPace {
  /** Where a segment ends, and the next one begins. */
  segment: Load;
  /** What one snapshot takes in at most, beyond a single segment. The service holds the whole state in memory meanwhile. */
  snapshot: Load;
  /** What may follow the last snapshot. Beyond it, no transactions are accepted: a start must take a bounded time and memory. */
  most: Load;
  /**
   * How many blocks a contract can look back. An engine that begins with a state only knows the hashes of the blocks that it made
   * itself, so a state becomes a snapshot only if this many blocks follow it with the same hashes.
   */
  lookback: number;
}

export const usualTail: TailPace = {
  segment: { blocks: 256, weight: 32 * MiB, bytes: 8 * MiB },
  snapshot: { blocks: 8_192, weight: 128 * MiB, bytes: 64 * MiB },
  most: { blocks: 4_096, weight: 1_024 * MiB, bytes: 256 * MiB },
  lookback: 256,
};

/** The load of a chain's input since its last snapshot. Every engine replays that, and holds its blocks. */
export class Tail {
  /** By segment. */
  #loads = new Map<string, Load>();
  /** Segments whose blocks get other hashes if an engine begins with the state before them. */
  readonly #bound = new Set<string>();

  constructor(
    private readonly folder: LedgerFolder,
    readonly pace: TailPace,
  ) {}

  /** An engine went through all segments. */
  measured(loads: ReadonlyMap<string, Load>): void {
    this.#loads = new Map(loads);
  }

  /** Blocks were made. */
  add({ blocks, weight }: Pick<Load, "blocks" | "weight">): void {
    const { bytes, segments } = this.folder;
    const { name } = segments.at(-1)!;
    const before = this.#loads.get(name) ?? { blocks: 0, weight: 0, bytes };
    this.#loads.set(name, { blocks: before.blocks + blocks, weight: before.weight + weight, bytes });
  }

  get load(): Load {
    return sum(this.folder.segments.map(({ name }) => this.#of(name)));
  }

  /** Whether the segment that is written now is long enough. */
  get ends(): boolean {
    const { segment } = this.pace;
    const { blocks, weight, bytes } = this.#of(this.folder.segments.at(-1)!.name);
    return blocks >= segment.blocks || weight >= segment.weight || bytes >= segment.bytes;
  }

  /** Whether too much follows the snapshot to accept more transactions. `waiting` is the weight of those that wait. */
  isFull(waiting: number): boolean {
    const { blocks, weight, bytes } = this.load;
    return exceeds({ blocks, weight: weight + waiting, bytes }, this.pace.most);
  }

  /** How many of the first segments can become a snapshot now; 0: none. */
  get due(): number {
    const { segments } = this.folder;
    const end = (segments.at(-1)!.after?.number ?? 0) - this.pace.lookback;
    let found = 0;
    for (let count = 1; count < segments.length && segments[count]!.after!.number <= end; count++) {
      const taken = sum(segments.slice(0, count).map(({ name }) => this.#of(name)));
      if (found > 0 && exceeds(taken, this.pace.snapshot)) break;
      if (!this.#bound.has(segments[count]!.name)) found = count;
    }
    return found;
  }

  /** Up to which segment a snapshot in place of the first `count` segments must be tried: `lookback` blocks further. */
  provenBy(count: number): number {
    const { segments } = this.folder;
    const end = segments[count]!.after!.number + this.pace.lookback;
    return segments.findIndex(({ after }) => after !== undefined && after.number >= end);
  }

  /** Notes that a segment cannot follow a snapshot: its blocks look further back. */
  bind(name: string): void {
    this.#bound.add(name);
  }

  /** How many empty blocks should begin the next segment, so that a snapshot can come before it. */
  get quiet(): number {
    const { length } = this.folder.segments.filter(({ name }) => this.#bound.has(name));
    return length === 0 ? 0 : Math.min(this.pace.lookback, 4 ** (length - 1));
  }

  #of = (name: string): Load => this.#loads.get(name) ?? { blocks: 0, weight: 0, bytes: 0 };
}
