import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { Refusal } from "../errors";

/** The file that says who holds a folder. */
export const ownerFile = "lock";

/** Who holds a folder: a process, and a word that no other start has. */
export interface Owner {
  pid: number;
  host: string;
  word?: string | undefined;
}

export const textOf = ({ pid, host, word }: Owner) => `${pid} ${host} ${word}\n`;

export function ownerOf(dir: string): Owner | undefined {
  try {
    const [pid, host = "", word] = readFileSync(join(dir, ownerFile), "utf8").trim().split(" ");
    return Number(pid) > 0 ? { pid: Number(pid), host, word } : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Names the process that holds a folder. */
export const nameOf = ({ pid, host }: Owner) => `process ${pid}${host === hostname() ? "" : ` on ${host}`}`;

/** Another process has the folder now. */
export class FolderLost extends Refusal {
  constructor(dir: string, other: Owner | undefined) {
    const who = other ? `another service has it now (${nameOf(other)})` : "its lock is gone";
    super(503, `This service no longer holds the data folder ${dir}: ${who}. Nothing more is written, and it stops.`);
  }
}

/** The folders that this process holds. */
const held = new Map<string, Generation>();

/** The folder of a file, if this process holds it. */
export function generationOf(file: string): Generation | undefined {
  if (held.size === 0) return undefined;
  for (let dir = dirname(resolve(file)); ; dir = dirname(dir)) {
    const found = held.get(dir);
    if (found || dir === dirname(dir)) return found;
  }
}

/**
 * The time during which one process holds a folder. A process may be stopped for longer than its lock lasts, and go on after
 * another one has taken the folder. So whatever writes there checks that the folder is still held: before, because what it writes
 * would harm, and before anybody is told, because what was written may be lost.
 *
 * A check and a write are two steps, and between them the process may be stopped, too. So whoever takes a folder from a process
 * that may still live sees to it that such a write comes to nothing: files that grow are copied (`mayBeShared`), and files that are
 * about to replace others are removed.
 */
export class Generation {
  readonly word = randomBytes(8).toString("hex");
  #loss: FolderLost | undefined;
  #over = false;

  /**
   * @param mayBeShared whether the process that held the folder before may still have files open
   * @param lost hears once that another process has the folder
   */
  private constructor(
    readonly dir: string,
    readonly mayBeShared: boolean,
    private readonly lost: (error: Error) => void,
  ) {}

  /** @param owns writes who holds the folder */
  static begin(dir: string, mayBeShared: boolean, lost: (error: Error) => void, owns: (text: string) => void) {
    const generation = new Generation(resolve(dir), mayBeShared, lost);
    owns(textOf({ pid: process.pid, host: hostname(), word: generation.word }));
    held.set(generation.dir, generation);
    removeDrafts(dir);
    return generation;
  }

  /** Whether this process holds a folder under a word. */
  static isOurs = (dir: string, { word }: Owner) => word !== undefined && held.get(resolve(dir))?.word === word;

  get isLost(): boolean {
    return this.#loss !== undefined;
  }

  /** Fails if another process has the folder. */
  check(): void {
    if (this.#loss) throw this.#loss;
    if (this.#over) return;
    const owner = ownerOf(this.dir);
    if (owner?.word === this.word) return;
    this.lose(owner);
    throw this.#loss!;
  }

  lose(other = ownerOf(this.dir)): void {
    if (this.#loss) return;
    this.#loss = new FolderLost(this.dir, other?.word === this.word ? undefined : other);
    this.lost(this.#loss);
  }

  /** The folder is given back. */
  end(): void {
    this.#over = true;
    held.delete(this.dir);
  }
}

/** The temporary name of a file that will replace another one. */
export const draftOf = (file: string, generation: Generation | undefined) =>
  generation ? `${file}.${generation.word}.new` : `${file}.new`;

/** Removes what earlier processes were about to put in place: one that goes on can no longer do it. */
function removeDrafts(dir: string): void {
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && /\.[0-9a-f]{16}\.new$/.test(entry.name))
      rmSync(join(entry.parentPath, entry.name), { force: true });
}
