import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { deflateRaw, deflateRawSync, inflateRaw } from "node:zlib";
import { Damaged, Refusal } from "../errors";
import { type Change, Database, nameOf } from "../storage/database";
import { replaceFile, sha256OfFile } from "../storage/files";
import type { Profile } from "../profiles";
import { ethers } from "./ethers";

/** The properties of a chain, fixed at its first start. */
export interface ChainSpec {
  key: string;
  chainId: number;
  /** Seconds between blocks; without it, a block is made when there is a transaction. */
  period?: number;
  /** How many accounts it signs for, each with 10,000 ether. */
  accounts: number;
  /** Balances of other accounts in the genesis block, in wei. */
  prefunded?: Readonly<Record<string, { balance: string }>> | undefined;
  /** The client that it imitates, fixed at its first start; its gas is free. Without it, it imitates a public network, with fees. */
  profile?: Profile | undefined;
}

export interface Head {
  number: number;
  hash: string;
  timestamp: number;
  gas: number;
}

/** One entry of a chain's input. Replaying all of them in order reproduces the chain, hash by hash. */
export type Entry =
  /** A signed transaction that it accepted. */
  | { tx: string }
  /** Money for an account, in wei. */
  | { give: [account: string, wei: string] }
  /** A block: its number and its time. */
  | { seal: [number: number, timestamp: number] };

type Fields = Record<string, unknown>;
/** A block as the engine shows it, with its transactions. */
export type Block = Fields & {
  number: string;
  hash: string;
  transactions: (Fields & Record<"hash" | "from" | "nonce", string>)[];
};
export type Receipt = Fields & { transactionHash: string; logs: Fields[] };

/** A block with its results, as an engine made it. `raws` are the signed transactions. */
export interface Made {
  block: Block;
  receipts: Receipt[];
  raws: string[];
  /** The root of the state, where the block of the engine does not have it. */
  stateRoot?: string;
}

/** A block with its results, as callers see it. `made`: its hash in the engine, which replays compare. */
export interface Sealed extends Omit<Made, "stateRoot"> {
  made: string;
}

export interface Sealer {
  address: string;
  secretKey: string;
}

/** The state after a block; the entries from `next` on lead to later blocks. `waiting`: transactions that waited then. */
export interface Snapshot {
  number: number;
  hash: string;
  next: number;
  waiting: string[];
}

const [deflated, unpacked] = [promisify(deflateRaw), promisify(inflateRaw)];
/** Characters that are compressed sooner than another thread is woken for them. */
const short = 16_384;
const packed = (text: string) =>
  text.length < short ? deflateRawSync(text, { level: 1, windowBits: 12, memLevel: 5 }) : deflated(text, { level: 1 });
/** Snapshots to keep that a start could begin with: if one is too late, an earlier one serves. */
const mostOld = 3;
const mostRead = 64;
/** How long a block waits for others to be written with (ms). */
const soon = 20;

const digits = (number: number) => `${number}`.padStart(12, "0");
const key = {
  entry: (at: number) => `entry/${digits(at)}`,
  block: (number: number) => `block/${digits(number)}`,
  logs: (number: number) => `logs/${digits(number)}`,
  hash: (hash: string) => `hash/${hash}`,
  transaction: (hash: string) => `transaction/${hash}`,
  snapshot: (number: number) => `snapshot/${digits(number)}`,
  state: (number: number) => `state/${digits(number)}`,
};
/** What a database of this version holds. */
const format = "whole states";
const end = "0";

/** The data of a chain: the genesis with its keys, its input, its blocks with their results, and some states. */
export class LedgerData {
  readonly #read = new Map<number, Sealed>();
  height = -1;
  /** The latest block that was recorded; the engine may still have to make it. */
  recorded = 0;
  end = 0;
  snapshotAt = 0;
  /** Blocks that are shown while they are written. They are recorded, so the engine could make them again. */
  readonly #unwritten = new Map<number, Sealed>();
  #writing: Promise<void> = Promise.resolve();
  /** Whether a write is to come, which blocks may join. */
  #isDue = false;
  #accounts: Sealer[] | undefined;

  private constructor(
    readonly dir: string,
    private readonly database: Database,
  ) {}

  /** Opens a chain's folder, or creates it. @param mustBe whether it must exist */
  static async open(dir: string, spec: ChainSpec, mustBe: boolean, clock = Date.now): Promise<LedgerData> {
    const isThere = existsSync(join(dir, "database", "CURRENT"));
    if (mustBe && !isThere) throw new OutOfOrder(dir, `${dir} is damaged: its database is missing`);
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    if (!isThere) replaceFile(join(dir, "genesis.json"), JSON.stringify(genesis(spec, clock())));
    const data = new LedgerData(dir, await whole(dir, () => Database.open(join(dir, "database"))));
    try {
      await whole(dir, () => data.#begin());
      return data;
    } catch (error) {
      await data.close();
      throw error;
    }
  }

  get genesis(): string {
    return join(this.dir, "genesis.json");
  }

  get sealer(): Sealer | undefined {
    return this.#own[0];
  }

  get accounts(): string[] {
    return this.#own.map(({ address }) => address);
  }

  get #own(): Sealer[] {
    return (this.#accounts ??= accountsIn(this.genesis));
  }

  async record(entries: readonly Entry[]): Promise<void> {
    await this.database.write(
      entries.map((entry, index): Change => [key.entry(this.end + index), JSON.stringify(entry)]),
    );
    this.end += entries.length;
    for (const entry of entries) if ("seal" in entry) this.recorded = entry.seal[0];
  }

  async *entries(from: number): AsyncGenerator<[at: number, entry: Entry]> {
    let at = from;
    const until = this.end;
    for await (const [name, value] of this.#all(key.entry(from), `entry${end}`)) {
      if (name !== key.entry(at)) break;
      yield [at++, JSON.parse(value.toString()) as Entry];
    }
    if (at < until) throw new OutOfOrder(this.dir, `${this.dir} is damaged: ${nameOf(key.entry(at))} is missing`);
  }

  /** Keeps a block, and shows it at once. It needs no sync. One that cannot be written is written with the next one. */
  keep(sealed: Sealed): void {
    const number = Number(sealed.block.number);
    this.height = number;
    this.#note(number, sealed);
    this.#unwritten.set(number, sealed);
    if (this.#isDue) return;
    this.#isDue = true;
    const later = () => wait(soon).then(() => this.#write());
    this.#writing = this.#writing.then(later).catch(() => undefined);
  }

  async #write(): Promise<void> {
    this.#isDue = false;
    const blocks = [...this.#unwritten];
    const changes = await Promise.all(blocks.map(([number, sealed]) => changesOf(number, sealed)));
    await this.database.write(changes.flat(), false);
    for (const [number] of blocks) this.#unwritten.delete(number);
  }

  async sealed(number: number): Promise<Sealed | undefined> {
    const known = this.#read.get(number);
    if (known || number > this.height) return known;
    const value = await this.#get(key.block(number));
    if (!value) throw new OutOfOrder(this.dir, `${this.dir} is damaged: block ${number} is missing`);
    const sealed = JSON.parse((await unpacked(value)).toString()) as Sealed;
    this.#note(number, sealed);
    return sealed;
  }

  async numberOf(hash: string): Promise<number | undefined> {
    for (const [number, { block }] of this.#unwritten) if (block.hash === hash) return number;
    const value = await this.#get(key.hash(hash));
    return value && Number(value.toString());
  }

  /** The place of a transaction: the number of its block, and its index. */
  async placeOf(hash: string): Promise<{ number: number; at: number } | undefined> {
    for (const [number, { block }] of this.#unwritten) {
      const at = block.transactions.findIndex((one) => one.hash === hash);
      if (at >= 0) return { number, at };
    }
    const [number, at] = (await this.#get(key.transaction(hash)))?.toString().split(" ").map(Number) ?? [];
    return number === undefined ? undefined : { number, at: at! };
  }

  /** The logs of blocks, of each block that has some as JSON without the brackets around it. */
  async *logs(from: number, to: number): AsyncGenerator<Buffer> {
    const unwritten = [...this.#unwritten];
    const until = Math.min(to + 1, ...unwritten.map(([number]) => number));
    for await (const [, value] of this.#all(key.logs(from), key.logs(until))) yield value;
    for (const [number, one] of unwritten)
      if (number >= from && number <= to && logsOf(one) !== "") yield Buffer.from(logsOf(one));
  }

  // Snapshots

  async snapshots(): Promise<Snapshot[]> {
    const found: Snapshot[] = [];
    for await (const [, value] of this.#all("snapshot/", `snapshot${end}`, true))
      found.push(JSON.parse(value.toString()) as Snapshot);
    return found;
  }

  /** Keeps the state after a block, in place of the oldest one. @param lookback how old the one must be that a start begins with */
  async snapshot({ number, hash }: Head, waiting: string[], state: Buffer, lookback: number): Promise<void> {
    const made: Snapshot = { number, hash, next: this.end, waiting };
    await this.database.write([
      [key.state(number), state],
      [key.snapshot(number), JSON.stringify(made)],
    ]);
    this.snapshotAt = number;
    const old = (await this.snapshots()).filter((one) => one.number <= number - lookback);
    for (const one of old.slice(mostOld)) await this.forget(one);
  }

  forget = ({ number }: Snapshot): Promise<void> =>
    this.database.write([
      [key.snapshot(number), undefined],
      [key.state(number), undefined],
    ]);

  async stateOf({ number }: Snapshot): Promise<Buffer> {
    const state = await this.#get(key.state(number));
    if (state) return state;
    throw new OutOfOrder(this.dir, `${this.dir} is damaged: the state of block ${number} is missing`);
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.database.close();
  }

  async #begin(): Promise<void> {
    const kept = await this.#get("genesis");
    if (!kept)
      await this.database.write([
        ["genesis", sha256OfFile(this.genesis)],
        ["format", format],
      ]);
    else if ((await this.#get("format"))?.toString() !== format)
      throw new Damaged(`an earlier version of this service made ${this.dir}, and this one cannot read it`);
    else if (!existsSync(this.genesis)) throw new Damaged(`${this.genesis} is damaged: it is missing`);
    else if (kept.toString() !== sha256OfFile(this.genesis))
      throw new Damaged(`${this.genesis} is damaged: its checksum is wrong`);
    const last = async (kind: string) => {
      for await (const [name] of this.#all(`${kind}/`, `${kind}${end}`, true))
        return Number(name.slice(kind.length + 1));
      return undefined;
    };
    this.end = ((await last("entry")) ?? -1) + 1;
    this.snapshotAt = (await last("snapshot")) ?? 0;
    this.height = this.recorded = (await last("block")) ?? -1;
    for (let at = this.end - 1; at >= 0; at--) {
      const entry = JSON.parse((await this.#get(key.entry(at)))?.toString() ?? "{}") as Entry;
      if (!("seal" in entry)) continue;
      this.recorded = entry.seal[0];
      break;
    }
    if (this.height > this.recorded && this.height > 0)
      throw new Damaged(`${this.dir} is damaged: the input of block ${this.height} is missing`);
    this.recorded = Math.max(0, this.recorded);
  }

  #get = (name: string) => whole(this.dir, () => this.database.get(name));

  async *#all(from: string, until: string, reverse = false) {
    try {
      yield* this.database.entries(from, until, reverse);
    } catch (error) {
      throw outOfOrder(this.dir, error);
    }
  }

  #note(number: number, sealed: Sealed): void {
    this.#read.delete(number);
    this.#read.set(number, sealed);
    if (this.#read.size > mostRead) this.#read.delete(this.#read.keys().next().value!);
  }
}

/** The logs of a block, as JSON without the brackets around it. */
const logsOf = ({ receipts }: Sealed): string =>
  receipts.flatMap(({ logs }) => logs.map((log) => JSON.stringify(log))).join();

async function changesOf(number: number, sealed: Sealed): Promise<Change[]> {
  const { hash, transactions } = sealed.block;
  const logs = logsOf(sealed);
  return [
    [key.block(number), await packed(JSON.stringify(sealed))],
    [key.hash(hash), `${number}`],
    ...transactions.map((one, at): Change => [key.transaction(one.hash), `${number} ${at}`]),
    ...(logs === "" ? [] : [[key.logs(number), logs] as const]),
  ];
}

/** A part of a ledger is missing or damaged. Only calls that need it fail. */
export class OutOfOrder extends Refusal {
  constructor(dir: string, what: string) {
    const remedy = "Restore its folder from a backup and start the service again, or delete its environment";
    super(503, `The ledger ${basename(dir)} is out of order: ${what}. Nothing was changed. ${remedy}.`);
  }
}

/** Reads a ledger's data. The error for damaged data names the ledger. */
async function whole<T>(dir: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw outOfOrder(dir, error);
  }
}

const outOfOrder = (dir: string, error: unknown) =>
  error instanceof Damaged ? new OutOfOrder(dir, error.what) : error;

/** Engines list the accounts of a genesis by address. */
function accountsIn(genesis: string): Sealer[] {
  const { alloc } = JSON.parse(readFileSync(genesis, "utf8")) as { alloc: Record<string, { secretKey?: string }> };
  return Object.entries(alloc)
    .flatMap(([account, { secretKey }]) =>
      secretKey === undefined ? [] : { address: account.toLowerCase(), secretKey },
    )
    .sort((one, other) => (one.address < other.address ? -1 : 1));
}

const ether = 10n ** 18n;
const hexOf = (wei: bigint | string) => `0x${BigInt(wei).toString(16)}`;
/** An address in its usual form: clients may leave out 0x. */
export const plainAddress = (text: string) => `0x${text.toLowerCase().replace(/^0x/, "")}`;

/**
 * A genesis with random keys for the accounts that the chain signs for. The engine reads them from this file, so they never appear in a
 * process list or a log.
 */
function genesis({ chainId, accounts, prefunded = {}, profile }: ChainSpec, now: number) {
  const others = Object.entries(prefunded).map(
    ([account, { balance }]) => [plainAddress(account), { balance: hexOf(balance) }] as const,
  );
  const own = Array.from({ length: accounts }, () => {
    const secretKey = `0x${randomBytes(32).toString("hex")}`; // practically all random keys are valid
    return [ethers().computeAddress(secretKey), { balance: hexOf(10_000n * ether), secretKey }] as const;
  });
  const time = profile?.clock === "nanoseconds" ? BigInt(now) * 1_000_000n : Math.floor(now / 1_000);
  return {
    config: { chainId },
    timestamp: `0x${time.toString(16)}`,
    difficulty: "0x0",
    gasLimit: "0x1c9c380",
    alloc: Object.fromEntries([...others, ...own]),
  };
}
