import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Store } from "../store/store";
import { Chain } from "./chain";
import { ChainBase, type Pace, usualPace } from "./chain-base";
import type { ChainSpec, Host } from "./engine";
import { ensureFolder, LedgerFolder, OutOfOrder } from "./ledger-folder";
import { stopping } from "./replay";
import { removedAtEnd } from "./watched";

export type { Chain } from "./chain";
export type { ChainSpec } from "./engine";

/** A Unix socket's path has at most about 100 bytes. */
const socketRoot = () => (tmpdir().length > 70 ? "/tmp" : tmpdir());

/** Real chains. Each has a process, which starts when it is first needed, and a folder. The store knows which there must be. */
export class Chains {
  readonly #dir: string;
  /** The folder of the sockets, which only this user can enter. */
  readonly #sockets = mkdtempSync(join(socketRoot(), "consortium-chains-"));
  readonly #remove = removedAtEnd(this.#sockets);
  readonly #host: Host;
  readonly #running = new Map<string, Promise<Chain>>();
  /** Chains that are being stopped. */
  readonly #ending = new Map<string, Promise<void>>();
  /** Ledgers with a damaged file. They stay so until the service starts again. */
  readonly #outOfOrder = new Map<string, OutOfOrder>();
  /** What was said of a ledger that does not start. */
  readonly #told = new Map<string, string>();
  #closed = false;

  /**
   * @param dir the folder that keeps them; without it, they are lost when the service stops
   * @param memory bytes that one execution may take
   */
  constructor(
    command: string,
    dir: string | undefined,
    private readonly store: Store,
    private readonly warn: (text: string) => void,
    memory = 32 * 1_048_576,
    private readonly pace: Pace = usualPace,
  ) {
    this.#dir = dir === undefined ? join(this.#sockets, "ledgers") : resolve(dir);
    this.#host = { command: resolve(command), memory, dir: this.#sockets, running: new Set() };
    try {
      ensureFolder(this.#dir);
      for (const { id } of store.all("ledger")) {
        try {
          LedgerFolder.check(join(this.#dir, id));
        } catch (error) {
          this.#note(id, error);
        }
      }
    } catch (error) {
      this.#remove();
      throw error;
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

  /** Stops a chain; its ledger stays. */
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

  /** Says once why a ledger does not start. If one of its files is damaged, it is not tried again. */
  #note(key: string, error: unknown): void {
    const { message } = error as Error;
    if (this.#closed || this.#told.get(key) === message) return;
    this.#told.set(key, message);
    if (error instanceof OutOfOrder) this.#outOfOrder.set(key, error);
    this.warn(error instanceof OutOfOrder ? message : `The ledger ${key} cannot be used: ${message}`);
  }

  /** Stops a chain and deletes its ledger. */
  async erase(key: string): Promise<void> {
    await this.stop(key);
    this.#outOfOrder.delete(key);
    const ledger = this.store.get("ledger", key);
    if (ledger) this.store.remove(ledger);
    rmSync(join(this.#dir, key), { recursive: true, force: true });
  }

  /** Deletes known ledgers without an owner, which a killed service may have left. */
  async sweep(keep: (key: string) => boolean): Promise<void> {
    const outdated = this.store.all("ledger").filter(({ id }) => !keep(id));
    await Promise.all(outdated.map(({ id }) => this.erase(id)));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#ending.values());
    await Promise.allSettled([...this.#running.values()].map(async (chain) => (await chain).close()));
    const { running } = this.#host;
    for (const { end } of running) end();
    await Promise.all([...running].map(({ ended }) => ended));
    this.#remove();
  }

  async #start(wanted: ChainSpec): Promise<Chain> {
    const { key: id, profile } = wanted;
    const dir = join(this.#dir, id);
    const known = this.store.get("ledger", id);
    const spec = { ...wanted, profile: known ? known.fields.profile : profile }; // it stays what it began as
    try {
      const folder = known ? LedgerFolder.existing(dir) : LedgerFolder.open(dir, spec, this.store.clock);
      if (!known)
        this.store.create({
          kind: "ledger",
          id,
          parent: "",
          organization: "",
          due: undefined,
          fields: profile ? { profile } : {},
        });
      return await Chain.start(this.#host, new ChainBase(spec, folder, this.pace, this.warn, this.store.clock));
    } catch (error) {
      this.#note(id, error);
      throw error;
    }
  }
}
