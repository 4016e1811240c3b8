// @ts-check
/**
 * Transactions per second of a `raft` ledger in a data folder, in turns with anvil alone, which keeps nothing, and with another version of
 * the service, if BEFORE names a checkout of it that is built: from a client that awaits each receipt, and from one that sends 50 at once.
 */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Wallet } from "ethers";
import { root } from "../../tools/lib/prepare.mjs";
import { caller, callerOf, raftNode, receipt } from "../lib/node.mjs";
import { bounded } from "../lib/report.mjs";

const turns = 10;
const awaited = 50;
const pipelined = { rounds: 4, atOnce: 50 };

/** Times of anvil alone that a transaction may take: it keeps nothing, checks little, and has no HTTP server but its own. */
const most = { awaited: 3.5, pipelined: 4.5 };

/** @type {import("../lib/stack.mjs").Measure} */
export const ledger = async (tools) => {
  const { BEFORE } = process.env;
  const started = await serviceOf(tools.module);
  const former =
    BEFORE === undefined ? undefined : await serviceOf(createRequire(import.meta.url)(join(BEFORE, "service")));
  const anvil = await anvilAlone();
  try {
    const own = await Client.of(started.send);
    // each from another account: anvil can leave a transaction waiting for good if it comes before the one with the nonce before
    const bare = await Client.of(anvil.send, pipelined.atOnce);
    const before = former && (await Client.of(former.send));
    for (let turn = 0; turn < turns; turn++) {
      for (const client of [own, bare, ...(before ? [before] : [])]) {
        await client.awaits();
        await client.pipelines();
      }
    }
    const measures = /** @type {const} */ ([
      ["awaited transactions of one client on raft", "awaited"],
      [`transactions on raft, ${pipelined.atOnce} at once`, "pipelined"],
    ]);
    return measures.flatMap(([measure, kind]) => [
      row(measure, own[kind], bare[kind], { most: most[kind], of: "anvil alone" }),
      ...(before ? [row(measure, own[kind], before[kind], { most: 0.5, of: "the version before" })] : []),
    ]);
  } finally {
    anvil.end();
    await started.end();
    await former?.end();
  }
};

/** A service with its ledger in a folder. @param {typeof import("../../service/index.js")} module */
async function serviceOf({ startService }) {
  const dataDir = mkdtempSync(join(tmpdir(), "bench-ledger-"));
  const service = await startService({ dataDir, ledger: true, timing: { nodeStart: 0, environmentStart: 0 } });
  const end = async () => {
    await service.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { end, send: caller(service, await raftNode(service)) };
}

/** Sends transactions of an account without money, whose gas is free. */
class Client {
  awaited = { count: 0, ms: 0 };
  pipelined = { count: 0, ms: 0 };
  /** @type {{ wallet: import("ethers").HDNodeWallet, nonce: number }[]} */
  #accounts;

  /** @param {import("../lib/node.mjs").Send} send @param {number} chainId @param {number} accounts that send in turns */
  constructor(send, chainId, accounts) {
    this.send = send;
    this.chainId = chainId;
    this.#accounts = Array.from({ length: accounts }, () => ({ wallet: Wallet.createRandom(), nonce: 0 }));
  }

  /** @param {import("../lib/node.mjs").Send} send */
  static of = async (send, accounts = 1) => new Client(send, Number(await send("eth_chainId", [])), accounts);

  async awaits() {
    const raws = await this.#signed(awaited);
    await timed(this.awaited, awaited, async () => {
      for (const raw of raws) await receipt(this.send, await this.send("eth_sendRawTransaction", [raw]));
    });
  }

  async pipelines() {
    const { rounds, atOnce } = pipelined;
    for (let round = 0; round < rounds; round++) {
      const raws = await this.#signed(atOnce);
      await timed(this.pipelined, atOnce, async () => {
        const hashes = await Promise.all(raws.map((raw) => this.send("eth_sendRawTransaction", [raw])));
        await receipt(this.send, hashes.at(-1));
      });
    }
  }

  /** @param {number} count */
  #signed = (count) =>
    Promise.all(
      Array.from({ length: count }, (_, at) => {
        const account = /** @type {{ wallet: import("ethers").HDNodeWallet, nonce: number }} */ (
          this.#accounts[at % this.#accounts.length]
        );
        return account.wallet.signTransaction({
          to: `0x${"11".repeat(20)}`,
          nonce: account.nonce++,
          gasLimit: 21_000,
          gasPrice: 0,
          chainId: this.chainId,
          type: 0,
        });
      }),
    );
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
  return { end, send: callerOf(`http://127.0.0.1:${port}`) };
}

/** @typedef {{ count: number, ms: number }} Times */

/** @param {string} measure @param {Times} own @param {Times} other @param {{ most: number, of: string }} limit for the time of one */
function row(measure, own, other, limit) {
  const ratio = perSecond(other) / perSecond(own);
  const measured = `${Math.round(perSecond(own))} a second against ${Math.round(perSecond(other))}: ×${ratio.toFixed(2)}`;
  return bounded(measure, ratio, { ...limit, measured });
}

/** @param {Times} times */
const perSecond = ({ count, ms }) => (1_000 * count) / ms;

/** @param {Times} times @param {number} count @param {() => Promise<void>} act */
async function timed(times, count, act) {
  const begun = performance.now();
  await act();
  times.count += count;
  times.ms += performance.now() - begun;
}
