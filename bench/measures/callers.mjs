// @ts-check
/** What strangers and a greedy member can do to others: answers to `/health`, and the blocks of a ledger, under their largest bodies. */
import { loadavg } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { log } from "../../tools/lib/terminal.mjs";
import { table } from "../lib/report.mjs";
import { makeNetwork, ServeProcess } from "../lib/serve.mjs";

const MB = 1_000_000;
const clients = 12;
const lasts = 20_000;
const most = { health: 250, gap: 2 };
const call = (/** @type {string} */ params) => `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":${params}}`;
/** Bodies of so many bytes, nearly. @param {number} bytes */
const bodies = (bytes) => [
  call(`[{"gas":"0x${"f".repeat(bytes - 200)}"}]`),
  call(`[${"[],".repeat((bytes - 200) / 3)}0]`),
  call(`[${"[0],".repeat(3_300)}"${"x".repeat(bytes - 14_000)}"]`), // as many values as there may be
];
/** Each way to send them: which bodies, and how many of them the service reads. */
const ways = [
  { name: "1 MB, refused by length", bytes: MB, options: [] },
  { name: "1 MB, read (--limit request=1048576)", bytes: MB, options: ["--limit", "request=1048576"] },
  { name: "290 kB, read", bytes: 290_000, options: [] },
];

if (!isMainThread) await attack(workerData);

/** Sends bodies without a pause, in another thread. @param {{ url: string, authorization: string, bytes: number }} target */
async function attack({ url, authorization, bytes }) {
  const all = bodies(bytes);
  const one = async (/** @type {number} */ first) => {
    for (let number = first; ; number++) {
      /** @type {Record<string, string>} */
      const headers = authorization === "" ? {} : { authorization };
      const body = /** @type {string} */ (all[number % all.length]);
      const response = await fetch(url, { method: "POST", headers, body }).catch(() => undefined);
      await response?.text().catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, number) => one(number)));
}

/** @type {import("../lib/stack.mjs").Measure} */
export async function callers() {
  const found = [];
  for (const way of ways) found.push({ name: way.name, ...(await under(way)) });
  const details = table(
    ["bodies", "/health, median", "/health, longest", "blocks in 20 s", "longest time between two", "load"],
    found.map(({ name, median, longest, blocks, gap, load }) => [
      name,
      `${median.toFixed(0)} ms`,
      `${longest.toFixed(0)} ms`,
      `${blocks}`,
      `${gap} s`,
      load,
    ]),
  );
  const longest = Math.max(...found.map((one) => one.longest));
  const gap = Math.max(...found.map((one) => one.gap));
  const rows = [
    {
      measure: `\`/health\` under ${clients} strangers and ${clients} clients of a member, longest`,
      target: `below ${most.health} ms`,
      measured: `${longest.toFixed(0)} ms`,
      met: longest < most.health,
    },
    {
      measure: "a ledger with a period of 1 s, longest time between two blocks",
      target: `at most ${most.gap} s`,
      measured: `${gap} s`,
      met: gap <= most.gap && found.every(({ blocks }) => blocks >= lasts / 1_000 - 1),
    },
  ];
  return { rows, details };
}

/** @param {typeof ways[number]} way */
async function under({ name, bytes, options }) {
  const service = new ServeProcess(["--no-console", ...options]);
  const workers = [];
  try {
    await service.start();
    const ledger = { name: "l", provider: "geth", consensus_type: "poa", block_period: 1 };
    const { environments } = await makeNetwork(service.ask, [ledger]);
    const [node] = /** @type {[import("../lib/serve.mjs").Node]} */ (environments.flatMap(({ nodes }) => nodes));
    const open = { url: `${service.url}/target/rinkeby`, authorization: "" };
    await service.rpc(open, "eth_blockNumber");
    const height = async () => Number((await service.rpc(node, "eth_blockNumber")).result);
    const before = await height();
    for (const target of [open, { url: node.url, authorization: node.authorization }])
      workers.push(new Worker(new URL(import.meta.url), { workerData: { ...target, bytes } }));
    log(`12 strangers and 12 clients of a member send bodies of ${name} …`);
    const times = [];
    for (const end = performance.now() + lasts; performance.now() < end; await wait(50)) {
      const begun = performance.now();
      await (await fetch(`${service.url}/health`)).text();
      times.push(performance.now() - begun);
    }
    await Promise.all(workers.map((worker) => worker.terminate()));
    const last = await height();
    /** @type {number[]} */
    const stamps = [];
    for (let number = before; number <= last; number++) {
      const { result } = await service.rpc(node, "eth_getBlockByNumber", [`0x${number.toString(16)}`, false]);
      stamps.push(Number(result.timestamp));
    }
    const gap = Math.max(...stamps.slice(1).map((stamp, index) => stamp - Number(stamps[index])));
    times.sort((one, other) => one - other);
    const longest = times.at(-1) ?? NaN;
    const median = times[times.length >> 1] ?? NaN;
    return { median, longest, blocks: last - before, gap, load: (loadavg()[0] ?? NaN).toFixed(1) };
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
    await service.close();
  }
}
