import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { damaged } from "../store/journal";
import type { Store } from "../store/store";
import { Chain, type Pace, usualPace } from "./chain";
import type { ChainSpec, Host } from "./engine";
import { ensureFolder, LedgerFolder } from "./ledger-folder";
import { stopping } from "./replay";
import { Watched } from "./watcher-client";

export type { Chain } from "./chain";
export type { ChainSpec } from "./engine";

/** The existing ledgers; the owner of the chains must remember them. */
export interface Known {
  has(key: string): boolean;
  keys(): string[];
  add(key: string): void;
  remove(key: string): void;
}

/** A Unix socket's path has at most about 100 bytes. */
const socketRoot = () => (tmpdir().length > 70 ? "/tmp" : tmpdir());

/** Real chains, each a process that starts when it is first needed, and a folder with all that it was told. */
export class Chains {
  readonly #dir: string;
  /** Sockets, in a folder that only this user can enter; the watcher removes it at the end. */
  readonly #sockets = mkdtempSync(join(socketRoot(), "consortium-chains-"));
  readonly #host: Host;
  readonly #running = new Map<string, Promise<Chain>>();
  #closed = false;

  /**
   * @param dir keeps them; without it they are gone with the service
   * @param warn receives warnings
   * @param memory bytes that one execution may take
   */
  constructor(
    command: string,
    dir: string | undefined,
    private readonly known: Known,
    private readonly warn: (text: string) => void,
    memory = 32 * 1_048_576,
    private readonly pace: Pace = usualPace,
  ) {
    this.#dir = dir === undefined ? join(this.#sockets, "ledgers") : resolve(dir);
    this.#host = { command: resolve(command), memory, dir: this.#sockets, watched: new Watched(this.#sockets) };
    try {
      ensureFolder(this.#dir);
    } catch (error) {
      rmSync(this.#sockets, { recursive: true });
      throw error;
    }
  }

  /** Checks that the known ledgers are complete; changes nothing. */
  static check(dir: string, known: Pick<Known, "keys">): void {
    for (const key of known.keys()) {
      if (!existsSync(join(dir, key))) throw damaged(join(dir, key), "the folder of this ledger is missing");
      LedgerFolder.check(join(dir, key));
    }
  }

  get(spec: ChainSpec): Promise<Chain> {
    if (this.#closed) return Promise.reject(stopping());
    const chain = this.#running.get(spec.key) ?? this.#start(spec);
    this.#running.set(spec.key, chain);
    chain.catch(() => this.#running.delete(spec.key));
    return chain;
  }

  /** Stops a chain and deletes its ledger. */
  async erase(key: string): Promise<void> {
    const chain = await this.#running.get(key)?.catch(() => undefined);
    await chain?.close();
    this.#running.delete(key);
    if (this.known.has(key)) this.known.remove(key);
    rmSync(join(this.#dir, key), { recursive: true, force: true });
  }

  /** Deletes known ledgers without an owner, which a killed service may have left. */
  async sweep(keep: (key: string) => boolean): Promise<void> {
    await Promise.all(
      this.known
        .keys()
        .filter((key) => !keep(key))
        .map((key) => this.erase(key)),
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled([...this.#running.values()].map(async (chain) => (await chain).close()));
    await this.#host.watched.close();
    rmSync(this.#sockets, { recursive: true, force: true }); // where no chain ever ran, no watcher did it
  }

  async #start(spec: ChainSpec): Promise<Chain> {
    const dir = join(this.#dir, spec.key);
    const known = this.known.has(spec.key);
    const folder = known ? LedgerFolder.existing(dir) : await LedgerFolder.open(dir, spec);
    if (!known) this.known.add(spec.key);
    return Chain.start(this.#host, spec, folder, this.pace, this.warn);
  }
}

/** The store says which ledgers there must be. */
export const knownLedgers = (store: Store): Known => ({
  has: (key) => store.get("ledger", key) !== undefined,
  keys: () => store.all("ledger").map(({ id }) => id),
  add: (id) => void store.create({ kind: "ledger", id, parent: "", organization: "", due: undefined, fields: {} }),
  remove: (key) => store.remove(store.get("ledger", key)!),
});
