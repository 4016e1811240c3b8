// @ts-check
/**
 * What the way through the service costs: eth_blockNumber through a node's address, beside a chain of the same kind directly, over
 * 50 connections that are kept alive; and whether the service's memory is level meanwhile. Linux and macOS.
 */
import { spawn } from "node:child_process";
import { Pool } from "undici";
import { findAnvil } from "../../dist/service/ledger/engine.js";
import { Lab } from "../lib/lab.mjs";
import { treeOf } from "../lib/lab.mjs";
import { bounded, median, table } from "../lib/report.mjs";
import { firstLine, makeNodes, makeParents } from "../lib/lab.mjs";

const connections = 50;
const rounds = 5;
const mostGrowth = 1.25;
const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] });

/** @type {import("../lib/stack.mjs").Measure} */
export const proxy = async ({ options = {} }) => {
  const calls = Number(options.calls ?? 20_000);
  const chainArgs = ["--port", "0", "--threads", "1", "--no-cors", "--block-time", "10", "--prune-history"];
  const lab = new Lab([]);
  const chain = spawn(findAnvil(undefined) ?? "anvil", chainArgs, { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const listening = /^Listening on .*:(\d+)$/;
    const [, port] = listening.exec(await firstLine(chain.stdout, listening)) ?? [];
    const direct = { url: `http://127.0.0.1:${port}/`, authorization: "" };
    await lab.start();
    return await measure(lab, direct, calls);
  } finally {
    await lab.close();
    chain.kill();
  }
};

/**
 * @param {Lab} lab
 * @param {Way} direct
 * @param {number} calls
 * @returns {Promise<import("../lib/stack.mjs").Measured>}
 */
async function measure({ ask, pid }, direct, calls) {
  const { nodes } = await makeNodes(ask, await makeParents(ask), { provider: "geth", consensus_type: "poa" }, 1);
  const through = /** @type {Way} */ (nodes[0]);
  for (const way of [direct, through]) await load(way, 2_000); // warm
  const lines = [];
  const memory = [];
  for (let round = 1; round <= rounds; round++) {
    const [before, after] = [await load(direct, calls), await load(through, calls)];
    memory.push((treeOf(pid)[0]?.rss ?? NaN) / 2 ** 20);
    const ms = [before, after, after - before].map((value) => `${value.toFixed(2)} ms`);
    lines.push([String(round), ...ms, `${memory.at(-1)?.toFixed(0)} MB`]);
  }
  const growth = Math.max(...memory.slice(-2)) / Math.max(...memory.slice(0, 2));
  const head = [`round of ${calls} calls`, "directly", "through the service", "more", "memory of the service"];
  const row = bounded(`memory of the service over ${rounds * calls} calls to a node`, growth, {
    most: mostGrowth,
    of: "that of the first rounds",
    measured: `×${growth.toFixed(2)}`,
  });
  return { rows: [row], details: table(head, lines) };
}

/** @typedef {{ url: string, authorization: string }} Way */

/**
 * Every connection sends its next call when it has the answer to the last one.
 * @param {Way} way
 * @param {number} count
 * @returns {Promise<number>} the median time of a call, in ms
 */
async function load({ url, authorization }, count) {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections });
  const headers = { "content-type": "application/json", ...(authorization && { authorization }) };
  /** @type {number[]} */
  const times = [];
  let next = 0;
  const worker = async () => {
    while (next++ < count) {
      const start = performance.now();
      const answer = await pool.request({ method: "POST", path: pathname, body, headers });
      const text = await answer.body.text();
      times.push(performance.now() - start);
      if (!text.includes('"result"')) throw new Error(text);
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  await pool.close();
  return median(times);
}
