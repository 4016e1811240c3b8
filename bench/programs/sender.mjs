// @ts-check
/** A client of a ledger, in a process of its own as users' clients are. It makes the rounds that the bench asks for, and answers with their times in ms. */
import { Wallet } from "ethers";
import { callerOf, receipt } from "../lib/node.mjs";

/**
 * Sends transactions of accounts without money, whose gas is free.
 *
 * @param {import("../lib/node.mjs").Send} send @param {number} accounts that send in turns
 */
async function sender(send, accounts) {
  const chainId = Number(await send("eth_chainId", []));
  const all = Array.from({ length: accounts }, () => ({ wallet: Wallet.createRandom(), nonce: 0 }));
  /** @param {number} count */
  const signed = (count) =>
    Promise.all(
      Array.from({ length: count }, (_, at) => {
        const account = /** @type {typeof all[number]} */ (all[at % all.length]);
        return account.wallet.signTransaction({
          to: `0x${"11".repeat(20)}`,
          nonce: account.nonce++,
          gasLimit: 21_000,
          gasPrice: 0,
          chainId,
          type: 0,
        });
      }),
    );
  const rounds = {
    /** @param {string[]} raws */
    async awaited(raws) {
      for (const raw of raws) await receipt(send, await send("eth_sendRawTransaction", [raw]));
    },
    /** @param {string[]} raws */
    async pipelined(raws) {
      const hashes = await Promise.all(raws.map((raw) => send("eth_sendRawTransaction", [raw])));
      await receipt(send, hashes.at(-1));
    },
  };
  /** @param {{ kind: keyof typeof rounds, count: number }} wanted */
  return async ({ kind, count }) => {
    const raws = await signed(count);
    const begun = performance.now();
    await rounds[kind](raws);
    return performance.now() - begun;
  };
}

const { url, login, accounts } = JSON.parse(process.argv[2] ?? "");
const round = await sender(callerOf(url, login), accounts);
process.on("message", (wanted) => void round(/** @type {any} */ (wanted)).then((ms) => process.send?.(ms)));
process.send?.("ready");
