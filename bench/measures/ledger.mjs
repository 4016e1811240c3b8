// @ts-check
/**
 * Transactions per second of a `raft` ledger in a data folder: from a client that awaits each receipt, and from one that sends 50 at once.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Wallet } from "ethers";
import { caller, raftNode, receipt } from "../lib/node.mjs";
import { bounded } from "../lib/report.mjs";

const awaited = 500;
const pipelined = { rounds: 40, atOnce: 50 };

/** Transactions per second on two cores before the current store: the target is twice that. */
const before = { awaited: 119, pipelined: 344 };

/** @type {import("../lib/stack.mjs").Measure} */
export const ledger = async (tools) => {
  const dataDir = mkdtempSync(join(tmpdir(), "bench-ledger-"));
  const service = await tools.module.startService({
    dataDir,
    ledger: true,
    timing: { nodeStart: 0, environmentStart: 0 },
  });
  try {
    const send = caller(service, await raftNode(service));
    const wallet = Wallet.createRandom();
    const chainId = Number(await send("eth_chainId", []));
    let nonce = 0;
    const sign = () =>
      wallet.signTransaction({
        to: `0x${"11".repeat(20)}`,
        nonce: nonce++,
        gasLimit: 21_000,
        gasPrice: 0,
        chainId,
        type: 0,
      });
    const singles = await Promise.all(Array.from({ length: awaited }, sign));
    /** @type {string[][]} */
    const rounds = [];
    for (let round = 0; round < pipelined.rounds; round++)
      rounds.push(await Promise.all(Array.from({ length: pipelined.atOnce }, sign)));
    const one = await perSecond(awaited, async () => {
      for (const raw of singles) await receipt(send, await send("eth_sendRawTransaction", [raw]));
    });
    const many = await perSecond(pipelined.rounds * pipelined.atOnce, async () => {
      for (const raws of rounds) {
        const hashes = await Promise.all(raws.map((raw) => send("eth_sendRawTransaction", [raw])));
        await receipt(send, hashes.at(-1));
      }
    });
    return [
      row("awaited transactions of one client on raft", one, before.awaited),
      row(`transactions on raft, ${pipelined.atOnce} at once`, many, before.pipelined),
    ];
  } finally {
    await service.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
};

/** @param {string} measure @param {number} rate @param {number} was */
const row = (measure, rate, was) =>
  bounded(measure, (2 * was) / rate, {
    most: 1,
    of: `(twice ${was} a second)`,
    measured: `${Math.round(rate)} a second`,
  });

/** @param {number} count @param {() => Promise<void>} act */
async function perSecond(count, act) {
  const begun = performance.now();
  await act();
  return count / ((performance.now() - begun) / 1_000);
}
