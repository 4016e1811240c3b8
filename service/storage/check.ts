import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** A damaged place in a file of a database, with the affected range of keys, if known. */
export interface Damage {
  file: string;
  why: string;
  keys?: [string, string];
}

/**
 * Looks for a damaged byte in the files of a LevelDB database, before it is opened. LevelDB itself silently drops a damaged part of its
 * log, and does not check the checksums of its tables.
 */
export async function damageIn(dir: string): Promise<Damage | undefined> {
  const names = readdirSync(dir);
  const current = join(dir, "CURRENT");
  if (!names.includes("CURRENT"))
    return names.some((name) => /\.(ldb|log)$/.test(name)) ? { file: current, why: "it is missing" } : undefined;
  const manifest = (await readFile(current, "utf8")).replace(/\n$/, "");
  if (!names.includes(manifest)) return { file: current, why: "it names a missing file" };
  if (!names.some((name) => name.endsWith(".log"))) return { file: join(dir, "*.log"), why: "it is missing" };
  const tables = tablesIn(await readFile(join(dir, manifest)));
  for (const name of names) {
    const file = join(dir, name);
    const isLog = name.endsWith(".log") || name.startsWith("MANIFEST-");
    // A table that is not in the manifest is unfinished, because the process ended: LevelDB removes it.
    if (!isLog && !(name.endsWith(".ldb") && (tables?.has(parseInt(name)) ?? true))) continue;
    const found = (isLog ? inLog : inTable)(await readFile(file));
    if (found) return { file, ...found };
  }
  return undefined;
}

type Found = Omit<Damage, "file"> | undefined;

const logBlock = 32_768;
const logHeader = 7;

/** A log consists of blocks of 32 kB, and these of records with a checksum, a length and a type. */
function inLog(bytes: Buffer): Found {
  for (let at = 0; at < bytes.length;) {
    const left = logBlock - (at % logBlock);
    if (left < logHeader) at += left;
    if (at + logHeader > bytes.length) return undefined; // cut off: a write that was never acknowledged
    const length = bytes.readUInt16LE(at + 4);
    const end = at + logHeader + length;
    if (isRecord(bytes, at, length)) {
      at = end;
      continue;
    }
    const isEmpty = bytes.subarray(at, at + logHeader).every((byte) => byte === 0);
    const isCut = end > bytes.length && end - at <= left; // a write that was never acknowledged
    const isTorn = isCut
      ? !isMistaken(bytes, at, length)
      : bytes.subarray(Math.max(at, end - 1)).every((byte) => byte === 0);
    if (isTorn) return undefined;
    if (!isEmpty) return { why: `the checksum of its record at byte ${at} is wrong` };
    at += left;
  }
  return undefined;
}

const isRecord = (bytes: Buffer, at: number, length: number) => {
  const end = at + logHeader + length;
  return bytes[at + 6] !== 0 && end <= bytes.length && bytes.readUInt32LE(at) === masked(bytes.subarray(at + 6, end));
};

/** Whether the record is complete, and only a bit of its length is wrong. */
const isMistaken = (bytes: Buffer, at: number, length: number) =>
  Array.from({ length: 16 }, (_, bit) => length ^ (1 << bit)).some((other) => isRecord(bytes, at, other));

/**
 * The numbers of the tables that belong to the database. undefined if the manifest is damaged, which the check of its checksums reports.
 */
function tablesIn(manifest: Buffer): Set<number> | undefined {
  const tables = new Set<number>();
  try {
    let edit = Buffer.alloc(0);
    for (const { part, isFirst, isLast } of recordsIn(manifest)) {
      edit = Buffer.concat(isFirst ? [part] : [edit, part]);
      if (isLast) apply(edit, tables);
    }
    return tables;
  } catch {
    return undefined;
  }
}

function* recordsIn(bytes: Buffer): Generator<{ part: Buffer; isFirst: boolean; isLast: boolean }> {
  for (let at = 0; at + logHeader <= bytes.length;) {
    const left = logBlock - (at % logBlock);
    const length = left < logHeader ? 0 : bytes.readUInt16LE(at + 4);
    if (left < logHeader) {
      at += left;
      continue;
    }
    if (!isRecord(bytes, at, length)) return;
    const type = bytes[at + 6]!; // 1: a whole edit; 2, 3, 4: its first, middle and last part
    at += logHeader + length;
    yield { part: bytes.subarray(at - length, at), isFirst: type <= 2, isLast: type === 1 || type === 4 };
  }
}

/** Reads one change of the set of tables. Each of its fields begins with its tag. */
function apply(edit: Buffer, tables: Set<number>): void {
  const reader = new Reader(edit, 0);
  const text = (): void => {
    const size = reader.number();
    reader.at += size;
  };
  while (reader.at < edit.length) {
    const field = reader.number();
    if (field === 1)
      text(); // the comparator
    else if ([2, 3, 4, 9].includes(field))
      reader.number(); // numbers of logs, files and writes
    else if (field === 5) {
      reader.number();
      text(); // where the next compaction of a level begins
    } else if (field === 6) {
      reader.number();
      tables.delete(reader.number());
    } else if (field === 7) {
      reader.number();
      tables.add(reader.number());
      reader.number();
      text();
      text();
    } else throw new Error(`unknown field ${field}`);
  }
}

const footer = 48;
const magic = 0xdb4775248b80fb57n;
const trailer = 5;

/** A table consists of blocks, each followed by a type and a checksum, and ends with the place of its index. */
function inTable(bytes: Buffer): Found {
  try {
    const end = bytes.length - footer;
    if (end < 0 || bytes.readBigUInt64LE(bytes.length - 8) !== magic) return { why: "its end is missing or changed" };
    const places = new Reader(bytes, end);
    const meta = places.handle();
    const index = places.handle();
    if (bytes.subarray(places.at, bytes.length - 8).some((byte) => byte !== 0)) return { why: "its end is changed" };
    if (![meta, index].every((one) => isWhole(bytes, one))) return { why: "the checksum of its index is wrong" };
    let before = "";
    for (const { key, handle } of entriesOf(bytes.subarray(index.offset, index.offset + index.size))) {
      if (!isWhole(bytes, handle))
        return { why: `the checksum of its block at byte ${handle.offset} is wrong`, keys: [before, key] };
      before = key;
    }
    return undefined;
  } catch {
    return { why: "its structure is damaged" };
  }
}

interface Handle {
  offset: number;
  size: number;
}

function isWhole(bytes: Buffer, { offset, size }: Handle): boolean {
  const end = offset + size;
  return end + trailer <= bytes.length && bytes.readUInt32LE(end + 1) === masked(bytes.subarray(offset, end + 1));
}

/** The keys of an index block, which is not compressed, and the blocks that end with them. */
function* entriesOf(block: Buffer): Generator<{ key: string; handle: Handle }> {
  const restarts = block.readUInt32LE(block.length - 4);
  const reader = new Reader(block, 0);
  let key = Buffer.alloc(0);
  while (reader.at < block.length - 4 * (restarts + 1)) {
    const [shared, own] = [reader.number(), reader.number()];
    reader.number(); // the length of the handle
    key = Buffer.concat([key.subarray(0, shared), block.subarray(reader.at, (reader.at += own))]);
    yield { key: key.subarray(0, -8).toString(), handle: reader.handle() }; // 8 bytes are LevelDB's own
  }
}

class Reader {
  constructor(
    private readonly bytes: Buffer,
    public at: number,
  ) {}

  number(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.bytes.readUInt8(this.at++);
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  handle = (): Handle => ({ offset: this.number(), size: this.number() });
}

/** CRC-32C, which LevelDB uses; zlib's CRC is different. */
const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

/** The checksum of bytes, as LevelDB writes it. */
function masked(bytes: Buffer): number {
  let crc = -1;
  for (let at = 0; at < bytes.length; at++) crc = table[(crc ^ bytes[at]!) & 255]! ^ (crc >>> 8);
  crc = ~crc >>> 0;
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
