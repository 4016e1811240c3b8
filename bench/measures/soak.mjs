// @ts-check
/**
 * The memory and disk that `consortium serve` takes over time, and how long it then takes to start: three environments of four nodes, one
 * for each consensus protocol, with a block every second, a tether each that pins every 10 s, and a call to every node each second,
 * reads and transactions in turn.
 */
import { readdirSync, statSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { log } from "../../tools/lib/terminal.mjs";
import { treeOf } from "../lib/processes.mjs";
import { median, seconds, table } from "../lib/report.mjs";
import {
  asker,
  deployTether,
  eachConsensus,
  makeNetwork,
  ServeProcess,
  tetherOf,
  tetherOptions,
} from "../lib/serve.mjs";

const mostGrowth = 1.25;
/** Minutes to warm up, which do not count; samples that make one line of the table, one a minute. */
const settling = 3;
const every = 10;
/** The longest that a start may take, in ms. */
const longestStart = 5_000;
const kinds = eachConsensus(1);

/** @typedef {{ at: number, memory: Record<string, number>, disk: number }} Sample at: minutes; memory and disk: bytes */

/** @type {import("../lib/stack.mjs").Measure} */
export async function soak({ options = {} }) {
  const { minutes = 30 } = options;
  const service = new ServeProcess(["--tether-hour", "10", ...tetherOptions(kinds)]);
  try {
    await service.start();
    const { ask } = service;
    const { environments } = await makeNetwork(ask, kinds, 4);
    const nodes = environments.flatMap((one) => one.nodes);
    /** @type {Record<string, string>} the process that works in a folder */
    const names = { "target-rinkeby": "target network chain" };
    for (const { name, id } of environments) {
      names[id] = `${name} chain`;
      await deployTether(ask, name);
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
        await wait(Math.min(60_000, Math.max(0, end - performance.now())));
        const at = (performance.now() - begun) / 60_000;
        samples.push({ at, memory: memoryOf(service.pid, names), disk: sizeOf(service.data) });
        log(JSON.stringify(samples.at(-1)));
      }
      await Promise.all(traffic);
      await service.stop();
      starts.push({ ms: await service.timedStart(nodes), load: loadavg()[0] ?? NaN });
      log(JSON.stringify(starts.at(-1)));
    }
    const reports = await Promise.all(kinds.map(({ name }) => ask(`/tether/${tetherOf(name)}/reportCount`)));
    const note = `${counts.calls} calls to nodes, ${counts.failed} failed; ${reports.join(" + ")} reports pinned.`;
    return summary(samples, minutes, starts, note);
  } finally {
    await service.close();
  }
}

/** @typedef {{ ms: number, load: number }} Start load: the load average then */

/**
 * @param {import("../lib/serve.mjs").Node} node
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
  const all = treeOf(pid).filter(({ command }) => !command.startsWith("/bin/sh")); // the shell that starts the watcher
  const named = all.map(({ command, rss }) => {
    const [, folder = ""] = /chains\/([^/]+)\/genesis\.json/.exec(command) ?? [];
    return [names[folder] ?? (command.includes("watcher.mjs") ? "watcher of the chains" : "service"), rss];
  });
  // while a snapshot is made, a ledger has two processes: the larger one counts
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
  // a chain's process grows until another one takes its place, so medians of many samples are compared
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
