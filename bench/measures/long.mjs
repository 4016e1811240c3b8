// @ts-check
/** What a ledger takes that has run for weeks: its start, its memory, its files, and reads of what is long past. */
import { Buffer } from "node:buffer";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Lab, Unanswered } from "../ground/lab.mjs";
import { lengthen } from "../ground/long-chain.mjs";
import { bounded, median, seconds, table } from "../lib/report.mjs";
import { say } from "../../tools/lib/say.mjs";

const kind = { provider: "quorum", consensus_type: "ibft", block_period: 5 };
const starts = 5;

/** @type {import("../lib/rig.mjs").Measure} */
export async function long({ options = {} }) {
  const blocks = Number(options.blocks ?? 400_000);
  const lab = new Lab([]);
  try {
    await lab.start();
    const { environment, ask } = await node(lab);
    await lab.stop();
    const dir = join(lab.data, "chains", environment._id);
    const spec = { key: environment._id, chainId: environment.chain_id, accounts: 32, period: 5, free: true };
    say(`Making ${blocks} blocks …`);
    await lengthen(dir, spec, { blocks, seconds: kind.block_period });
    const times = [];
    for (let round = 0; round < starts; round++) {
      const begun = performance.now();
      await lab.start();
      await until(async () => Number(await ask("eth_blockNumber", [])) >= blocks);
      times.push(performance.now() - begun);
      if (round < starts - 1) await lab.stop();
    }
    const killed = performance.now();
    lab.kill(lab.processes().chains);
    await until(async () => Number(await ask("eth_blockNumber", [])) >= blocks);
    const revived = performance.now() - killed;
    const memory = lab.processes().chains.reduce((sum, { rss }) => sum + rss, 0);
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
      [`a ledger of ${blocks} blocks`, ""],
      [
        ["start until its node answers, median", seconds(median(times))],
        ["longest of so many", `${seconds(Math.max(...times))} of ${starts}`],
        ["after a kill of its chain, until it answers", seconds(revived)],
        ["memory of the chain", `${(memory / 1e6).toFixed(0)} MB`],
        ["files", `${(files / 1e6).toFixed(1)} MB, ${Math.round(files / blocks)} bytes a block`],
        ...Object.entries(reads).map(([what, ms]) => [`read of ${what}`, seconds(ms)]),
      ],
    );
    const measure = `start of a ledger of ${blocks} blocks, seconds`;
    return { rows: [bounded(measure, Math.max(...times) / 1_000, { most: 5 })], details };
  } finally {
    await lab.close();
  }
}

/** An environment with a node. @param {Lab} lab */
async function node(lab) {
  const made = async (/** @type {string} */ path, /** @type {object} */ content) =>
    (await lab.api("POST", path, content)).body;
  const consortium = `/consortia/${(await made("/consortia", { name: "long" }))._id}`;
  const { _id: membership_id } = await made(`${consortium}/memberships`, { org_name: "long" });
  const environment = await made(`${consortium}/environments`, { name: "long", ...kind });
  const path = `${consortium}/environments/${environment._id}`;
  const { username, password } = await made(`${path}/appcreds`, { membership_id });
  const { _id } = await made(`${path}/nodes`, { membership_id });
  const { urls } = (await lab.api("GET", `${path}/nodes/${_id}/status`)).body;
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const ask = async (/** @type {string} */ method, /** @type {unknown[]} */ params) => {
    const { result, error } = await lab.rpc(new URL(urls.rpc).pathname, authorization, method, params);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  return { environment, ask };
}

/** @param {() => Promise<boolean>} holds */
async function until(holds) {
  const answered = () =>
    holds().catch((error) => {
      if (error instanceof Unanswered) return false;
      throw error;
    });
  while (!(await answered()));
}
