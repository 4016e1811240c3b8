import { once } from "node:events";
import { Wallet, id } from "ethers";
import WebSocket from "ws";
import { until } from "../../../support/until";
import { type Answer, withoutOwn } from "./differences";
import { type Seen, type Step, topic } from "./step";
import { steps } from "./steps";

/* A ledger that is asked: the same calls to each, from the same beginning. The profile is London, the oldest one that geth 1.17 has. */

export const chainId = 20_260_101;
export const rich = new Wallet(id("a rich account"));
export const balance = 10n ** 22n;
/** A contract that logs a topic while it is deployed. */
const logging = `0x7f${topic.slice(2)}60206000a1`;

const mostLooks = 600;

/** Now and then, a geth for developers leaves a transaction waiting until the next one comes. */
export class Forgotten extends Error {}

async function untilDone(holds: () => boolean | Promise<boolean>): Promise<void> {
  let looks = 0;
  await until(() => {
    if (looks++ >= mostLooks) throw new Forgotten(holds.toString());
    return holds();
  });
}

/** The service's, or geth's. */
export class Ledger implements Seen {
  readonly rich = rich;
  readonly chainId = chainId;
  account = "";
  readonly #results = new Map<string, unknown>();

  constructor(
    private readonly url: string,
    readonly wss: string,
    /** Of every request. */
    readonly headers: Record<string, string> = {},
  ) {}

  of = <T>(step: string): T => {
    if (!this.#results.has(step)) throw new Error(`There is no result of: ${step}.`);
    return this.#results.get(step) as T;
  };

  async ask(step: Step): Promise<Answer> {
    const answer = await this.send(await step.body(this));
    this.#results.set(step.title, answer?.result);
    if (step.mined) await this.#isDone(step.title);
    return answer;
  }

  /** Waits until a transaction is in a block, and out of geth's pool, which takes and refuses other things before. The service has no such call. */
  #isDone = (title: string): Promise<void> =>
    untilDone(async () => {
      if ((await this.call("eth_getTransactionReceipt", this.of(title))) === null) return false;
      const status = (await this.call("txpool_status")) as { pending: string } | undefined;
      return status === undefined || status.pending === "0x0";
    });

  async call(method: string, ...params: unknown[]): Promise<unknown> {
    return ((await this.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }))) as { result: unknown }).result;
  }

  async send(body: string): Promise<Answer> {
    const headers = { ...this.headers, "content-type": "application/json" };
    const text = await (await fetch(this.url, { method: "POST", headers, body })).text();
    return (text === "" ? null : JSON.parse(text)) as Answer;
  }

  /** Its first block. */
  async begin(): Promise<this> {
    [this.account] = (await this.call("eth_accounts")) as [string];
    await this.call("eth_sendTransaction", { from: this.account, to: this.account });
    await untilDone(async () => (await this.call("eth_syncing")) === false); // geth indexes its first block
    await untilDone(async () => (await this.call("eth_blockNumber")) === "0x1");
    return this;
  }
}

const refusedSubscriptions: unknown[][] = [
  ["nothing"],
  [],
  [5],
  ["logs"],
  ["logs", true],
  ["logs", { fromBlock: "0x5", toBlock: "0x1" }],
  ["logs", { fromBlock: "safe" }],
  ["logs", { fromBlock: "pending" }],
  ["logs", { toBlock: "0x5" }],
  ["newHeads", true],
  ["newPendingTransactions", {}],
];

/** A ledger's notifications about a transfer and a deployment that logs, by subscription. */
async function notified(ledger: Ledger): Promise<Record<string, Answer>> {
  const socket = new WebSocket(ledger.wss, { headers: ledger.headers });
  const messages: unknown[] = [];
  socket.on("message", (data: Buffer) => messages.push(JSON.parse(data.toString())));
  await once(socket, "open");
  const kinds = [
    ["newHeads"],
    ["logs", { topics: [topic] }],
    ["newPendingTransactions"],
    ["newPendingTransactions", true],
    ["logs", { fromBlock: "0x0", address: [rich.address], toBlock: "latest" }],
    ...refusedSubscriptions,
  ];
  for (const [id, params] of kinds.entries()) {
    socket.send(JSON.stringify({ jsonrpc: "2.0", id, method: "eth_subscribe", params }));
    await until(() => messages.length > id);
  }
  const nonce = Number(await ledger.call("eth_getTransactionCount", rich.address, "latest"));
  const usual = { type: 0, gasPrice: 1_000_000_000, gasLimit: 100_000, chainId };
  for (const [at, transaction] of [{ to: rich.address }, { data: logging }].entries()) {
    const raw = await rich.signTransaction({ ...usual, ...transaction, nonce: nonce + at });
    await ledger.call("eth_sendRawTransaction", raw);
    await untilDone(() => messages.length === kinds.length + [3, 7][at]!);
  }
  socket.terminate();
  const all = messages as {
    result?: string;
    error?: object;
    params?: { subscription: string; result: unknown };
  }[];
  const of = (name: unknown) =>
    all.flatMap(({ params }) => (params && params.subscription === name ? [params.result] : []));
  return Object.fromEntries(
    kinds.map((kind, at) => [JSON.stringify(kind), all[at]!.error ? all[at]! : { result: of(all[at]!.result) }]),
  ) as Record<string, Answer>;
}

/** The answers to all steps, and what was notified, by title: without what is another in each chain. */
export async function answersOf(ledger: Ledger): Promise<Record<string, Answer>> {
  const answers: Record<string, Answer> = {};
  for (const step of steps) answers[step.title] = withoutOwn(await ledger.ask(step), step);
  for (const [about, answer] of Object.entries(await notified(ledger))) {
    const title = `notifications of ${about}`;
    answers[title] = withoutOwn(answer, { title, body: () => "" });
  }
  return answers;
}
