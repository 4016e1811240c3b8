import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Pool } from "undici";
import { Refusal } from "../errors";
import { hex } from "../hex";
import { awaitLeftover, notePid } from "./leftover";
import { call } from "./rpc";
import { Watched } from "./watched";
import { ensureWholeState, stateFile } from "./whole-state";

/** What a chain is, from its first start on. */
export interface ChainSpec {
  /** Names its folder. */
  key: string;
  chainId: number;
  /** Seconds between blocks; without it, each transaction makes a block. */
  period?: number;
  /** How many accounts it signs for, each with 10,000 ether. */
  accounts: number;
  /** Whether a transaction may offer nothing for its gas. */
  free?: boolean;
}

/** A chain that runs. */
export interface Chain {
  readonly url: string;
  /** Its last lines of output, oldest first. */
  readonly lines: readonly string[];
  call: <T>(method: string, params?: unknown[]) => Promise<T>;
}

const mostLines = 1_000;
const dumpSeconds = 10;

/** Real chains, each a process that starts when it is first needed and keeps its state in a folder. */
export class Chains {
  readonly #dir: string;
  readonly #watched: Watched;
  readonly #running = new Map<string, Promise<Chain>>();
  readonly #ready = new Map<string, { chain: Chain; pool: Pool }>();
  readonly #ended = new Map<string, Promise<void>>();
  #closed = false;

  /** @param dir keeps their states; without it they are gone with the service */
  constructor(
    private readonly command: string,
    dir: string | undefined,
  ) {
    this.#dir = dir === undefined ? mkdtempSync(join(tmpdir(), "consortium-chains-")) : resolve(dir);
    this.#watched = new Watched(dir === undefined ? this.#dir : undefined);
  }

  /** The chain, if it runs. */
  peek = (key: string): Chain | undefined => this.#ready.get(key)?.chain;

  /** The chain, started if need be. */
  get(spec: ChainSpec): Promise<Chain> {
    if (this.#closed) return Promise.reject(new Refusal(503, "The service is stopping."));
    const known = this.#running.get(spec.key);
    if (known) return known;
    const starting = this.#start(spec);
    this.#running.set(spec.key, starting);
    starting.catch(() => this.#running.delete(spec.key));
    return starting;
  }

  /** Ends a chain, and takes its ledger away. */
  async erase(key: string): Promise<void> {
    await this.#running.get(key)?.catch(() => undefined);
    this.#watched.end(key);
    await this.#ended.get(key);
    rmSync(join(this.#dir, key), { recursive: true, force: true });
  }

  /** Takes away what no longer belongs to anything: a killed service may not have come to it. */
  async sweep(keep: (key: string) => boolean): Promise<void> {
    const keys = existsSync(this.#dir) ? readdirSync(this.#dir) : [];
    await Promise.all(keys.filter((key) => !keep(key) && !this.#running.has(key)).map((key) => this.erase(key)));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#running.values());
    const pools = [...this.#ready.values()].map(({ pool }) => pool.destroy());
    await this.#watched.close();
    await Promise.all(pools);
  }

  async #start(spec: ChainSpec): Promise<Chain> {
    const dir = join(this.#dir, spec.key);
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    await awaitLeftover(dir);
    const mended = await ensureWholeState(dir);
    const lines: string[] = mended === undefined ? [] : [mended];
    let ended = () => undefined as void;
    this.#ended.set(spec.key, new Promise((done) => (ended = done)));
    const port = await new Promise<string>((done, fail) => {
      const order = { id: spec.key, command: this.command, args: argumentsOf(spec, dir), cwd: dir };
      this.#watched.start(order, ({ pid, line, ended: why }) => {
        if (pid !== undefined) notePid(dir, pid);
        if (line !== undefined) {
          lines.push(line);
          if (lines.length > 2 * mostLines) lines.splice(0, mostLines);
          const [, listening] = /^Listening on .*:(\d+)$/.exec(line) ?? [];
          if (listening !== undefined) done(listening);
        }
        if (why === undefined) return;
        this.#lost(spec.key);
        ended();
        fail(new Refusal(503, `The ledger does not start: ${why}. ${lines.slice(-3).join(" ")}`));
      });
    });
    const url = `http://127.0.0.1:${port}`;
    writeFileSync(join(dir, "url"), `${url}\n`, { mode: 0o600 }); // for whoever wants to look at the chain itself
    const pool = new Pool(url, { connections: 64, headersTimeout: 60_000, bodyTimeout: 60_000 });
    const chain: Chain = {
      ...{ url, lines },
      call: (method, params) => call(url, method, params, pool),
    };
    this.#ready.set(spec.key, { chain, pool });
    return chain;
  }

  /** It ended, or was ended: the next who needs it starts it again. */
  #lost(key: string): void {
    void this.#ready.get(key)?.pool.destroy();
    this.#ready.delete(key);
    this.#running.delete(key);
  }
}

function argumentsOf({ key, chainId, period, accounts, free }: ChainSpec, dir: string): string[] {
  const state = ["--state", stateFile(dir), "--state-interval", `${dumpSeconds}`];
  // the same accounts at every start
  const seed = ["--accounts", `${accounts}`, "--mnemonic-seed-unsafe", `${BigInt(`0x${hex(8, "chain", key)}`)}`];
  return [
    ...["--host", "127.0.0.1", "--port", "0", "--chain-id", `${chainId}`, "--threads", "1"],
    ...(period === undefined ? [] : ["--block-time", `${period}`]),
    ...(free ? ["--block-base-fee-per-gas", "0"] : []),
    ...["--no-cors", "--cache-path", join(dir, "cache"), "--color", "never"],
    ...state,
    ...seed,
  ];
}
