// @ts-check
/** Clients that work while processes are killed, each until it is stopped, and note the answers; what must hold afterwards. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Unanswered } from "./serve.mjs";
import { root } from "../../tools/lib/prepare.mjs";

const require = createRequire(import.meta.url);
/** @type {typeof import("ethers")} */
const { Interface, keccak256, Wallet } = require("ethers");

/** @typedef {import("./serve.mjs").ServeProcess} ServeProcess */
/** @typedef {ReturnType<typeof randomOf>} Random */
/** @typedef {{ name: string, chainId: number, nodes: import("./serve.mjs").Node[] }} Ledger an environment with one node */

/** Random numbers; the same seed gives the same ones. @param {number} seed */
export function randomOf(seed) {
  let count = 0;
  const next = () => createHash("sha256").update(`${seed} ${count++}`).digest().readUInt32BE() / 2 ** 32;
  return {
    /** A whole number. @param {number} from @param {number} to */
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    /** @template T @param {readonly T[]} list @returns {T} */
    one: (list) => /** @type {T} */ (list[Math.floor(next() * list.length)]),
  };
}

/** @param {() => Promise<void>} act @param {() => boolean} stopped @param {number} pause */
async function again(act, stopped, pause) {
  while (!stopped()) {
    await act().catch(async (error) => {
      if (!(error instanceof Unanswered)) throw error;
      await wait(50); // until the process that was killed is back
    });
    await wait(pause);
  }
}

/** Creates, renames and deletes the memberships of a consortium. */
export class Clerk {
  /** @type {Map<string, string>} names of memberships, by their path */
  known = new Map();
  /** @type {Set<string>} */
  deleted = new Set();
  /** @type {Set<string>} names of creates without an answer */
  open = new Set();
  /** @type {Map<string, (string | undefined)[]>} names that an object may have while its change has no answer; undefined: none, it is gone */
  doubtful = new Map();
  count = 0;

  /** @param {ServeProcess} service @param {string} consortium @param {string} first the membership that owns the nodes @param {Random} random */
  constructor(service, consortium, first, random) {
    this.service = service;
    this.list = `${consortium}/memberships`;
    this.first = `${this.list}/${first}`;
    this.known.set(this.first, "bench"); // as makeNetwork calls it
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
    const { status, body } = await this.service.api("POST", this.list, { org_name });
    if (status !== 201) throw new Error(`create: ${status} ${JSON.stringify(body)}`);
    this.open.delete(org_name);
    this.known.set(`${this.list}/${body._id}`, org_name);
  }

  /** @param {string} path @param {string} org_name */
  async #rename(path, org_name) {
    this.doubtful.set(path, [this.known.get(path), org_name]);
    const { status, body } = await this.service.api("PATCH", path, { org_name });
    if (status !== 200) throw new Error(`rename: ${status} ${JSON.stringify(body)}`);
    this.doubtful.delete(path);
    this.known.set(path, org_name);
  }

  /** @param {string} path */
  async #delete(path) {
    this.doubtful.set(path, [this.known.get(path), undefined]);
    const { status, body } = await this.service.api("DELETE", path);
    if (status !== 204) throw new Error(`delete: ${status} ${JSON.stringify(body)}`);
    this.doubtful.delete(path);
    this.known.delete(path);
    this.deleted.add(path);
  }
}

/** Sends transactions of one account, each until it is answered; reads their receipts, and blocks. */
export class Sender {
  /** @type {Set<string>} hashes of transactions that were answered */
  answered = new Set();
  /** @type {Map<string, string>} */
  receipts = new Map();
  /** @type {Map<string, string>} hashes of the blocks that were seen, by their number */
  blocks = new Map();
  /** @type {{ hash: string, raw: string } | undefined} the transaction that has no answer yet */
  open;
  nonce = 0;
  wallet = new Wallet(Wallet.createRandom().privateKey);
  sink = Wallet.createRandom().address;

  /** @param {ServeProcess} service @param {Ledger} ledger @param {Random} random */
  constructor(service, ledger, random) {
    this.service = service;
    this.name = ledger.name;
    this.chainId = ledger.chainId;
    this.node = /** @type {import("./serve.mjs").Node} */ (ledger.nodes[0]);
    this.random = random;
  }

  /** @param {() => boolean} stopped */
  work(stopped) {
    const ask = async (/** @type {string} */ method, /** @type {unknown[]} */ params) =>
      (await this.service.rpc(this.node, method, params)).result;
    const read = async () => {
      const block = await ask("eth_getBlockByNumber", ["latest", false]);
      this.blocks.set(block.number, block.hash);
      for (const hash of [...this.answered].slice(-20)) {
        if (this.receipts.has(hash)) continue;
        const receipt = await ask("eth_getTransactionReceipt", [hash]);
        if (receipt) this.receipts.set(hash, JSON.stringify(receipt));
      }
    };
    return Promise.all([again(() => this.send(), stopped, 5), again(read, stopped, 100)]);
  }

  /** Sends the transaction that has no answer again, or the next one. With the same nonce it takes effect once. */
  async send() {
    this.open ??= await this.#next();
    const { hash, raw } = this.open;
    const { result, error } = await this.service.rpc(this.node, "eth_sendRawTransaction", [raw]);
    const known = /already (known|imported)|nonce too low/i.test(error?.message ?? "");
    if (result !== hash && !known) throw new Error(`${this.name}: ${JSON.stringify({ result, error })}`);
    this.answered.add(hash);
    this.open = undefined;
    this.nonce++;
  }

  async #next() {
    const value = BigInt(this.random.between(1, 1_000_000));
    const fee = { gasPrice: 0n, gasLimit: 21_000n, type: 0, chainId: this.chainId };
    const raw = await this.wallet.signTransaction({ to: this.sink, value, nonce: this.nonce, ...fee });
    return { raw, hash: keccak256(raw) };
  }
}

/** Orders payments of the faucet, and notes what was answered. */
export class Giver {
  answered = 0n;
  count = 0;
  /** @type {bigint[]} payments without an answer */
  open = [];

  /** @param {ServeProcess} service @param {string} tether @param {Random} random */
  constructor(service, tether, random) {
    this.service = service;
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
    const { status, body } = await this.service
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

/** Reads the reports of tethers. */
export class Reader {
  /** @type {Map<string, string>} reports that were shown, by their path */
  reports = new Map();

  /** @param {ServeProcess} service @param {string[]} tethers */
  constructor(service, tethers) {
    this.service = service;
    this.tethers = tethers;
  }

  /** @param {() => boolean} stopped */
  work(stopped) {
    return again(() => this.read(), stopped, 200);
  }

  async read() {
    for (const tether of this.tethers) {
      const { body: count } = await this.service.api("GET", `/tether/${tether}/reportCount`);
      // the oldest first: a service that is killed meanwhile leaves no gap
      for (let index = 0; index < Number(count); index++) {
        const path = `/tether/${tether}/reports/${index}`;
        if (this.reports.has(path)) continue;
        this.reports.set(path, JSON.stringify((await this.service.api("GET", path)).body));
      }
    }
  }
}

/* Whether everything that was answered holds. Each function returns what does not. */

const anchor = new Interface(JSON.parse(readFileSync(join(root, "contracts/Anchor.json"), "utf8")).abi);

/** @typedef {{ hash: string, from: string, to: string | null, value: string, blockNumber: string }} Transaction */

/** Objects have the names that were answered, and there are no others. @param {Clerk} clerk */
export async function checkObjects(clerk) {
  const { body } = await clerk.service.api("GET", clerk.list);
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

/** All blocks of a chain with their transactions. @param {ServeProcess} service @param {import("./serve.mjs").Chain} chain */
async function readChain(service, chain) {
  const { result: height } = await service.rpc(chain, "eth_blockNumber");
  const numbers = Array.from({ length: Number(height) + 1 }, (_, number) => `0x${number.toString(16)}`);
  const blocks = await service.batch(
    chain,
    numbers.map((number) => ["eth_getBlockByNumber", [number, true]]),
  );
  /** @type {{ number: string, hash: string, parentHash: string, transactions: Transaction[] }[]} */
  return blocks.map(({ result }) => result);
}

/**
 * Each transaction that was answered is in one block, receipts and blocks are as they were seen, and the balances follow from the
 * transactions.
 * @param {ServeProcess} service
 * @param {Sender[]} senders of one ledger
 * @param {bigint} funds of each sender at first
 */
export async function checkLedger(service, senders, funds) {
  const [{ name, node }] = /** @type {[Sender]} */ (senders);
  const lost = [];
  const blocks = await readChain(service, node);
  blocks.forEach((block, at) => {
    if (at > 0 && block.parentHash !== blocks[at - 1]?.hash) lost.push(`${name}: block ${at} does not follow`);
  });
  const mined = new Map(blocks.flatMap(({ transactions }) => transactions).map((one) => [one.hash, one]));
  for (const { answered, receipts, blocks: seen, wallet, sink, open } of senders) {
    for (const [number, hash] of seen)
      if (blocks[Number(number)]?.hash !== hash) lost.push(`${name}: block ${Number(number)} was ${hash}`);
    const hashes = [...receipts.keys()];
    const told = await service.batch(
      node,
      hashes.map((hash) => ["eth_getTransactionReceipt", [hash]]),
    );
    hashes.forEach((hash, at) => {
      if (JSON.stringify(told[at].result) !== receipts.get(hash)) lost.push(`${name}: another receipt of ${hash}`);
    });
    for (const hash of answered) if (!mined.has(hash)) lost.push(`${name}: ${hash} is in no block`);
    const sent = [...mined.values()].filter(({ from }) => from === wallet.address.toLowerCase());
    for (const { hash } of sent)
      if (!answered.has(hash) && hash !== open?.hash) lost.push(`${name}: ${hash} was not sent`);
    const paid = sent.reduce((sum, { value }) => sum + BigInt(value), 0n);
    const [own, other, count] = await service.batch(node, [
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
 * The account has every payment that was answered, and of each other payment all or nothing. What it has of them now, it keeps.
 * @param {Giver} giver @param {bigint} before
 */
export async function checkGifts(giver, before) {
  const { body } = await giver.service.api("GET", `/tether/${giver.tether}/balance/rinkeby`);
  const rest = BigInt(body.balance) - before - giver.answered;
  let sums = [0n];
  for (const wei of giver.open) sums = [...sums, ...sums.map((sum) => sum + wei)];
  giver.open = [];
  giver.answered += rest;
  return sums.includes(rest) ? [] : [`${giver.tether} owns ${rest} wei more than was answered`];
}

/**
 * Reports are as they were shown. Each is pinned once, by a transaction on the target network. The tether's account paid for these and
 * for one contract.
 * @param {Reader} reader @param {bigint} funds
 */
export async function checkPins({ service, reports, tethers }, funds) {
  const lost = [];
  for (const [path, shown] of reports)
    if (JSON.stringify((await service.api("GET", path)).body) !== shown) lost.push(`${path} is another report`);
  const target = { url: `${service.url}/target/rinkeby`, authorization: "" };
  const sent = (await readChain(service, target)).flatMap(({ transactions }) => transactions);
  for (const tether of tethers) {
    const { account } = (await service.api("GET", `/tether/${tether}`)).body;
    const own = sent.filter(({ from }) => from === account.toLowerCase());
    const receipts = await service.batch(
      target,
      own.map(({ hash }) => ["eth_getTransactionReceipt", [hash]]),
    );
    const paid = receipts.reduce(
      (sum, { result }) => sum + BigInt(result.gasUsed) * BigInt(result.effectiveGasPrice),
      0n,
    );
    const made = receipts.filter(({ result }) => result.contractAddress);
    if (made.length !== 1) lost.push(`${tether} deployed ${made.length} contracts`);
    const [balance, said] = await service.batch(target, [
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
