import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Chain, Chains, ChainSpec } from "../../../service/ledger/chains";
import { until } from "../helpers";
import { eth, ledgered, quick, webSocket } from "../ledgers";
import { type Changed, chainsAt, use } from "./chains";

jest.setTimeout(60_000);

let dir: string;
beforeEach(() => (dir = mkdtempSync(join(tmpdir(), "consortium-idle-"))));
afterEach(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));

const open: Chains[] = [];
const closeAll = () => Promise.all(open.splice(0).map((chains) => chains.close()));
afterEach(closeAll);

const period = 0.1;
const spec = { chainId: 4_711, accounts: 2, free: true, period };
const hour = 3_600_000;

/** Chains of the test's folder, which it starts and ends together. */
function started(pace: Changed) {
  const { chains } = chainsAt(dir, pace);
  open.push(chains);
  return (key: string, changed: Partial<ChainSpec> = {}) => chains.get({ ...spec, ...changed, key });
}

const latest = async (chain: Chain) => {
  const block = await chain.call<Record<"number" | "timestamp", string>>("eth_getBlockByNumber", ["latest", false]);
  return { number: Number(block.number), timestamp: Number(block.timestamp) };
};

/** Waits for a block after some height; unlike a look at `height`, this ends with the chain. */
const rises = (chain: Chain, height: number) => until(async () => (await latest(chain)).number > height);

/** Blocks that a chain makes while another one, which somebody uses, makes ten. `meanwhile` is done again and again. */
async function blocksOf(chain: Chain, used: Chain, meanwhile = (): unknown => undefined): Promise<number> {
  const [before, from] = [chain.height, used.height];
  await until(async () => {
    await Promise.all([use(used), meanwhile()]);
    return used.height >= from + 10;
  });
  return chain.height - before;
}

test("a ledger makes no block while nobody calls, the service itself does not count, and a call wakes it", async () => {
  const get = started({ idle: 200 });
  const [chain, used] = [await get("e1"), await get("used")];
  await rises(chain, 0); // whoever made it is there
  await until(async () => (await blocksOf(chain, used)) === 0);
  expect(await blocksOf(chain, used, () => latest(chain))).toBe(0);
  expect(chain.lines.filter((line) => line.includes("Idle"))).toHaveLength(1);

  const before = await latest(chain);
  await use(chain);
  await rises(chain, before.number);
  expect((await latest(chain)).timestamp).toBeGreaterThanOrEqual(before.timestamp);
  expect(await blocksOf(chain, used, () => use(chain))).toBeGreaterThanOrEqual(5);
});

test("a call has its block even if that comes later than the ledger would idle", async () => {
  const get = started({ idle: 0 });
  const [chain, used] = [await get("e1"), await get("used")];
  await until(async () => (await blocksOf(chain, used)) === 0);
  const { height } = chain;
  await use(chain);
  await rises(chain, height);
  expect(await blocksOf(chain, used)).toBe(0);
});

test("a subscriber is there until it leaves", async () => {
  const get = started({ idle: 0 });
  const [chain, used] = [await get("e1"), await get("used")];
  const [leave, other] = [chain.follow(() => Promise.resolve()), chain.follow(() => Promise.resolve())];
  leave();
  expect(await blocksOf(chain, used)).toBeGreaterThanOrEqual(5);
  other();
  await until(async () => (await blocksOf(chain, used)) === 0);
});

test("a transaction has its block while the ledger is idle", async () => {
  const get = started({ idle: 0 });
  const [chain, used] = [await get("e1"), await get("used")];
  await until(async () => (await blocksOf(chain, used)) === 0);
  const { height } = chain;
  const [from, to] = await chain.call<string[]>("eth_accounts");
  const hash = await chain.call("eth_sendTransaction", [{ from, to, value: "0x1", gasPrice: "0x0" }]);
  await rises(chain, height);
  const block = `0x${(height + 1).toString(16)}`;
  expect(await chain.call("eth_getTransactionReceipt", [hash])).toMatchObject({ blockNumber: block });
  expect(await blocksOf(chain, used)).toBe(0);
});

test("after a restart, a ledger is idle until somebody calls, and what waited has its block", async () => {
  const first = started({ idle: hour });
  const [chain, slow] = [await first("e1"), await first("slow", { period: 3_600 })];
  await rises(chain, 2);
  const [from, to] = await slow.call<string[]>("eth_accounts");
  const hash = await slow.call("eth_sendTransaction", [{ from, to, value: "0x1", gasPrice: "0x0" }]);
  await closeAll();

  const then = started({ idle: hour });
  const [again, waiting, used] = [await then("e1"), await then("slow"), await then("used")];
  const before = await latest(again);
  expect(await blocksOf(again, used, () => latest(again))).toBe(0);
  await until(async () => (await waiting.call("eth_getTransactionReceipt", [hash]).catch(() => null)) !== null);
  await use(again);
  expect(await blocksOf(again, used)).toBeGreaterThanOrEqual(5);
  expect((await latest(again)).timestamp).toBeGreaterThanOrEqual(before.timestamp);
});

test("a WebSocket's subscriptions keep a ledger awake; the WebSocket, pins, status and log do not", async () => {
  const { send, paths, credential, urls } = await ledgered(
    { ledger: { idleAfter: 0 }, tethers: [{ id: "tether0001" }], timing: { ...quick, tetherHour: 1_000 } },
    { provider: "geth", consensus_type: "poa", block_period: 1 },
  );
  const tether = "/tether/tether0001";
  await send("POST", `${tether}/targetNetwork`, { network: "rinkeby" });
  await send("POST", `${tether}/interval`, { interval: 1 });
  await send("POST", `${tether}/deploy`);
  expect((await send("POST", `${tether}/activate`)).text).toBe("true");
  const height = async () => (await send("GET", `${paths.node}/status`)).body.block_height as number;
  const reports = async () => Number((await send("GET", `${tether}/reportCount`)).text);
  /** Blocks that come during two pins, a second apart. */
  const meanwhile = async () => {
    const [before, pinned] = [await height(), await reports()];
    await until(async () => (await send("GET", `${paths.node}/logs/geth`)) && (await reports()) >= pinned + 2);
    return (await height()) - before;
  };

  const { socket, messages } = await webSocket(urls.wss, credential);
  const heard = async (holds: () => boolean) => {
    while (!holds()) await once(socket, "message");
  };
  const subscribe = (id: string) => socket.send(JSON.stringify({ ...eth("eth_subscribe", "newHeads"), id }));
  const answered = (id: string) => heard(() => messages.some((one) => one.id === id && "result" in one));
  const heads = () =>
    messages.flatMap(({ params }) => {
      const { result } = (params ?? {}) as { result?: Record<"number" | "timestamp", string> };
      return result ? [{ number: Number(result.number), timestamp: Number(result.timestamp) }] : [];
    });
  subscribe("first");
  await heard(() => heads().length >= 3);
  const { result } = messages.find(({ id }) => id === "first")!;
  socket.send(JSON.stringify({ ...eth("eth_unsubscribe", result), id: "left" }));
  await answered("left");
  await until(async () => (await meanwhile()) === 0);
  expect(await meanwhile()).toBe(0);
  const [known, last] = [heads().length, await height()];
  const latest = (await send("GET", `${tether}/lastReport`)).body as unknown as { reports: object[] };
  expect(latest.reports).toMatchObject([{ block_height: last }]);

  subscribe("second");
  await answered("second");
  await heard(() => heads().length >= known + 2);
  const next = heads()[known]!;
  expect(next.number).toBe(last + 1);
  expect(next.timestamp).toBeGreaterThanOrEqual(heads()[known - 1]!.timestamp);
  socket.terminate();
  await until(async () => (await meanwhile()) === 0);
});
