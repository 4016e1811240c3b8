// @ts-check
/** The cost of a long history: the start of a service with it, the memory while it grows, and `eth_getLogs` over all of it. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { caller, raftNode, receipt } from "../lib/node.mjs";
import { bounded, seconds } from "../lib/report.mjs";

const transactions = 100_000;
const atOnce = 50;
/** One of this many logs has the requested topic. */
const topics = 1_000;

/** Code that logs its argument as a topic, and the init code that deploys it. */
const logging = "60003560006000a1";
const deployment = `0x67${logging}60005260086018f3`;

/** @param {number} number */
const word = (number) => `0x${number.toString(16).padStart(64, "0")}`;

/** @type {import("../lib/stack.mjs").Measure} */
export const history = async ({ module }) => {
  const dataDir = mkdtempSync(join(tmpdir(), "bench-history-"));
  const answer = 1_024 * transactions; // all logs at once are longer than an answer may usually be
  const start = () =>
    module.startService({
      data: dataDir,
      ledger: true,
      timing: { nodeStart: 0, environmentStart: 0 },
      callLimits: { answer: Math.max(answer, 1 << 24), time: 120_000 },
    });
  let service = await start();
  try {
    const node = await raftNode(service);
    let send = caller(service, node);
    const [from] = await send("eth_accounts", []);
    const { contractAddress: to } = await receipt(
      send,
      await send("eth_sendTransaction", [{ from, data: deployment }]),
    );
    const memory = { begin: 0, end: 0 };
    const looks = atOnce * Math.ceil(transactions / atOnce / 50);
    for (let sent = 0; sent < transactions; sent += atOnce) {
      const some = Array.from({ length: Math.min(atOnce, transactions - sent) }, (_, index) => {
        const number = sent + index;
        const nonce = `0x${(number + 1).toString(16)}`;
        return send("eth_sendTransaction", [{ from, to, nonce, gas: "0x7530", data: word(number % topics) }]);
      });
      await receipt(send, (await Promise.all(some)).at(-1));
      if (sent % looks === 0) noteMemory(memory, sent / transactions, dataDir);
    }
    await service.close();
    const begun = performance.now();
    service = await start();
    send = caller(service, node);
    await send("eth_call", [{ from, to, data: word(1) }, "latest"]); // the engine answers it
    const started = performance.now() - begun;
    const criteria = { fromBlock: "earliest", toBlock: "latest" };
    const one = await timed(send, { ...criteria, topics: [word(1)] }, Math.ceil((transactions - 1) / topics));
    const all = await timed(send, criteria, transactions);
    const count = transactions.toLocaleString("en");
    const within = (/** @type {string} */ measure, /** @type {number} */ ms, /** @type {number} */ most) =>
      bounded(`${measure}, in s`, ms / 1_000, { most, measured: seconds(ms) });
    return [
      within(`start with ${count} transactions`, started, 10),
      bounded("memory of service and engine, last fifth", memory.end / memory.begin, {
        most: 1.25,
        of: "first fifth",
        measured: `${mebibytes(memory.end)} against ${mebibytes(memory.begin)}`,
      }),
      within(`\`eth_getLogs\` of all, ${Math.ceil((transactions - 1) / topics)} fit`, one, 1),
      within(`\`eth_getLogs\` of all, ${count} fit`, all, 1),
    ];
  } finally {
    await service.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
};

/** @param {number} bytes */
const mebibytes = (bytes) => `${Math.round(bytes / 2 ** 20)} MiB`;

/**
 * Duration of a log search with this many results. @param {import("../lib/node.mjs").Send} send @param {object} criteria @param {number}
 * count
 */
async function timed(send, criteria, count) {
  const begun = performance.now();
  const { length } = await send("eth_getLogs", [criteria]);
  if (length !== count) throw new Error(`eth_getLogs found ${length} logs in place of ${count}`);
  return performance.now() - begun;
}

/**
 * Records the peak memory of this process and the engines of a data folder in the first and in the last fifth.
 * @param {{ begin: number, end: number }} most
 * @param {number} part
 * @param {string} dataDir
 */
function noteMemory(most, part, dataDir) {
  const engines = execFileSync("ps", ["-eww", "-o", "rss=,args="], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(`--init ${dataDir}`) && !line.includes("/bin/sh"))
    .reduce((sum, line) => sum + 1_024 * parseInt(line), 0);
  const now = process.memoryUsage().rss + engines;
  if (part < 0.2) most.begin = Math.max(most.begin, now);
  if (part >= 0.8) most.end = Math.max(most.end, now);
}
