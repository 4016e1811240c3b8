// @ts-check
/** What clients do while processes are killed, and what they were told: each of them works on alone until it is stopped. */
import { setTimeout as wait } from "node:timers/promises";
import { Unanswered } from "./lab.mjs";

/** @typedef {import("./lab.mjs").Lab} Lab */
/** @typedef {ReturnType<typeof import("./lab.mjs").randomOf>} Random */
/** @typedef {{ name: string, path: string, authorization: string, own: string }} Ledger a node's address, and its account */

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
    const { path, authorization } = this.ledger;
    const ask = async (/** @type {string} */ method, /** @type {unknown[]} */ params) =>
      (await this.lab.rpc(path, authorization, method, params)).result;
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
    const { path, authorization } = this.ledger;
    const { result, error } = await this.lab.rpc(path, authorization, "eth_sendRawTransaction", [raw]);
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
