import { once } from "node:events";
import type { Wire } from "../helpers";
import { Feeds } from "../../../service/ledger/feeds";
import { until } from "../../support/until";
import { contract, eth, ledgered, result, returning, rpc, webSocket } from "../ledgers";

/* Subscriptions, which the service serves from its own data. */

const raft = { provider: "quorum", consensus_type: "raft" };
/** Init code that logs this many zero bytes. */
const logging = (bytes: number) => `0x62${bytes.toString(16).padStart(6, "0")}6000a000`;
const subscription = ({ params }: Wire) => (params as { subscription: string }).subscription;

test("a subscription to logs hears those of its blocks", () => {
  const feeds = new Feeds();
  const heard: unknown[] = [];
  const listener = { hear: (log: unknown) => heard.push((log as Wire).blockNumber), end: () => undefined };
  feeds.subscribe(["logs", { fromBlock: "0x2", toBlock: "0x3" }], listener);
  for (const blockNumber of ["0x1", "0x2", "0x3", "0x4"])
    feeds.block({ block: {}, receipts: [{ logs: [{ blockNumber, address: "0x0", topics: [] }] }] } as never);
  expect(heard).toEqual(["0x2", "0x3"]);
});

test("notifications follow the answer with their subscription's id, even in a batch, and end once", async () => {
  const { credential, urls } = await ledgered({}, raft);
  const [from] = await result<string[]>(urls.rpc, credential, "eth_accounts");
  for (let time = 0; time < 5; time++) {
    const { socket, messages } = await webSocket(urls.wss, credential);
    const subscribe = { ...eth("eth_subscribe", "newHeads"), id: "a" };
    socket.send(JSON.stringify([subscribe, { ...eth("eth_sendTransaction", { from, to: from }), id: "b" }]));
    await until(() => messages.length >= 2);
    const [answer, head] = messages as unknown as [{ id: string; result: string }[], Wire];
    expect(answer.map(({ id }) => id)).toEqual(["a", "b"]);
    const { result: id } = answer[0]!;
    expect(subscription(head)).toBe(id);
    for (const said of [{ result: true }, { error: { code: -32_000, message: "subscription not found" } }]) {
      const before = messages.length;
      socket.send(JSON.stringify(eth("eth_unsubscribe", id)));
      await until(() => messages.length > before);
      expect(messages.at(-1)).toMatchObject(said);
    }
    socket.terminate();
  }
});

test("a log is serialized once for all subscribers; only who does not read is cut off", async () => {
  const { credential, urls } = await ledgered({ callLimits: { time: 3_000, answer: 1_500_000 } }, raft);
  const [from] = await result<string[]>(urls.rpc, credential, "eth_accounts");
  const members = await Promise.all(Array.from({ length: 8 }, () => webSocket(urls.wss, credential)));
  const [deaf, ...others] = members as [(typeof members)[0], ...typeof members];
  const calls = Array.from({ length: 8 }, (_, id) => ({ ...eth("eth_subscribe", "logs", {}), id }));
  for (const { socket } of members) socket.send(JSON.stringify(calls));
  for (const { messages } of members) await until(() => messages.length === 1);
  deaf.socket.pause();
  const mute = await webSocket(urls.wss, credential); // reads no answers either
  mute.socket.pause();
  const large = eth("eth_call", { to: contract }, "latest", { [contract]: { code: returning(700_000) } });
  for (let sent = 0; sent < 40; sent++) mute.socket.send(JSON.stringify(large));
  const closed = [deaf, mute].map(({ socket }) => once(socket, "close"));
  for (let time = 0; time < 12; time++) {
    const sent = await rpc(
      urls.rpc,
      credential,
      eth("eth_sendTransaction", { from, data: logging(250_000), gas: "0x1c9c380" }),
    );
    expect(sent.body).toHaveProperty("result");
    await until(() => others.every(({ messages }) => messages.length === 1 + 8 * (time + 1)));
  }
  const [answers, ...told] = others[0]!.messages as unknown as [{ result: string }[], ...Wire[]];
  expect(new Set(told.map(subscription))).toEqual(new Set(answers.map((one) => one.result)));
  for (const { socket } of [deaf, mute]) socket.resume();
  await Promise.all(closed);
  expect(mute.messages.length).toBeLessThan(40);
  expect(others.map(({ socket }) => socket.readyState)).toEqual(others.map(({ socket }) => socket.OPEN));
});

test("new transactions are heard in full in their order, however long each takes", async () => {
  const [feeds, heard] = [new Feeds(), [] as unknown[]];
  feeds.subscribe(["newPendingTransactions", true], { hear: (one) => heard.push(one), end: () => undefined });
  const ends: ((one: object) => void)[] = [];
  const full = () => new Promise<object>((done) => ends.push(done));
  feeds.transaction("0x0", full);
  feeds.transaction("0x1", () => Promise.reject(new Error("the engine ended")));
  feeds.transaction("0x2", full);
  ends[1]!({ nonce: 2 });
  ends[0]!({ nonce: 0 });
  await until(() => heard.length === 2);
  expect(heard).toEqual([{ nonce: 0 }, { nonce: 2 }]);
});

test("a filter lives while it is asked; one that nobody asks is gone after five minutes", () => {
  const clock = jest.spyOn(Date, "now").mockReturnValue(0);
  const feeds = new Feeds();
  const [asked, left] = [feeds.filter("newHeads"), feeds.filter("newHeads")];
  for (const number of [1, 2, 3]) {
    clock.mockReturnValue(number * 200_000);
    expect(feeds.used(asked).news).toHaveLength(number - 1);
    feeds.block({ block: { number: `0x${number}` }, receipts: [] } as never);
  }
  expect(() => feeds.used(left)).toThrow("filter not found");
  clock.mockRestore();
});

test("the log of a block's second transaction has the same index in its trace", async () => {
  const { credential, urls } = await ledgered({}, { provider: "quorum", consensus_type: "ibft", block_period: 1 });
  const ask = <T>(method: string, ...params: unknown[]) => result<T>(urls.rpc, credential, method, ...params);
  const [from] = await ask<string[]>("eth_accounts");
  const receipt = (hash: string) =>
    ask<{ blockNumber: string; logs: { logIndex: string }[] }>("eth_getTransactionReceipt", hash);
  await until(async () => {
    const call = eth("eth_sendTransaction", { from, data: logging(1), gas: "0x186a0" });
    const { body } = await rpc(urls.rpc, credential, [call, call]);
    const [first, second] = (body as { result: string }[]).map((answer) => answer.result) as [string, string];
    await until(async () => (await receipt(second)) !== null);
    const [one, other] = [await receipt(first), await receipt(second)];
    if (one.blockNumber !== other.blockNumber) return false; // a block came between them
    const options = { tracer: "callTracer", tracerConfig: { withLog: true } };
    const { logs } = await ask<{ logs: { index: string }[] }>("debug_traceTransaction", second, options);
    expect([logs[0]!.index, other.logs[0]!.logIndex]).toEqual(["0x1", "0x1"]);
    return true;
  });
});

test("a filter's id is a number as clients write it, which some send in place of the text", async () => {
  const { credential, urls } = await ledgered({}, raft);
  const { body } = await rpc(urls.rpc, credential, Array<object>(200).fill(eth("eth_newBlockFilter"))); // one in 16 would begin with 0
  const ids = (body as unknown as { result: string }[]).map(({ result }) => result);
  expect(ids.map((id) => `0x${BigInt(id).toString(16)}`)).toEqual(ids);
});
