import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { type BatchOperation, ClassicLevel } from "classic-level";
import { Damaged, Refusal, ServiceError, unwritten } from "../errors";
import { replaceFile, sha256, sha256OfFile } from "./files";

/** A value to keep under a key, or to remove from there. */
export type Change = readonly [key: string, value: Buffer | string | undefined];

type Level = ClassicLevel<string, Buffer>;
type Batch = BatchOperation<Level, string, Buffer>[];

interface Waiting {
  changes: readonly Change[];
  sync: boolean;
  done: () => void;
  failed: (error: unknown) => void;
}

const checksum = 4;
/** Bytes that must fit on the disk before a database continues after a failed write. */
const probe = 262_144;

export class InUse extends ServiceError {
  constructor(dir: string, cause: unknown, by = "process") {
    super(`${dir} is in use by another ${by}.`, { code: "folder-in-use", cause });
  }
}

/**
 * A folder with a LevelDB database. LevelDB's lock locks the folder, and its batches are the journal: each is written completely or not at
 * all.
 * Each value begins with a checksum of itself and its key.
 */
export class Database {
  #queue: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #isWriting = false;
  #failed = false;
  #closed = false;

  private constructor(
    readonly dir: string,
    private level: Level,
  ) {}

  /** Opens a database, or creates it. Changes nothing if a file is no longer what it was at the last stop. */
  static async open(dir: string): Promise<Database> {
    try {
      mkdirSync(dir, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw new ServiceError(`The folder ${dir} cannot be used: ${(error as Error).message}.`, { cause: error });
    }
    mustBeWhole(dir);
    rmSync(markOf(dir), { force: true });
    const level = await opened(dir);
    rmSync(markOf(dir), { force: true }); // of a process that ended at this very moment
    return new Database(dir, level);
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  async get(key: string): Promise<Buffer | undefined> {
    const value = await this.level.get(key);
    return value && this.#checked(key, value);
  }

  /** The entries from one key until before another one, in order. */
  async *entries(from: string, until: string, reverse = false): AsyncGenerator<[string, Buffer]> {
    const iterator = this.level.iterator({ gte: from, lt: until, reverse, highWaterMarkBytes: 1 << 22 });
    try {
      for (;;) {
        const some = await iterator.nextv(4_000);
        if (some.length === 0) return;
        for (const [key, value] of some) yield [key, this.#checked(key, value)];
      }
    } finally {
      await iterator.close();
    }
  }

  async check(): Promise<void> {
    const all = this.entries("", "~");
    while (!(await all.next()).done);
  }

  /**
   * Writes changes, all or none. Concurrent writes share a batch and a sync.
   *
   * @param sync whether the write must survive a power cut once this resolves; otherwise, it only survives the end of the process
   */
  write(changes: readonly Change[], sync = true): Promise<void> {
    if (this.#closed)
      return Promise.reject(new Refusal(503, `Nothing is written to ${this.dir}: the service is stopping.`));
    return new Promise((done, failed) => {
      this.#queue.push({ changes, sync, done, failed });
      if (!this.#isWriting) this.#writing = this.#drain();
    });
  }

  /** Closes it once everything is written, and notes what its files are then. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#writing;
    const own = currentOf(this.dir);
    await this.level.close();
    try {
      const all = filesOf(this.dir).map((name) => [name, sha256OfFile(join(this.dir, name))]);
      const files = JSON.stringify(Object.fromEntries(all));
      replaceFile(markOf(this.dir), `${sha256(files)} ${files}`);
      if (currentOf(this.dir) !== own) rmSync(markOf(this.dir)); // another process has it already
    } catch {
      rmSync(markOf(this.dir), { force: true }); // without the mark, LevelDB's own checks must do
    }
  }

  async #drain(): Promise<void> {
    this.#isWriting = true;
    while (this.#queue.length > 0) {
      const all = this.#queue;
      this.#queue = [];
      try {
        if (this.#failed) await this.#reopen();
        const batch: Batch = all.flatMap(({ changes }) =>
          changes.map(([key, value]) =>
            value === undefined
              ? ({ type: "del", key } as const)
              : ({ type: "put", key, value: sealed(key, Buffer.from(value)) } as const),
          ),
        );
        await this.level.batch(batch, { sync: all.some(({ sync }) => sync) });
        for (const { done } of all) done();
      } catch (error) {
        this.#failed = true;
        for (const { failed } of all) failed(unwritten(`This cannot be written to ${this.dir}`, causeOf(error)));
      }
    }
    this.#isWriting = false;
  }

  /** After a failed write, the end of the log may be torn. LevelDB would append to it, so a new log is started first. */
  async #reopen(): Promise<void> {
    const file = join(this.dir, "probe");
    try {
      writeFileSync(file, Buffer.alloc(probe));
    } finally {
      rmSync(file, { force: true });
    }
    await this.level.close();
    this.level = await opened(this.dir);
    this.#failed = false;
  }

  #checked(key: string, value: Buffer): Buffer {
    const rest = value.subarray(checksum);
    if (value.length >= checksum && value.readUInt32LE() === crc32(rest, seedOf(key))) return rest;
    throw new Damaged(
      `${nameOf(key).replace(/^./, (first) => first.toUpperCase())} in ${this.dir} is damaged: its checksum is wrong`,
    );
  }
}

/** A key in words, for people. */
export const nameOf = (key: string) => key.replace(/\/0*(?=.)/, " ");

/** A number that stands for a key, so that a value under another key has a wrong checksum. */
function seedOf(key: string): number {
  let seed = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) seed = Math.imul(seed ^ key.charCodeAt(at), 0x01000193);
  return seed >>> 0;
}

function sealed(key: string, value: Buffer): Buffer {
  const head = Buffer.alloc(checksum);
  head.writeUInt32LE(crc32(value, seedOf(key)));
  return Buffer.concat([head, value]);
}

export const filesOf = (dir: string) =>
  readdirSync(dir)
    .filter((name) => /^(CURRENT|MANIFEST-\d+|\d+\.(ldb|log))$/.test(name))
    .sort();
const currentOf = (dir: string) => readFileSync(join(dir, "CURRENT"), "utf8");

/**
 * The checksums of all files at the last stop. LevelDB drops a damaged part of its log silently. A process that was killed leaves none:
 * then there are LevelDB's own checks, and the checksum of each value.
 */
export const markOf = (dir: string) => join(dir, "whole");

/** Whether a database has a mark. Throws if a file is not what that says. */
export function mustBeWhole(dir: string): boolean {
  const mark = markOf(dir);
  if (!existsSync(mark)) return false;
  const [, own, files = ""] = /^(\w+) (.*)$/.exec(readFileSync(mark, "latin1")) ?? [];
  if (own !== sha256(files)) throw new Damaged(`${mark} is damaged: its checksum is wrong`);
  for (const [name, sum] of Object.entries(JSON.parse(files) as Record<string, string>)) {
    const file = join(dir, name);
    if (!existsSync(file)) throw new Damaged(`${file} is damaged: it is missing`);
    if (sha256OfFile(file) !== sum) throw new Damaged(`${file} is damaged: it is not what it was at the last stop`);
  }
  return true;
}

async function opened(dir: string): Promise<Level> {
  if (!existsSync(join(dir, "CURRENT")) && readdirSync(dir).some((name) => /\.(ldb|log)$/.test(name)))
    throw new Damaged(`${join(dir, "CURRENT")} is damaged: it is missing`);
  const level: Level = new ClassicLevel(dir, { valueEncoding: "buffer", compression: false });
  try {
    await level.open();
    return level;
  } catch (error) {
    const cause = causeOf(error) as NodeJS.ErrnoException;
    if (cause.code === "LEVEL_LOCKED") throw new InUse(dir, cause);
    if (existsSync(join(dir, "CURRENT")) && /corrupt|missing/i.test(cause.message))
      throw new Damaged(`${dir} is damaged: ${cause.message}`);
    throw new ServiceError(`The database ${dir} cannot be opened: ${cause.message}.`, { cause });
  }
}

const causeOf = (error: unknown): unknown => (error instanceof Error && error.cause ? error.cause : error);
