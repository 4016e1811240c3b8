import { randomBytes } from "node:crypto";
import { Unfit } from "./failures";
import { headerOf } from "./header";
import type { Sealed } from "./ledger-data";
import { type Criteria, type Log, matching } from "./logs";

/** A filter expires after this long without a call (ms). */
const filterLife = 300_000;

/** The listener of a subscription: gets the text of each result, then `}}`; or that the chain has stopped. */
export interface Listener {
  hear: (result: Buffer) => void;
  end: () => void;
}

interface Subscriber extends Listener {
  kind: unknown;
  fits: (log: Log) => boolean;
}

/** The subject of a filter: logs, the hashes of new blocks or of waiting transactions, or these in full. */
type Wanted = Criteria | "blocks" | "transactions" | "full";

interface Filter {
  wanted: Wanted;
  /** What came since the last call, except logs. */
  news: unknown[];
  /** The first block with logs that are not reported yet. */
  next: number;
  used: number;
}

/** The id of a filter or a subscription. As geth's, it is a number without leading zeros: clients such as web3j read it as one. */
export const newName = () => `0x${BigInt(`0x${randomBytes(16).toString("hex")}`).toString(16)}`;

/** Notifications about a chain's blocks and waiting transactions: subscribers get them at once, filters on request. */
export class Feeds {
  readonly #subscribers = new Set<Subscriber>();
  readonly #filters = new Map<string, Filter>();
  #latest = 0;

  /** Adds a listener. Returns a function that removes it. */
  subscribe([named, more]: unknown[], listener: Listener): () => void {
    const kind = named === "newPendingTransactions" && more === true ? "full" : named;
    const one = { ...listener, kind, fits: inRange(kind === "logs" ? (more as Criteria) : {}) };
    this.#subscribers.add(one);
    return () => void this.#subscribers.delete(one);
  }

  /** Notifies of a block that is kept. */
  block({ block, receipts }: Sealed): void {
    if (Number(block.number) <= this.#latest) return; // a new engine keeps it again
    this.#latest = Number(block.number);
    this.#tell("newHeads", () => true, headerOf(block));
    for (const log of receipts.flatMap(({ logs }) => logs as unknown as Log[]))
      this.#tell("logs", ({ fits }) => fits(log), log);
    this.#note("blocks", block.hash);
  }

  /** Notifies of a transaction that the next block can include. @param full shows it */
  transaction(hash: string, full: () => object): void {
    this.#tell("newPendingTransactions", () => true, hash);
    this.#note("transactions", hash);
    const kinds = [...[...this.#subscribers].map(({ kind }) => kind), ...[...this.#filters.values()].map(wantedBy)];
    if (!kinds.includes("full")) return;
    const shown = full();
    this.#tell("full", () => true, shown);
    this.#note("full", shown);
  }

  /** Ends all subscriptions. */
  close(): void {
    for (const { end } of this.#subscribers) end();
  }

  /** Creates a filter. Returns its id. */
  filter(wanted: Wanted, height: number): string {
    const id = newName();
    this.#filters.set(id, { wanted, news: [], next: height + 1, used: Date.now() });
    return id;
  }

  /** The filter with this id. */
  used(id: unknown): Filter {
    const filter = this.#filters.get(id as string);
    if (!filter) throw new Unfit(-32_000, "filter not found");
    filter.used = Date.now();
    return filter;
  }

  uninstall = (id: unknown): boolean => this.#filters.delete(id as string);

  #tell(kind: string, wants: (one: Subscriber) => boolean, result: unknown): void {
    const those = [...this.#subscribers].filter((one) => one.kind === kind && wants(one));
    const text = those.length > 0 ? Buffer.from(`${JSON.stringify(result)}}}`) : undefined;
    for (const { hear } of those) hear(text!);
  }

  #note(what: Wanted, one: unknown): void {
    for (const [id, { wanted, news, used }] of this.#filters) {
      if (used < Date.now() - filterLife) this.#filters.delete(id);
      else if (wanted === what) news.push(one);
    }
  }
}

const wantedBy = ({ wanted }: Filter) => wanted;

/** Whether a log is in the blocks that a subscription names, and matches. */
function inRange(criteria: Criteria): (log: Log) => boolean {
  const { fits } = matching(criteria);
  const bound = (block: unknown, none: number) => (isNumber(block) ? Number(block) : none);
  const [from, to] = [bound(criteria.fromBlock, 0), bound(criteria.toBlock, Infinity)];
  return (log) => Number(log.blockNumber) >= from && Number(log.blockNumber) <= to && fits(log);
}
const isNumber = (block: unknown) => typeof block === "string" && block.startsWith("0x");
