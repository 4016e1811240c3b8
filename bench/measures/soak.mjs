// @ts-check
/**
 * What `consortium serve` takes of memory and disk over time, and how long it then takes to start: 3 environments of 4 nodes, one of
 * each consensus, with a block every second where there is a period, a tether for each that pins every 10 s, and for every node a read
 * and a transaction in turn, one a second.
 */
import { readdirSync, statSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { log } from "../../tools/lib/terminal.mjs";
import { asker, Lab, makeNodes, makeParents, treeOf, untilAnswered } from "../lib/lab.mjs";
import { median, seconds, table } from "../lib/report.mjs";

const mostGrowth = 1.25;
/** The first minutes, of which nothing is counted; how often a sample is taken, and how many are a line of the table. */
const settling = 3;
const between = 1;
const every = 10;
/** The longest that a start may take, in ms. */
const longestStart = 5_000;
const kinds = [
  { provider: "quorum", consensus_type: "raft" },
  { provider: "quorum", consensus_type: "ibft", block_period: 1 },
  { provider: "geth", consensus_type: "poa", block_period: 1 },
];

/** @typedef {{ at: number, memory: Record<string, number>, disk: number }} Sample at: minutes; memory and disk: bytes */

/** @type {import("../lib/stack.mjs").Measure} */
export async function soak({ options = {} }) {
  const minutes = Number(options.minutes ?? 30);
  const tethers = kinds.flatMap(({ consensus_type }) => ["--tether", `t-${consensus_type}=${consensus_type}`]);
  const lab = new Lab(["--tether-hour", "10", ...tethers]);
  try {
    await lab.start();
    const { ask } = lab;
    const parents = await makeParents(ask);
    /** @type {Record<string, string>} what runs for which folder */
    const names = { "target-rinkeby": "target network chain" };
    const nodes = [];
    for (const kind of kinds) {
      const name = kind.consensus_type;
      const made = await makeNodes(ask, parents, { ...kind, name }, 4);
      names[made.environment._id] = `${name} chain`;
      nodes.push(...made.nodes);
      await ask(`/tether/t-${name}/targetNetwork`, { network: "rinkeby" });
      await ask(`/tether/t-${name}/interval`, { interval: 1 });
      await ask(`/tether/t-${name}/deploy`, {});
      await ask(`/tether/t-${name}/activate`, {});
    }
    const counts = { calls: 0, failed: 0 };
    /** @type {Sample[]} */
    const samples = [];
    /** @type {Start[]} */
    const starts = [];
    for (const length of [Math.min(settling, minutes / 2), minutes]) {
      const begun = performance.now();
      const end = begun + length * 60_000;
      const traffic = nodes.map((node, index) => use(node, index, counts, end));
      samples.length = 0;
      while (performance.now() < end) {
        await wait(Math.min(between * 60_000, Math.max(0, end - performance.now())));
        const at = (performance.now() - begun) / 60_000;
        samples.push({ at, memory: memoryOf(lab.pid, names), disk: sizeOf(lab.data) });
        log(JSON.stringify(samples.at(-1)));
      }
      await Promise.all(traffic);
      await lab.stop();
      starts.push({ ms: await timed(lab, nodes), load: loadavg()[0] ?? NaN });
      log(JSON.stringify(starts.at(-1)));
    }
    const reports = await Promise.all(
      kinds.map(({ consensus_type }) => ask(`/tether/t-${consensus_type}/reportCount`)),
    );
    const note = `${counts.calls} calls to nodes, ${counts.failed} failed; ${reports.join(" + ")} reports pinned.`;
    return summary(samples, minutes, starts, note);
  } finally {
    await lab.close();
  }
}

/** @typedef {{ ms: number, load: number }} Start load: the load average then */

/** How long a start takes, until every node answers (ms). @param {Lab} lab @param {Node[]} nodes */
async function timed(lab, nodes) {
  const begun = performance.now();
  await lab.start();
  for (const node of nodes) await untilAnswered(() => lab.rpc(node, "eth_blockNumber"));
  return performance.now() - begun;
}

/** @typedef {{ url: string, authorization: string, account: string }} Node */

/**
 * @param {Node} node
 * @param {number} index
 * @param {{ calls: number, failed: number }} counts
 * @param {number} end
 */
async function use({ url, authorization, account }, index, counts, end) {
  const call = asker(url, authorization);
  await wait(index * 80);
  for (let round = 0; performance.now() < end; round++) {
    const what =
      round % 2 === 0
        ? { method: "eth_getBalance", params: [account, "latest"] }
        : { method: "eth_sendTransaction", params: [{ from: account, to: account, value: "0x1" }] };
    const answer = await call("", { jsonrpc: "2.0", id: round, ...what }).catch((error) => ({ error }));
    counts.calls += 1;
    if (answer.error) counts.failed += 1;
    await wait(1_000);
  }
}

/** @param {number} pid @param {Record<string, string>} names @returns {Record<string, number>} */
function memoryOf(pid, names) {
  const all = treeOf(pid).filter(({ command }) => !command.startsWith("/bin/sh")); // the shell behind the watcher
  const named = all.map(({ command, rss }) => {
    const [, folder = ""] = /chains\/([^/]+)\/genesis\.json/.exec(command) ?? [];
    return [names[folder] ?? (command.includes("watcher.mjs") ? "watcher of the chains" : "service"), rss];
  });
  // where a snapshot is made just now, a ledger has another process: the largest counts
  return Object.fromEntries(named.sort(([, one], [, other]) => Number(one) - Number(other)));
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
 * @param {Start[]} starts
 * @param {string} note
 * @returns {import("../lib/stack.mjs").Measured}
 */
function summary(samples, minutes, starts, note) {
  const third = Math.max(1, Math.floor(samples.length / 3));
  const mega = (/** @type {number} */ bytes) => (bytes / 1e6).toFixed(1);
  const names = Object.keys(samples.at(-1)?.memory ?? {});
  // a chain's process grows and is then renewed, so it is level if it comes back
  const grown = names.filter((name) => {
    const values = samples.map(({ memory }) => memory[name] ?? NaN);
    const [early, late] = [median(values.slice(0, third)), median(values.slice(-third))];
    return late > early * mostGrowth && late - early > 25e6;
  });
  const memory = {
    measure: `memory of the service and its chains over ${minutes} minutes`,
    target: `none more than ${mostGrowth} × and 25 MB more`,
    measured: grown.length === 0 ? "all level" : `not level: ${grown.join(", ")}`,
    met: grown.length === 0,
  };
  const slowest = Math.max(...starts.map(({ ms }) => ms));
  const start = {
    measure: "start until every node answers, longest",
    target: `at most ${seconds(longestStart)}`,
    measured: seconds(slowest),
    met: slowest <= longestStart,
  };
  const over = table(
    ["minute", ...names.map((name) => `${name}, MB`), "files, MB"],
    samples
      .filter((_, index) => index === 0 || (index + 1) % every === 0)
      .map(({ at, memory, disk }) => [at.toFixed(0), ...names.map((name) => mega(memory[name] ?? NaN)), mega(disk)]),
  );
  const told = starts.map(({ ms, load }) => `${seconds(ms)} (load average ${load.toFixed(0)})`).join(", then ");
  return { rows: [memory, start], details: `${over}\n\nA start took ${told}. ${note}` };
}
