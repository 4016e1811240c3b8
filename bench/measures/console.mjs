// @ts-check
/**
 * The calls that the console makes, and its memory: three environments of four nodes, shown for some minutes in one page, then in 20.
 * Each page watches the network and one environment.
 */
import { spawn } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { WebSocket } from "ws";
import { root } from "../../tools/lib/prepare.mjs";
import { treeOf } from "../lib/processes.mjs";
import { median, table } from "../lib/report.mjs";
import { asker, firstLine, makeNetwork } from "../lib/serve.mjs";

const pages = 20;
const mostGrowth = 1.25;
/** The two periods do not begin at the same moment between two looks of the console. */
const oneLook = 1.1;

/** @type {import("../lib/stack.mjs").Measure} */
export const console = async ({ module, options = {} }) => {
  const { minutes = 10 } = options;
  const service = await module.startService({ ledger: true, timing: { nodeStart: 0, environmentStart: 0 } });
  const kinds = ["a", "b", "c"].map((name) => ({ name, provider: "quorum", consensus_type: "raft" }));
  const { environments } = await makeNetwork(asker(service.baseUrl, `Bearer ${service.apiKey}`), kinds, 4);
  const env = { ...process.env, CONSORTIUM_BASE_URL: service.baseUrl, CONSORTIUM_API_KEY: service.apiKey };
  const program = join(root, "dist/cli/consortium.js");
  const child = spawn(process.execPath, [program, "console", "--port", "0"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((done) => child.once("exit", done));
  try {
    const link = (await firstLine(child.stdout, /sign-in/)).trim();
    const open = await opener(link, String(environments[0]?.id));
    /** @type {number[]} */
    const memory = [];
    // Not in the service's own log, which leaves out calls of observers.
    const callsDuring = async (/** @type {number} */ ms) => {
      let calls = 0;
      const count = (/** @type {any} */ { request }) => void (calls += request.url.startsWith("/api/v1/") ? 1 : 0);
      subscribe("http.server.request.start", count);
      for (const end = performance.now() + ms; performance.now() < end; await wait(Math.min(5_000, ms / 20)))
        memory.push(treeOf(Number(child.pid))[0]?.rss ?? NaN);
      unsubscribe("http.server.request.start", count);
      return calls;
    };
    open();
    const one = await callsDuring(minutes * 60_000);
    for (let page = 1; page < pages; page++) open();
    memory.length = 0;
    const twenty = await callsDuring(minutes * 60_000);
    return summary(one / minutes, twenty / minutes, memory, minutes);
  } finally {
    child.kill();
    await ended;
    await service.close();
  }
};

/** @param {string} link @param {string} environment @returns {Promise<() => void>} opens a page of the session */
async function opener(link, environment) {
  const response = await fetch(link);
  const [, place = ""] = /url=([^"]+)"/.exec(await response.text()) ?? [];
  const [cookie = ""] = (response.headers.get("set-cookie") ?? "").split(";");
  const { origin, host } = new URL(link);
  return () => {
    const page = new WebSocket(`ws://${host}${place}live`, { headers: { origin, cookie } });
    page.once("open", () => page.send(JSON.stringify({ watch: ["network", "maps", `environment/${environment}`] })));
    page.once("error", () => undefined); // the console ends first
  };
}

/**
 * @param {number} one calls a minute
 * @param {number} twenty
 * @param {number[]} memory
 * @param {number} minutes
 * @returns {import("../lib/stack.mjs").Measured}
 */
function summary(one, twenty, memory, minutes) {
  const part = Math.max(1, Math.floor(memory.length / 5));
  const [early, late] = [median(memory.slice(part, 2 * part)), median(memory.slice(-part))];
  const mega = (/** @type {number} */ bytes) => `${(bytes / 1e6).toFixed(0)} MB`;
  const rows = [
    {
      measure: `calls a minute of the console, ${pages} pages`,
      target: `at most those of one page`,
      measured: `${twenty.toFixed(0)}, one page: ${one.toFixed(0)}`,
      met: twenty <= one * oneLook,
    },
    {
      measure: `memory of the console, ${pages} pages, ${minutes} minutes`,
      target: `at the end at most ${mostGrowth} × as much as at first`,
      measured: `${mega(early)}, then ${mega(late)}`,
      met: late <= early * mostGrowth,
    },
  ];
  return { rows, details: table(["samples", "maximum"], [[`${memory.length}`, mega(Math.max(...memory))]]) };
}
