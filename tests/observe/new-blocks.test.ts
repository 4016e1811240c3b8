import type { JsonRpcProvider } from "ethers";
import { blocksEvery, ChainNode, compareHeights } from "../../observe/check/new-blocks";
import { VirtualTime } from "../support/virtual-time";
import { environmentOf } from "./models";

/* Whether a chain makes blocks, as one of its nodes shows it. On real chains: troubles.test.ts. */

/** Blocks after so many seconds each; those in brackets have a transaction. */
const blocks = (...gaps: (number | [number])[]) => {
  let time = 1_000;
  return gaps.map((gap) => ({ time: (time += Number(gap)), isEmpty: !Array.isArray(gap) }));
};
const ledgerOf = (consensusType: string) => ({ ...environmentOf(1, []), consensusType, blockPeriod: 5, state: "live" });
const steady = blocks(5, 5, 5, 5, 5, 5);

test.each<[string, string, ReturnType<typeof blocks>, number | undefined, string?]>([
  ["raft, whatever its blocks are", "raft", steady, undefined],
  ["ibft", "ibft", steady, 5],
  ["ibft under load", "ibft", blocks([5], [5], [5], [5], [5], [5]), 5],
  ["ibft that is new", "ibft", [], 5],
  ["ibft that is slow", "ibft", blocks(60, 60, 60, 60, 60, 60), 5],
  ["ibft on demand", "ibft", blocks([5], [500], [1], [9], [90], [5]), undefined],
  ["ibft asleep", "ibft", steady, undefined, "hibernated"],
])("a block is due: %s", (_, consensusType, made, period, state = "live") => {
  expect(blocksEvery({ ...ledgerOf(consensusType), state }, made)).toBe(period);
});

describe("a transaction that the check sends to a node", () => {
  const ledger = ledgerOf("raft");
  const hash = `0x${"7".repeat(64)}`;
  const never = () => new Promise<never>(() => undefined);

  /** The outcome with these answers of the node, in virtual time, and what was sent. */
  async function sent(answers: Record<string, (params: unknown[]) => unknown>) {
    const time = new VirtualTime();
    const transactions: unknown[] = [];
    const send = async (method: string, params: unknown[]): Promise<unknown> => {
      if (method === "eth_sendTransaction") transactions.push(params[0]);
      const usual: typeof answers = {
        eth_chainId: () => "0x1",
        eth_blockNumber: () => "0x3",
        eth_getBlockByNumber: () => null, // it does not show them
        eth_accounts: () => ["0xa"],
        eth_sendTransaction: () => hash,
        eth_getTransactionReceipt: () => ({ blockNumber: "0x1" }),
      };
      return Promise.resolve((answers[method] ?? usual[method]!)(params));
    };
    const node = new ChainNode({ send } as unknown as JsonRpcProvider, time);
    await node.meet();
    await node.watch(ledger, true);
    return { transactions, written: node.probe.written };
  }

  const free = { from: "0xa", to: "0xa", value: "0x0", gasPrice: "0x0" };
  const refused = () => {
    throw new Error("transaction underpriced");
  };

  test("pays nothing if gas is free", async () => {
    expect(await sent({})).toEqual({ transactions: [free], written: { kind: "mined", block: 1, seconds: 0 } });
  });

  test("pays the node's price if gas is not free", async () => {
    const { transactions, written } = await sent({
      eth_sendTransaction: ([one]) => ("gasPrice" in (one as object) ? refused() : hash),
    });
    expect(transactions).toEqual([free, { from: "0xa", to: "0xa", value: "0x0" }]);
    expect(written).toMatchObject({ kind: "mined" });
  });

  test("is not sent again if the node does not answer, because it may have arrived", async () => {
    const { transactions, written } = await sent({ eth_sendTransaction: never });
    expect(transactions).toEqual([free]);
    expect(written).toEqual({ kind: "failed", why: "the node rejects it: it did not answer within 10 s" });
  });

  test("is skipped if the node has no account", async () => {
    const { transactions, written } = await sent({ eth_accounts: () => [] });
    expect([transactions, written]).toEqual([[], { kind: "skipped", why: "the node signs for no account" }]);
  });

  test("may take three block periods", async () => {
    let looks = 0;
    const { written } = await sent({ eth_getTransactionReceipt: () => (++looks > 30 ? { blockNumber: "0x1" } : null) });
    expect(written).toMatchObject({ kind: "mined", seconds: 15 });
    const none = await sent({ eth_getTransactionReceipt: () => null });
    expect(none.written).toEqual({ kind: "failed", why: `${hash} was sent 17 s ago, and no block contains it` });
  });
});

const pending = (number: string | null) => ({ number, timestamp: "0x1", transactions: ["0x1", "0x2"] });

test.each<[string, unknown[], number]>([
  ["are those of the next block", [pending("0x4")], 2],
  ["are those that it still has at the last look", [pending("0x4"), { ...pending("0x4"), transactions: ["0x2"] }], 1],
  ["are not those that it has only then", [{ ...pending("0x4"), transactions: ["0x2"] }, pending("0x4")], 1],
  ["are not those of the newest block, which some nodes show instead", [pending("0x3")], 0],
  ["are none that is known where the block has no number", [pending(null)], 0],
  ["are none where the node does not say", [null], 0],
])("transactions that wait for a block %s", async (_what, looks, waiting) => {
  const send = async (method: string, [which]: unknown[]): Promise<unknown> => {
    if (method === "eth_chainId") return Promise.resolve("0x1");
    if (method === "eth_blockNumber") return Promise.resolve("0x3");
    if (which === "pending") return Promise.resolve(looks.length > 1 ? looks.shift() : looks[0]);
    return Promise.resolve({ number: which, timestamp: "0x1", transactions: ["0x9"] });
  };
  const node = new ChainNode({ send } as unknown as JsonRpcProvider, new VirtualTime());
  await node.meet();
  await node.watch(ledgerOf("raft"), false);
  expect(node.probe.waiting).toBe(waiting);
});

test.each([
  ["come every 5 s, with transactions, are due", 5, ["0x9"], 5],
  ["came every 500 s, also empty, are due", 500, [], 5],
  ["came every 500 s, with transactions, are not", 500, ["0x9"], undefined],
])("blocks that %s", async (_what, apart, transactions, period) => {
  const send = async (method: string, [which]: unknown[]): Promise<unknown> =>
    Promise.resolve(
      method === "eth_getBlockByNumber"
        ? { number: "0x9", timestamp: `0x${(apart * Number(which)).toString(16)}`, transactions }
        : "0x9",
    );
  const node = new ChainNode({ send } as unknown as JsonRpcProvider, new VirtualTime());
  await node.meet();
  await node.watch(ledgerOf("ibft"), false);
  expect(node.probe.period).toBe(period);
});

test.each([
  ["that answers late is not behind", 400, 0],
  ["that is behind is found", 0, 60],
])("a node of a chain that makes 20 blocks a second %s", async (_, lateMs, behind) => {
  const time = new VirtualTime();
  const nodeOf = (late: number, less: number) => {
    const send = async (): Promise<string> => {
      await time.sleep(late);
      return `0x${(100 + Math.floor(time.now() / 50) - less).toString(16)}`;
    };
    return new ChainNode({ send } as unknown as JsonRpcProvider, time);
  };
  const [one, other] = [nodeOf(0, 0), nodeOf(lateMs, behind)];
  await compareHeights([one, other]);
  const { height, reached } = other.probe.compared!;
  expect(Math.max(0, reached - height)).toBe(behind);
  expect(one.probe.compared).toEqual({ height: expect.any(Number) as number, reached });
});
