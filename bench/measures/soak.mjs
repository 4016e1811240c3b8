// @ts-check
/**
 * What `consortium serve` takes of memory and disk over time: 3 environments of 4 nodes, a tether for each that pins every 5 s, and
 * in every environment a read each second and a transaction every other second.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { treeOf } from "../lib/process-tree.mjs";
import { median, table } from "../lib/report.mjs";
import { asker, makeNodes, makeParents, withServed } from "../lib/served.mjs";

const mostGrowth = 1.25;
const kinds = [
  { provider: "quorum", consensus_type: "raft" },
  { provider: "quorum", consensus_type: "ibft" },
  { provider: "geth", consensus_type: "poa" },
];

/** @typedef {{ at: number, memory: Record<string, number>, disk: number }} Sample at: minutes; memory and disk: bytes */

/** @type {import("../lib/rig.mjs").Measure} */
export const soak = ({ options = {} }) => {
  const minutes = Number(options.minutes ?? 30);
  const tethers = kinds.flatMap(({ consensus_type }) => ["--tether", `t-${consensus_type}=${consensus_type}`]);
  return withServed(["--tether-hour", "5", ...tethers], async ({ ask, pid, data }) => {
    const parents = await makeParents(ask);
    /** @type {Record<string, string>} what runs for which folder */
    const names = { "target-rinkeby": "target network chain" };
    const nodes = [];
    for (const kind of kinds) {
      const name = kind.consensus_type;
      const made = await makeNodes(ask, parents, { ...kind, name }, 4);
      names[made.environment._id] = `${name} chain, a block every ${made.environment.block_period} s`;
      nodes.push(...made.nodes);
      await ask(`/tether/t-${name}/targetNetwork`, { network: "rinkeby" });
      await ask(`/tether/t-${name}/interval`, { interval: 1 });
      await ask(`/tether/t-${name}/deploy`, {});
      await ask(`/tether/t-${name}/activate`, {});
    }
    const counts = { calls: 0, failed: 0 };
    const end = performance.now() + minutes * 60_000;
    const traffic = nodes.map((node, index) => use(node, index, counts, end));
    /** @type {Sample[]} */
    const samples = [];
    for (; performance.now() < end; await wait(10_000)) {
      const at = (performance.now() - end) / 60_000 + minutes;
      samples.push({ at, memory: memoryOf(pid, names), disk: sizeOf(data) });
    }
    await Promise.all(traffic);
    const reports = await Promise.all(
      kinds.map(({ consensus_type }) => ask(`/tether/t-${consensus_type}/reportCount`)),
    );
    const note = `${counts.calls} calls to nodes, ${counts.failed} failed; ${reports.join(" + ")} reports pinned.`;
    return summary(samples, minutes, note);
  });
};

/**
 * Four nodes share the traffic of an environment.
 * @param {{ url: string, authorization: string, account: string }} node
 * @param {number} index
 * @param {{ calls: number, failed: number }} counts
 * @param {number} end
 */
async function use({ url, authorization, account }, index, counts, end) {
  const call = asker(url, authorization);
  await wait((index % 4) * 1_000);
  for (let round = 0; performance.now() < end; round++) {
    const what =
      round % 2 === 0
        ? { method: "eth_getBalance", params: [account, "latest"] }
        : { method: "eth_sendTransaction", params: [{ from: account, to: account, value: "0x1" }] };
    const answer = await call("", { jsonrpc: "2.0", id: round, ...what }).catch((error) => ({ error }));
    counts.calls += 1;
    if (answer.error) counts.failed += 1;
    await wait(4_000);
  }
}

/** @param {number} pid @param {Record<string, string>} names @returns {Record<string, number>} */
function memoryOf(pid, names) {
  const named = treeOf(pid).map(({ command, rss }) => {
    const [, folder = ""] = /chains\/([^/]+)\/genesis\.json/.exec(command) ?? [];
    return [names[folder] ?? (command.includes(" -e ") ? "watcher of the chains" : "service"), rss];
  });
  return Object.fromEntries(named);
}

/** @param {string} folder @returns {number} */
function sizeOf(folder) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
}

/**
 * @param {Sample[]} samples
 * @param {number} minutes
 * @param {string} note
 * @returns {import("../lib/rig.mjs").Measured}
 */
function summary(samples, minutes, note) {
  const settling = Math.min(5, minutes / 2);
  const settled = samples.filter(({ at }) => at >= settling);
  const part = Math.max(1, Math.floor(settled.length / 5));
  const mega = (/** @type {number} */ bytes) => (bytes / 1e6).toFixed(1);
  const lines = [...Object.keys(samples.at(-1)?.memory ?? {}), "files"].map((name) => {
    const values = settled.map(({ memory, disk }) => (name === "files" ? disk : (memory[name] ?? NaN)));
    const [early, late] = [median(values.slice(0, part)), median(values.slice(-part))];
    return { name, early, late, most: Math.max(...values) };
  });
  const grown = lines.filter(({ name, early, late }) => name !== "files" && !(late <= early * mostGrowth));
  const row = {
    measure: `memory of the service and its chains, minute ${settling} to ${minutes}`,
    target: `none more than ${mostGrowth} × as much`,
    measured: grown.length === 0 ? "all level" : `not level: ${grown.map(({ name }) => name).join(", ")}`,
    met: grown.length === 0,
  };
  const figures = table(
    ["MB", `after ${settling} minutes`, `after ${minutes} minutes`, "maximum"],
    lines.map(({ name, early, late, most }) => [name, ...[early, late, most].map(mega)]),
  );
  return { rows: [row], details: `${figures}\n\n${note}` };
}
