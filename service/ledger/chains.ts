import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Chain } from "./chain";
import { type Pace, usualPace } from "./chain-base";
import type { Host } from "./engine";
import { LedgerData, OutOfOrder, type ChainSpec } from "./ledger-data";
import { ServiceError } from "../errors";
import { stopping } from "./replay";
import { removedAtEnd } from "./watched";

export type { Chain } from "./chain";
export type { ChainSpec } from "./ledger-data";

/** A Unix socket's path has at most about 100 bytes. */
const socketRoot = () => (tmpdir().length > 70 ? "/tmp" : tmpdir());

/** Knows which ledgers must exist. */
export interface Register {
  all(): string[];
  has(key: string): boolean;
  add(key: string, profile: ChainSpec["profile"]): void;
  /** The client that a ledger imitates, fixed at its first start. */
  profileOf(key: string): ChainSpec["profile"];
  remove(key: string): void;
  clock: () => number;
}

/** Real chains. Each has a process, which starts when it is first needed, and a folder. */
export class Chains {
  readonly #dir: string;
  /** The folder of the sockets, which only this user can enter. */
  readonly #sockets = mkdtempSync(join(socketRoot(), "consortium-chains-"));
  readonly #remove = removedAtEnd(this.#sockets);
  readonly #host: Host;
  readonly #running = new Map<string, Promise<Chain>>();
  readonly #ending = new Map<string, Promise<void>>();
  /** Ledgers with a damaged file, until the service restarts. */
  readonly #outOfOrder = new Map<string, OutOfOrder>();
  /** Messages about ledgers that do not start. */
  readonly #told = new Map<string, string>();
  #closed = false;

  /**
   * @param dir the folder that keeps them; without it, they are lost when the service stops
   * @param memory bytes that one execution may take
   */
  constructor(
    command: string,
    dir: string | undefined,
    private readonly register: Register,
    private readonly warn: (text: string) => void,
    memory = 32 * 1_048_576,
    private readonly pace: Pace = usualPace,
  ) {
    this.#dir = dir === undefined ? join(this.#sockets, "ledgers") : resolve(dir);
    this.#host = { command: resolve(command), memory, dir: this.#sockets };
    try {
      mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    } catch (error) {
      this.#remove();
      const { code, message } = error as NodeJS.ErrnoException;
      const reason = code === "EEXIST" ? "it must be a folder, but is a file. Move it away" : message;
      throw new ServiceError(`The ledgers cannot be written to ${this.#dir}: ${reason}.`, { cause: error });
    }
  }

  get(spec: ChainSpec): Promise<Chain> {
    if (this.#closed) return Promise.reject(stopping());
    const outOfOrder = this.#outOfOrder.get(spec.key);
    if (outOfOrder) return Promise.reject(outOfOrder);
    const ending = this.#ending.get(spec.key);
    if (ending) return ending.then(() => this.get(spec));
    const chain = this.#running.get(spec.key) ?? this.#start(spec);
    this.#running.set(spec.key, chain);
    chain.catch(() => this.#running.delete(spec.key));
    return chain;
  }

  stop(key: string): Promise<void> {
    const ended = this.#stop(key).finally(() => {
      if (this.#ending.get(key) === ended) this.#ending.delete(key);
    });
    this.#ending.set(key, ended);
    return ended;
  }

  async #stop(key: string): Promise<void> {
    await this.#ending.get(key);
    const chain = await this.#running.get(key)?.catch(() => undefined);
    await chain?.close();
    this.#running.delete(key);
  }

  /** Reports once why a ledger does not start. A damaged ledger is not tried again. */
  #note(key: string, error: unknown): void {
    const { message } = error as Error;
    if (this.#closed || this.#told.get(key) === message) return;
    this.#told.set(key, message);
    if (error instanceof OutOfOrder) this.#outOfOrder.set(key, error);
    this.warn(error instanceof OutOfOrder ? message : `The ledger ${key} cannot be used: ${message}`);
  }

  async erase(key: string): Promise<void> {
    await this.stop(key);
    this.#outOfOrder.delete(key);
    if (this.register.has(key)) this.register.remove(key);
    rmSync(join(this.#dir, key), { recursive: true, force: true });
  }

  /** Deletes known ledgers without an owner, which a killed service may have left. */
  async sweep(keep: (key: string) => boolean): Promise<void> {
    await Promise.all(this.register.all().flatMap((key) => (keep(key) ? [] : [this.erase(key)])));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#ending.values());
    await Promise.allSettled([...this.#running.values()].map(async (chain) => (await chain).close()));
    this.#remove();
  }

  async #start(wanted: ChainSpec): Promise<Chain> {
    const { key } = wanted;
    const { register, pace, warn } = this;
    const known = register.has(key);
    const spec = known ? { ...wanted, profile: register.profileOf(key) } : wanted; // it keeps its first kind
    try {
      const data = await LedgerData.open(join(this.#dir, key), spec, known, register.clock);
      if (!known) register.add(key, spec.profile);
      return await new Chain(this.#host, spec, data, pace, warn, register.clock).start((error) => {
        this.#note(key, error);
        void this.stop(key);
      });
    } catch (error) {
      this.#note(key, error);
      throw error;
    }
  }
}
