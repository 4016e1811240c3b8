import { Transaction, Wallet, toQuantity } from "ethers";
import { Refusal } from "../../../service/errors";
import { RpcError } from "../../../service/ledger/rpc";
import {
  Lasting,
  Rejected,
  contradicted,
  minedAs,
  raised,
  settled,
  type Pace,
} from "../../../service/tether/transactions";
import type { Base } from "../../../service/context";
import { SteadyClock } from "../../../service/storage/steady-clock";
import type { Signed } from "../../../service/store/entities";
import { Store } from "../../../service/store/store";
import type { Accounts } from "../../../service/tether/accounts";
import { Deployments } from "../../../service/tether/deployments";
import { newTether, reportOf } from "../../../service/tether/tethering";
import type { Target } from "../../../service/tether/targets";
import { Pins } from "../../../service/tether/pins";
import { Schedule } from "../../../service/tether/schedule";
import { until } from "../../support/until";

const made = { nonce: 3, hash: "0xaa", raw: "0x02aa", genesis: "0x01" };
const receipt = { status: "0x1", blockNumber: "0x9" };

type Answer = unknown;
interface Shown {
  count: Answer;
  receipt?: Answer;
  genesis?: string;
  sent?: Answer;
}

/** A network that shows what `at` says, in virtual time. An error as an answer is thrown. */
function network(at: (ms: number, sends: number) => Shown, most = 600_000) {
  let time = 0;
  const calls: [ms: number, method: string][] = [];
  const sends = () => calls.filter(([, method]) => method === "eth_sendRawTransaction").length;
  const call = <T>(method: string): Promise<T> => {
    calls.push([time, method]);
    const shown = at(time, sends());
    const answers: Record<string, unknown> = {
      eth_getTransactionCount: shown.count,
      eth_getTransactionReceipt: shown.receipt ?? null,
      eth_getBlockByNumber: { hash: shown.genesis ?? made.genesis },
      eth_sendRawTransaction: "sent" in shown ? shown.sent : made.hash,
    };
    const answer = answers[method];
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer as T);
  };
  const pace: Pace = {
    now: () => time,
    rest: (ms) => {
      time += ms;
      return time > most ? Promise.reject(new Error("it waits")) : Promise.resolve();
    },
  };
  const target: Target = { network: "rinkeby", chainId: 1, local: undefined, call };
  const { signal } = new AbortController();
  const usual = { fresh: true, isDone: () => Promise.resolve(false), signal };
  const settle = (options: Partial<typeof usual> = {}) =>
    settled(target, "0xfrom", made, { ...usual, ...options }, pace);
  return { settle, sends, calls, time: () => time };
}

const mined = { transaction_hash: made.hash, block_number: 9 };

test("a transaction that a block has", async () => {
  const { settle, sends } = network((_ms, sent) => (sent > 0 ? { count: "0x4", receipt } : { count: "0x3" }));
  expect(await settle()).toEqual(mined);
  expect(sends()).toBe(1);
});

test("a nonce that another transaction used: only after a minute of checks without a break", async () => {
  const { settle, time, sends } = network((_ms, sent) => (sent > 0 ? { count: "0x4" } : { count: "0x3" }));
  expect(await settle()).toBe("void");
  expect(time()).toBeGreaterThanOrEqual(contradicted.ms);
  expect(sends()).toBe(1);
  const flickering = network((ms) => ({ count: ms % 40_000 < 20_000 ? "0x4" : "0x3" }));
  await expect(flickering.settle()).rejects.toThrow("it waits");
});

test.each([
  ["long enough", [0, 3, 10], [true, true, true], [false, false, true]],
  ["not long enough", [0, 3, 9], [true, true, true], [false, false, false]],
  ["not often enough", [0, 10], [true, true], [false, false]],
  [
    "interrupted",
    [0, 3, 10, 13, 19, 20],
    [true, false, true, true, true, true],
    [false, false, false, false, false, true],
  ],
])("what is seen %s", (_what, times, seen, holds) => {
  let now = 0;
  const lasting = new Lasting({ ms: 10, looks: 3 }, () => now);
  expect(seen.map((one, at) => ((now = times[at]!), lasting.holds(one)))).toEqual(holds);
});

test("a receipt that comes later than the nonce counts, and so does the transaction's effect", async () => {
  const late = network((ms) => ({ count: ms > 0 ? "0x4" : "0x3", receipt: ms > 55_000 ? receipt : null }));
  expect(await late.settle()).toEqual(mined);
  const { settle, time } = network((ms) => ({ count: ms > 0 ? "0x4" : "0x3" }));
  expect(await settle({ isDone: () => Promise.resolve(time() > 2_000) })).toBe("done");
  expect(time()).toBeLessThan(4_000);
});

test("an account with fewer transactions than before: a node is behind, or the network lost some", async () => {
  const behind = network((ms) => ({ count: ms < 50_000 ? "0x1" : "0x3", receipt: ms < 51_000 ? null : receipt }));
  expect(await behind.settle()).toEqual(mined);
  const lost = network(() => ({ count: "0x1" }));
  expect(await lost.settle()).toBe("void");
  expect(lost.time()).toBeGreaterThanOrEqual(contradicted.ms);
  expect(lost.sends()).toBe(0); // it would wait for transactions that nobody sends
});

test("a network that was reset counts as another one at once", async () => {
  const { settle, time, sends } = network(() => ({ count: "0x3", genesis: "0x02" }));
  expect(await settle({ fresh: false })).toBe("void");
  expect([time(), sends()]).toEqual([0, 0]);
});

test.each([
  "insufficient funds for gas * price + value: balance 1, tx cost 2",
  "intrinsic gas too low: have 1, want 2",
  "transaction underpriced",
  "max fee per gas less than block base fee: address 0x, maxFeePerGas: 1, baseFee: 2",
  "exceeds block gas limit",
])("%s: final for the first attempt, nothing for a later one", async (message) => {
  const refuse = () => ({ count: "0x3", sent: new RpcError(`eth_sendRawTransaction: ${message}`) });
  const { settle, sends } = network(refuse);
  await expect(settle()).rejects.toThrow(Rejected);
  expect(sends()).toBe(1);
  await expect(network(refuse).settle({ fresh: false })).rejects.toThrow("it waits");
  const second = network((_ms, sent) => (sent === 1 ? { count: "0x3", sent: new RpcError("oops") } : refuse()));
  await expect(second.settle()).rejects.toThrow("it waits");
});

test.each([
  ...["Known transaction", "already known", "nonce too low", "replacement transaction underpriced"],
  "rate limit exceeded",
  ...["INTERNAL_ERROR: could not replace existing tx", "txpool is full", "the answer has the status 502 and no JSON"],
])("%s: unclear, so the same is sent again", async (message) => {
  const { settle, sends, time } = network((_ms, sent) => ({
    count: sent < 3 ? "0x3" : "0x4",
    receipt: sent < 3 ? null : receipt,
    sent: new RpcError(`eth_sendRawTransaction: ${message}`),
  }));
  expect(await settle()).toEqual(mined);
  expect(sends()).toBe(3);
  expect(time()).toBeGreaterThan(1_000); // with pauses
});

test("another or a missing hash does not count as acceptance", async () => {
  for (const sent of ["0xbb", null, {}, 1]) {
    const { settle, sends } = network((ms) => ({ count: "0x3", sent: ms < 5_000 ? sent : made.hash }), 30_000);
    await expect(settle()).rejects.toThrow("it waits");
    expect(sends()).toBeGreaterThan(3);
  }
});

test.each([null, undefined, "", "0x", "soon", 3, {}, "0x3'"])("%j is not a transaction count", async (count) => {
  const { settle, sends, time } = network(() => ({ count }));
  await expect(settle()).rejects.toThrow("eth_getTransactionCount: the answer has the wrong form");
  expect(time()).toBeGreaterThan(10_000);
  expect(sends()).toBe(0);
});

test("a network may fail for ten seconds", async () => {
  const down = new Refusal(502, "The network rinkeby does not answer");
  const short = network((ms) =>
    ms > 1_000 && ms < 9_000 ? { count: down } : { count: "0x3", receipt: ms < 9_000 ? null : receipt },
  );
  expect(await short.settle()).toEqual(mined);
  const long = network((ms) => ({ count: ms > 1_000 ? down : "0x3" }));
  await expect(long.settle()).rejects.toThrow(down);
});

test("a transaction that failed in its block will not take effect", async () => {
  const { settle } = network(() => ({ count: "0x4", receipt: { status: "0x0", blockNumber: "0x9" } }));
  await expect(settle()).rejects.toThrow("the transaction 0xaa failed in block 9");
});

test("a transaction whose fee was raised twice is found by each of its hashes", async () => {
  const [key, rich] = [`0x${"1".repeat(64)}`, "0xde0b6b3a7640000"];
  let [base, inBlock] = [1, ""];
  const answers: Record<string, (hash: unknown) => unknown> = {
    eth_getBlockByNumber: () => ({ baseFeePerGas: toQuantity(base) }),
    eth_gasPrice: () => toQuantity(base + 1),
    eth_getBalance: () => rich,
    eth_getTransactionReceipt: (hash) => (hash === inBlock ? receipt : null),
  };
  const call = <T>(method: string, [first]: unknown[] = []) => Promise.resolve(answers[method]!(first) as T);
  const target: Target = { network: "rinkeby", chainId: 1, local: undefined, call };
  const fees = { type: 2, gasLimit: 21_000, maxFeePerGas: 2, maxPriorityFeePerGas: 1 };
  const raw = await new Wallet(key).signTransaction({ ...fees, nonce: 3, chainId: 1 });
  let last: Signed = { nonce: 3, raw, hash: Transaction.from(raw).hash!, fee: "2" };
  const hashes = [last.hash];
  for (base of [10, 50]) hashes.push((last = (await raised(target, key, last))!).hash);
  expect(new Set(hashes).size).toBe(3);
  for (inBlock of hashes) expect(await minedAs(target, last)).toEqual({ transaction_hash: inBlock, block_number: 9 });
});

test("a network that lost its contract loses the pin that has begun there, and none of another network", async () => {
  const store = new Store(new SteadyClock(Date.now));
  const { id } = store.create(newTether("o1", undefined, {}));
  const contract = { address: "0xc0", chainId: 1, transaction: made };
  const contracts = { rinkeby: contract, mainnet: contract };
  store.setFields("tether", id, {
    contracts,
    pinning: { network: "mainnet", index: 0, hash: "0x1", at: 0, states: [] },
  });
  const call = (method: string) => Promise.resolve(method === "eth_getCode" ? "0x" : null);
  const target = (_id: string, network: string) => Promise.resolve({ network, chainId: 1, call });
  const { signal } = new AbortController();
  const deployments = new Deployments({ store } as Base, { target } as unknown as Accounts, signal);
  for (const [network, left] of [
    ["rinkeby", "mainnet"],
    ["mainnet", undefined],
  ] as const) {
    expect(await deployments.isDeployed(id, network, true)).toBe(false);
    expect(store.get("tether", id)!.fields.pinning?.network).toBe(left);
  }
});

test("the pauses between checks grow", async () => {
  const { settle, calls } = network(() => ({ count: "0x3" }), 3_600_000);
  await expect(settle()).rejects.toThrow("it waits");
  const looks = (to: number) => calls.filter(([ms, method]) => ms <= to && method === "eth_getTransactionCount").length;
  expect(looks(10_000)).toBeLessThanOrEqual(16);
  expect(looks(3_600_000)).toBeLessThanOrEqual(920);
});

/* Reports whose blocks a network may still replace, on a network of a test. Real reorganizations: money.test.ts. */

test("blocks that were replaced while a look at the network failed are noticed by the next one, again and again", async () => {
  const store = new Store(new SteadyClock(Date.now));
  const made = store.create(newTether("o1", undefined, {}));
  const { id } = made;
  const contract_address = "0xc0";
  for (const [contract_index, hash] of ["0xaa", "0xbb"].entries()) {
    const sent = { nonce: 3 + contract_index, hash, raw: "0x02aa" };
    const place = { transaction_hash: hash, block_number: 9 + contract_index };
    const pin = { network: "rinkeby", contract_address, contract_index, hash: "0x1", ...place } as const;
    const at = { ...made, fields: { ...made.fields, reports: contract_index } };
    store.put([reportOf(at, 0, { states: [], pin, sent })]);
  }
  store.setFields("tether", id, { reports: 2, firstOpen: 0 });

  const network = { fork: 0, hasIt: true, fails: false, sends: 0 };
  const answers: Record<string, (block: unknown) => unknown> = {
    eth_getBlockByNumber: (block) =>
      block === "finalized" ? { number: "0x0", hash: "0x0" } : { number: "0xa", hash: `0x${network.fork}a` },
    eth_getTransactionReceipt: () => (network.hasIt ? { status: "0x1", blockNumber: "0x9" } : null),
    eth_getCode: () => "0x60",
    eth_call: () => "0x0",
    eth_getTransactionCount: () => "0x3",
    eth_sendRawTransaction: () => (network.sends++, "0xaa"),
  };
  const call = (method: string, [first]: unknown[] = []) =>
    network.fails && method === "eth_getTransactionReceipt"
      ? Promise.reject(new Refusal(502, "no answer"))
      : Promise.resolve(answers[method]!(first));
  const target = () => Promise.resolve({ network: "rinkeby", chainId: 1, local: undefined, call });
  const accounts = { target, address: () => "0xf0", key: () => `0x${"1".repeat(64)}` } as unknown as Accounts;
  const { signal } = new AbortController();
  const none = undefined as never;
  const pins = new Pins({ store, clock: store.clock } as Base, none, accounts, none, signal, () => undefined);
  const look = async (now: Partial<typeof network>) => {
    Object.assign(network, now);
    expect(await pins.mend(id)).toEqual(expect.any(Number));
    return store.get("tether", id)!.fields.replaced;
  };
  for (const time of [1, 2]) {
    expect([time, await look({ hasIt: true }), await look({})]).toEqual([time, undefined, undefined]);
    await look({ fork: time, hasIt: false, fails: true });
    expect([time, await look({ fails: false }), network.sends]).toEqual([time, [0, 1], 2 * time]);
  }
});

/* When something is due for a tether. */

afterEach(() => jest.restoreAllMocks());

const day = 86_400_000;
test.each([
  ["in a moment", 20, 20],
  ["in half an hour", day / 48, day / 48],
  ["in a month, which is longer than a timer of Node.js can be", 30 * day, 3_600_000],
  ["long ago", -day, 0],
])("%s: the timer is set once, and no longer than an hour", async (_, due, timer) => {
  const set = jest.spyOn(globalThis, "setTimeout");
  const work = jest.fn(() => Promise.resolve(undefined));
  const schedule = new Schedule(() => 0, work);
  schedule.set("t", due);
  expect(set.mock.calls.map(([, ms]) => ms)).toEqual([timer]);
  await schedule.close();
});

test("work that is not due after an hour is checked again, and done when due", async () => {
  let now = 0;
  const set = jest.spyOn(globalThis, "setTimeout");
  const work = jest.fn(() => Promise.resolve(undefined));
  const schedule = new Schedule(() => now, work);
  await schedule.look("t", 5_400_000);
  now = 3_600_000;
  await schedule.look("t", 5_400_000);
  expect([set.mock.calls.map(([, ms]) => ms), work.mock.calls]).toEqual([[3_600_000, 1_800_000], []]);
  now = 5_400_000;
  await schedule.look("t", 5_400_000);
  await until(() => work.mock.calls.length === 1);
  await schedule.close();
});

test("another time takes the place of the one before, and none means that nothing is due", async () => {
  const work = jest.fn((_id: string) => Promise.resolve(undefined));
  const schedule = new Schedule(() => 0, work);
  for (const id of ["t", "u"]) {
    schedule.set(id, 0);
    schedule.set(id, undefined);
  }
  schedule.set("v", 0);
  await until(() => work.mock.calls.length > 0);
  expect(work.mock.calls).toEqual([["v"]]);
  await schedule.close();
});

test("work that fails is tried after a second, also if it has failed before", async () => {
  const set = jest.spyOn(globalThis, "setTimeout");
  const schedule = new Schedule(() => 0, () => Promise.reject(new Error("full"))); // prettier-ignore
  for (let time = 0; time < 3; time++) await schedule.look("t", 0, 60_000);
  expect(set.mock.calls.map(([, ms]) => ms)).toEqual([1_000, 1_000, 1_000]);
  await schedule.close();
});
