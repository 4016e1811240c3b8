// @ts-check
/** What clients do while processes are killed, and what they were told: each of them works on alone until it is stopped. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Unanswered } from "./lab.mjs";
import { root } from "../../tools/lib/prepare.mjs";

/** @typedef {import("./lab.mjs").Lab} Lab */
/** @typedef {ReturnType<typeof import("./lab.mjs").randomOf>} Random */
/** @typedef {import("./lab.mjs").Chain & { name: string, account: string }} Ledger a node's address, and its account */

/** @param {() => Promise<void>} act @param {() => boolean} stopped @param {number} pause */
async function again(act, stopped, pause) {
  while (!stopped()) {
    await act().catch(async (error) => {
      if (!(error instanceof Unanswered)) throw error;
      await wait(50); // whoever is killed comes back
    });
    await wait(pause);
  }
}

/** Objects of a consortium: created, renamed, deleted. */
export class Clerk {
  /** @type {Map<string, string>} the name of each membership, by its path */
  known = new Map();
  /** @type {Set<string>} */
  deleted = new Set();
  /** @type {Set<string>} names of creates without an answer */
  open = new Set();
  /** @type {Map<string, (string | undefined)[]>} what may be true of one whose change has no answer; undefined: it is gone */
  doubtful = new Map();
  count = 0;

  /** @param {Lab} lab @param {string} consortium @param {string} first the membership that owns the nodes @param {Random} random */
  constructor(lab, consortium, first, random) {
    this.lab = lab;
    this.list = `${consortium}/memberships`;
    this.first = `${this.list}/${first}`;
    this.known.set(this.first, "first");
    this.random = random;
  }

  /** @param {() => boolean} stopped */
  work(stopped) {
    return again(() => this.#act(), stopped, 10);
  }

  async #act() {
    const what = this.random.between(0, 9);
    const path = this.random.one([...this.known.keys()]);
    const name = `member ${++this.count}`;
    if (what < 4 || path === undefined) return this.#create(name);
    if (this.doubtful.has(path)) return undefined;
    return what < 8 || path === this.first ? this.#rename(path, name) : this.#delete(path);
  }

  /** @param {string} org_name */
  async #create(org_name) {
    this.open.add(org_name);
    const { status, body } = await this.lab.api("POST", this.list, { org_name });
    if (status !== 201) throw new Error(`create: ${status} ${JSON.stringify(body)}`);
    this.open.delete(org_name);
    this.known.set(`${this.list}/${body._id}`, org_name);
  }

  /** @param {string} path @param {string} org_name */
  async #rename(path, org_name) {
    this.doubtful.set(path, [this.known.get(path), org_name]);
    const { status, body } = await this.lab.api("PATCH", path, { org_name });
    if (status !== 200) throw new Error(`rename: ${status} ${JSON.stringify(body)}`);
    this.doubtful.delete(path);
    this.known.set(path, org_name);
  }

  /** @param {string} path */
  async #delete(path) {
    this.doubtful.set(path, [this.known.get(path), undefined]);
    const { status, body } = await this.lab.api("DELETE", path);
    if (status !== 204) throw new Error(`delete: ${status} ${JSON.stringify(body)}`);
    this.doubtful.delete(path);
    this.known.delete(path);
    this.deleted.add(path);
  }
}

/** Transactions of an account, one after the other, until each has its answer; their receipts, and blocks as they are seen. */
export class Sender {
  /** @type {Map<string, bigint>} value of each transaction that was answered, by its hash */
  answered = new Map();
  /** @type {Map<string, string>} */
  receipts = new Map();
  /** @type {Map<string, string>} the hash of each block that was seen, by its number */
  blocks = new Map();
  /** @type {{ hash: string, raw: string, value: bigint } | undefined} the one that has no answer yet */
  open;
  nonce = 0;

  /**
   * @param {Lab} lab @param {Ledger} ledger @param {number} chainId
   * @param {import("ethers").Wallet} wallet @param {string} sink @param {Random} random
   */
  constructor(lab, ledger, chainId, wallet, sink, random) {
    this.lab = lab;
    this.ledger = ledger;
    this.chainId = chainId;
    this.wallet = wallet;
    this.sink = sink;
    this.random = random;
  }

  /** @param {() => boolean} stopped */
  work(stopped) {
    const ask = async (/** @type {string} */ method, /** @type {unknown[]} */ params) =>
      (await this.lab.rpc(this.ledger, method, params)).result;
    const read = async () => {
      const block = await ask("eth_getBlockByNumber", ["latest", false]);
      this.blocks.set(block.number, block.hash);
      for (const hash of [...this.answered.keys()].slice(-20)) {
        if (this.receipts.has(hash)) continue;
        const receipt = await ask("eth_getTransactionReceipt", [hash]);
        if (receipt) this.receipts.set(hash, JSON.stringify(receipt));
      }
    };
    return Promise.all([again(() => this.send(), stopped, 5), again(read, stopped, 100)]);
  }

  /** Sends the next one, or again what has no answer: with one nonce it takes effect once. */
  async send() {
    this.open ??= await this.#next();
    const { hash, raw, value } = this.open;
    const { result, error } = await this.lab.rpc(this.ledger, "eth_sendRawTransaction", [raw]);
    const known = /already (known|imported)|nonce too low/i.test(error?.message ?? "");
    if (result !== hash && !known) throw new Error(`${this.ledger.name}: ${JSON.stringify({ result, error })}`);
    this.answered.set(hash, value);
    this.open = undefined;
    this.nonce++;
  }

  async #next() {
    const value = BigInt(this.random.between(1, 1_000_000));
    const fee = { gasPrice: 0n, gasLimit: 21_000n, type: 0, chainId: this.chainId };
    const raw = await this.wallet.signTransaction({ to: this.sink, value, nonce: this.nonce, ...fee });
    const { keccak256 } = await import("ethers");
    return { raw, hash: keccak256(raw), value };
  }
}

/** Gives money, and remembers what was answered. */
export class Giver {
  answered = 0n;
  count = 0;
  /** @type {bigint[]} without an answer */
  open = [];

  /** @param {Lab} lab @param {string} tether @param {Random} random */
  constructor(lab, tether, random) {
    this.lab = lab;
    this.tether = tether;
    this.random = random;
  }

  /** @param {() => boolean} stopped */
  work(stopped) {
    return again(() => this.#give(), stopped, 50);
  }

  async #give() {
    const wei = BigInt(this.random.between(1, 2 ** 31)) * 1_000_003n;
    const content = { network: "rinkeby", wei: `${wei}` };
    const { status, body } = await this.lab
      .api("POST", `/embedded/tether/${this.tether}/fund`, content)
      .catch((error) => {
        if (error.cause?.cause?.code !== "ECONNREFUSED") this.open.push(wei);
        throw error;
      });
    if (status !== 200) throw new Error(`fund: ${status} ${JSON.stringify(body)}`);
    this.answered += wei;
    this.count++;
  }
}

/** Reads the reports of tethers as they come. */
export class Reader {
  /** @type {Map<string, string>} each report that was shown, by its path */
  reports = new Map();

  /** @param {Lab} lab @param {string[]} tethers */
  constructor(lab, tethers) {
    this.lab = lab;
    this.tethers = tethers;
  }

  /** @param {() => boolean} stopped */
  work(stopped) {
    return again(() => this.read(), stopped, 200);
  }

  async read() {
    for (const tether of this.tethers) {
      const { body: count } = await this.lab.api("GET", `/tether/${tether}/reportCount`);
      for (let index = Number(count) - 1; index >= 0; index--) {
        const path = `/tether/${tether}/reports/${index}`;
        if (this.reports.has(path)) break;
        this.reports.set(path, JSON.stringify((await this.lab.api("GET", path)).body));
      }
    }
  }
}

/** Whether all that clients were told is there, exact to the wei; each function answers what is not. */

const { Interface } = /** @type {typeof import("ethers")} */ (createRequire(import.meta.url)("ethers"));
const anchor = new Interface(JSON.parse(readFileSync(join(root, "contracts/Anchor.json"), "utf8")).abi);

/** @typedef {{ hash: string, from: string, to: string | null, value: string, blockNumber: string }} Transaction */

/** Objects are as they were said to be, and no others are there. @param {Clerk} clerk */
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
 * @param {Lab} lab @param {import("./lab.mjs").Chain} chain
 */
async function readChain(lab, chain) {
  const { result: height } = await lab.rpc(chain, "eth_blockNumber");
  const numbers = Array.from({ length: Number(height) + 1 }, (_, number) => `0x${number.toString(16)}`);
  const blocks = await lab.batch(
    chain,
    numbers.map((number) => ["eth_getBlockByNumber", [number, true]]),
  );
  /** @type {{ number: string, hash: string, parentHash: string, transactions: Transaction[] }[]} */
  return blocks.map(({ result }) => result);
}

/**
 * A ledger: each transaction that was answered is in one block, receipts and blocks are as they were seen, and the money is that of
 * the transactions.
 * @param {Lab} lab @param {Sender[]} senders @param {bigint} funds of each sender at its begin
 */
export async function checkLedger(lab, senders, funds) {
  const [first] = senders;
  if (!first) return [];
  const { name } = first.ledger;
  const lost = [];
  const blocks = await readChain(lab, first.ledger);
  blocks.forEach((block, at) => {
    if (at > 0 && block.parentHash !== blocks[at - 1]?.hash) lost.push(`${name}: block ${at} does not follow`);
  });
  const mined = new Map(blocks.flatMap(({ transactions }) => transactions).map((one) => [one.hash, one]));
  for (const { answered, receipts, blocks: seen, wallet, sink, open } of senders) {
    for (const [number, hash] of seen)
      if (blocks[Number(number)]?.hash !== hash) lost.push(`${name}: block ${Number(number)} was ${hash}`);
    const hashes = [...receipts.keys()];
    const told = await lab.batch(
      first.ledger,
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
    const [own, other, count] = await lab.batch(first.ledger, [
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
 * @param {Giver} giver @param {bigint} before
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
 * @param {Reader} reader @param {bigint} funds
 */
export async function checkPins({ lab, reports, tethers }, funds) {
  const lost = [];
  for (const [path, shown] of reports)
    if (JSON.stringify((await lab.api("GET", path)).body) !== shown) lost.push(`${path} is another report`);
  const target = { url: `${lab.url}/target/rinkeby`, authorization: "" };
  const sent = (await readChain(lab, target)).flatMap(({ transactions }) => transactions);
  for (const tether of tethers) {
    const { account } = (await lab.api("GET", `/tether/${tether}`)).body;
    const own = sent.filter(({ from }) => from === account.toLowerCase());
    const receipts = await lab.batch(
      target,
      own.map(({ hash }) => ["eth_getTransactionReceipt", [hash]]),
    );
    const paid = receipts.reduce(
      (sum, { result }) => sum + BigInt(result.gasUsed) * BigInt(result.effectiveGasPrice),
      0n,
    );
    const made = receipts.filter(({ result }) => result.contractAddress);
    if (made.length !== 1) lost.push(`${tether} deployed ${made.length} contracts`);
    const [balance, said] = await lab.batch(target, [
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
