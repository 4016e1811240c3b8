import { randomBytes } from "node:crypto";
import { Unfit } from "./failures";
import { headerOf } from "./header";
import type { Sealed } from "./ledger-data";
import { type Criteria, type Log, matching } from "./logs";

/** A filter expires after this long without a call (ms). */
const filterLife = 300_000;

/** The listener of a subscription: gets each result, and its text, followed by `}}`; or that the chain has stopped. */
export interface Listener {
  hear: (result: unknown, text: () => Buffer) => void;
  end: () => void;
}

interface Subscriber extends Listener {
  kind: unknown;
  fits: (log: Log) => boolean;
}

/** A subscription whose results wait for the next call. */
interface Filter {
  /** What it is for, if for logs. */
  criteria: Criteria | undefined;
  news: unknown[];
  used: number;
  leave: () => void;
}

/** The id of a filter or a subscription. As geth's, it is a number without leading zeros: clients such as web3j read it as one. */
export const newName = () => `0x${BigInt(`0x${randomBytes(16).toString("hex")}`).toString(16)}`;

/** Notifications about a chain's blocks and waiting transactions: subscribers get them at once, filters on request. */
export class Feeds {
  readonly #subscribers = new Set<Subscriber>();
  readonly #filters = new Map<unknown, Filter>();
  /** The transactions of before, in full: an engine answers in any order. */
  #shown = Promise.resolve();

  subscribe([named, more]: unknown[], listener: Listener): () => void {
    const kind = named === "newPendingTransactions" && more === true ? "full" : named;
    const one = { ...listener, kind, fits: inRange(kind === "logs" ? (more as Criteria) : {}) };
    this.#subscribers.add(one);
    return () => void this.#subscribers.delete(one);
  }

  block({ block, receipts }: Sealed): void {
    for (const [id, { used }] of this.#filters) if (used < Date.now() - filterLife) this.uninstall(id);
    this.#tell("newHeads", headerOf(block));
    for (const log of receipts.flatMap(({ logs }) => logs as unknown as Log[]))
      this.#tell("logs", log, ({ fits }) => fits(log));
  }

  /** Notifies of a transaction that the next block can include. @param full shows it; it fails if the engine ends */
  transaction(hash: string, full: () => Promise<object>): void {
    this.#tell("newPendingTransactions", hash);
    if (![...this.#subscribers].some(({ kind }) => kind === "full")) return;
    const one = full().catch(() => undefined);
    this.#shown = this.#shown.then(async () => {
      const known = await one;
      if (known) this.#tell("full", known);
    });
  }

  close(): void {
    for (const { end } of this.#subscribers) end();
  }

  /** Creates a filter of what a subscription with these params would hear. Returns its id. */
  filter(kind: string, more?: unknown): string {
    const [id, news] = [newName(), [] as unknown[]];
    const hear = (one: unknown) => news.push(kind === "newHeads" ? (one as { hash: unknown }).hash : one);
    const leave = this.subscribe([kind, more], { hear, end: () => undefined });
    const criteria = kind === "logs" ? (more as Criteria) : undefined;
    this.#filters.set(id, { criteria, news, used: Date.now(), leave });
    return id;
  }

  used(id: unknown): Filter {
    const filter = this.#filters.get(id);
    if (!filter) throw new Unfit("filter not found");
    filter.used = Date.now();
    return filter;
  }

  uninstall(id: unknown): boolean {
    this.#filters.get(id)?.leave();
    return this.#filters.delete(id);
  }

  #tell(kind: string, result: unknown, wants: (one: Subscriber) => boolean = () => true): void {
    let text: Buffer | undefined;
    const once = () => (text ??= Buffer.from(`${JSON.stringify(result)}}}`));
    for (const one of this.#subscribers) if (one.kind === kind && wants(one)) one.hear(result, once);
  }
}

/** Whether a log is in the blocks that a subscription names, and matches. */
function inRange(criteria: Criteria): (log: Log) => boolean {
  const fits = matching(criteria);
  const bound = (block: unknown, none: number) => (isNumber(block) ? Number(block) : none);
  const [from, to] = [bound(criteria.fromBlock, 0), bound(criteria.toBlock, Infinity)];
  return (log) => Number(log.blockNumber) >= from && Number(log.blockNumber) <= to && fits(log);
}
const isNumber = (block: unknown) => typeof block === "string" && block.startsWith("0x");
