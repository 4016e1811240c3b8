import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Interface, keccak256, Wallet } from "ethers";
import { root } from "../root";
import { type Ledger, type Served, Unanswered } from "./served";
import { patiently } from "../../../support/jest/patience";
import { until } from "../../../support/until";

/* Clients that work while processes are killed, each until it is stopped, and note the answers. `lost` says what of them does not hold. */

export type Random = ReturnType<typeof randomOf>;

/** Random numbers; the same seed gives the same ones. */
export function randomOf(seed: number) {
  let count = 0;
  const next = () => createHash("sha256").update(`${seed} ${count++}`).digest().readUInt32BE() / 2 ** 32;
  return {
    /** A whole number. */
    between: (from: number, to: number) => from + Math.floor(next() * (to - from + 1)),
    one: <T>(list: readonly T[]) => list[Math.floor(next() * list.length)]!,
  };
}

type Stopped = () => boolean;

async function again(act: () => Promise<void>, stopped: Stopped, pause: number): Promise<void> {
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
  count = 0;
  /** Names by the path. */
  readonly #known: Map<string, string>;
  readonly #deleted = new Set<string>();
  /** Names of creates without an answer. */
  readonly #open = new Set<string>();
  /** Names that an object may have while its change has no answer; undefined: none, it is gone. */
  readonly #doubtful = new Map<string, (string | undefined)[]>();

  /** @param first the membership that owns the nodes, and stays */
  constructor(
    private readonly service: Served,
    private readonly list: string,
    private readonly first: string,
    private readonly random: Random,
  ) {
    this.#known = new Map([[`${list}/${first}`, "first"]]);
  }

  work = (stopped: Stopped): Promise<void> => again(() => this.#act(), stopped, 10);

  async #act(): Promise<void> {
    const what = this.random.between(0, 9);
    const path = this.random.one([...this.#known.keys()]);
    const name = `member ${++this.count}`;
    if (what < 4) return this.#create(name);
    if (this.#doubtful.has(path)) return;
    const isDeleted = what >= 8 && path !== `${this.list}/${this.first}`;
    this.#doubtful.set(path, [this.#known.get(path), isDeleted ? undefined : name]);
    if (isDeleted) await this.service.api("DELETE", path);
    else await this.service.api("PATCH", path, { org_name: name });
    this.#doubtful.delete(path);
    if (isDeleted) this.#deleted.add(path);
    this.#note(path, isDeleted ? undefined : name);
  }

  async #create(org_name: string): Promise<void> {
    this.#open.add(org_name);
    const { _id } = await this.service.api("POST", this.list, { org_name });
    this.#open.delete(org_name);
    this.#note(`${this.list}/${_id}`, org_name);
  }

  #note(path: string, name: string | undefined): void {
    if (name === undefined) this.#known.delete(path);
    else this.#known.set(path, name);
  }

  /** Objects have the names that were answered, and there are no others. */
  async lost(): Promise<string[]> {
    const listed = await this.service.api<{ _id: string; org_name: string }[]>("GET", this.list);
    const found = new Map(listed.map(({ _id, org_name }) => [`${this.list}/${_id}`, org_name]));
    const lost: string[] = [];
    for (const [path, allowed] of this.#doubtful) {
      const now = found.get(path);
      if (!allowed.includes(now)) lost.push(`${path} is ${now}, not one of ${allowed.join(", ")}`);
      this.#note(path, now);
    }
    this.#doubtful.clear();
    for (const [path, name] of this.#known)
      if (found.get(path) !== name) lost.push(`${path} is ${found.get(path)}, not ${name}`);
    for (const path of this.#deleted) if (found.has(path)) lost.push(`${path} is there again`);
    for (const [path, name] of found) {
      if (this.#known.has(path)) continue;
      if (!this.#open.delete(name)) lost.push(`${path} (${name}) was not asked for`);
      this.#known.set(path, name);
    }
    this.#open.clear();
    return lost;
  }
}

/** Sends transactions of one account, each until it is answered; reads their receipts, and blocks. */
export class Sender {
  /** Hashes of transactions that were answered. */
  readonly answered = new Set<string>();
  readonly receipts = new Map<string, string>();
  /** Hashes of the blocks that were seen, by their number. */
  readonly blocks = new Map<string, string>();
  /** The transaction that has no answer yet. */
  open?: { hash: string; raw: string };
  readonly address: string;
  readonly sink = Wallet.createRandom().address;
  readonly #wallet = new Wallet(Wallet.createRandom().privateKey);
  #nonce = 0;

  private constructor(
    private readonly service: Served,
    readonly ledger: Ledger,
    private readonly random: Random,
  ) {
    this.address = this.#wallet.address;
  }

  static async withFunds(service: Served, ledger: Ledger, random: Random, wei: bigint): Promise<Sender> {
    const sender = new Sender(service, ledger, random);
    const call = { from: ledger.account, to: sender.address, value: `0x${wei.toString(16)}`, gasPrice: "0x0" };
    const { result: hash } = await service.rpc(ledger, "eth_sendTransaction", call);
    await until(async () => (await service.rpc(ledger, "eth_getTransactionReceipt", hash)).result !== null);
    return sender;
  }

  work = async (stopped: Stopped): Promise<void> => {
    await Promise.all([again(() => this.send(), stopped, 5), again(() => this.#read(), stopped, 100)]);
  };

  async #read(): Promise<void> {
    const ask = async <T>(method: string, ...params: unknown[]) =>
      (await this.service.rpc(this.ledger, method, ...params)).result as T;
    const block = await ask<{ number: string; hash: string }>("eth_getBlockByNumber", "latest", false);
    this.blocks.set(block.number, block.hash);
    for (const hash of [...this.answered].slice(-20)) {
      if (this.receipts.has(hash)) continue;
      const receipt = await ask("eth_getTransactionReceipt", hash);
      if (receipt) this.receipts.set(hash, JSON.stringify(receipt));
    }
  }

  /** Sends the transaction that has no answer again, or the next one. With the same nonce it takes effect once. */
  async send(): Promise<void> {
    this.open ??= await this.#next();
    const { hash, raw } = this.open;
    const { result, error } = await this.service.rpc(this.ledger, "eth_sendRawTransaction", raw);
    const known = /already (known|imported)|nonce too low/i.test(error?.message ?? "");
    if (result !== hash && !known) throw new Error(`${this.ledger.name}: ${JSON.stringify({ result, error })}`);
    this.answered.add(hash);
    this.open = undefined;
    this.#nonce++;
  }

  async #next() {
    const value = BigInt(this.random.between(1, 1_000_000));
    const fee = { gasPrice: 0n, gasLimit: 21_000n, type: 0, chainId: this.ledger.chainId };
    const raw = await this.#wallet.signTransaction({ to: this.sink, value, nonce: this.#nonce, ...fee });
    return { raw, hash: keccak256(raw) };
  }

  /** Waits until each transaction is in a block. */
  async mined(): Promise<void> {
    const count = async () =>
      Number((await this.service.rpc(this.ledger, "eth_getTransactionCount", this.address, "latest")).result);
    for (const end = performance.now() + patiently(60_000); (await count()) < this.#nonce && performance.now() < end;)
      await wait(100);
  }
}

/**
 * Each transaction that was answered is in one block, receipts and blocks are as they were seen, and the balances follow from the
 * transactions of these senders of one ledger, who had so much at first.
 */
export async function lostOf(service: Served, senders: Sender[], funds: bigint): Promise<string[]> {
  const { ledger } = senders[0]!;
  const lost: string[] = [];
  const blocks = await service.blocks(ledger);
  blocks.forEach((block, at) => {
    if (at > 0 && block.parentHash !== blocks[at - 1]!.hash) lost.push(`block ${at} does not follow`);
  });
  const mined = new Map(blocks.flatMap(({ transactions }) => transactions).map((one) => [one.hash, one]));
  for (const { answered, receipts, blocks: seen, address, sink, open } of senders) {
    for (const [number, hash] of seen)
      if (blocks[Number(number)]?.hash !== hash) lost.push(`block ${Number(number)} was ${hash}`);
    const hashes = [...receipts.keys()].map((hash) => [hash]);
    const told = await service.results(ledger, "eth_getTransactionReceipt", hashes);
    [...receipts].forEach(([hash, receipt], at) => {
      if (JSON.stringify(told[at]) !== receipt) lost.push(`another receipt of ${hash}`);
    });
    for (const hash of answered) if (!mined.has(hash)) lost.push(`${hash} is in no block`);
    const sent = [...mined.values()].filter(({ from }) => from === address.toLowerCase());
    for (const { hash } of sent) if (!answered.has(hash) && hash !== open?.hash) lost.push(`${hash} was not sent`);
    const paid = sent.reduce((sum, { value }) => sum + BigInt(value), 0n);
    const balances = [address, sink].map((one) => [one, "latest"]);
    const [own, other] = (await service.results<string>(ledger, "eth_getBalance", balances)).map(BigInt);
    const [count] = await service.results<string>(ledger, "eth_getTransactionCount", [[address, "latest"]]);
    if (own !== funds - paid) lost.push(`${address} owns ${own}`);
    if (other !== paid) lost.push(`${sink} owns ${other}, not ${paid}`);
    if (Number(count) !== sent.length) lost.push(`${address} sent ${Number(count)}`);
  }
  return lost.map((text) => `${ledger.name}: ${text}`);
}

/** Orders payments of the faucet, and notes what was answered. */
export class Giver {
  count = 0;
  #answered = 0n;
  /** Payments without an answer. */
  #open: bigint[] = [];

  constructor(
    private readonly service: Served,
    private readonly tether: string,
    private readonly random: Random,
    private readonly before: bigint,
  ) {}

  work = (stopped: Stopped): Promise<void> => again(() => this.#give(), stopped, 50);

  async #give(): Promise<void> {
    const wei = BigInt(this.random.between(1, 2 ** 31)) * 1_000_003n;
    const content = { network: "rinkeby", wei: `${wei}` };
    await this.service.api("POST", `/embedded/tether/${this.tether}/fund`, content).catch((error: Error) => {
      const { cause } = (error.cause ?? {}) as { cause?: { code?: string } };
      if (cause?.code !== "ECONNREFUSED") this.#open.push(wei);
      throw error;
    });
    this.#answered += wei;
    this.count++;
  }

  /** The account has every payment that was answered, and of each other payment all or nothing. What it has of them now, it keeps. */
  async lost(): Promise<string[]> {
    const path = `/tether/${this.tether}/balance/rinkeby`;
    const { balance } = await this.service.api<{ balance: string }>("GET", path);
    const rest = BigInt(balance) - this.before - this.#answered;
    let sums = [0n];
    for (const wei of this.#open) sums = [...sums, ...sums.map((sum) => sum + wei)];
    this.#open = [];
    this.#answered += rest;
    return sums.includes(rest) ? [] : [`${this.tether} owns ${rest} wei more than was answered`];
  }
}

const anchor = new Interface(
  (JSON.parse(readFileSync(join(root, "contracts/Anchor.json"), "utf8")) as { abi: string[] }).abi,
);
interface Receipt {
  gasUsed: string;
  effectiveGasPrice: string;
  contractAddress: string | null;
}

/** Reads the reports of tethers. */
export class Reader {
  /** Reports that were shown, by their path. */
  readonly reports = new Map<string, string>();

  /** @param funds of each tether's account, before it paid for its contract and its pins */
  constructor(
    private readonly service: Served,
    private readonly tethers: string[],
    private readonly funds: bigint,
  ) {}

  work = (stopped: Stopped): Promise<void> => again(() => this.#read(), stopped, 200);

  async #read(): Promise<void> {
    for (const tether of this.tethers) {
      const count = Number(await this.service.api("GET", `/tether/${tether}/reportCount`));
      // the oldest first: a service that is killed meanwhile leaves no gap
      for (let index = 0; index < count; index++) {
        const path = `/tether/${tether}/reports/${index}`;
        if (!this.reports.has(path)) this.reports.set(path, JSON.stringify(await this.service.api("GET", path)));
      }
    }
  }

  /** What does not hold once those that were under way are finished. */
  async lost(): Promise<string[]> {
    for (const end = performance.now() + patiently(60_000); ; await wait(500)) {
      await this.#read();
      const lost = await this.#lostNow();
      if (lost.length === 0 || performance.now() > end) return lost;
    }
  }

  /**
   * Reports are as they were shown. Each is pinned once, by a transaction on the target network. The tether's account paid for these
   * and for one contract.
   */
  async #lostNow(): Promise<string[]> {
    const lost: string[] = [];
    for (const [path, shown] of this.reports)
      if (JSON.stringify(await this.service.api("GET", path)) !== shown) lost.push(`${path} is another report`);
    const target = { url: `${this.service.url}/target/rinkeby` };
    const sent = (await this.service.blocks(target)).flatMap(({ transactions }) => transactions);
    for (const tether of this.tethers) {
      const { account } = await this.service.api<{ account: string }>("GET", `/tether/${tether}`);
      const own = sent.filter(({ from }) => from === account.toLowerCase());
      const hashes = own.map(({ hash }) => [hash]);
      const receipts = await this.service.results<Receipt>(target, "eth_getTransactionReceipt", hashes);
      const paid = receipts.reduce((sum, one) => sum + BigInt(one.gasUsed) * BigInt(one.effectiveGasPrice), 0n);
      const made = receipts.filter(({ contractAddress }) => contractAddress);
      if (made.length !== 1) lost.push(`${tether} deployed ${made.length} contracts`);
      const [balance] = await this.service.results<string>(target, "eth_getBalance", [[account, "latest"]]);
      if (BigInt(balance!) !== this.funds - paid)
        lost.push(`${tether} owns ${BigInt(balance!)}, not ${this.funds - paid}`);
      const asked = { to: made[0]?.contractAddress, data: anchor.encodeFunctionData("count") };
      const pins = Number((await this.service.rpc(target, "eth_call", asked, "latest")).result);
      const shown = [...this.reports].filter(([path]) => path.startsWith(`/tether/${tether}/`));
      if (pins !== shown.length) lost.push(`${tether} has ${pins} pins of ${shown.length} reports`);
      for (const [path, text] of shown) {
        const pin = JSON.parse(text) as { transaction_hash: string; block_number: number };
        const isIn = own.some(
          ({ hash, blockNumber }) => hash === pin.transaction_hash && Number(blockNumber) === pin.block_number,
        );
        if (!isIn) lost.push(`${path}: ${pin.transaction_hash} is not in block ${pin.block_number}`);
      }
    }
    return lost;
  }
}
