import type { WebSocket } from "ws";
import type { CallLimits } from "../settings/settings";
import type { Chain } from "./chains";
import { Unfit } from "./failures";
import { newName } from "./feeds";
import { Excess, type RpcCall, written } from "./rpc";

/** Unread notifications of all WebSockets, with the number of their readers. */
export class Unread {
  readonly #readers = new Map<Buffer, number>();
  /** Bytes; a notification with many readers counts once, because it is in memory once. */
  bytes = 0;

  add(result: Buffer): void {
    const readers = this.#readers.get(result) ?? 0;
    if (readers === 0) this.bytes += result.length;
    this.#readers.set(result, readers + 1);
  }

  remove(result: Buffer): void {
    const readers = this.#readers.get(result)! - 1;
    if (readers > 0) return void this.#readers.set(result, readers);
    this.#readers.delete(result);
    this.bytes -= result.length;
  }
}

/** Sends notifications to one WebSocket, at its pace. Only a WebSocket that does not read is cut off. */
export class Outbox {
  readonly #queue: [subscription: string, result: Buffer][] = [];
  readonly #own = new Unread();
  #sending = false;

  /** @param relieve called when the unread bytes grow */
  constructor(
    private readonly member: WebSocket,
    private readonly limits: CallLimits,
    private readonly all: Unread,
    private readonly relieve: () => void,
  ) {
    member.once("close", () => this.clear());
  }

  get bytes(): number {
    return this.#own.bytes;
  }

  /** Drops unsent notifications. */
  clear(): void {
    for (const [, result] of this.#queue.splice(0)) this.#done(result);
  }

  notify(subscription: string, result: Buffer): void {
    if (this.member.readyState !== this.member.OPEN) return;
    this.#own.add(result);
    this.all.add(result);
    this.#queue.push([subscription, result]);
    if (this.bytes > this.limits.answer) this.member.terminate();
    else this.relieve();
    if (!this.#sending) void this.#deliver();
  }

  #done(result: Buffer): void {
    this.#own.remove(result);
    this.all.remove(result);
  }

  async #deliver(): Promise<void> {
    this.#sending = true;
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      const [subscription, result] = next;
      const head = `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${subscription}","result":`;
      await new Promise<void>((done) => {
        const late = setTimeout(() => this.member.terminate(), this.limits.time);
        this.member.send(head, { binary: false, fin: false });
        this.member.send(result, { binary: false, fin: true }, () => {
          clearTimeout(late);
          done();
        });
      });
      this.#done(result);
    }
    this.#sending = false;
  }
}

/** The subscriptions of one WebSocket. */
export class Subscriptions {
  /** The function that ends each one. */
  readonly #made = new Map<string, () => void>();
  #closed = false;

  /** @param end called when the chain has stopped */
  constructor(
    private readonly limits: CallLimits,
    private readonly outbox: Pick<Outbox, "notify">,
    private readonly end: () => void,
  ) {}

  concerns = (method: string) => method === "eth_subscribe" || method === "eth_unsubscribe";

  /** @param sent callbacks to run after the answer: before it, the client does not know the subscription's id */
  ask({ id, method, params }: RpcCall, chain: Chain, sent: (() => void)[]): Buffer {
    if (this.#closed) throw new Excess("late"); // nobody hears of it
    const result = method === "eth_subscribe" ? this.#subscribe(params, chain, sent) : this.#end(params[0] as string);
    return written({ jsonrpc: "2.0", id, result });
  }

  #subscribe(params: unknown[], chain: Chain, sent: (() => void)[]): string {
    const { subscriptions } = this.limits;
    if (this.#made.size >= subscriptions)
      throw new Unfit(-32_000, `There are ${subscriptions} subscriptions, which is the limit of this service.`);
    const name = newName();
    let held: Buffer[] | undefined = [];
    const hear = (result: Buffer) => (held ? void held.push(result) : this.outbox.notify(name, result));
    this.#made.set(name, chain.subscribe(params, { hear, end: this.end }));
    sent.push(() => {
      for (const result of held ?? []) this.outbox.notify(name, result);
      held = undefined;
    });
    return name;
  }

  #end(name: string): true {
    const leave = this.#made.get(name);
    if (!leave) throw new Unfit(-32_000, "subscription not found");
    leave();
    return this.#made.delete(name) as true;
  }

  close(): void {
    this.#closed = true;
    for (const leave of this.#made.values()) leave();
  }
}
