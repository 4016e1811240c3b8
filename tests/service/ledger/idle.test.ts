import { once } from "node:events";
import type { Chain, ChainSpec } from "../../../service/ledger/chains";
import { newFolder, quick } from "../helpers";
import { until } from "../../support/until";
import { eth, ledgered, webSocket } from "../ledgers";
import { ways } from "../tethered";
import { chainsAt, closeAll, latest, profile, type Changed, use } from "./chains";

let dir: string;
beforeEach(() => (dir = newFolder()));

const period = 0.1;
const spec = { chainId: 4_711, accounts: 2, profile, period };
const hour = 3_600_000;

/** Chains of the test's folder, which start and end together. */
function started(pace: Changed) {
  const { chains } = chainsAt(dir, pace);
  return (key: string, changed: Partial<ChainSpec> = {}) => chains.get({ ...spec, ...changed, key });
}

/** Blocks of a chain after the height `since` by the time that another one, which is in use, has made ten. `meanwhile` is repeated. */
async function blocksOf(
  chain: Chain,
  used: Chain,
  meanwhile = (): unknown => undefined,
  since = chain.height,
): Promise<number> {
  const from = used.height;
  await until(async () => {
    await Promise.all([use(used), meanwhile()]);
    return used.height >= from + 10;
  });
  return chain.height - since;
}

/** Blocks that one call causes, counted from before the call, because the block may precede the answer. */
async function blocksAfter(call: () => Promise<unknown>, chain: Chain, used: Chain): Promise<number> {
  const since = chain.height;
  await call();
  return blocksOf(chain, used, undefined, since);
}

/** Waits until a chain has made all due blocks. */
async function idle(chain: Chain, used: Chain): Promise<void> {
  for (let look = 1; (await blocksOf(chain, used)) > 0; look++) expect(look).toBeLessThan(5);
}

test("an unused ledger makes no blocks; the service's own calls do not count, and a member's call wakes it", async () => {
  const get = started({ idle: 200 });
  const [used, chain] = [await get("used"), await get("e1")];
  expect(await blocksOf(chain, used)).toBeGreaterThan(0); // whoever made it is there
  await idle(chain, used);
  expect(await blocksOf(chain, used, () => latest(chain))).toBe(0);
  expect(chain.lines.filter((line) => line.includes("Idle"))).toHaveLength(1);

  const before = await latest(chain);
  await use(chain);
  expect(await blocksOf(chain, used)).toBeGreaterThan(0);
  expect((await latest(chain)).timestamp).toBeGreaterThanOrEqual(before.timestamp);
  expect(await blocksOf(chain, used, () => use(chain))).toBeGreaterThan(1);
});

/** An unused ledger, and another one in use. */
async function resting(ms: number) {
  const get = started({ idle: ms });
  const [used, chain] = [await get("used"), await get("e1")];
  await idle(chain, used);
  return { used, chain };
}

test("a call gets its block even if the block period is longer than the idle time", async () => {
  const { used, chain } = await resting(0);
  expect(await blocksAfter(() => use(chain), chain, used)).toBe(1);
});

test("a transaction gets its block while the ledger is idle", async () => {
  const { used, chain } = await resting(0);
  const [from, to] = await chain.call<string[]>("eth_accounts");
  let hash: unknown;
  const send = async () =>
    (hash = await chain.call("eth_sendTransaction", [{ from, to, value: "0x1", gasPrice: "0x0" }]));
  expect(await blocksAfter(send, chain, used)).toBe(1);
  const block = `0x${chain.height.toString(16)}`;
  expect(await chain.call("eth_getTransactionReceipt", [hash])).toMatchObject({ blockNumber: block });
});

test("after a restart, a ledger is idle until a call, but waiting transactions get their block", async () => {
  const first = await started({ idle: hour })("e1");
  await until(async () => (await latest(first)).number > 0);
  await closeAll();
  const slow = await started({ idle: hour })("e1", { period: 3_600 });
  const before = await latest(slow);
  const [from, to] = await slow.call<string[]>("eth_accounts");
  await slow.call("eth_sendTransaction", [{ from, to, value: "0x1", gasPrice: "0x0" }]);
  await closeAll();

  const { used, chain } = await resting(hour);
  expect(await latest(chain)).toMatchObject({ number: before.number + 1 });
  expect(await blocksOf(chain, used, () => latest(chain))).toBe(0);
  await use(chain);
  expect(await blocksOf(chain, used)).toBeGreaterThan(1);
  expect((await latest(chain)).timestamp).toBeGreaterThanOrEqual(before.timestamp);
});

test("a WebSocket's subscriptions keep a ledger awake; the WebSocket, pins, status and log do not", async () => {
  const { send, paths, credential, urls } = await ledgered(
    { ledger: { idleAfter: 0 }, tethers: [{ id: "tether0001" }], timing: { ...quick, tetherHour: 1_000 } },
    { provider: "geth", consensus_type: "poa", block_period: 1 },
  );
  const { configure, get, post } = ways(send);
  await configure();
  await post("/deploy");
  expect((await post("/activate")).text).toBe("true");
  const height = async () => (await send("GET", `${paths.node}/status`)).body.block_height;
  const reports = async () => Number((await get("/reportCount")).text);
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
  await meanwhile();
  expect(await meanwhile()).toBe(0);
  const [known, last] = [heads().length, await height()];
  const latest = (await get("/lastReport")).body as unknown as { reports: object[] };
  expect(latest.reports).toMatchObject([{ block_height: last }]);

  subscribe("second");
  await answered("second");
  await heard(() => heads().length >= known + 2);
  const next = heads()[known]!;
  expect(next.number).toBe(last + 1);
  expect(next.timestamp).toBeGreaterThanOrEqual(heads()[known - 1]!.timestamp);
  socket.terminate();
  await meanwhile();
  expect(await meanwhile()).toBe(0);
});

describe("the clock", () => {
  const started = () => chainsAt(dir).chains.get({ ...spec, key: "e1", period: 1 });

  /** The machine's clock, which a test may set. */
  let ahead = 0;
  beforeEach(() => {
    ahead = 0;
    const now = Date.now.bind(Date);
    jest.spyOn(Date, "now").mockImplementation(() => now() + ahead);
  });
  afterEach(() => jest.restoreAllMocks());

  const day = 86_400;

  /** The latest block, with the real time before and after the call, in seconds. */
  async function seen(chain: Chain) {
    const asked = performance.now() / 1_000;
    return { asked, block: await latest(chain), answered: performance.now() / 1_000 };
  }

  /**
   * Waits for some blocks. The ledger's time must pass like real time, give or take a block. On a busy machine, the next block makes up
   * for a late one.
   */
  async function passing(chain: Chain, blocks: number) {
    const from = await seen(chain);
    let to = from;
    const passed = () => to.block.timestamp - from.block.timestamp;
    await until(async () => {
      to = await seen(chain);
      return to.block.number >= from.block.number + blocks && passed() > to.asked - from.answered - 2;
    });
    expect(passed()).toBeLessThan(to.answered - from.asked + 2);
  }

  test("a ledger's time continues after the clock was a day ahead for a moment, and after a restart", async () => {
    const chain = await started();
    await passing(chain, 1);
    const { timestamp } = await latest(chain);
    ahead = day * 1_000;
    await until(async () => (await latest(chain)).timestamp >= timestamp + day);
    ahead = 0;
    await passing(chain, 4);
    await closeAll();

    const again = await started();
    await use(again);
    expect((await latest(again)).timestamp).toBeGreaterThan(timestamp + day);
    await passing(again, 4);
  });

  test("a ledger's time neither goes back with the clock nor stops", async () => {
    const chain = await started();
    await passing(chain, 1);
    const { timestamp } = await latest(chain);
    ahead = -day * 1_000;
    await passing(chain, 4);
    expect((await latest(chain)).timestamp).toBeGreaterThanOrEqual(timestamp);
  });
});
