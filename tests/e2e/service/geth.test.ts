import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Wallet } from "ethers";
import { basic } from "../../service/helpers";
import { ledgered, result, webSocket } from "../../service/ledgers";
import { until } from "../../support/until";
import { type Answer, differences, without, withoutOwn } from "./geth/differences";
import { realGeth } from "./geth/node";
import { type Seen, type Step, topic } from "./geth/step";
import { steps } from "./geth/steps";

/*
 * A ledger of the embedded service and a real geth get the same calls. The answers are equal, except for the differences in the table
 * in docs/reference/embedded-service.md. The profile is London, the oldest one that geth 1.17 has.
 */

jest.setTimeout(1_800_000); // the first time, geth is built

const rich = Wallet.createRandom() as unknown as Wallet;
const balance = 10n ** 22n;
/** A contract that logs a topic while it is deployed. */
const logging = `0x7f${topic.slice(2)}60206000a1`;

/** One of the two. */
class Ledger implements Seen {
  readonly rich = rich;
  account = "";
  readonly #results = new Map<string, unknown>();

  constructor(
    private readonly url: string,
    readonly wss: string,
    readonly chainId: number,
    readonly pair?: { username: string; password: string },
  ) {}

  of = <T>(step: string): T => {
    if (!this.#results.has(step)) throw new Error(`There is no result of: ${step}.`);
    return this.#results.get(step) as T;
  };

  async ask(step: Step): Promise<Answer> {
    const answer = await this.send(await step.body(this));
    this.#results.set(step.title, answer?.result);
    if (step.mined)
      await until(async () => (await this.call("eth_getTransactionReceipt", this.of(step.title))) !== null);
    return answer;
  }

  async call(method: string, ...params: unknown[]): Promise<unknown> {
    return ((await this.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }))) as { result: unknown }).result;
  }

  async send(body: string): Promise<Answer> {
    const credentials = this.pair && basic(this.pair.username, this.pair.password);
    const headers = { ...credentials, "content-type": "application/json" };
    const text = await (await fetch(this.url, { method: "POST", headers, body })).text();
    return (text === "" ? null : JSON.parse(text)) as Answer;
  }
}

const ends: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(ends.splice(0).map((end) => end())));

async function both(): Promise<[here: Ledger, there: Ledger]> {
  const answers = { quorumLedger: { hardFork: "london" as const } };
  const prefunded = { [rich.address]: { balance: `${balance}` } };
  const environment = { provider: "quorum", consensus_type: "raft", prefunded_accounts: prefunded };
  const { credential, urls } = await ledgered({ answers }, environment);
  const chainId = Number(await result(urls.rpc, credential, "eth_chainId"));
  const geth = await realGeth(chainId, { [rich.address]: { balance: `0x${balance.toString(16)}` } });
  ends.push(geth.end);
  await geth.ready();
  const ledgers: [Ledger, Ledger] = [
    new Ledger(urls.rpc, urls.wss, chainId, credential),
    new Ledger(geth.url, geth.wss, chainId),
  ];
  for (const ledger of ledgers) {
    [ledger.account] = (await ledger.call("eth_accounts")) as [string];
    await ledger.call("eth_sendTransaction", { from: ledger.account, to: ledger.account });
    await until(async () => (await ledger.call("eth_syncing")) === false); // geth indexes its first block
    await until(async () => (await ledger.call("eth_blockNumber")) === "0x1");
  }
  return ledgers;
}

/** A ledger's notifications about a transfer and a deployment that logs, by subscription. */
async function notified(ledger: Ledger): Promise<Record<string, unknown[]>> {
  const { socket, messages } = await webSocket(ledger.wss, ledger.pair);
  const kinds = [["newHeads"], ["logs", { topics: [topic] }], ["newPendingTransactions"], ["nothing"]] as const;
  for (const [id, params] of kinds.entries()) {
    socket.send(JSON.stringify({ jsonrpc: "2.0", id, method: "eth_subscribe", params }));
    await until(() => messages.length > id);
  }
  const nonce = Number(await ledger.call("eth_getTransactionCount", rich.address, "latest"));
  const usual = { type: 0, gasPrice: 1_000_000_000, gasLimit: 100_000, chainId: ledger.chainId };
  for (const [at, transaction] of [{ to: rich.address }, { data: logging }].entries()) {
    const raw = await rich.signTransaction({ ...usual, ...transaction, nonce: nonce + at });
    await ledger.call("eth_sendRawTransaction", raw);
    await until(() => messages.length === kinds.length + [2, 5][at]!);
  }
  socket.terminate();
  const all = messages as unknown as {
    result?: string;
    error?: object;
    params?: { subscription: string; result: unknown };
  }[];
  const of = (name: unknown) =>
    all.flatMap(({ params }) => (params && params.subscription === name ? [params.result] : []));
  return Object.fromEntries(kinds.map(([kind], at) => [kind, all[at]!.error ? [all[at]] : of(all[at]!.result)]));
}

test("answers equal geth's, except for the differences in the table", async () => {
  const ledgers = await both();
  const used = new Set<string>();
  const [own, other]: Record<string, unknown>[] = [{}, {}];
  for (const step of steps) {
    const answers = [];
    for (const ledger of ledgers) answers.push(withoutOwn(await ledger.ask(step), step));
    const alike = without(answers as [Answer, Answer], step, used);
    [own![step.title], other![step.title]] = alike;
  }
  const heard = await Promise.all(ledgers.map(notified));
  for (const about of Object.keys(heard[0]!)) {
    const step = { title: `notifications of ${about}`, body: () => "" };
    const answers = heard.map((all) => withoutOwn({ result: all[about]! }, step));
    [own![step.title], other![step.title]] = without(answers as [Answer, Answer], step, used);
  }
  expect(own).toEqual(other);
  const page = readFileSync(join(__dirname, "../../../docs/reference/embedded-service.md"), "utf8");
  const [, table = ""] = page.split("| what | geth 1.17 | here |");
  const rows = table.split("\n\n")[0]!.split("\n").slice(2);
  expect(rows.map((row) => row.slice(2).split(" | ")[0])).toEqual(Object.keys(differences));
  expect([...used].sort()).toEqual(Object.keys(differences).sort());
});
