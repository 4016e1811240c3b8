import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Chains, ChainSpec } from "../../../service/ledger/chains";
import { rpcCall } from "../../../service/ledger/rpc";
import { Subscriptions } from "../../../service/ledger/subscriptions";
import { callLimits } from "../../../service/settings/settings";
import { newFolder } from "../helpers";
import { until } from "../../support/until";
import { allOf, chainsAt, closeAll, enginesOf, profile } from "./chains";

let dir: string;
beforeEach(() => (dir = newFolder()));

/** The blocks up to which there are snapshots. */
const snapshotsIn = (folder: string) =>
  readdirSync(join(folder, "e1")).flatMap((file) => {
    const number = /^snapshot-(\d+)/.exec(file)?.[1];
    return number === undefined ? [] : [Number(number)];
  });

const spec: ChainSpec = { key: "e1", chainId: 4_711, accounts: 4, profile };
const limits = callLimits.parse({});

/** A subscriber, and the blocks that it was told of. */
async function subscriber(chain: Awaited<ReturnType<Chains["get"]>>) {
  type Told = { params: { subscription: string; result: { number: string } } };
  const told: Told["params"][] = [];
  let ended = false;
  const fail = (error: unknown) => {
    throw error;
  };
  const tell = (line: Buffer) => void told.push((JSON.parse(line.toString()) as Told).params);
  const subscriptions = new Subscriptions(limits, tell, () => (ended = true), fail);
  const ask = async (method: string, ...params: unknown[]) => {
    const answer = await subscriptions.ask(rpcCall(method, params), chain, { bytes: 1e6, ms: 5_000 });
    return (JSON.parse(answer.toString()) as { result: unknown }).result;
  };
  const id = await ask("eth_subscribe", "newHeads");
  const numbers = () => told.map(({ result }) => Number(result.number));
  return { id, ask, numbers, told, close: () => subscriptions.close(), ended: () => ended };
}

test("a process that has grown is replaced by another one: nobody misses a block, and no call fails", async () => {
  const chain = await chainsAt(dir, { growth: 150_000, blocks: 8, lookback: 4 }).chains.get(spec);
  const accounts = await chain.call<string[]>("eth_accounts");
  const [from, to] = accounts;
  const heads = await subscriber(chain);
  const begun = enginesOf(dir);
  expect(begun).toHaveLength(1);
  let ended = false;
  let reads = 0;
  const reading = async () => {
    for (; !ended; reads++) expect(Number(await chain.call("eth_blockNumber"))).toBeGreaterThanOrEqual(0);
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
  expect(chain.lines.filter((line) => / is not renewed|No snapshot/.test(line))).toEqual([]);
  await closeAll();
  const again = await chainsAt(dir, {}).chains.get(spec);
  expect((await allOf(again, accounts)).blocks.slice(0, height + 1)).toEqual(whole.blocks);
});

test("logs of all blocks are those of all files of the past, although no process could hold them all", async () => {
  const chain = await chainsAt(dir, { blocks: 5, lookback: 4 }).chains.get(spec);
  const [from, to] = await chain.call<string[]>("eth_accounts");
  const code = "0x6000600060006000a1"; // one log of nothing, with a topic
  const deploy = `0x68${code.slice(2)}60005260096017f3`;
  const hash = await chain.call<string>("eth_sendTransaction", [{ from, data: deploy }]);
  type Receipt = { contractAddress: string; logs: unknown[] };
  const { contractAddress } = await chain.call<Receipt>("eth_getTransactionReceipt", [hash]);
  const logs: unknown[] = [];
  const send = async (block: number) => {
    const sent = { from, to: block % 4 ? contractAddress : to };
    const done = await chain.call<string>("eth_sendTransaction", [sent]);
    logs.push(...(await chain.call<Receipt>("eth_getTransactionReceipt", [done])).logs);
  };
  for (let block = 0; block < 60; block++) await send(block);
  expect(logs).toHaveLength(45);
  // what a snapshot does not have yet, a later one has
  for (let block = 0; Math.max(...snapshotsIn(dir)) < 55; block++) {
    await send(block);
    await wait(300);
  }
  await closeAll();
  const again = await chainsAt(dir, { growth: 12_000 }).chains.get(spec);
  const [first] = enginesOf(dir);
  const all = () => again.call("eth_getLogs", [{ address: contractAddress, fromBlock: "earliest" }]);
  expect(await all()).toEqual(logs);
  expect(await Promise.all([all(), all(), all()])).toEqual([logs, logs, logs]);
  while (enginesOf(dir).includes(first!)) {
    await again.call("eth_sendTransaction", [{ from, to }]);
    await wait(300);
  }
  expect(await all()).toEqual(logs);
  const part = { address: contractAddress, fromBlock: "0x3", toBlock: "0x2b" };
  const numbersOf = (some: unknown[]) => (some as { blockNumber: string }[]).map((log) => Number(log.blockNumber));
  const numbers = numbersOf(await again.call<unknown[]>("eth_getLogs", [part]));
  expect(numbers).toEqual(numbersOf(logs).filter((at) => at >= 3 && at <= 43));
});

test("filters keep a process in its place, for as long as it may", async () => {
  const chain = await chainsAt(dir, { growth: 100_000, blocks: 5, lookback: 3 }).chains.get(spec);
  const [from, to] = await chain.call<string[]>("eth_accounts");
  const [pid] = enginesOf(dir);
  const ask = async (method: string, ...params: unknown[]) => {
    const answer = await chain.ask(rpcCall(method, params), { bytes: 1e6, ms: 5_000 });
    return (JSON.parse(answer.toString()) as { result?: unknown }).result;
  };
  const filter = await ask("eth_newBlockFilter");
  for (let block = 0; block < 20; block++) await chain.call("eth_sendTransaction", [{ from, to, value: "0x1" }]);
  expect(await ask("eth_getFilterChanges", filter)).toHaveLength(20);
  expect(enginesOf(dir)).toContain(pid);
  await until(async () => {
    await chain.call("eth_sendTransaction", [{ from, to, value: "0x1" }]);
    return !enginesOf(dir).includes(pid!);
  });
});

test("a chain whose blocks log too much for the memory lets transactions wait until there is room again", async () => {
  const pace = { lookback: 8, growth: 300_000, room: 2_500_000 };
  const chain = await chainsAt(dir, pace).chains.get(spec);
  const [from] = await chain.call<string[]>("eth_accounts");
  const code = "5b6140006000a05a620300001060005700"; // logs 16 kB as often as there is gas for
  const data = `0x6011600c60003960116000f3${code}`;
  const deployed = await chain.call<string>("eth_sendTransaction", [{ from, data }]);
  type Receipt = { contractAddress: string; blockNumber: string; status: string };
  const receipt = (hash: string) => chain.call<Receipt>("eth_getTransactionReceipt", [hash]);
  const { contractAddress: to } = await receipt(deployed);
  const bomb = () => chain.call<string>("eth_sendTransaction", [{ from, to, gas: "0x3d0900", gasPrice: "0x0" }]);
  const hashes: string[] = [];
  while (hashes.length < 14) {
    hashes.push(await bomb());
    // there is no room for four of them
    const [after = 0] = snapshotsIn(dir).slice(-1);
    const numbers = await Promise.all(hashes.map(async (hash) => Number((await receipt(hash)).blockNumber)));
    expect(numbers.filter((number) => number > after).length).toBeLessThanOrEqual(5);
  }
  const seen = await Promise.all(hashes.map(receipt));
  expect(seen.map(({ status }) => status)).toEqual(hashes.map(() => "0x1"));
  await closeAll();
  const again = await chainsAt(dir, pace).chains.get(spec);
  for (const [at, hash] of hashes.entries())
    expect(await again.call("eth_getTransactionReceipt", [hash])).toEqual(seen[at]);
});
