// @ts-check
/**
 * Transactions per second of a `raft` ledger in a data folder, in turns with anvil alone, which keeps nothing: from a client that awaits
 * each receipt, and from one that sends 50 at once.
 */
import { fork, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../tools/lib/prepare.mjs";
import { addressOf, raftNode } from "../lib/node.mjs";
import { bounded } from "../lib/report.mjs";

const turns = 10;
const awaited = 50;
const pipelined = { rounds: 4, atOnce: 50 };

/** Times of anvil alone that a transaction may take: it keeps nothing, checks little, and has no HTTP server but its own. */
const most = { awaited: 3.5, pipelined: 4.5 };

/** @type {import("../lib/stack.mjs").Measure} */
export const ledger = async (tools) => {
  const started = await serviceOf(tools.module);
  const anvil = await anvilAlone();
  const own = new Client(started.address);
  // each from another account: anvil can leave a transaction waiting for good if it comes before the one with the nonce before
  const bare = new Client(anvil.address, pipelined.atOnce);
  const clients = [own, bare];
  try {
    for (let turn = 0; turn < turns; turn++) {
      for (const client of clients) {
        await client.round("awaited", awaited);
        for (let round = 0; round < pipelined.rounds; round++) await client.round("pipelined", pipelined.atOnce);
      }
    }
    const measures = /** @type {const} */ ([
      ["awaited transactions of one client on raft", "awaited"],
      [`transactions on raft, ${pipelined.atOnce} at once`, "pipelined"],
    ]);
    return measures.map(([measure, kind]) => row(measure, own.times[kind], bare.times[kind], most[kind]));
  } finally {
    for (const client of clients) client.end();
    anvil.end();
    await started.end();
  }
};

/** A service with its ledger in a folder. @param {typeof import("../../service/index.js")} module */
async function serviceOf({ startService }) {
  const data = mkdtempSync(join(tmpdir(), "bench-ledger-"));
  const service = await startService({ data, ledger: true, timing: { nodeStart: 0, environmentStart: 0 } });
  const end = async () => {
    await service.close();
    rmSync(data, { recursive: true, force: true });
  };
  return { end, address: addressOf(service, await raftNode(service)) };
}

/** A process that sends transactions. */
class Client {
  times = { awaited: { count: 0, ms: 0 }, pipelined: { count: 0, ms: 0 } };
  #child;
  /** @type {Promise<unknown>} */
  #ready;

  /** @param {object} address @param {number} accounts that send in turns */
  constructor(address, accounts = 1) {
    this.#child = fork(join(root, "bench/programs/sender.mjs"), [JSON.stringify({ ...address, accounts })]);
    this.#ready = this.#answer();
    this.#ready.catch(() => undefined); // its first round fails
  }

  /** @param {keyof Client["times"]} kind @param {number} count */
  async round(kind, count) {
    await this.#ready;
    const answer = this.#answer();
    this.#child.send({ kind, count });
    this.times[kind].ms += Number(await answer);
    this.times[kind].count += count;
  }

  end = () => void this.#child.kill();

  /** @returns {Promise<unknown>} */
  #answer = () =>
    new Promise((done, failed) => {
      const over = () => failed(new Error("the client has ended"));
      this.#child.once("exit", over).once("message", (answer) => {
        this.#child.off("exit", over);
        done(answer);
      });
    });
}

/** Anvil with free gas, which makes a block of each transaction at once. */
async function anvilAlone() {
  const args = ["--port", "0", "--hardfork", "berlin", "--block-base-fee-per-gas", "0"];
  const child = spawn(join(root, "node_modules/.bin/anvil"), args, {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const end = () => void process.kill(-(child.pid ?? 0), "SIGKILL");
  let said = "";
  /** @type {string} */
  const port = await new Promise((done, failed) => {
    child.once("exit", () => failed(new Error(`anvil does not start: ${said}`)));
    child.stdout.on("data", (part) => {
      said = (said + part).slice(-1_000);
      const [, port] = /Listening on 127\.0\.0\.1:(\d+)/.exec(said) ?? [];
      if (port) done(port);
    });
  });
  return { end, address: { url: `http://127.0.0.1:${port}` } };
}

/** @typedef {{ count: number, ms: number }} Times */

/** @param {string} measure @param {Times} own @param {Times} bare of anvil alone @param {number} most */
function row(measure, own, bare, most) {
  const ratio = perSecond(bare) / perSecond(own);
  const measured = `${Math.round(perSecond(own))} a second against ${Math.round(perSecond(bare))}: ×${ratio.toFixed(2)}`;
  return bounded(measure, ratio, { most, of: "anvil alone", measured });
}

/** @param {Times} times */
const perSecond = ({ count, ms }) => (1_000 * count) / ms;
