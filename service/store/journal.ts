import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";
import { Damaged, isFull } from "../errors";
import { jsonText, replaceFile } from "./files";
import { type Generation, generationOf } from "./generation";

const synced = promisify(fdatasync);
/** Bytes that one read takes. */
const part = 65_536;
const newline = 10;

export const damaged = (file: string, why: string, line?: number) =>
  new Damaged(`${file} is damaged${line === undefined ? "" : ` in line ${line}`}: ${why}`);

/** Digits of the length in the first line. Their number is fixed, so that the length can be written in place. */
const digits = 16;
const lengthText = (length: number) => `${length}`.padStart(digits, "0");

/**
 * A file of JSON lines that only grows. Each line has a checksum, and the first line says how long the file was at the last sync.
 * So a missing end can be told from lines that a crash tore before they were acknowledged.
 */
export class Journal {
  readonly #head: string;
  readonly #descriptor: number;
  readonly #generation: Generation | undefined;
  #length: number;
  /** How many bytes are surely on disk. */
  #synced: number;
  #flushing: Promise<void> | undefined;
  #closed = false;

  private constructor(
    readonly file: string,
    format: object,
    length: number,
  ) {
    this.#head = JSON.stringify(format).slice(0, -1);
    this.#generation = generationOf(file);
    this.#descriptor = openSync(file, "r+");
    this.#length = this.#synced = length;
  }

  get bytes(): number {
    return this.#length;
  }

  /** Creates a file with these records. Replaces an existing one. */
  static create(file: string, format: object, records: readonly object[]): Journal {
    const head = JSON.stringify(format).slice(0, -1);
    let length = Buffer.byteLength(headOf(head, 0));
    replaceFile(file, (descriptor) => {
      writeFileSync(descriptor, headOf(head, 0));
      for (const lines of partsOf(records)) {
        writeFileSync(descriptor, lines);
        length += Buffer.byteLength(lines);
      }
      writeSync(descriptor, headOf(head, length), 0);
    });
    return new Journal(file, format, length);
  }

  /**
   * Reads all records, and opens the file to add more. Changes nothing before the first record is added, except that a file that
   * another process may have open is replaced by a copy.
   *
   * @param format what the first line must contain, besides the length
   */
  static open(file: string, format: object, each: (record: unknown, line: number) => void): Journal {
    ownFile(file);
    return new Journal(file, format, Journal.read(file, format, each));
  }

  /** Reads all records. Returns where the last whole one ends. */
  static read(file: string, format: object, each: (record: unknown, line: number) => void): number {
    const head = JSON.stringify(format).slice(0, -1);
    let committed = 0;
    let end = 0;
    let number = 0;
    const { size, torn } = eachLine(file, (line) => {
      if (++number === 1) {
        const said = new RegExp(`^,"length":"(\\d{${digits}})"}$`).exec(line.slice(head.length))?.[1];
        if (said === undefined || !line.startsWith(head))
          throw damaged(file, "it does not begin as a file of this version does", 1);
        committed = Number(said);
      } else {
        const record = recordOf(line);
        if (record === undefined && end < committed) throw damaged(file, "its checksum is wrong", number);
        if (record === undefined) return false;
        each(record, number);
      }
      end += Buffer.byteLength(line) + 1;
      return true;
    });
    if (number === 0) throw damaged(file, torn ? "its first line is cut" : "it is empty");
    if (end < committed) throw damaged(file, `it ends after ${size} of ${committed} bytes`);
    return end;
  }

  /** Adds records. Once `flushed` resolves, they survive the end of the process and a power cut. */
  add(records: readonly object[]): void {
    const bytes = Buffer.from(records.map(lineOf).join(""));
    this.#generation?.check();
    try {
      ftruncateSync(this.#descriptor, this.#length); // removes what a crash tore
      let written = 0;
      while (written < bytes.length)
        written += writeSync(this.#descriptor, bytes, written, bytes.length - written, this.#length + written);
    } catch (error) {
      this.#undo(this.#length, error);
    }
    this.#length += bytes.length;
  }

  /**
   * Resolves when all that was added before is on disk, in a folder that this process still holds. Callers that wait at the same
   * time share a sync.
   */
  async flushed(): Promise<void> {
    for (const wanted = this.#length; !this.#closed && this.#synced < wanted;)
      await (this.#flushing ??= this.#flush().finally(() => (this.#flushing = undefined)));
    this.#generation?.check();
  }

  /** Adds records, and resolves when they are on disk; if that fails, none is added. Only one call at a time. */
  async append(records: readonly object[]): Promise<void> {
    const before = this.#length;
    this.add(records);
    await synced(this.#descriptor).catch((error: unknown) => this.#undo(before, error));
    this.#generation?.check();
    this.#commit(this.#length);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (!this.#generation?.isLost) {
      fdatasyncSync(this.#descriptor);
      this.#commit(this.#length);
    }
    closeSync(this.#descriptor);
  }

  /** Writes the length only after the sync: else a power cut would leave a file that seems cut off. */
  async #flush(): Promise<void> {
    const end = this.#length;
    try {
      await synced(this.#descriptor);
    } catch (error) {
      if (!this.#closed) throw error; // close() has synced it
    }
    if (!this.#closed && !this.#generation?.isLost) this.#commit(end);
  }

  #commit(end: number): void {
    this.#synced = end;
    writeSync(this.#descriptor, headOf(this.#head, end), 0);
  }

  #undo(length: number, error: unknown): never {
    this.#length = length;
    ftruncateSync(this.#descriptor, length); // a full disk must not leave half a line
    throw error;
  }
}

/** Copies a file that the process that held the folder before may have open: what it still writes then goes nowhere. */
function ownFile(file: string): void {
  if (!generationOf(file)?.mayBeShared) return;
  try {
    replaceFile(file, readFileSync(file));
  } catch (error) {
    if (!isFull(error)) throw error; // better to start without a copy than not to start
  }
}

const headOf = (head: string, length: number) => `${head},"length":"${lengthText(length)}"}\n`;

const mark = '{"crc32":"00000000"';
const checksum = (rest: string) => crc32(rest).toString(16).padStart(8, "0");

/** Records as lines, some at a time: all together might not fit into memory. */
function* partsOf(records: readonly object[]): Generator<string> {
  let lines = "";
  for (const record of records) {
    lines += lineOf(record);
    if (lines.length < part) continue;
    yield lines;
    lines = "";
  }
  yield lines;
}

/** A record with its checksum, as a line. */
export function lineOf(record: object): string {
  const rest = `,${JSON.stringify(record).slice(1)}`;
  return `{"crc32":"${checksum(rest)}"${rest}\n`;
}

/** The record in a line; undefined if its checksum is wrong. */
export function recordOf(line: string): unknown {
  const rest = line.slice(mark.length);
  if (line.slice(0, mark.length) !== `{"crc32":"${checksum(rest)}"`) return undefined;
  return jsonText.safeParse(`{${rest.slice(1)}`).data;
}

/** Reads a file line by line, without ever holding all of it. `each` stops it by returning false. */
function eachLine(file: string, each: (line: string) => boolean): { size: number; torn: boolean } {
  const descriptor = openSync(file, "r");
  let size = 0;
  try {
    let waiting: Buffer[] = [];
    for (;;) {
      const buffer = Buffer.allocUnsafe(part);
      const read = readSync(descriptor, buffer, 0, part, null);
      if (read === 0) return { size, torn: waiting.length > 0 };
      size += read;
      let from = 0;
      for (let at = 0; (at = buffer.subarray(0, read).indexOf(newline, from)) >= 0; from = at + 1) {
        const line = Buffer.concat([...waiting, buffer.subarray(from, at)]).toString();
        waiting = [];
        if (!each(line)) return { size, torn: true };
      }
      if (from < read) waiting.push(buffer.subarray(from, read));
    }
  } finally {
    closeSync(descriptor);
  }
}
