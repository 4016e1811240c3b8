// @ts-check
/** What strangers and a greedy member can do to others: answers to `/health`, and the blocks of a ledger, under their largest bodies. */
import { Buffer } from "node:buffer";
import { loadavg } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { ConsortiumClient, resolveSettings } from "../../dist/provider/api/index.js";
import { log } from "../../tools/lib/terminal.mjs";
import { bounded, median, table } from "../lib/report.mjs";

const MB = 1_000_000;
const clients = 12;
const lasts = 20_000;
const call = (/** @type {string} */ params) => `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":${params}}`;
/** Bodies of so many bytes, nearly. @param {number} bytes */
const bodies = (bytes) => [
  call(`[{"gas":"0x${"f".repeat(bytes - 200)}"}]`),
  call(`[${"[],".repeat((bytes - 200) / 3)}0]`),
  call(`[${"[0],".repeat(3_300)}"${"x".repeat(bytes - 14_000)}"]`), // as many values as there may be
];
/** @type {{ name: string, bytes: number, callLimits: Partial<import("../../service/index.js").CallLimits> }[]} Each way to send them: how large they are, and how many bytes the service reads. */
const ways = [
  { name: "1 MB, refused by length", bytes: MB, callLimits: {} },
  { name: "1 MB, read (a limit of 1,048,576)", bytes: MB, callLimits: { request: 1_048_576 } },
  { name: "290 kB, read", bytes: 290_000, callLimits: {} },
];

/** @typedef {{ url: string, headers: Record<string, string> }} Chain a node or a target network */

/** What other threads do: the service has the main one. */
if (!isMainThread) await ("bytes" in workerData ? attack(workerData) : look(workerData.url));

/** Sends bodies without a pause. @param {Chain & { bytes: number }} target */
async function attack({ url, headers, bytes }) {
  const all = bodies(bytes);
  const one = async (/** @type {number} */ first) => {
    for (let number = first; ; number++) {
      const body = /** @type {string} */ (all[number % all.length]);
      const response = await fetch(url, { method: "POST", headers, body }).catch(() => undefined);
      await response?.text().catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, number) => one(number)));
}

/** Asks again and again, and tells the times of the answers. @param {string} url */
async function look(url) {
  const times = [];
  for (const end = performance.now() + lasts; performance.now() < end; await wait(50)) {
    const begun = performance.now();
    await (await fetch(url)).text();
    times.push(performance.now() - begun);
  }
  parentPort?.postMessage(times);
}

/** @param {object} data */
const thread = (data) => new Worker(new URL(import.meta.url), { workerData: data });

/** @param {Chain} chain @param {string} method @param {unknown[]} [params] @returns {Promise<any>} the result */
async function rpc({ url, headers }, method, params = []) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(url, { method: "POST", headers, body });
  return /** @type {any} */ (await response.json()).result;
}

/** A node of a ledger that makes a block every second. @param {import("../../service/index.js").Service} service @returns {Promise<Chain>} */
async function nodeOf({ baseUrl, apiKey }) {
  const client = new ConsortiumClient(resolveSettings({ given: { baseUrl, apiKey }, env: {} }));
  const kind = { name: "l", provider: "geth", consensus_type: "poa", block_period: 1 };
  const { id } = await client.createConsortium({ name: "bench" });
  const member = { membership_id: (await client.createMembership(id, { org_name: "bench" })).id };
  const environment = (await client.createEnvironment(id, kind)).id;
  const { username, password } = await client.createAppCred(id, environment, member);
  const node = await client.createNode(id, environment, { ...member, name: "n" });
  const { urls } = await client.getNodeStatus(id, environment, node.id);
  await client.close();
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  return { url: String(urls?.rpc), headers: { authorization } };
}

/** @param {typeof import("../../service/index.js")} module @param {typeof ways[number]} way */
async function under({ startService }, { name, bytes, callLimits }) {
  const service = await startService({ ledger: true, timing: { environmentStart: 0, nodeStart: 0 }, callLimits });
  /** @type {Worker[]} */
  const attackers = [];
  try {
    const node = await nodeOf(service);
    const stranger = { url: `${service.url}/target/rinkeby`, headers: {} };
    await rpc(stranger, "eth_blockNumber");
    const height = async () => Number(await rpc(node, "eth_blockNumber"));
    const before = await height();
    log(`12 strangers and 12 clients of a member send bodies of ${name} …`);
    for (const target of [stranger, node]) attackers.push(thread({ ...target, bytes }));
    const looking = thread({ url: `${service.url}/health` });
    /** @type {number[]} */
    const times = await new Promise((resolve, reject) => looking.once("message", resolve).once("error", reject));
    await Promise.all(attackers.map((worker) => worker.terminate()));
    const last = await height();
    /** @type {number[]} */
    const stamps = [];
    for (let number = before; number <= last; number++)
      stamps.push(Number((await rpc(node, "eth_getBlockByNumber", [`0x${number.toString(16)}`, false])).timestamp));
    const gap = Math.max(...stamps.slice(1).map((stamp, index) => stamp - Number(stamps[index])));
    return { name, longest: Math.max(...times), median: median(times), blocks: last - before, gap };
  } finally {
    await Promise.all(attackers.map((worker) => worker.terminate()));
    await service.close();
  }
}

/** @type {import("../lib/stack.mjs").Measure} */
export async function callers({ module }) {
  const found = [];
  for (const way of ways) found.push({ ...(await under(module, way)), load: Number(loadavg()[0]).toFixed(1) });
  const ms = (/** @type {number} */ time) => `${time.toFixed(0)} ms`;
  const details = table(
    ["bodies", "/health, median", "/health, longest", "blocks in 20 s", "longest time between two", "load"],
    found.map((one) => [one.name, ms(one.median), ms(one.longest), `${one.blocks}`, `${one.gap} s`, one.load]),
  );
  const [longest, gap] = [Math.max(...found.map((one) => one.longest)), Math.max(...found.map((one) => one.gap))];
  const title = `\`/health\` under ${clients} strangers and ${clients} clients of a member, longest, in ms`;
  const blocks = bounded("a ledger with a period of 1 s, longest time between two blocks, in s", gap, { most: 2 });
  const areMade = found.every((one) => one.blocks >= lasts / 1_000 - 1);
  return {
    rows: [bounded(title, Math.ceil(longest), { most: 250 }), { ...blocks, met: blocks.met && areMade }],
    details,
  };
}
