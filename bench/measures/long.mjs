// @ts-check
/** A service whose ledgers have run for weeks: its start, their memory, their files, and reads of old blocks. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { bounded, median, seconds, table } from "../lib/report.mjs";
import { eachConsensus, makeNetwork, ServeProcess } from "../lib/serve.mjs";
import { log } from "../../tools/lib/terminal.mjs";
import { root } from "../../tools/lib/prepare.mjs";

const period = 5;
/** All ledgers have the same chain id, so that one can be copied for the others. */
const chainId = 1_234_567;
const kinds = eachConsensus(period).map((kind) => ({ ...kind, chain_id: chainId }));
const nodesOfEach = 4;
const starts = 5;

/** @type {import("../lib/stack.mjs").Measure} */
export async function long({ options = {} }) {
  const { blocks = 400_000 } = options;
  const service = new ServeProcess([]);
  try {
    await service.start();
    const { environments } = await makeNetwork(service.ask, kinds, nodesOfEach);
    const nodes = environments.flatMap((one) => one.nodes);
    const [first] = /** @type {[typeof nodes[number]]} */ (nodes);
    await service.stop();
    const [dir = "", ...others] = environments.map(({ id }) => join(service.data, "chains", id));
    const spec = { key: "long", chainId, accounts: 32, period, free: true };
    log(`Making ${blocks} blocks …`);
    await lengthen(dir, spec, { blocks, seconds: period });
    for (const other of others) {
      rmSync(other, { recursive: true });
      cpSync(dir, other, { recursive: true });
    }
    const times = [];
    for (let round = 0; round < starts; round++) {
      await service.stop();
      const ms = await service.timedStart(nodes);
      times.push(ms);
      log(`a start of ${seconds(ms)}, load average ${(loadavg()[0] ?? NaN).toFixed(0)}`);
    }
    for (const node of nodes) {
      const { result } = await service.rpc(node, "eth_blockNumber");
      if (Number(result) < blocks) throw new Error(`A ledger of ${blocks} blocks has ${Number(result)}.`);
    }
    const killed = performance.now();
    service.kill(service.processes().chains);
    await service.answers(nodes);
    const revived = performance.now() - killed;
    const memory = Math.max(...service.processes().chains.map(({ rss }) => rss));
    const timed = async (/** @type {string} */ method, /** @type {unknown[]} */ params) => {
      const begun = performance.now();
      const { error } = await service.rpc(first, method, params);
      if (error) throw new Error(`${method}: ${error.message}`);
      return performance.now() - begun;
    };
    const hex = (/** @type {number} */ number) => `0x${number.toString(16)}`;
    const range = Math.min(10_000, blocks >> 1);
    const reads = {
      "an old block": await timed("eth_getBlockByNumber", [hex(blocks >> 1), true]),
      "the same block again": await timed("eth_getBlockByNumber", [hex(blocks >> 1), true]),
      "a hash that does not exist": await timed("eth_getTransactionReceipt", [`0x${"ab".repeat(32)}`]),
      [`logs of ${range} blocks`]: await timed("eth_getLogs", [
        { fromBlock: hex(blocks >> 3), toBlock: hex((blocks >> 3) + range) },
      ]),
    };
    const files = readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);
    const details = table(
      [`${kinds.length} ledgers of ${blocks} blocks, ${kinds.length * nodesOfEach} nodes`, ""],
      [
        ["start until all nodes answer, median", seconds(median(times))],
        [`longest of ${starts}`, seconds(Math.max(...times))],
        ["after a kill of all chains, until they answer", seconds(revived)],
        ["memory of a chain", `${(memory / 1e6).toFixed(0)} MB`],
        ["files of a ledger", `${(files / 1e6).toFixed(1)} MB, ${Math.round(files / blocks)} bytes a block`],
        ...Object.entries(reads).map(([what, ms]) => [`read of ${what}`, seconds(ms)]),
      ],
    );
    const measure = `start of ${kinds.length} ledgers of ${blocks} blocks, seconds`;
    return { rows: [bounded(measure, Math.max(...times) / 1_000, { most: 5 })], details };
  } finally {
    await service.close();
  }
}

/** A ledger that has run for weeks, made in a few minutes by the service's own code. */

const require = createRequire(import.meta.url);
const built = (/** @type {string} */ name) => require(join(root, "service/dist/ledger", name));
/** @type {typeof import("../../service/ledger/engine.js")} */
const { Engine, findAnvil } = built("engine.js");
/** @type {typeof import("../../service/ledger/ledger-folder.js")} */
const { LedgerFolder } = built("ledger-folder.js");
/** @type {typeof import("../../service/ledger/watcher-client.js")} */
const { Watched } = built("watcher-client.js");
/** @type {typeof import("../../service/ledger/chain-base.js")} */
const { usualPace } = built("chain-base.js");

/** Blocks between snapshots; snapshots until another engine takes over; transactions between snapshots. */
const part = usualPace.segment.blocks;
const renewal = 5;
const transactions = 20;

/**
 * Makes a ledger of so many blocks in a folder. The seconds between blocks are in their timestamps; nothing waits for them.
 * @param {string} dir
 * @param {import("../../service/ledger/engine.js").ChainSpec} spec
 * @param {{ blocks: number, seconds: number }} length
 */
async function lengthen(dir, spec, { blocks, seconds }) {
  await backdate(dir, spec, Math.floor(Date.now() / 1_000) - blocks * seconds);
  const sockets = mkdtempSync(join(tmpdir(), "consortium-long-"));
  const watched = new Watched(sockets);
  const host = { command: String(findAnvil(undefined)), memory: 32 * 2 ** 20, dir: sockets, watched };
  const folder = await LedgerFolder.open(dir, spec);
  try {
    for (let made = 0; made < blocks;) {
      const engine = await Engine.start(host, spec, folder.genesis);
      if (folder.snapshot) await engine.load(folder.snapshot);
      const end = Math.min(blocks, made + renewal * part);
      for (; made < end; made += part) {
        const last = made + 2 * part >= blocks;
        await (last ? noted(engine, folder, part) : mined(engine, folder, part, seconds));
      }
      engine.end();
      await engine.ended;
    }
  } finally {
    folder.close();
    await watched.close();
    rmSync(sockets, { recursive: true, force: true });
  }
}

/** @typedef {import("../../service/ledger/engine.js").Engine} Running */
/** @typedef {import("../../service/ledger/ledger-folder.js").LedgerFolder} Folder */

/** Blocks that are in a snapshot. @param {Running} engine @param {Folder} folder @param {number} count @param {number} seconds */
async function mined(engine, folder, count, seconds) {
  await pay(engine, folder);
  const hexadecimal = (/** @type {number} */ number) => `0x${number.toString(16)}`;
  await engine.call("anvil_mine", [hexadecimal(count), hexadecimal(seconds)]);
  folder.rotate(await engine.head(), [{ given: [] }]);
  await folder.keep(await engine.dump(), 1, usualPace.lookback, () => Promise.resolve());
}

/** Blocks that are in no snapshot yet. @param {Running} engine @param {Folder} folder @param {number} count */
async function noted(engine, folder, count) {
  await pay(engine, folder, (tx) => folder.append([{ tx }]));
  for (let number = 0; number < count; number++) {
    const { number: before, hash, timestamp } = await engine.head();
    await folder.append([{ seal: [before + 1, timestamp + 1, hash] }]);
    await engine.seal(timestamp + 1);
  }
  folder.rotate(await engine.head(), [{ given: [] }]);
}

/** @param {Running} engine @param {Folder} folder @param {(raw: string) => Promise<void>} note */
async function pay(engine, folder, note = () => Promise.resolve()) {
  /** @type {string[]} */
  const accounts = await engine.call("eth_accounts");
  for (let at = 0; at < transactions; at++) {
    const call = {
      from: accounts[at % accounts.length],
      to: accounts[0],
      value: "0x1",
      gas: "0x5208",
      gasPrice: "0x0",
    };
    const nonce = await engine.call("eth_getTransactionCount", [call.from, "pending"]);
    /** @type {string} */
    const raw = await engine.call("eth_signTransaction", [{ ...call, nonce }]);
    await engine.send(raw);
    await note(raw);
  }
}

/** Sets the time of the first block, in seconds. @param {string} dir @param {import("../../service/ledger/engine.js").ChainSpec} spec @param {number} time */
async function backdate(dir, spec, time) {
  (await LedgerFolder.open(dir, spec)).close();
  const genesis = JSON.parse(readFileSync(join(dir, "genesis.json"), "utf8"));
  for (const name of readdirSync(dir)) rmSync(join(dir, name));
  writeFileSync(join(dir, "genesis.json"), JSON.stringify({ ...genesis, timestamp: `0x${time.toString(16)}` }));
}
