// @ts-check
/** A ledger that has run for weeks, made in a few minutes: the same files, through the same code. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../tools/lib/prepare.mjs";

const require = createRequire(import.meta.url);
const built = (/** @type {string} */ name) => require(join(root, "dist/service/ledger", name));
/** @type {typeof import("../../service/ledger/engine.js")} */
const { Engine } = built("engine.js");
/** @type {typeof import("../../service/ledger/ledger-folder.js")} */
const { LedgerFolder } = built("ledger-folder.js");
/** @type {typeof import("../../service/ledger/watcher-client.js")} */
const { Watched } = built("watcher-client.js");
/** @type {typeof import("../../service/ledger/engine.js")} */
const { findAnvil } = built("engine.js");
/** @type {typeof import("../../service/ledger/chain.js")} */
const { usualPace } = built("chain.js");

/** Blocks between snapshots; how many of them before another engine goes on; transactions in each such part. */
const part = usualPace.journal.blocks;
const renewal = 5;
const transactions = 20;

/**
 * Makes a ledger in a folder that long; seconds between blocks is only said, and passes at once.
 * @param {string} dir
 * @param {import("../../service/ledger/engine.js").ChainSpec} spec
 * @param {{ blocks: number, seconds: number }} length
 */
export async function lengthen(dir, spec, { blocks, seconds }) {
  await backdate(dir, spec, Math.floor(Date.now() / 1_000) - blocks * seconds);
  const sockets = mkdtempSync(join(tmpdir(), "consortium-long-"));
  const watched = new Watched(sockets);
  const host = { command: String(findAnvil(undefined)), memory: 32 * 2 ** 20, dir: sockets, watched };
  const folder = await LedgerFolder.open(dir, spec);
  try {
    for (let made = 0; made < blocks;) {
      const engine = await Engine.start(host, spec, folder.genesis);
      if (folder.snapshot) await engine.load(folder.snapshot);
      const end = Math.min(blocks, made + renewal * part);
      for (; made < end; made += part) {
        const last = made + 2 * part >= blocks;
        await (last ? noted(engine, folder, part) : mined(engine, folder, part, seconds));
      }
      engine.end();
      await engine.ended;
    }
  } finally {
    folder.close();
    await watched.close();
    rmSync(sockets, { recursive: true, force: true });
  }
}

/** @typedef {import("../../service/ledger/engine.js").Engine} Running */
/** @typedef {import("../../service/ledger/ledger-folder.js").LedgerFolder} Folder */

/** Blocks that a snapshot has taken in. @param {Running} engine @param {Folder} folder @param {number} count @param {number} seconds */
async function mined(engine, folder, count, seconds) {
  await pay(engine, folder);
  const hexadecimal = (/** @type {number} */ number) => `0x${number.toString(16)}`;
  await engine.call("anvil_mine", [hexadecimal(count), hexadecimal(seconds)]);
  folder.rotate(await engine.head(), [{ given: [] }]);
  await folder.keep(await engine.dump(), 1, usualPace.lookback, () => Promise.resolve());
}

/** Blocks that are in the journal still. @param {Running} engine @param {Folder} folder @param {number} count */
async function noted(engine, folder, count) {
  await pay(engine, folder, (tx) => folder.append([{ tx }]));
  for (let number = 0; number < count; number++) {
    const { number: before, hash, timestamp } = await engine.head();
    await folder.append([{ seal: [before + 1, timestamp + 1, hash] }]);
    await engine.seal(timestamp + 1);
  }
  folder.rotate(await engine.head(), [{ given: [] }]);
}

/** @param {Running} engine @param {Folder} folder @param {(raw: string) => Promise<void>} note */
async function pay(engine, folder, note = () => Promise.resolve()) {
  /** @type {string[]} */
  const accounts = await engine.call("eth_accounts");
  for (let at = 0; at < transactions; at++) {
    const call = {
      from: accounts[at % accounts.length],
      to: accounts[0],
      value: "0x1",
      gas: "0x5208",
      gasPrice: "0x0",
    };
    const nonce = await engine.call("eth_getTransactionCount", [call.from, "pending"]);
    /** @type {string} */
    const raw = await engine.call("eth_signTransaction", [{ ...call, nonce }]);
    await engine.send(raw);
    await note(raw);
  }
}

/** Lets a ledger begin at a time, in seconds. @param {string} dir @param {import("../../service/ledger/engine.js").ChainSpec} spec @param {number} time */
async function backdate(dir, spec, time) {
  (await LedgerFolder.open(dir, spec)).close();
  const genesis = JSON.parse(readFileSync(join(dir, "genesis.json"), "utf8"));
  for (const name of readdirSync(dir)) rmSync(join(dir, name));
  writeFileSync(join(dir, "genesis.json"), JSON.stringify({ ...genesis, timestamp: `0x${time.toString(16)}` }));
}
