import { hash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { type Duplex, duplexPair } from "node:stream";
import { type Login, loginOf } from "../routes/runtime";
import { mostBytes } from "./bodies";

/** What the head of a plain call to a node says. */
export interface Head {
  path: string;
  login: Login;
  /** Bytes of the body. */
  length: number;
}

/** How many heads are remembered; a caller has one for each length of its calls. */
const most = 1_000;

/**
 * Heads of requests, read by Node's own parser when they come for the first time. The same bytes mean the same, so after that a
 * look-up does; only a hash of them is kept, since they hold a password.
 */
export class Heads {
  readonly #known = new Map<string, Head | "other">();
  readonly #heard = new WeakMap<Duplex, (request: IncomingMessage) => void>();
  readonly #parser = createServer((request) => this.#heard.get(request.socket)?.(request));

  /** "other" stands for everything that is not a plain call: the HTTP server knows what to do with it. */
  async read(bytes: Buffer): Promise<Head | "other"> {
    const key = keyOf(bytes);
    const head = await this.#parse(bytes);
    if (this.#known.size >= most) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(key, head);
    return head;
  }

  /** What is known of a head that has come before. */
  known = (bytes: Buffer): Head | "other" | undefined => this.#known.get(keyOf(bytes));

  #parse(bytes: Buffer): Promise<Head | "other"> {
    const [here, there] = duplexPair();
    return new Promise<Head | "other">((done) => {
      this.#heard.set(there, (request) => done(headOf(request)));
      this.#parser.emit("connection", there);
      there.once("close", () => done("other")); // by the parser: it is no HTTP
      here.write(bytes);
    }).finally(() => {
      here.destroy();
      there.destroy();
    });
  }
}

const keyOf = (bytes: Buffer) => hash("sha256", bytes, "base64");

function headOf({ method, url, headers, httpVersion }: IncomingMessage): Head | "other" {
  const { "content-length": length, "transfer-encoding": coding, connection = "keep-alive", expect, upgrade } = headers;
  const plain = method === "POST" && httpVersion === "1.1" && !coding && !expect && !upgrade;
  if (!plain || url === undefined || length === undefined || !/^keep-alive$/i.test(connection)) return "other";
  if (Number(length) > mostBytes) return "other";
  return { path: url, login: loginOf(headers.authorization), length: Number(length) };
}
