import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Chain, ChainSpec } from "../../../service/ledger/chains";
import { containing, newFolder } from "../../service/helpers";
import { until } from "../../support/until";
import { allOf, chainsAt, type Changed, closeAll, profile } from "../../service/ledger/chains";

let dir: string;
beforeEach(() => (dir = newFolder()));

const spec: ChainSpec = { key: "e1", chainId: 4_711, accounts: 8, profile };
const chainsIn = (pace: Changed) => chainsAt(dir, pace);

/** The block of the snapshot; 0: none. */
const snapshot = () => {
  const { snapshot } = JSON.parse(readFileSync(join(dir, "e1", "ledger.json"), "utf8")) as {
    snapshot?: { name: string };
  };
  return Number(/\d+/.exec(snapshot?.name ?? "0")![0]);
};
/** Waits for the snapshot of all blocks but those that must follow it. */
const compacted = async (chain: Chain, { blocks = 0, lookback = 0 }: Changed) => {
  const wanted = chain.height - 2 * blocks - lookback;
  await until(() => snapshot() >= wanted);
};

/** Keeps snapshots from being written. */
function inTheWay() {
  const folders = Array.from({ length: 400 }, (_, number) => join(dir, "e1", `snapshot-${number}.json.gz`));
  for (const folder of folders) mkdirSync(folder);
  return () => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true }));
}

test("senders that never pause wait once a start would take too long, and go on with the next snapshot", async () => {
  const pace = { blocks: 8, lookback: 4, longest: 60 };
  const chain = await chainsIn(pace).chains.get(spec);
  const accounts = await chain.call<string[]>("eth_accounts");
  const clear = inTheWay();
  const hashes: string[] = [];
  const errors: string[] = [];
  let ended = false;
  const senders = accounts.map(async (from) => {
    while (!ended) {
      await chain.call<string>("eth_sendTransaction", [{ from, to: from, value: "0x1" }]).then(
        (hash) => hashes.push(hash),
        (error: Error) => errors.push(error.message),
      );
    }
  });
  await until(() => errors.length > 0);
  // the limit, and those that were already on their way
  expect(chain.height).toBeLessThanOrEqual(60 + accounts.length);
  expect(errors).toContainEqual(containing("more blocks since its last snapshot than a start may take"));
  clear();
  const before = hashes.length;
  let longest = 0;
  await until(() => {
    longest = Math.max(longest, chain.height - snapshot());
    return hashes.length > before + 500;
  });
  ended = true;
  await Promise.all(senders);
  // and the empty ones that make a snapshot possible
  expect(longest).toBeLessThanOrEqual(60 + accounts.length + 2 * pace.lookback);
  await compacted(chain, pace);
  await closeAll();
  const again = await chainsIn(pace).chains.get(spec);
  for (const hash of hashes)
    expect(await again.call("eth_getTransactionReceipt", [hash])).toMatchObject({ status: "0x1" });
});

test("a snapshot that fails is reported, and is made once it can be, without another block", async () => {
  const pace = { blocks: 6, lookback: 4 };
  const { chains, warnings } = chainsIn(pace);
  const chain = await chains.get(spec);
  const [from] = await chain.call<string[]>("eth_accounts");
  const clear = inTheWay();
  for (let block = 0; block < 20; block++) await chain.call("eth_sendTransaction", [{ from, to: from, value: "0x1" }]);
  const said = () => chain.lines.filter((line) => /No snapshot is made: .*EISDIR.*tried again in [\d.]+ s/.test(line));
  await until(() => said().length >= 5);
  expect(warnings).toEqual([containing("No snapshot is made")]);
  clear();
  await compacted(chain, pace);
  expect(readdirSync(join(dir, "e1")).filter((name) => name.startsWith("journal-")).length).toBeLessThanOrEqual(3);
  expect(chain.height).toBe(20);
});

test.each([1, 3])("contracts that look %i blocks back in every block keep no snapshot from coming", async (back) => {
  const pace = { blocks: 6, lookback: 8, longest: 120 };
  const chain = await chainsIn(pace).chains.get(spec);
  const accounts = await chain.call<string[]>("eth_accounts");
  const [from] = accounts;
  const code = `60${back.toString(16).padStart(2, "0")}43034060005260206000a000`; // logs the hash of an earlier block
  const deployed = await chain.call<string>("eth_sendTransaction", [
    { from, data: `0x600d600c600039600d6000f3${code}` },
  ]);
  type Receipt = { contractAddress: string };
  const { contractAddress: to } = await chain.call<Receipt>("eth_getTransactionReceipt", [deployed]);
  let sent = 0;
  while (snapshot() === 0 && sent++ < 200) await chain.call("eth_sendTransaction", [{ from, to, gas: "0x20000" }]);
  expect(snapshot()).toBeGreaterThan(0);
  const seen = await allOf(chain, accounts);
  await closeAll();
  expect(await allOf(await chainsIn(pace).chains.get(spec), accounts)).toEqual(seen);
});
