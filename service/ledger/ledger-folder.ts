import type * as Transaction from "ethers/transaction";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { z } from "zod";
import { Damaged, Refusal, ServiceError, unwritten } from "../errors";
import { jsonText, replaceFile, sha256, sha256OfFile, syncFolder } from "../store/files";
import { generationOf } from "../store/generation";
import { damaged, Journal, lineOf, recordOf } from "../store/journal";
import type { ChainSpec, Head } from "./engine";
import { nothing, stateOf, taken } from "./state-text";

/** One entry of a chain's input. The chain can be rebuilt from all of them in order, hash by hash. */
export type Entry =
  /** A signed transaction that it accepted. */
  | { tx: string }
  /** Money for an account, in wei; `once`: a name under which it is given only once. */
  | { give: [account: string, wei: string]; once?: string }
  /**
   * A block: its number, its time in seconds, and the previous block's hash and gas; null if that one
   * was not made yet when this was recorded.
   */
  | { seal: [number: number, timestamp: number, parent: string | null, gas?: number] }
  /** Names of the payments in earlier segments that must not be made again. */
  | { given: string[] };

const file = z.object({ name: z.string(), bytes: z.number(), sha256: z.string() });
/** The blocks from `first` to `last`, and whether they have transactions. */
const past = file.extend({ first: z.number(), last: z.number(), transactions: z.boolean(), hashes: file });
export type Past = z.infer<typeof past>;
const head = z.object({ number: z.number(), hash: z.string(), timestamp: z.number() });
/** A file of a chain's input, and the block that it goes on from; the first one goes on from the genesis. */
const segment = z.object({ name: z.string(), after: head.optional() });
export type Segment = z.infer<typeof segment>;
const manifest = z.object({
  format: z.literal("consortium-ledger"),
  version: z.literal(1),
  genesis: z.string(),
  /** The state that the segments go on from; without it, they go on from the genesis. */
  snapshot: file.optional(),
  /** The segments, under the name that they had in version 0.2.0. */
  journals: z.array(segment).min(1),
  past: z.array(past),
});
type Manifest = z.infer<typeof manifest>;

const zipped = promisify(gzip);
const index = "ledger.json";
const segmentFormat = (name: string) => ({ format: "consortium-ledger-journal", version: 1, name });
/** Blocks in a file of the past, which is loaded in about a second. */
const mostBlocks = 2_000;
/** Bytes of each hash that are kept in memory. */
const begin = 6;

/**
 * The folder of one chain: the genesis with its keys, the input since the last snapshot in segments, and the blocks before that.
 * `ledger.json` names all files, with checksums.
 */
export class LedgerFolder {
  /** The segment that is written now. */
  #current: Journal | undefined;
  readonly #begins = new Map<string, Buffer>();

  private constructor(
    readonly dir: string,
    private manifest: Manifest,
  ) {}

  /** Opens an existing chain's folder. Segments are checked when an engine replays them. */
  static existing(dir: string): LedgerFolder {
    const folder = new LedgerFolder(
      dir,
      whole(dir, () => filesIn(dir)),
    );
    if (generationOf(folder.genesis)?.mayBeShared) folder.#open(); // before anybody reads it
    return folder;
  }

  /** Opens a chain's folder, or creates it. */
  static open(dir: string, spec: ChainSpec, clock = Date.now): LedgerFolder {
    if (existsSync(join(dir, index))) return LedgerFolder.existing(dir);
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    syncFolder(dirname(dir));
    const genesis = sha256OfFile(ensureGenesis(dir, spec, clock()));
    const folder = new LedgerFolder(dir, {
      format: "consortium-ledger",
      version: 1,
      genesis,
      journals: [{ name: "journal-1.jsonl" }],
      past: [],
    });
    Journal.create(join(dir, "journal-1.jsonl"), segmentFormat("journal-1.jsonl"), []).close();
    folder.#write(folder.manifest);
    return folder;
  }

  /** Checks that the chain's files are complete; changes nothing. */
  static check(dir: string): void {
    whole(dir, () => {
      for (const { name } of filesIn(dir).journals) Journal.read(join(dir, name), segmentFormat(name), () => undefined);
    });
  }

  get genesis(): string {
    return join(this.dir, "genesis.json");
  }

  get snapshot(): string | undefined {
    return this.manifest.snapshot && join(this.dir, this.manifest.snapshot.name);
  }

  get past(): readonly Past[] {
    return this.manifest.past;
  }

  /** The segments since the snapshot, each with the block that it goes on from. */
  get segments(): readonly Segment[] {
    return this.manifest.journals;
  }

  /** Bytes of the segment that is written now. */
  get bytes(): number {
    return this.#current?.bytes ?? 0;
  }

  bytesOf(name: string): number {
    return statSync(join(this.dir, name)).size;
  }

  entriesOf(name: string): Entry[] {
    const entries: Entry[] = [];
    const add = (entry: unknown) => entries.push(entry as Entry);
    whole(this.dir, () => Journal.read(join(this.dir, name), segmentFormat(name), add));
    return entries;
  }

  /** Records input of the chain; resolves when it is on disk. */
  async append(entries: readonly Entry[]): Promise<void> {
    try {
      await this.#open().append(entries);
    } catch (error) {
      throw unwritten(`The ledger cannot be written to ${this.dir}`, error);
    }
  }

  #open(): Journal {
    const { name } = this.segments.at(-1)!;
    return (this.#current ??= Journal.open(join(this.dir, name), segmentFormat(name), () => undefined));
  }

  /** Begins a new segment, so that a snapshot can replace those before it. */
  rotate({ number, hash, timestamp }: Head, entries: readonly Entry[]): void {
    const name = `journal-${Number(/\d+/.exec(this.segments.at(-1)!.name)) + 1}.jsonl`;
    const fresh = Journal.create(join(this.dir, name), segmentFormat(name), entries);
    try {
      this.#write({ ...this.manifest, journals: [...this.segments, { name, after: { number, hash, timestamp } }] });
    } catch (error) {
      fresh.close();
      throw error;
    }
    this.#current?.close();
    this.#current = fresh;
  }

  /**
   * Keeps a snapshot in place of the first segments.
   *
   * @param dump the state of an engine that went through them
   * @param count how many segments it replaces
   * @param lookback how many of its blocks an engine needs that begins with it
   * @param holds fails if an engine that begins with the snapshot does not make the blocks that follow
   */
  async keep(dump: Buffer, count: number, lookback: number, holds: (file: string) => Promise<void>): Promise<void> {
    const at = this.segments[count]!.after!;
    const { begin, blocks, transactions } = taken(dump);
    const best = Buffer.concat([begin, Buffer.from(`"best_block_number":${at.number}`)]);
    const recent = blocks.filter(({ number }) => number > at.number - lookback);
    const snapshot = this.#put(`snapshot-${at.number}.json.gz`, await zipped(stateOf(best, recent, [])));
    await holds(join(this.dir, snapshot.name)).catch((error: unknown) => {
      generationOf(this.genesis)?.check(); // else it may be another process's
      rmSync(join(this.dir, snapshot.name), { force: true });
      throw error;
    });
    const known = this.manifest.past.at(-1)?.last ?? 0;
    const made: Past[] = [];
    for (let first = known + 1; first <= at.number; first += mostBlocks) {
      const last = Math.min(first + mostBlocks - 1, at.number);
      const own = blocks.filter(({ number }) => number >= first && number <= last);
      const parents = blocks.filter(({ number }) => number > first && number <= last + 1).map(({ parent }) => parent);
      const sent = transactions.filter(({ number }) => number >= first && number <= last);
      const hashes = [...parents, ...(last === at.number ? [at.hash] : []), ...sent.map(({ hash }) => hash)];
      const digits = hashes.map((hash) => hash.slice(2)).join("");
      made.push({
        ...this.#put(`blocks-${first}-${last}.json.gz`, await zipped(stateOf(nothing, own, sent))),
        first,
        last,
        transactions: sent.length > 0,
        hashes: this.#put(`blocks-${first}-${last}.hashes`, Buffer.from(digits, "hex")),
      });
    }
    const { snapshot: before, journals: all, past } = this.manifest;
    this.#write({ ...this.manifest, snapshot, journals: all.slice(count), past: [...past, ...made] });
    const outdated = [...all.slice(0, count), ...(before ? [before] : [])];
    for (const { name } of outdated) rmSync(join(this.dir, name), { force: true });
  }

  /** The path of a file of the past, which an engine can load. */
  fileOf(past: Past): string {
    whole(this.dir, () => verify(this.dir, past));
    return join(this.dir, past.name);
  }

  /** The file that has the block or the transaction of this hash. */
  pastOf(hash: string): Past | undefined {
    const wanted = Buffer.from(hash.slice(2), "hex");
    return this.past.find(({ hashes }) => {
      const { name } = hashes;
      if (!contains(this.#beginsOf(hashes), wanted.subarray(0, begin), begin)) return false;
      return contains(readFileSync(join(this.dir, name)), wanted, wanted.length);
    });
  }

  /** Prefixes of a file's hashes, so that a request for an unknown hash does not read all files. */
  #beginsOf(hashes: Past["hashes"]): Buffer {
    const { name } = hashes;
    const known = this.#begins.get(name);
    if (known) return known;
    whole(this.dir, () => verify(this.dir, hashes));
    const all = readFileSync(join(this.dir, name));
    const begins = Buffer.alloc((all.length / 32) * begin);
    for (let at = 0; at < all.length; at += 32) all.copy(begins, (at / 32) * begin, at, at + begin);
    this.#begins.set(name, begins);
    return begins;
  }

  close(): void {
    this.#current?.close();
    this.#current = undefined;
  }

  #put(name: string, content: Buffer): z.infer<typeof file> {
    replaceFile(join(this.dir, name), content);
    return { name, bytes: content.length, sha256: sha256(content) };
  }

  #write(wanted: Manifest): void {
    replaceFile(join(this.dir, index), lineOf(wanted));
    this.manifest = wanted;
  }
}

/** A ledger has a file that is missing or damaged. Its calls fail; all else goes on. */
export class OutOfOrder extends Refusal {
  constructor(dir: string, what: string) {
    const remedy = "Restore its folder from a backup and start the service again, or delete its environment";
    super(503, `The ledger ${basename(dir)} is out of order: ${what}. Nothing was changed. ${remedy}.`);
  }
}

/** Reads files of a ledger. Says whose they are, if one is damaged. */
function whole<T>(dir: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Damaged ? new OutOfOrder(dir, error.what) : error;
  }
}

/** Whether a piece is in a row of pieces of that size. */
function contains(row: Buffer, piece: Buffer, size: number): boolean {
  for (let at = row.indexOf(piece); at >= 0; at = row.indexOf(piece, at + 1)) if (at % size === 0) return true;
  return false;
}

/** Reads `ledger.json` and checks that the ledger is complete. */
function filesIn(dir: string): Manifest {
  const found = join(dir, index);
  if (!existsSync(dir)) throw damaged(dir, "the folder is missing");
  if (!existsSync(found)) throw damaged(found, "it is missing");
  const { success, data } = manifest.safeParse(recordOf(readFileSync(found, "utf8").trimEnd()));
  if (!success) throw damaged(found, "it does not list the files of the ledger");
  verify(dir, { name: "genesis.json", sha256: data.genesis });
  if (data.snapshot) verify(dir, data.snapshot);
  for (const { name, bytes, hashes } of data.past) {
    verify(dir, { name, bytes });
    verify(dir, { name: hashes.name, bytes: hashes.bytes });
  }
  for (const { name } of data.journals)
    if (!existsSync(join(dir, name))) throw damaged(join(dir, name), "it is missing");
  return data;
}

function verify(
  dir: string,
  { name, bytes, sha256: expected }: { name: string; bytes?: number; sha256?: string },
): void {
  const path = join(dir, name);
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) throw damaged(path, "it is missing");
  if (bytes !== undefined && size !== bytes) throw damaged(path, `it has ${size} of ${bytes} bytes`);
  if (expected !== undefined && sha256OfFile(path) !== expected) throw damaged(path, "its checksum is wrong");
}

/** Creates the folder of all ledgers. */
export function ensureFolder(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "EEXIST" ? "it must be a folder, and is a file. Move it away" : message;
    throw new ServiceError(`The ledgers cannot be written to ${dir}: ${reason}.`, { cause: error });
  }
}

const ether = 10n ** 18n;
const hexOf = (wei: bigint | string) => `0x${BigInt(wei).toString(16)}`;
/** An address in its usual form: clients may leave out 0x. */
export const plainAddress = (text: string) => `0x${text.toLowerCase().replace(/^0x/, "")}`;

type GenesisSpec = Pick<ChainSpec, "chainId" | "accounts" | "prefunded">;
const genesisText = jsonText.pipe(
  z.looseObject({ alloc: z.record(z.string(), z.looseObject({ secretKey: z.string().optional() })) }),
);

/**
 * Creates the chain's genesis once, with random keys for the accounts that it signs for. The keys are in this file only: since the
 * chain reads the file, they are in no process list and no log.
 */
export function ensureGenesis(dir: string, spec: GenesisSpec, now: number): string {
  const file = join(dir, "genesis.json");
  if (!existsSync(file)) replaceFile(file, JSON.stringify(genesis(spec, now)));
  else if (!genesisText.safeParse(readFileSync(file, "utf8")).success) {
    throw new OutOfOrder(dir, `${file} is damaged: it must hold the keys of the chain's accounts`);
  }
  return file;
}

function genesis({ chainId, accounts, prefunded = {} }: GenesisSpec, now: number) {
  const { computeAddress } = createRequire(__filename)("ethers/transaction") as typeof Transaction;
  const others = Object.entries(prefunded).map(
    ([account, { balance }]) => [plainAddress(account), { balance: hexOf(balance) }] as const,
  );
  const own = Array.from({ length: accounts }, () => {
    const secretKey = `0x${randomBytes(32).toString("hex")}`; // all but a vanishing few of them are valid
    return [computeAddress(secretKey), { balance: hexOf(10_000n * ether), secretKey }] as const;
  });
  const timestamp = `0x${Math.floor(now / 1_000).toString(16)}`;
  return {
    config: { chainId },
    timestamp,
    difficulty: "0x0",
    gasLimit: "0x1c9c380",
    alloc: Object.fromEntries([...others, ...own]),
  };
}
