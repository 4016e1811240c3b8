import { accessSync, constants, createReadStream, statSync } from "node:fs";
import { createRequire } from "node:module";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { Refusal, ServiceError } from "../errors";
import { type Answer, type Bounds, Caller } from "./rpc";
import type { Profile } from "../profiles";
import { type Watched, watched } from "./watched";

/** What a chain is, from its first start on. */
export interface ChainSpec {
  /** The name of its folder. */
  key: string;
  chainId: number;
  /** Seconds between blocks; without it, a block is made when there is a transaction. */
  period?: number;
  /** How many accounts it signs for, each with 10,000 ether. */
  accounts: number;
  /** Balances of other accounts in the genesis block, in wei. */
  prefunded?: Readonly<Record<string, { balance: string }>> | undefined;
  /** What client it is like, from its first start on. Its gas is free. Without it, it is like a public network, with fees. */
  profile?: Profile | undefined;
}

export interface Head {
  number: number;
  hash: string;
  parent: string;
  timestamp: number;
  /** Gas that its transactions used. */
  gas: number;
}

/** System contracts of the public network. They write into every block, so a state would grow forever. */
const perBlock = ["0x0000F90827F1C53a10cb7A02335B175320002935", "0x000F3df6D732807Ef1319fB7B8bB8522d0Beac02"];

/** Bytes that are converted to or from hexadecimal digits at once. */
const slice = 1 << 20;
const unzipped = promisify(gunzip);
/** A state may take long to load or to dump. */
const large: Bounds = { bytes: Infinity, ms: 3_600_000 };

/** Where engines run. */
export interface Host {
  command: string;
  /** Memory limit of one execution, in bytes. */
  memory: number;
  /** The folder of the sockets, which only this user can enter. */
  dir: string;
  /** The engines' processes. */
  running: Set<Watched>;
}

let started = 0;

/** Estimates an engine's memory in bytes for blocks, their transactions, and what these did for their gas. */
export const weightOf = (blocks: number, transactions: number, gas: number) =>
  2_000 * blocks + 9_000 * transactions + 0.16 * gas;

/**
 * One process of anvil. It executes and answers. The service decides what it is told, in which order and with which time, so
 * another engine that is told the same has the same blocks, hash by hash.
 */
export class Engine extends Caller {
  /** Whether it has ended. */
  over = false;
  /** By how many bytes its memory has grown since its start, estimated. */
  weight = 0;

  private constructor(
    socketPath: string,
    /** Why it ended. */
    readonly ended: Promise<string>,
    readonly end: () => void,
    private readonly free: boolean,
  ) {
    super(socketPath);
    void ended.then(() => (this.over = true));
  }

  /** Starts one at its genesis. */
  static async start({ command, memory, dir, running }: Host, spec: ChainSpec, genesis: string): Promise<Engine> {
    const socketPath = join(dir, `${++started}`);
    const places = ["--host", await unreachable(), "--init", genesis, "--ipc", socketPath];
    const args = [...argumentsOf(spec), "--memory-limit", `${memory}`, ...places];
    const child = watched(command, args, dir);
    running.add(child);
    const { ended, end } = child;
    void ended.then(() => running.delete(child));
    const engine = new Engine(socketPath, ended, end, spec.profile !== undefined);
    const failed = ended.then((why) => {
      throw new Refusal(503, `The ledger does not start: ${why}.`);
    });
    failed.catch(() => undefined);
    await Promise.race([engine.#listening(), failed]);
    for (const address of perBlock) await engine.call("anvil_setCode", [address, "0x"]);
    return engine;
  }

  async head(): Promise<Head> {
    return (await this.latest()).head;
  }

  /** The newest block and its transactions. */
  async latest(): Promise<{ head: Head; transactions: string[] }> {
    type Block = Record<"number" | "hash" | "parentHash" | "timestamp" | "gasUsed", string>;
    const block = await this.call<Block & { transactions: string[] }>("eth_getBlockByNumber", ["latest", false]);
    const { number, hash, parentHash: parent, timestamp, gasUsed, transactions } = block;
    const head = { number: Number(number), hash, parent, timestamp: Number(timestamp), gas: Number(gasUsed) };
    return { head, transactions };
  }

  /** Makes a block of the waiting transactions, with this time in seconds. */
  seal = (timestamp: number) => this.call("evm_mine", [{ timestamp }]);

  /** Makes blocks at equal intervals in seconds, the first with this time. */
  async sealMany(timestamp: number, count: number, apart: number): Promise<void> {
    await this.call("anvil_setBlockTimestampInterval", [apart]);
    await this.call("evm_mine", [{ timestamp, blocks: count }]);
    await this.call("anvil_removeBlockTimestampInterval");
  }

  /** Adds a signed transaction to its pool. */
  send = (raw: string): Promise<Answer> => this.answer("eth_sendRawTransaction", [raw]);

  /** Loads a state file: accounts, blocks, transactions. */
  async load(file: string): Promise<void> {
    const digits = createReadStream(file, { encoding: "hex", highWaterMark: slice });
    await this.#large("anvil_loadState", digits);
  }

  /** Loads past blocks. */
  async loadPast(file: string, blocks: number): Promise<void> {
    this.weight += weightOf(blocks, 0, 0) + 4 * statSync(file).size; // the file is compressed
    type Fees = { baseFeePerGas: string[] };
    const { baseFeePerGas } = await this.call<Fees>("eth_feeHistory", ["0x1", "latest", []]);
    await this.load(file);
    if (!this.free) await this.call("anvil_setNextBlockBaseFeePerGas", [baseFeePerGas.at(-1)]); // it counts from the last loaded one
  }

  /** Returns its state as JSON, which may exceed the maximum length of a string. */
  async dump(): Promise<Buffer> {
    const answer = await this.#large("anvil_dumpState");
    const from = answer.indexOf('"0x') + 3;
    const digits = answer.subarray(from, answer.lastIndexOf('"'));
    const zipped = Buffer.alloc(digits.length / 2);
    for (let at = 0; at < digits.length; at += slice)
      zipped.write(digits.toString("latin1", at, at + slice), at / 2, "hex");
    return unzipped(zipped);
  }

  /** One call with a large answer, or a large parameter: hexadecimal digits, sent as they are read. */
  async #large(method: string, digits?: Readable): Promise<Buffer> {
    async function* call() {
      yield `{"jsonrpc":"2.0","id":1,"method":"${method}","params":[`;
      if (digits) {
        yield '"0x';
        yield* digits as AsyncIterable<string>;
        yield '"';
      }
      yield "]}\n";
    }
    const write = (socket: Socket) => pipeline(call, socket, { end: false });
    const answer = await this.exchange(write, large);
    const failure = answer.subarray(0, 200).includes('"error"');
    if (failure) throw new Error(`${method}: ${answer.subarray(0, 500).toString()}`);
    return answer;
  }

  async #listening(): Promise<void> {
    for (;;) {
      const socket = connect(this.socketPath);
      const open = await new Promise<boolean>((done) => {
        socket.once("connect", () => done(true)).once("error", () => done(false));
      });
      socket.destroy();
      if (open || this.over) return;
      await wait(10);
    }
  }
}

/**
 * Anvil always opens a TCP port. On Linux it is bound to the broadcast address, to which nobody can connect; if that is
 * not possible, to the loopback address, without CORS.
 */
const unreachable = () =>
  new Promise<string>((done) => {
    const [nowhere, loopback] = ["255.255.255.255", "127.0.0.1"];
    const probe = createServer();
    probe.once("error", () => done(loopback));
    probe.listen({ host: nowhere, port: 0 }, () => probe.close(() => done(nowhere)));
  });

function argumentsOf({ chainId, profile }: ChainSpec): string[] {
  return [
    ...["--port", "0", "--no-cors", "--chain-id", `${chainId}`, "--threads", "1", "--color", "never", "--quiet"],
    // keeps blocks, receipts and logs, but only the latest states: all would be 200 MB in 20 minutes
    ...["--accounts", "0", "--no-mining", "--prune-history", ...(profile ? [`${profile.history}`] : [])],
    // contracts' console output does not belong in a node's log
    "--disable-console-log",
    ...(profile ? ["--hardfork", profile.hardFork, "--code-size-limit", `${profile.codeSize}`] : []),
    ...(profile ? ["--block-base-fee-per-gas", `${profile.gasPrice}`] : []),
  ];
}

const names: Partial<Record<NodeJS.Architecture, string>> = { x64: "amd64", arm64: "arm64" };

/** Why there is no ledger although one was requested, and what to do. */
export const whyNoLedger = (): string =>
  "@foundry-rs/anvil has no program for this platform, or npm left out optional packages";

/** The path of the chain's program; undefined if its package has none for this platform. */
export function findAnvil(given: string | undefined, platform = process.platform): string | undefined {
  if (given !== undefined) {
    try {
      accessSync(given, constants.X_OK);
    } catch (error) {
      throw new ServiceError(`The ledger's program ${given} cannot be run.`, { cause: error });
    }
    return given;
  }
  try {
    // npm may have put a platform's package below the one that chooses among them
    const own = createRequire(createRequire(__filename).resolve("@foundry-rs/anvil/package.json"));
    return own.resolve(`@foundry-rs/anvil-${platform}-${names[process.arch] ?? process.arch}/bin/anvil`);
  } catch {
    return undefined;
  }
}
