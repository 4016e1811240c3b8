import { EventEmitter } from "node:events";
import type { WebSocket } from "ws";
import { setImmediate } from "node:timers/promises";
import type { Chains, ChainSpec } from "../../../service/ledger/chains";
import { LedgerData } from "../../../service/ledger/ledger-data";
import { rpcCall } from "../../../service/ledger/rpc";
import { Subscriptions } from "../../../service/ledger/subscriptions";
import { Database } from "../../../service/storage/database";
import { callLimits } from "../../../service/settings/settings";
import { newFolder } from "../helpers";
import { until } from "../../support/until";
import { allOf, chainsAt, closeAll, enginesOf, profile } from "./chains";

let dir: string;
beforeEach(() => (dir = newFolder()));

const spec: ChainSpec = { key: "e1", chainId: 4_711, accounts: 4, profile };
const limits = callLimits.parse({});

/** A subscriber, with the blocks of its notifications. */
async function subscriber(chain: Awaited<ReturnType<Chains["get"]>>) {
  type Told = { params: { subscription: string; result: { number: string } } };
  const told: Told["params"][] = [];
  let ended = false;
  let text = "";
  const send = (part: string | Buffer, { fin }: { fin: boolean }, done?: () => void) => {
    done?.();
    text += part.toString();
    if (!fin) return;
    told.push((JSON.parse(text) as Told).params);
    text = "";
  };
  const close = () => (ended = true);
  const member = Object.assign(new EventEmitter(), { OPEN: 1, readyState: 1, bufferedAmount: 0, send, close });
  const sent: (() => void)[] = [];
  const subscriptions = new Subscriptions(member as unknown as WebSocket, limits);
  const ask = (method: string, ...params: unknown[]) => {
    const answer = subscriptions.ask(rpcCall(method, params), chain, sent);
    for (const goOn of sent.splice(0)) goOn();
    return answer;
  };
  const id = await ask("eth_subscribe", "newHeads");
  const numbers = () => told.map(({ result }) => Number(result.number));
  return { id, ask, numbers, told, close: () => member.emit("close"), ended: () => ended };
}

test("a process that has grown is replaced: nobody misses a block, and no call fails", async () => {
  const chain = await chainsAt(dir, { growth: 40, blocks: 8, lookback: 4 }).chains.get(spec);
  const accounts = await chain.call<string[]>("eth_accounts");
  const [from, to] = accounts;
  const heads = await subscriber(chain);
  const begun = enginesOf(dir);
  expect(begun).toHaveLength(1);
  let ended = false;
  let reads = 0;
  const reading = async () => {
    for (; !ended; reads++) {
      expect(Number(await chain.call("eth_getBalance", [to, "latest"]))).toBeGreaterThanOrEqual(0); // the engine's answer
      await setImmediate(); // a call that needs no engine needs no turn of the event loop either
    }
  };
  const readers = [reading(), reading()];
  const seen = new Set(begun);
  for (let round = 0; seen.size < 4; round++) {
    await chain.call("eth_sendTransaction", [{ from, to, value: "0x1" }]);
    if (round % 10 === 0) enginesOf(dir).forEach((pid) => seen.add(pid));
  }
  ended = true;
  await Promise.all(readers);
  const whole = await allOf(chain, accounts);
  const height = whole.blocks.length - 1;
  await until(() => heads.numbers().length === height);
  expect(heads.numbers()).toEqual(Array.from({ length: height }, (_, at) => at + 1));
  expect(new Set(heads.told.map(({ subscription }) => subscription))).toEqual(new Set([heads.id]));
  expect(heads.ended()).toBe(false);
  expect(await heads.ask("eth_unsubscribe", heads.id)).toBe(true);
  await chain.call("eth_sendTransaction", [{ from, to, value: "0x1" }]);
  expect(await chain.call("eth_blockNumber")).toBe(`0x${(height + 1).toString(16)}`);
  expect(heads.numbers()).toHaveLength(height);
  await until(() => enginesOf(dir).length === 1); // the former ones end
  expect(reads).toBeGreaterThan(0);
  expect(chain.lines.filter((line) => /Could not (renew|make a snapshot)/.test(line))).toEqual([]);
  await closeAll();
  const again = await chainsAt(dir, {}).chains.get(spec);
  expect((await allOf(again, accounts)).blocks.slice(0, height + 1)).toEqual(whole.blocks);
});

test("logs of all blocks, of some, and of a filter are complete, whatever the process still has", async () => {
  const chain = await chainsAt(dir, { growth: 20, blocks: 5, lookback: 4 }).chains.get(spec);
  const [from, to] = await chain.call<string[]>("eth_accounts");
  const code = "0x602a600060006000a2"; // one log of nothing, with two topics: 0, and 42
  const deploy = `0x68${code.slice(2)}60005260096017f3`;
  const hash = await chain.call<string>("eth_sendTransaction", [{ from, data: deploy }]);
  type Log = { blockNumber: string; blockHash: string; topics: string[] };
  type Receipt = { contractAddress: string; logs: Log[] };
  const { contractAddress } = await chain.call<Receipt>("eth_getTransactionReceipt", [hash]);
  const logs: Log[] = [];
  for (let block = 0; block < 60; block++) {
    const sent = { from, to: block % 4 ? contractAddress : to };
    const done = await chain.call<string>("eth_sendTransaction", [sent]);
    logs.push(...(await chain.call<Receipt>("eth_getTransactionReceipt", [done])).logs);
  }
  expect(logs).toHaveLength(45);
  const look = async (one: typeof chain) => {
    const ask = (filter: object) => one.call<Log[]>("eth_getLogs", [filter]);
    const all = { fromBlock: "earliest", toBlock: "latest" };
    const [zero, other] = logs[0]!.topics;
    expect(await ask({ ...all, address: [contractAddress, to], topics: [null, other] })).toEqual(logs);
    expect(await ask({ ...all, topics: [zero, other, null] })).toEqual([]); // more: understood.test.ts
    const numberOf = ({ blockNumber }: Log) => Number(blockNumber);
    const part = { address: contractAddress, fromBlock: "0x3", toBlock: "0x2b" };
    expect(await ask(part)).toEqual(logs.filter((log) => numberOf(log) >= 3 && numberOf(log) <= 43));
    const [first] = logs;
    expect(await ask({ blockHash: first!.blockHash })).toEqual([first]);
    expect(await ask({ fromBlock: "0xffff" })).toEqual([]);
    await expect(ask({ blockHash: `0x${"1".repeat(64)}` })).rejects.toThrow("unknown block");
  };
  await look(chain);
  await closeAll();
  await look(await chainsAt(dir).chains.get(spec));
});

test("filters report everything after their creation exactly once, whatever happens to the process", async () => {
  const { chains, warnings } = chainsAt(dir, { growth: 15, blocks: 5, lookback: 3 });
  const chain = await chains.get(spec);
  const [from, to] = await chain.call<string[]>("eth_accounts");
  const send = () => chain.call<string>("eth_sendTransaction", [{ from, to, value: "0x1" }]);
  const log = () => chain.call<string>("eth_sendTransaction", [{ from, data: "0x60006000a0" }]); // a log of nothing
  const heads = await subscriber(chain);
  await log();
  const make = async (kind: string, ...params: unknown[]) => {
    const id = await chain.call<string>(`eth_new${kind}`, params);
    return () => chain.call<unknown[]>("eth_getFilterChanges", [id]);
  };
  const blocks = await make("BlockFilter");
  const pending = await make("PendingTransactionFilter");
  const logs = await make("Filter", { fromBlock: "earliest" });
  const since = await make("Filter", {});
  expect([await blocks(), await pending(), await logs(), await since()]).toEqual([[], [], [], []]);
  const hashes: string[] = [];
  const [begun] = enginesOf(dir);
  const logged = [await log(), await log()];
  hashes.push(...logged);
  expect(await since()).toMatchObject(logged.map((transactionHash) => ({ transactionHash })));
  logged.push(await log()); // in a block that is not the latest one at the next look
  hashes.push(logged.at(-1)!);
  while (enginesOf(dir).includes(begun!)) hashes.push(await send());
  enginesOf(dir).forEach((pid) => process.kill(pid, "SIGKILL")); // one may serve, another one be to replace it already
  await until(() => warnings.length === 1);
  hashes.push(await log());
  const { blocks: all } = await allOf(chain, []);
  expect(await blocks()).toEqual(all.slice(2).map(([{ hash }]) => hash));
  expect(await pending()).toEqual(hashes);
  logged.push(hashes.at(-1)!);
  expect(await logs()).toMatchObject(logged.map((transactionHash) => ({ transactionHash })));
  expect(await since()).toMatchObject(logged.slice(2).map((transactionHash) => ({ transactionHash })));
  expect([await blocks(), await pending(), await logs(), await since()]).toEqual([[], [], [], []]);
  expect(heads.numbers()).toEqual(all.slice(1).map(([{ number }]) => Number(number)));
  expect(heads.ended()).toBe(false);
});

test("blocks that cannot be written are shown and reported once, and written with the next one", async () => {
  const chain = await chainsAt(dir).chains.get(spec);
  const accounts = await chain.call<string[]>("eth_accounts");
  const heads = await subscriber(chain);
  const filter = await chain.call("eth_newFilter", [{}]);
  const changes = () => chain.call<object[]>("eth_getFilterChanges", [filter]);
  const log = () => chain.call<string>("eth_sendTransaction", [{ from: accounts[0], data: "0x60006000a0" }]);
  let fails = true;
  const { write } = Database.prototype as { write: (this: Database, ...given: unknown[]) => Promise<void> };
  const spy = jest.spyOn(Database.prototype, "write").mockImplementation(function (this: Database, changes, sync) {
    return fails && sync === false ? Promise.reject(new Error("No space left")) : write.call(this, changes, sync);
  });
  try {
    for (const blockNumber of ["0x1", "0x2"]) {
      const receipt = await chain.call("eth_getTransactionReceipt", [await log()]);
      expect(receipt).toMatchObject({ blockNumber, logs: [{ blockNumber }] });
      expect(await changes()).toMatchObject([{ blockNumber }]);
      const { hash } = await chain.call<{ hash: string }>("eth_getBlockByNumber", [blockNumber, false]);
      expect(await chain.call("eth_getBlockByHash", [hash, false])).toMatchObject({ hash, number: blockNumber });
    }
    const since = (fromBlock: string) => chain.call("eth_getLogs", [{ fromBlock }]);
    const all = () => since("0x0");
    expect(await all()).toMatchObject([{ blockNumber: "0x1" }, { blockNumber: "0x2" }]);
    expect(await since("0x2")).toMatchObject([{ blockNumber: "0x2" }]);
    fails = false;
    await log();
    expect(await all()).toMatchObject([{ blockNumber: "0x1" }, { blockNumber: "0x2" }, { blockNumber: "0x3" }]);
    expect(heads.numbers()).toEqual([1, 2, 3]);
  } finally {
    spy.mockRestore();
  }
  const whole = await allOf(chain, accounts);
  await closeAll();
  const data = jest.spyOn(LedgerData.prototype, "keep");
  expect(await allOf(await chainsAt(dir).chains.get(spec), accounts)).toEqual(whole);
  expect(data).not.toHaveBeenCalled(); // the replay had nothing to make again
  data.mockRestore();
});
