// @ts-check
/**
 * What `consortium serve` takes of memory and disk over time: 3 environments of 4 nodes, a tether for each that pins every 5 s,
 * and in every environment a read each second and a transaction every other second. Prints a Markdown table; run `npm run build`
 * first, then `node bench/soak.mjs`. Linux. Options: --minutes <default 30>, --check (fails where something is not level).
 */
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { eachOf } from "./lib/memory.mjs";
import { median, table } from "./lib/report.mjs";

const { values } = parseArgs({ options: { minutes: { type: "string" }, check: { type: "boolean" } } });
const minutes = Number(values.minutes ?? 30);
/** What a process may have more at the end than after this part of the time. */
const [settling, tolerance] = [Math.min(5, minutes / 2), 0.25];
const program = fileURLToPath(new URL("../dist/cli/consortium.js", import.meta.url));
const kinds = [
  { provider: "quorum", consensus_type: "raft" },
  { provider: "quorum", consensus_type: "ibft" },
  { provider: "geth", consensus_type: "poa" },
];

const data = mkdtempSync(join(tmpdir(), "consortium-soak-"));
const tethers = kinds.flatMap(({ consensus_type }) => ["--tether", `t-${consensus_type}=${consensus_type}`]);
const args = ["serve", "--port", "0", "--data", data, "--json", "--node-start", "0", "--environment-start", "0"];
const service = spawn(process.execPath, [program, ...args, "--tether-hour", "5", ...tethers], {
  stdio: ["ignore", "pipe", "inherit"],
});
const ended = new Promise((done) => service.once("exit", done));
try {
  process.exitCode = await soak();
} finally {
  service.kill();
  await ended;
  rmSync(data, { recursive: true, force: true, maxRetries: 5 });
}

/** @typedef {{ at: number, memory: Record<string, number>, disk: number }} Sample at: minutes; memory and disk: bytes */

async function soak() {
  const { baseUrl, key } = await ready();
  const ask = asker(baseUrl, `Bearer ${key}`);
  const consortium = `/consortia/${(await ask("/consortia", { name: "soak" }))._id}`;
  const membership_id = (await ask(`${consortium}/memberships`, { org_name: "soak" }))._id;
  /** @type {Record<string, string>} what runs for which folder */
  const names = { "target-rinkeby": "chain of the target network" };
  const nodes = [];
  for (const kind of kinds) {
    const name = kind.consensus_type;
    const made = await ask(`${consortium}/environments`, { ...kind, name });
    names[made._id] = `chain of ${name}, a block in ${made.block_period} s`;
    nodes.push(...(await fourNodes(ask, `${consortium}/environments/${made._id}`, membership_id)));
    await ask(`/tether/t-${name}/targetNetwork`, { network: "rinkeby" });
    await ask(`/tether/t-${name}/interval`, { interval: 1 });
    await ask(`/tether/t-${name}/deploy`, {});
    await ask(`/tether/t-${name}/activate`, {});
  }
  const counts = { calls: 0, failed: 0 };
  const end = performance.now() + minutes * 60_000;
  const traffic = nodes.map((node, index) => use(node, index, counts, end));
  const samples = [];
  for (let round = 0; performance.now() < end; round++) {
    if (round % 10 === 0) samples.push(sample(names, (performance.now() - end) / 60_000 + minutes));
    await wait(1_000);
  }
  await Promise.all(traffic);
  const reports = await Promise.all(kinds.map(({ consensus_type }) => ask(`/tether/t-${consensus_type}/reportCount`)));
  return told(
    samples,
    `${counts.calls} calls to nodes, ${counts.failed} failed; ${reports.join(" + ")} reports pinned.`,
  );
}

async function ready() {
  const line = await new Promise((done) => createInterface({ input: service.stdout }).once("line", done));
  const { baseUrl, apiKeyFile } = JSON.parse(String(line));
  return { baseUrl: String(baseUrl), key: readFileSync(apiKeyFile, "utf8").trim() };
}

/** @param {string} base @param {string} authorization */
function asker(base, authorization) {
  return async (/** @type {string} */ path, /** @type {object | undefined} */ content = undefined) => {
    const response = await fetch(base + path, {
      method: content ? "POST" : "GET",
      headers: { authorization, ...(content ? { "content-type": "application/json" } : {}) },
      ...(content ? { body: JSON.stringify(content) } : {}),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
}

/** @param {ReturnType<typeof asker>} ask @param {string} environment @param {string} membership_id */
async function fourNodes(ask, environment, membership_id) {
  const { username, password } = await ask(`${environment}/appcreds`, { membership_id });
  const pair = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const nodes = [];
  for (let count = 0; count < 4; count++) {
    const { _id } = await ask(`${environment}/nodes`, { membership_id });
    const { urls, user_accounts } = await ask(`${environment}/nodes/${_id}/status`);
    nodes.push({ call: asker(urls.rpc, pair), from: String(user_accounts[0]) });
  }
  return nodes;
}

/**
 * Four nodes share the traffic of an environment.
 * @param {{ call: ReturnType<typeof asker>, from: string }} node
 * @param {number} index
 * @param {{ calls: number, failed: number }} counts
 * @param {number} end
 */
async function use({ call, from }, index, counts, end) {
  await wait((index % 4) * 1_000);
  for (let round = 0; performance.now() < end; round++) {
    const what =
      round % 2 === 0
        ? { method: "eth_getBalance", params: [from, "latest"] }
        : { method: "eth_sendTransaction", params: [{ from, to: from, value: "0x1" }] };
    const answer = await call("", { jsonrpc: "2.0", id: round, ...what }).catch((error) => ({ error }));
    counts.calls += 1;
    if (answer.error) counts.failed += 1;
    await wait(4_000);
  }
}

/** @param {Record<string, string>} names @param {number} at @returns {Sample} */
function sample(names, at) {
  /** @type {Record<string, number>} */
  const memory = {};
  for (const { command, rss } of eachOf(Number(service.pid))) {
    const [, folder = ""] = /chains\/([^/]+)\/genesis\.json/.exec(command) ?? [];
    memory[names[folder] ?? (command.includes(" -e ") ? "watcher of the chains" : "service")] = rss;
  }
  return { at, memory, disk: sizeOf(data) };
}

/** @param {string} folder @returns {number} */
function sizeOf(folder) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
}

/** @param {Sample[]} samples @param {string} note @returns {number} the exit code */
function told(samples, note) {
  const settled = samples.filter(({ at }) => at >= settling);
  const part = Math.max(1, Math.floor(settled.length / 5));
  const [early, late] = [settled.slice(0, part), settled.slice(-part)];
  const mega = (/** @type {number} */ bytes) => (bytes / 1e6).toFixed(1);
  const rows = [...Object.keys(samples.at(-1)?.memory ?? {}), "disk"].map((name) => {
    const of = (/** @type {Sample} */ one) => (name === "disk" ? one.disk : (one.memory[name] ?? NaN));
    const figures = [median(early.map(of)), median(late.map(of)), Math.max(...settled.map(of))];
    return { name, figures, level: name === "disk" || figures[1] <= figures[0] * (1 + tolerance) };
  });
  const head = ["MB", `after ${settling} minutes`, `after ${minutes} minutes`, "most"];
  console.log(
    `${table(
      head,
      rows.map(({ name, figures }) => [name, ...figures.map(mega)]),
    )}\n\n${note}`,
  );
  const grown = rows.filter(({ level }) => !level).map(({ name }) => name);
  if (grown.length > 0) console.error(`Not level: ${grown.join(", ")}.`);
  return values.check && grown.length > 0 ? 1 : 0;
}
