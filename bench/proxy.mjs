// @ts-check
/**
 * What the way through the service costs: eth_blockNumber through a node's address, against the chain directly, over 50
 * connections that are kept alive. Prints a Markdown table; run `npm run build` first, then `node bench/proxy.mjs`.
 * Options: --calls <count per round, default 20000>, --check (fails above 25 %, or if memory grows).
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
const alarm = setTimeout(() => service.kill(), mostMs);
service.once("exit", () => rmSync(data, { recursive: true, force: true, maxRetries: 5 }));

try {
  process.exitCode = await measure();
} finally {
  clearTimeout(alarm);
  service.kill();
}

async function measure() {
  const { through, direct, pair } = await network();
  const ways = { direct: { url: direct, headers: {} }, through: { url: through, headers: pair } };
  /** @type {Record<"direct" | "through", number[]>} */
  const medians = { direct: [], through: [] };
  const memory = [];
  for (const way of Object.values(ways)) await load(way, 2_000); // warm
  for (let round = 0; round < rounds; round++) {
    medians.direct.push(await load(ways.direct, calls));
    medians.through.push(await load(ways.through, calls));
    memory.push(resident());
  }
  const [before, after] = [median(medians.direct), median(medians.through)];
  const more = (after / before - 1) * 100;
  console.log(`| eth_blockNumber, ${connections} connections | median of ${rounds} rounds of ${calls} calls |`);
  console.log("| --- | --- |");
  console.log(`| the chain directly | ${before.toFixed(3)} ms |`);
  console.log(`| through the service | ${after.toFixed(3)} ms (${more >= 0 ? "+" : ""}${more.toFixed(1)} %) |`);
  console.log(`| memory of the service after each round | ${memory.map((mb) => mb.toFixed(0)).join(", ")} MB |`);
  const grown = Math.max(...memory.slice(-2)) > 1.25 * Math.max(...memory.slice(0, 2));
  return values.check && (more > 25 || grown) ? 1 : 0;
}

/** A network of one node, and its chain's own address. */
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
  return { through: urls.rpc, direct: readFileSync(join(data, "chains", made._id, "url"), "utf8").trim(), pair };
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
