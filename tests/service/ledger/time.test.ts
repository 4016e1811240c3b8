import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Chain, Chains, ChainSpec } from "../../../service/ledger/chains";
import { until } from "../helpers";
import { chainsAt, use } from "./chains";

jest.setTimeout(60_000);

let dir: string;
beforeEach(() => (dir = mkdtempSync(join(tmpdir(), "consortium-time-"))));
afterEach(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));

const open: Chains[] = [];
const closeAll = () => Promise.all(open.splice(0).map((chains) => chains.close()));
afterEach(closeAll);

const spec: ChainSpec = { key: "e1", chainId: 4_711, accounts: 4, free: true, period: 1 };
function started(): Promise<Chain> {
  const { chains } = chainsAt(dir);
  open.push(chains);
  return chains.get(spec);
}

/** The machine's clock, which a test may set. */
let ahead = 0;
beforeEach(() => {
  ahead = 0;
  const now = Date.now.bind(Date);
  jest.spyOn(Date, "now").mockImplementation(() => now() + ahead);
});
afterEach(() => jest.restoreAllMocks());

const latest = async (chain: Chain) => {
  const block = await chain.call<Record<"number" | "timestamp", string>>("eth_getBlockByNumber", ["latest", false]);
  return { number: Number(block.number), timestamp: Number(block.timestamp) };
};
const day = 86_400;

/** Waits for some blocks, and returns how many seconds of the ledger's time passed, and of real time. */
async function passing(chain: Chain, blocks: number) {
  const [from, begun] = [await latest(chain), performance.now()];
  await until(async () => (await latest(chain)).number >= from.number + blocks);
  return { ledger: (await latest(chain)).timestamp - from.timestamp, real: (performance.now() - begun) / 1_000 };
}

test("a ledger's time goes on after the clock was a day ahead for a moment, and after a restart", async () => {
  const chain = await started();
  await passing(chain, 1);
  const { timestamp } = await latest(chain);
  ahead = day * 1_000;
  await until(async () => (await latest(chain)).timestamp >= timestamp + day);
  ahead = 0;
  const after = await passing(chain, 4);
  expect(Math.abs(after.ledger - after.real)).toBeLessThan(2);
  await closeAll();

  const again = await started();
  await use(again);
  expect((await latest(again)).timestamp).toBeGreaterThan(timestamp + day);
  const then = await passing(again, 4);
  expect(Math.abs(then.ledger - then.real)).toBeLessThan(2);
});

test("a ledger's time does not go back with the clock, nor stop", async () => {
  const chain = await started();
  await passing(chain, 1);
  const { timestamp } = await latest(chain);
  ahead = -day * 1_000;
  const after = await passing(chain, 4);
  expect((await latest(chain)).timestamp).toBeGreaterThanOrEqual(timestamp);
  expect(Math.abs(after.ledger - after.real)).toBeLessThan(2);
});
