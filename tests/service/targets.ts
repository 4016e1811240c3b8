import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { findAnvil } from "../../service/ledger/engine";
import { until } from "../support/until";

const running: (() => void)[] = [];
afterAll(() => running.splice(0).forEach((end) => end()));

/** An external network: anvil on a port, which makes blocks when the test says so. */
export class Network {
  #child: ChildProcess | undefined;
  port = 0;

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(...args: string[]): Promise<this> {
    const child = spawn(
      findAnvil(undefined)!,
      ["--port", `${this.port}`, "--accounts", "1", "--chain-id", "4242", "--color", "never", ...args],
      { stdio: ["ignore", "pipe", "inherit"], env: { HOME: tmpdir() } },
    );
    this.#child = child;
    running.push(() => child.kill("SIGKILL"));
    this.port = await new Promise((done, fail) => {
      child.once("exit", () => fail(new Error("the network ended")));
      createInterface({ input: child.stdout }).on("line", (line) => {
        const [, port] = /^Listening on .*:(\d+)$/.exec(line) ?? [];
        if (port !== undefined) done(Number(port));
      });
    });
    return this;
  }

  /** Ends it. Its state is lost. */
  async stop(): Promise<void> {
    this.#child!.kill("SIGKILL");
    await once(this.#child!, "exit");
  }

  async call<T>(method: string, ...params: unknown[]): Promise<T> {
    const answer = await fetch(this.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result, error } = (await answer.json()) as { result: T; error?: { message: string } };
    if (error) throw new Error(error.message);
    return result;
  }

  fund = (address: string) => this.call("anvil_setBalance", address, "0x8ac7230489e80000");

  /** How many contracts an account deployed, in blocks. */
  async deployedBy(address: string): Promise<number> {
    return (await this.#sentBy(address)).filter(({ to }) => to === null).length;
  }

  /** How many other transactions it sent. */
  async calledBy(address: string): Promise<number> {
    return (await this.#sentBy(address)).filter(({ to }) => to !== null).length;
  }

  async #sentBy(address: string) {
    const height = Number(await this.call<string>("eth_blockNumber"));
    type Block = { transactions: { from: string; to: string | null }[] };
    const blocks = await Promise.all(
      Array.from({ length: height + 1 }, (_, at) =>
        this.call<Block>("eth_getBlockByNumber", `0x${at.toString(16)}`, true),
      ),
    );
    const sent = blocks.flatMap(({ transactions }) => transactions);
    return sent.filter(({ from }) => from.toLowerCase() === address.toLowerCase());
  }

  mine = () => this.call("anvil_mine", "0x1");

  /** Makes blocks until something holds: a report counts once its block is deep. */
  mineUntil = (holds: () => boolean | Promise<boolean>) => until(async () => (await this.mine(), holds()));

  /** Makes blocks until something is answered. */
  async mining<T>(asked: Promise<T>): Promise<T> {
    let open = true;
    asked.finally(() => (open = false)).catch(() => undefined);
    await this.mineUntil(() => !open);
    return asked;
  }

  async waiting(): Promise<number> {
    return Number((await this.call<{ pending: string }>("txpool_status")).pending);
  }

  /** A proxy with custom answers. Returns its address. */
  async behind(answer: Between): Promise<string> {
    const forward = async (body: string) => {
      const response = await fetch(this.url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      }).catch(() => undefined);
      return response ? { status: response.status, body: await response.text() } : { status: 504, body: "no network" };
    };
    const server = createServer((asked, response) => {
      void text(asked).then(async (sent) => {
        const { status = 200, body } = await answer(JSON.parse(sent) as Asked, () => forward(sent), asked);
        response.writeHead(status, { "content-type": "application/json" }).end(body);
      });
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    running.push(() => {
      server.close();
      server.closeAllConnections();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
}

export interface Asked {
  id: number;
  method: string;
  params: unknown[];
}

type Answered = { status?: number; body: string };
/** The answers of a proxy; `forward` asks the network. */
export type Between = (call: Asked, forward: () => Promise<Answered>, request: IncomingMessage) => Promise<Answered>;
