import type { Chain, ChainSpec } from "../../../service/ledger/chains";
import { newFolder } from "../helpers";
import { until } from "../../support/until";
import { chainsAt, closeAll, latest, profile, use } from "./chains";

let dir: string;
beforeEach(() => (dir = newFolder()));

const spec: ChainSpec = { key: "e1", chainId: 4_711, accounts: 4, profile, period: 1 };
const started = () => chainsAt(dir).chains.get(spec);

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
