import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Refusal, ServiceError } from "../errors";
import { awaitLeftover, heightSeen, lastWhole, notePid } from "./chain-folder";
import { ensureGenesis } from "./genesis";
import { Caller } from "./rpc";
import { Watched } from "./watcher-client";

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

export interface Chain {
  /** The Unix socket where it speaks JSON-RPC: a line each way is a message. */
  readonly socketPath: string;
  /** Its last lines of output, oldest first. */
  readonly lines: readonly string[];
  /** Why its state cannot be kept now, if it cannot: a sentence. */
  readonly problem: string | undefined;
  /** Sends it a message; answers what it says. */
  ask: (message: string) => Promise<string>;
  call: <T>(method: string, params?: unknown[]) => Promise<T>;
}

const mostLines = 1_000;

/** Contracts of the public network that write something into every block, so that a state would grow without end. */
const perBlock = ["0x0000F90827F1C53a10cb7A02335B175320002935", "0x000F3df6D732807Ef1319fB7B8bB8522d0Beac02"];

/** The longest path of a Unix socket is about 100 bytes. */
const socketRoot = () => (tmpdir().length > 70 ? "/tmp" : tmpdir());

/** Real chains, each a process that starts when it is first needed and keeps its state in a folder. */
export class Chains {
  readonly #dir: string;
  /** Sockets, in a folder that only this user can enter; the watcher removes it at the end. */
  readonly #sockets = mkdtempSync(join(socketRoot(), "consortium-chains-"));
  readonly #watched = new Watched(this.#sockets);
  readonly #running = new Map<string, Promise<Chain>>();
  readonly #ended = new Map<string, Promise<string>>();
  #started = 0;
  #closed = false;

  /**
   * @param dir keeps their states; without it they are gone with the service
   * @param warn hears of what somebody has to know
   */
  constructor(
    private readonly command: string,
    dir: string | undefined,
    private readonly warn: (text: string) => void,
  ) {
    this.#dir = dir === undefined ? join(this.#sockets, "states") : resolve(dir);
    try {
      mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    } catch (error) {
      rmSync(this.#sockets, { recursive: true });
      const { code, message } = error as NodeJS.ErrnoException;
      const reason = code === "EEXIST" ? "it is a file, and must be a folder. Move it away" : message;
      throw new ServiceError(`The chains cannot be kept in ${this.#dir}: ${reason}.`, { cause: error });
    }
  }

  get(spec: ChainSpec): Promise<Chain> {
    if (this.#closed) return Promise.reject(new Refusal(503, "The service is stopping."));
    const chain = this.#running.get(spec.key) ?? this.#start(spec);
    this.#running.set(spec.key, chain);
    chain.catch(() => this.#running.delete(spec.key));
    return chain;
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
    const keys = readdirSync(this.#dir).filter((key) => !keep(key) && !this.#running.has(key));
    await Promise.all(keys.map((key) => this.erase(key)));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#running.values());
    await this.#watched.close();
    rmSync(this.#sockets, { recursive: true, force: true }); // where no chain ever ran, no watcher did it
  }

  async #start(spec: ChainSpec): Promise<Chain> {
    const { key } = spec;
    const dir = join(this.#dir, key);
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    await awaitLeftover(dir);
    const genesis = ensureGenesis(dir, spec.chainId, spec.accounts);
    for (const name of ["cache", ".foundry", "url"]) rmSync(join(dir, name), { recursive: true, force: true }); // of 0.1.0
    const saved = lastWhole(dir);
    const lines: string[] = saved?.note === undefined ? [] : [saved.note];
    const socketPath = join(this.#sockets, `${++this.#started}`);
    const caller = new Caller(socketPath);
    let problem: string | undefined;
    let end: (why: string) => void = () => undefined;
    const ended = new Promise<string>((done) => (end = done));
    this.#ended.set(key, ended);
    const failed = ended.then((why) => {
      throw new Refusal(503, `The ledger does not start: ${why}. ${lines.slice(-4, -1).join(" ")}`);
    });
    failed.catch(() => undefined);
    const args = [...argumentsOf(spec), "--host", await unreachable(), "--init", genesis, "--ipc", socketPath];
    const order = { id: key, command: resolve(this.command), args, cwd: this.#sockets, socket: socketPath };
    const listening = new Promise<void>((done) => {
      this.#watched.start(order, ({ pid, line, ended: why, problem: trouble }) => {
        if (pid !== undefined) notePid(dir, pid);
        if (trouble !== undefined) problem = this.#troubled(key, dir, problem, trouble);
        if (line !== undefined) {
          lines.push(line);
          if (lines.length > 2 * mostLines) lines.splice(0, mostLines);
          if (line.startsWith("Listening on ")) done();
        }
        if (why === undefined) return;
        lines.push(why);
        this.#running.delete(key); // the next who needs it starts it again
        end(why);
      });
    });
    await Promise.race([listening.then(() => this.#begin(spec, caller, saved?.state)), failed]);
    const height = Number(await caller.call<string>("eth_blockNumber"));
    const before = heightSeen(dir);
    if (height < before) {
      const text = `The chain ${key} went back from block ${before} to block ${height}, the last that was on disk when it ended.`;
      lines.push(text);
      this.warn(text);
    }
    this.#watched.keep(key, dir);
    return {
      ...{ socketPath, lines, ask: caller.ask, call: caller.call },
      get problem() {
        return problem;
      },
    };
  }

  async #begin({ period }: ChainSpec, caller: Caller, state: Buffer | undefined): Promise<void> {
    if (state?.length) await caller.call("anvil_loadState", [`0x${state.toString("hex")}`]);
    for (const address of perBlock) await caller.call("anvil_setCode", [address, "0x"]);
    if (period === undefined) await caller.call("evm_setAutomine", [true]);
    else await caller.call("evm_setIntervalMining", [period]);
  }

  #troubled(key: string, dir: string, before: string | undefined, trouble: string): string | undefined {
    if (trouble === "") return undefined;
    const text = `The state of the chain ${key} cannot be written to ${dir}: ${trouble}. Make room there; it is tried again.`;
    if (text !== before) this.warn(text);
    return text;
  }
}

/**
 * Anvil cannot do without a TCP port. On Linux it is bound to the broadcast address, to which nobody can connect; where that is
 * not possible, to the loopback address, without CORS.
 */
const unreachable = () =>
  new Promise<string>((done) => {
    const [nowhere, loopback] = ["255.255.255.255", "127.0.0.1"];
    const probe = createServer();
    probe.once("error", () => done(loopback));
    probe.listen({ host: nowhere, port: 0 }, () => probe.close(() => done(nowhere)));
  });

function argumentsOf({ chainId, free }: ChainSpec): string[] {
  return [
    ...["--port", "0", "--no-cors", "--chain-id", `${chainId}`, "--threads", "1", "--color", "never"],
    // blocks, receipts and logs are kept, the states before the latest one are not: they would be 200 MB in 20 minutes
    ...["--accounts", "0", "--no-mining", "--prune-history"],
    ...(free ? ["--block-base-fee-per-gas", "0"] : []),
  ];
}
