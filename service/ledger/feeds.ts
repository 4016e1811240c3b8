import type { Socket } from "node:net";
import type { Chain } from "./chains";
import { inGethsWords, Unfit } from "./failures";
import { type Answer, converse, Excess, type RpcCall, rpcCall } from "./rpc";

/** How long an engine may take to adopt its predecessor's subscriptions (ms). */
const moving = 5_000;
/** Notifications that are kept until the answer that names their subscription is there. */
const mostEarly = 64;

/** Who hears of a subscription: the text of each result, then `}}`; or that the chain is gone. */
export interface Listener {
  hear: (result: Buffer) => void;
  end: () => void;
}

/** One subscription of the engine, for all who want the same. */
interface Feed {
  params: unknown[];
  listeners: Set<Listener>;
  made: Promise<unknown>;
  /** Its id on the present engine. */
  id?: string;
}

/** The subscriptions to a chain: one of the engine for each distinct filter, fanned out to whoever wants it. */
export class Feeds {
  static readonly #all = new WeakMap<Chain, Feeds>();

  static of(chain: Chain, mostBytes: number): Feeds {
    const feeds = Feeds.#all.get(chain) ?? new Feeds(chain, mostBytes);
    Feeds.#all.set(chain, feeds);
    return feeds;
  }

  /** By their params. */
  readonly #feeds = new Map<string, Feed>();
  #line: Line | undefined;
  #unfollow: (() => void) | undefined;

  private constructor(
    private readonly chain: Chain,
    private readonly mostBytes: number,
  ) {}

  /** Adds a listener. Returns a function that removes it. */
  async listen({ params }: RpcCall, listener: Listener, ms: number): Promise<() => void> {
    const key = JSON.stringify(params);
    const feed = this.#feeds.get(key) ?? this.#begin(key, params, ms);
    feed.listeners.add(listener);
    const leave = () => {
      if (!feed.listeners.delete(listener) || feed.listeners.size > 0 || this.#feeds.get(key) !== feed) return;
      this.#feeds.delete(key);
      if (this.#feeds.size === 0) this.#release();
      else if (feed.id !== undefined) this.#line?.ask("eth_unsubscribe", [feed.id], moving).catch(() => undefined);
    };
    try {
      await feed.made;
      return leave;
    } catch (error) {
      leave();
      throw error;
    }
  }

  #begin(key: string, params: unknown[], ms: number): Feed {
    this.#line ??= this.#connect(this.chain.socketPath);
    this.#unfollow ??= this.chain.follow((socketPath) => this.#move(socketPath)); // a subscriber keeps the chain awake
    const feed: Feed = { params, listeners: new Set(), made: Promise.resolve() };
    this.#feeds.set(key, feed);
    feed.made = this.#line.subscribe(feed, ms);
    return feed;
  }

  #connect(socketPath: string): Line {
    const line: Line = new Line(socketPath, this.mostBytes, () => {
      if (this.#line === line) this.#end(); // else another one has taken its place
    });
    return line;
  }

  /** Renews the subscriptions on another engine. The former one's last notifications are still delivered. */
  async #move(socketPath: string): Promise<void> {
    const former = this.#line;
    if (!former) return;
    const line = (this.#line = this.#connect(socketPath));
    try {
      await Promise.all([...this.#feeds.values()].map((feed) => line.subscribe(feed, moving)));
    } catch {
      this.#end();
    }
    setTimeout(() => former.close(), moving).unref();
  }

  #end(): void {
    const all = [...this.#feeds.values()].flatMap(({ listeners }) => [...listeners]);
    this.#feeds.clear();
    this.#release();
    for (const { end } of all) end();
  }

  #release(): void {
    const [line, unfollow] = [this.#line, this.#unfollow];
    this.#line = this.#unfollow = undefined;
    unfollow?.();
    line?.close();
  }
}

/** A lasting connection to an engine. */
class Line {
  readonly #socket: Socket;
  readonly #asked = new Map<number, (answer: Answer) => void>();
  readonly #feeds = new Map<string, Feed>();
  readonly #early: { id: string; result: Buffer }[] = [];
  #count = 0;

  constructor(socketPath: string, mostBytes: number, closed: () => void) {
    this.#socket = converse(socketPath, mostBytes, (line) => this.#hear(line));
    this.#socket.on("error", () => undefined).once("close", closed);
  }

  async subscribe(feed: Feed, ms: number): Promise<void> {
    const answer = await this.ask("eth_subscribe", feed.params, ms);
    if ("error" in answer) {
      const { code, message } = inGethsWords(answer.error, { height: 0, history: 0 });
      throw new Unfit(code, message);
    }
    const id = (feed.id = answer.result as string);
    this.#feeds.set(id, feed);
    for (const one of this.#early.splice(0)) this.#deliver(one.id, one.result);
  }

  ask(method: string, params: unknown[], ms: number): Promise<Answer> {
    const id = ++this.#count;
    return new Promise((done, fail) => {
      const late = setTimeout(() => fail(new Excess("late")), ms).unref();
      this.#asked.set(id, (answer) => {
        clearTimeout(late);
        this.#asked.delete(id);
        done(answer);
      });
      this.#socket.write(`${JSON.stringify({ ...JSON.parse(rpcCall(method, params).send), id })}\n`);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #hear(line: Buffer): void {
    const [, id, number] = begin.exec(line.toString("latin1", 0, 200)) ?? [];
    if (id !== undefined) return this.#deliver(id, line.subarray(line.indexOf(ofResult) + ofResult.length));
    if (number !== undefined) this.#asked.get(Number(number))?.(JSON.parse(line.toString()) as Answer);
  }

  #deliver(id: string, result: Buffer): void {
    const feed = this.#feeds.get(id);
    if (feed) for (const { hear } of [...feed.listeners]) hear(result);
    else if (this.#early.push({ id, result }) > mostEarly) this.#early.shift();
  }
}

const ofResult = '"result":';
/** How a notification begins, and how an answer does. */
const begin =
  /^\{"jsonrpc":"2\.0",(?:"method":"eth_subscription","params":\{"subscription":"([^"]*)","result":|"id":(\d+),)/;
