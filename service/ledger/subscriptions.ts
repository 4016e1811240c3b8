import type { Socket } from "node:net";
import pLimit from "p-limit";
import type { CallLimits } from "../settings/call-limits";
import type { Asked } from "./calls";
import type { Chain } from "./chains";
import { type Bounds, converse, Excess, failure } from "./rpc";

/** What a subscription is told, and when the chain that it was made on is gone. */
interface Ear {
  tell(line: Buffer): void;
  end(): void;
}

/** An answer to a subscription is short; what is longer is what was subscribed to. */
const mostOfAnswer = 4_096;

/** The subscriptions of one WebSocket, on a connection to the chain of their own. */
export class Subscriptions {
  readonly #ids = new Set<unknown>();
  readonly #inTurn = pLimit(1);
  #connection: Socket | undefined;
  #heard: ((line: Buffer, answer: { result?: unknown }) => void) | undefined;

  constructor(
    private readonly limits: CallLimits,
    private readonly ear: Ear,
  ) {}

  concerns = (method: string) => method === "eth_subscribe" || method === "eth_unsubscribe";

  ask(call: Asked, chain: Chain, { ms }: Bounds): Promise<Buffer> {
    return this.#inTurn(async () => {
      const { id, method, params } = call;
      const here = (answer: object) => Buffer.from(JSON.stringify(answer));
      const { subscriptions } = this.limits;
      if (method === "eth_unsubscribe" && !this.#ids.has(params[0])) return here({ jsonrpc: "2.0", id, result: false });
      if (method === "eth_subscribe" && this.#ids.size >= subscriptions)
        return here(failure(id, -32_000, `There are ${subscriptions} subscriptions, and no more are allowed here.`));
      const connection = (this.#connection ??= this.#connect(chain));
      const { line, result } = await this.#answer(connection, call.send, ms);
      if (method === "eth_unsubscribe") this.#ids.delete(params[0]);
      else if (typeof result === "string") this.#ids.add(result);
      return line;
    });
  }

  close(): void {
    this.#connection?.destroy();
  }

  #connect(chain: Chain): Socket {
    const connection = converse(chain.socketPath, this.limits.answer, (line) => this.#hear(line));
    return connection.on("error", () => undefined).once("close", () => this.ear.end());
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

  #hear(line: Buffer): void {
    if (this.#heard && line.length <= mostOfAnswer) {
      const answer = JSON.parse(line.toString()) as { method?: unknown; result?: unknown };
      if (answer.method === undefined) return this.#heard(line, answer);
    }
    this.ear.tell(line);
  }
}
