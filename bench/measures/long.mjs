// @ts-check
/** What a service takes whose ledgers have run for weeks: its start, their memory, their files, and reads of what is long past. */
import { cpSync, readdirSync, rmSync, statSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { Lab, Unanswered } from "../ground/lab.mjs";
import { lengthen } from "../ground/long-chain.mjs";
import { bounded, median, seconds, table } from "../lib/report.mjs";
import { asker, makeNodes, makeParents } from "../lib/served.mjs";
import { say } from "../../tools/lib/say.mjs";

/** One of each consensus; the same chain id, so that they can have the same ledger. */
const period = 5;
const kinds = [
  { provider: "quorum", consensus_type: "ibft", block_period: period },
  { provider: "geth", consensus_type: "poa", block_period: period },
  { provider: "quorum", consensus_type: "raft" },
];
const chainId = 1_234_567;
const nodesOfEach = 4;
const starts = 5;

/** @type {import("../lib/rig.mjs").Measure} */
export async function long({ options = {} }) {
  const blocks = Number(options.blocks ?? 400_000);
  const lab = new Lab([]);
  try {
    await lab.start();
    const api = asker(`${lab.url}/api/v1`, lab.authorization);
    const parents = await makeParents(api);
    const made = [];
    for (const kind of kinds)
      made.push(await makeNodes(api, parents, { ...kind, name: kind.consensus_type, chain_id: chainId }, nodesOfEach));
    const nodes = made.flatMap((one) => one.nodes);
    const ask = asking(lab, /** @type {Node} */ (nodes[0]));
    const all = nodes.map((node) => asking(lab, node));
    const answer = () =>
      Promise.all(all.map((one) => until(async () => Number(await one("eth_blockNumber", [])) >= blocks)));
    await lab.stop();
    const [dir = "", ...others] = made.map(({ environment }) => join(lab.data, "chains", environment._id));
    const spec = { key: "long", chainId, accounts: 32, period, free: true };
    say(`Making ${blocks} blocks …`);
    await lengthen(dir, spec, { blocks, seconds: period });
    for (const other of others) {
      rmSync(other, { recursive: true });
      cpSync(dir, other, { recursive: true });
    }
    const times = [];
    for (let round = 0; round < starts; round++) {
      const begun = performance.now();
      await lab.start();
      await answer();
      times.push(performance.now() - begun);
      say(`a start of ${seconds(times.at(-1) ?? NaN)}, load average ${(loadavg()[0] ?? NaN).toFixed(0)}`);
      if (round < starts - 1) await lab.stop();
    }
    const killed = performance.now();
    lab.kill(lab.processes().chains);
    await answer();
    const revived = performance.now() - killed;
    const memory = Math.max(...lab.processes().chains.map(({ rss }) => rss));
    const timed = async (/** @type {string} */ method, /** @type {unknown[]} */ params) => {
      const begun = performance.now();
      await ask(method, params);
      return performance.now() - begun;
    };
    const hex = (/** @type {number} */ number) => `0x${number.toString(16)}`;
    const range = Math.min(10_000, blocks >> 1);
    const reads = {
      "a block of long ago": await timed("eth_getBlockByNumber", [hex(blocks >> 1), true]),
      "it again": await timed("eth_getBlockByNumber", [hex(blocks >> 1), true]),
      "a hash that is not there": await timed("eth_getTransactionReceipt", [`0x${"ab".repeat(32)}`]),
      [`logs of ${range} blocks`]: await timed("eth_getLogs", [
        { fromBlock: hex(blocks >> 3), toBlock: hex((blocks >> 3) + range) },
      ]),
    };
    const files = readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);
    const details = table(
      [`${kinds.length} ledgers of ${blocks} blocks, ${kinds.length * nodesOfEach} nodes`, ""],
      [
        ["start until all nodes answer, median", seconds(median(times))],
        ["longest of so many", `${seconds(Math.max(...times))} of ${starts}`],
        ["after a kill of all chains, until they answer", seconds(revived)],
        ["memory of a chain", `${(memory / 1e6).toFixed(0)} MB`],
        ["files of a ledger", `${(files / 1e6).toFixed(1)} MB, ${Math.round(files / blocks)} bytes a block`],
        ...Object.entries(reads).map(([what, ms]) => [`read of ${what}`, seconds(ms)]),
      ],
    );
    const measure = `start of ${kinds.length} ledgers of ${blocks} blocks, seconds`;
    return { rows: [bounded(measure, Math.max(...times) / 1_000, { most: 5 })], details };
  } finally {
    await lab.close();
  }
}

/** @typedef {{ url: string, authorization: string }} Node */

/** Asks a node. @param {Lab} lab @param {Node} node */
const asking =
  (lab, { url, authorization }) =>
  async (/** @type {string} */ method, /** @type {unknown[]} */ params) => {
    const { result, error } = await lab.rpc(new URL(url).pathname, authorization, method, params);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };

/** @param {() => Promise<boolean>} holds */
async function until(holds) {
  const answered = () =>
    holds().catch((error) => {
      if (error instanceof Unanswered) return false;
      throw error;
    });
  while (!(await answered()));
}
