import type { Socket } from "node:net";
import pLimit from "p-limit";
import type { CallLimits } from "../settings/settings";
import type { Chain } from "./chains";
import { type Bounds, converse, Excess, failure, type RpcCall, rpcCall, written } from "./rpc";

/** The answer to `eth_subscribe` is short; longer lines are notifications. */
const mostOfAnswer = 4_096;
/** How long an engine may take to adopt its predecessor's subscriptions (ms). */
const moving = 5_000;

/** A notification or an answer of an engine. */
interface Told {
  method?: unknown;
  params?: { subscription?: unknown };
  result?: unknown;
}

type Known = Map<unknown, unknown>;

/** The subscriptions of one WebSocket. They have their own connection to the chain. */
export class Subscriptions {
  /** The subscriptions, by the id that the subscriber knows. */
  readonly #made = new Map<unknown, RpcCall>();
  /** The id that the subscriber knows, by the id on an engine that took the place of another one. */
  #known: Known = new Map();
  readonly #inTurn = pLimit(1);
  #closed = false;
  #connection: Socket | undefined;
  #unfollow: (() => void) | undefined;
  #heard: ((line: Buffer, answer: Told) => void) | undefined;

  /**
   * @param tell receives each notification
   * @param end is called when the chain is gone
   */
  constructor(
    private readonly limits: CallLimits,
    private readonly tell: (line: Buffer) => void,
    private readonly end: () => void,
    private readonly report: (error: unknown) => void,
  ) {}

  concerns = (method: string) => method === "eth_subscribe" || method === "eth_unsubscribe";

  ask(call: RpcCall, chain: Chain, { ms }: Bounds): Promise<Buffer> {
    return this.#inTurn(async () => {
      if (this.#closed) throw new Excess("late"); // nobody hears of it
      const { id, method, params } = call;
      const { subscriptions } = this.limits;
      if (method === "eth_unsubscribe" && !this.#made.has(params[0]))
        return written({ jsonrpc: "2.0", id, result: false });
      if (method === "eth_subscribe" && this.#made.size >= subscriptions)
        return written(failure(id, -32_000, `There are ${subscriptions} subscriptions, and no more are allowed here.`));
      this.#connection ??= this.#connect(chain.socketPath, this.#known);
      this.#unfollow ??= chain.follow((socketPath) => this.#move(socketPath));
      const { line, result } = await this.#answer(this.#connection, this.#translated(call), ms);
      if (method === "eth_unsubscribe") this.#made.delete(params[0]);
      else if (typeof result === "string") this.#made.set(result, call);
      if (this.#made.size === 0) this.#release(); // a subscriber keeps the chain awake, an open WebSocket does not
      return line;
    });
  }

  close(): void {
    this.#closed = true;
    this.#release();
  }

  #release(): void {
    const connection = this.#connection;
    this.#unfollow?.();
    this.#connection = this.#unfollow = undefined;
    this.#known = new Map();
    connection?.destroy();
  }

  #connect(socketPath: string, known: Known): Socket {
    const connection: Socket = converse(socketPath, this.limits.answer, (line) => {
      try {
        this.#hear(line, known);
      } catch (error) {
        this.report(error);
        connection.destroy();
      }
    });
    return connection
      .on("error", () => undefined)
      .once("close", () => {
        if (this.#connection === connection) this.end(); // else another one has taken its place
      });
  }

  /** Renews the subscriptions on another engine. The former one's last notifications are still delivered. */
  #move(socketPath: string): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#unfollow) return;
      const former = this.#connection;
      const known: Known = new Map();
      const connection = (this.#connection = this.#connect(socketPath, known));
      this.#known = known;
      try {
        for (const [id, { send }] of [...this.#made])
          known.set((await this.#answer(connection, send, moving)).result, id);
      } catch {
        this.end();
      }
      setTimeout(() => former?.destroy(), moving).unref();
    });
  }

  /** The call as this engine understands it: it may know a subscription by another id. */
  #translated({ id, method, params, send }: RpcCall): string {
    const own = [...this.#known].find(([, known]) => known === params[0])?.[0];
    if (method !== "eth_unsubscribe" || own === undefined) return send;
    return rpcCall(method, [own], id).send;
  }

  #answer(connection: Socket, text: string, ms: number): Promise<{ line: Buffer; result?: unknown }> {
    return new Promise((done, fail) => {
      const late = setTimeout(() => fail(new Excess("late")), ms);
      this.#heard = (line, { result }) => {
        clearTimeout(late);
        this.#heard = undefined;
        done({ line, result });
      };
      connection.write(`${text}\n`);
    });
  }

  #hear(line: Buffer, known: Known): void {
    if (this.#heard && line.length <= mostOfAnswer) {
      const answer = JSON.parse(line.toString()) as Told;
      if (answer.method === undefined) return this.#heard(line, answer);
    }
    this.tell(known.size === 0 ? line : renamed(line, known));
  }
}

/** A notification, with the id that the subscriber knows. */
function renamed(line: Buffer, known: Known): Buffer {
  const told = JSON.parse(line.toString()) as Told;
  const subscription = known.get(told.params?.subscription);
  return subscription === undefined ? line : written({ ...told, params: { ...told.params, subscription } });
}
