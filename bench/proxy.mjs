// @ts-check
/**
 * What the way through the service costs: eth_blockNumber through a node's address, against a chain of the same kind directly, over 50
 * connections that are kept alive; and whether the service's memory is level over 100,000 such calls. Prints Markdown tables; run
 * `npm run build` first, then `node bench/proxy.mjs`.
 * Options: --calls <count per round, default 20000>, --check (fails if memory grows).
 */
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { clearTimeout } from "node:timers";
import { parseArgs } from "node:util";
import { Pool } from "undici";
import { findAnvil } from "../dist/service/ledger/binary.js";

const { values } = parseArgs({ options: { calls: { type: "string" }, check: { type: "boolean" } } });
const calls = Number(values.calls ?? 20_000);
const connections = 50;
const rounds = 5;
const mostMs = 240_000;
const program = fileURLToPath(new URL("../dist/cli/consortium.js", import.meta.url));
const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] });

const data = mkdtempSync(join(tmpdir(), "consortium-bench-"));
const args = ["serve", "--port", "0", "--data", data, "--json", "--node-start", "0", "--environment-start", "0"];
const service = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
const chainArgs = ["--port", "0", "--threads", "1", "--no-cors", "--block-time", "10", "--prune-history"];
const chain = spawn(findAnvil(undefined) ?? "anvil", chainArgs, { stdio: ["ignore", "pipe", "inherit"] });
const stop = () => [service, chain].map((child) => child.kill());
const alarm = setTimeout(stop, mostMs);
service.once("exit", () => rmSync(data, { recursive: true, force: true, maxRetries: 5 }));

try {
  process.exitCode = await measure();
} finally {
  clearTimeout(alarm);
  stop();
}

async function measure() {
  const { through, pair } = await network();
  const ways = { direct: { url: await listening(), headers: {} }, through: { url: through, headers: pair } };
  /** @type {Record<"direct" | "through", number[]>} */
  const medians = { direct: [], through: [] };
  const memory = [];
  for (const way of Object.values(ways)) await load(way, 2_000); // warm
  for (let round = 0; round < rounds; round++) {
    medians.direct.push(await load(ways.direct, calls));
    medians.through.push(await load(ways.through, calls));
    memory.push(resident());
  }
  console.log(`| round of ${calls} calls | directly | through the service | more | memory of the service |`);
  console.log("| --- | --- | --- | --- | --- |");
  for (const [round, before] of medians.direct.entries()) {
    const after = medians.through[round] ?? NaN;
    const ms = [before, after, after - before].map((value) => `${value.toFixed(2)} ms`);
    console.log(`| ${[round + 1, ...ms, `${memory[round]?.toFixed(0)} MB`].join(" | ")} |`);
  }
  const grown = Math.max(...memory.slice(-2)) > 1.25 * Math.max(...memory.slice(0, 2));
  return values.check && grown ? 1 : 0;
}

/** The address of the chain that no service stands before. */
async function listening() {
  for await (const line of createInterface({ input: chain.stdout })) {
    const [, port] = /^Listening on .*:(\d+)$/.exec(line) ?? [];
    if (port) return `http://127.0.0.1:${port}/`;
  }
  throw new Error("The chain did not start.");
}

/** A network of one node. */
async function network() {
  const [line] = await new Promise((done) => createInterface({ input: service.stdout }).once("line", (l) => done([l])));
  const { baseUrl, apiKeyFile } = JSON.parse(line);
  const authorization = `Bearer ${readFileSync(apiKeyFile, "utf8").trim()}`;
  const ask = async (/** @type {string} */ path, /** @type {object | undefined} */ content = undefined) => {
    const response = await fetch(baseUrl + path, {
      method: content ? "POST" : "GET",
      headers: { authorization, "content-type": "application/json" },
      ...(content ? { body: JSON.stringify(content) } : {}),
    });
    return response.json();
  };
  const consortium = `/consortia/${(await ask("/consortia", { name: "bench" }))._id}`;
  const membership_id = (await ask(`${consortium}/memberships`, { org_name: "bench" }))._id;
  const made = await ask(`${consortium}/environments`, { provider: "geth", consensus_type: "poa" });
  const environment = `${consortium}/environments/${made._id}`;
  const node = (await ask(`${environment}/nodes`, { membership_id }))._id;
  const { username, password } = await ask(`${environment}/appcreds`, { membership_id });
  const { urls } = await ask(`${environment}/nodes/${node}/status`);
  const pair = { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
  return { through: urls.rpc, pair };
}

/**
 * Every connection sends its next call when it has the answer to the last one.
 * @param {{ url: string, headers: Record<string, string> }} way
 * @param {number} count
 * @returns {Promise<number>} the median time of a call, in ms
 */
async function load({ url, headers }, count) {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections });
  const times = new Float64Array(count);
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) {
      const start = performance.now();
      const answer = await pool.request({
        ...{ method: "POST", path: pathname, body },
        headers: { "content-type": "application/json", ...headers },
      });
      const text = await answer.body.text();
      times[index] = performance.now() - start;
      if (!text.includes('"result"')) throw new Error(text);
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  await pool.close();
  return median([...times]);
}

/** @param {number[]} values */
function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** The memory of the service, in MB. */
function resident() {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}
