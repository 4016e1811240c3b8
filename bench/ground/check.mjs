// @ts-check
/** Whether all that clients were told is there, exact to the wei; each function answers what is not. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { root } from "../../tools/lib/prepare.mjs";

const { Interface } = /** @type {typeof import("ethers")} */ (createRequire(import.meta.url)("ethers"));
const anchor = new Interface(JSON.parse(readFileSync(join(root, "contracts/Anchor.json"), "utf8")).abi);

/** @typedef {import("./lab.mjs").Lab} Lab */
/** @typedef {{ hash: string, from: string, to: string | null, value: string, blockNumber: string }} Transaction */

/** Objects are as they were said to be, and no others are there. @param {import("./load.mjs").Clerk} clerk */
export async function checkObjects(clerk) {
  const { body } = await clerk.lab.api("GET", clerk.list);
  /** @type {Map<string, string>} */
  const found = new Map(body.map((/** @type {any} */ one) => [`${clerk.list}/${one._id}`, one.org_name]));
  const lost = [];
  for (const [path, allowed] of clerk.doubtful) {
    const now = found.get(path);
    if (!allowed.includes(now)) lost.push(`${path} is ${now}, not one of ${allowed.join(", ")}`);
    if (now === undefined) clerk.known.delete(path);
    else clerk.known.set(path, now);
  }
  clerk.doubtful.clear();
  for (const [path, name] of clerk.known)
    if (found.get(path) !== name) lost.push(`${path} is ${found.get(path)}, not ${name}`);
  for (const path of clerk.deleted) if (found.has(path)) lost.push(`${path} is there again`);
  for (const [path, name] of found) {
    if (clerk.known.has(path)) continue;
    if (!clerk.open.delete(name)) lost.push(`${path} (${name}) was not asked for`);
    clerk.known.set(path, name);
  }
  clerk.open.clear();
  return lost;
}

/**
 * All blocks of a chain with their transactions.
 * @param {Lab} lab @param {string} path @param {string} authorization
 */
export async function readChain(lab, path, authorization) {
  const [{ result: height }] = await lab.batch(path, authorization, [["eth_blockNumber", []]]);
  const numbers = Array.from({ length: Number(height) + 1 }, (_, number) => `0x${number.toString(16)}`);
  const blocks = await lab.batch(
    path,
    authorization,
    numbers.map((number) => ["eth_getBlockByNumber", [number, true]]),
  );
  /** @type {{ number: string, hash: string, parentHash: string, transactions: Transaction[] }[]} */
  return blocks.map(({ result }) => result);
}

/**
 * A ledger: each transaction that was answered is in one block, receipts and blocks are as they were seen, and the money is that of
 * the transactions.
 * @param {Lab} lab @param {import("./load.mjs").Sender[]} senders @param {bigint} funds of each sender at its begin
 */
export async function checkLedger(lab, senders, funds) {
  const [first] = senders;
  if (!first) return [];
  const { path, authorization, name } = first.ledger;
  const lost = [];
  const blocks = await readChain(lab, path, authorization);
  blocks.forEach((block, at) => {
    if (at > 0 && block.parentHash !== blocks[at - 1]?.hash) lost.push(`${name}: block ${at} does not follow`);
  });
  const mined = new Map(blocks.flatMap(({ transactions }) => transactions).map((one) => [one.hash, one]));
  for (const { answered, receipts, blocks: seen, wallet, sink, open } of senders) {
    for (const [number, hash] of seen)
      if (blocks[Number(number)]?.hash !== hash) lost.push(`${name}: block ${Number(number)} was ${hash}`);
    const hashes = [...receipts.keys()];
    const told = await lab.batch(
      path,
      authorization,
      hashes.map((hash) => ["eth_getTransactionReceipt", [hash]]),
    );
    hashes.forEach((hash, at) => {
      if (JSON.stringify(told[at].result) !== receipts.get(hash)) lost.push(`${name}: another receipt of ${hash}`);
    });
    for (const hash of answered.keys()) if (!mined.has(hash)) lost.push(`${name}: ${hash} is in no block`);
    const sent = [...mined.values()].filter(({ from }) => from === wallet.address.toLowerCase());
    for (const { hash } of sent)
      if (!answered.has(hash) && hash !== open?.hash) lost.push(`${name}: ${hash} was not sent`);
    const paid = sent.reduce((sum, { value }) => sum + BigInt(value), 0n);
    const [own, other, count] = await lab.batch(path, authorization, [
      ["eth_getBalance", [wallet.address, "latest"]],
      ["eth_getBalance", [sink, "latest"]],
      ["eth_getTransactionCount", [wallet.address, "latest"]],
    ]);
    if (BigInt(own.result) !== funds - paid) lost.push(`${name}: ${wallet.address} owns ${BigInt(own.result)}`);
    if (BigInt(other.result) !== paid) lost.push(`${name}: ${sink} owns ${BigInt(other.result)}, not ${paid}`);
    if (Number(count.result) !== sent.length) lost.push(`${name}: ${wallet.address} sent ${Number(count.result)}`);
  }
  return lost;
}

/**
 * Money that was given is there: that of all answers, and of those without an answer all or nothing, from now on for good.
 * @param {import("./load.mjs").Giver} giver @param {bigint} before
 */
export async function checkGifts(giver, before) {
  const { body } = await giver.lab.api("GET", `/tether/${giver.tether}/balance/rinkeby`);
  const rest = BigInt(body.balance) - before - giver.answered;
  let sums = [0n];
  for (const wei of giver.open) sums = [...sums, ...sums.map((sum) => sum + wei)];
  giver.open = [];
  giver.answered += rest;
  return sums.includes(rest) ? [] : [`${giver.tether} owns ${rest} wei more than was answered`];
}

/**
 * Reports are as they were shown; each is pinned once, by a transaction on the target network, and an account paid these, one
 * contract, and nothing else.
 * @param {import("./load.mjs").Reader} reader @param {bigint} funds
 */
export async function checkPins({ lab, reports, tethers }, funds) {
  const lost = [];
  for (const [path, shown] of reports)
    if (JSON.stringify((await lab.api("GET", path)).body) !== shown) lost.push(`${path} is another report`);
  const target = "/target/rinkeby";
  const sent = (await readChain(lab, target, "")).flatMap(({ transactions }) => transactions);
  for (const tether of tethers) {
    const { account } = (await lab.api("GET", `/tether/${tether}`)).body;
    const own = sent.filter(({ from }) => from === account.toLowerCase());
    const receipts = await lab.batch(
      target,
      "",
      own.map(({ hash }) => ["eth_getTransactionReceipt", [hash]]),
    );
    const paid = receipts.reduce(
      (sum, { result }) => sum + BigInt(result.gasUsed) * BigInt(result.effectiveGasPrice),
      0n,
    );
    const made = receipts.filter(({ result }) => result.contractAddress);
    if (made.length !== 1) lost.push(`${tether} deployed ${made.length} contracts`);
    const [balance, said] = await lab.batch(target, "", [
      ["eth_getBalance", [account, "latest"]],
      ["eth_call", [{ to: made[0]?.result.contractAddress, data: anchor.encodeFunctionData("count") }, "latest"]],
    ]);
    if (BigInt(balance.result) !== funds - paid)
      lost.push(`${tether} owns ${BigInt(balance.result)}, not ${funds - paid}`);
    const shown = [...reports].filter(([path]) => path.startsWith(`/tether/${tether}/`));
    const pins = Number(said.result);
    if (pins !== shown.length) lost.push(`${tether} has ${pins} pins of ${shown.length} reports`);
    for (const [path, text] of shown) {
      const { transaction_hash: hash, block_number: number } = JSON.parse(text);
      if (!own.some((one) => one.hash === hash && Number(one.blockNumber) === number))
        lost.push(`${path}: ${hash} is not in block ${number}`);
    }
  }
  return lost;
}
