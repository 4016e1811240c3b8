import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { Refusal, ServiceError } from "../errors";
import { rootOf } from "./header";
import type { Block, ChainSpec, Head, Made, Receipt } from "./ledger-data";
import { type Answer, type Bounds, Caller } from "./rpc";
import { watched } from "./watched";

/** System contracts of the public network. They write into every block, so a state would grow forever. */
const perBlock = ["0x0000F90827F1C53a10cb7A02335B175320002935", "0x000F3df6D732807Ef1319fB7B8bB8522d0Beac02"];

const [zipped, unzipped] = [promisify(gzip), promisify(gunzip)];
/** A state may take long to load or to dump. */
const large: Bounds = { bytes: Infinity, ms: 3_600_000 };

export interface Host {
  command: string;
  memory: number;
  /** The folder of the sockets, which only this user can enter. */
  dir: string;
}

interface Started {
  spec: ChainSpec;
  data: { genesis: string };
  /** Who seals the blocks, and gets the fees. */
  sealer: string | undefined;
}

/** States that an engine must keep: it finds the state of `latest` by its number, also if a block comes meanwhile. */
const leastHistory = 8;

/**
 * Code that gives many signatures, 128 bytes each, to the precompile that recovers accounts. Returns a word for each, zero if it is invalid.
 */
const recovering = "0x60005b3681101560285760808160003760208160021c6080016080600060015afa506080016002565b60021c6080f3";
const precompile = "0x0000000000000000000000000000000000000001";
/** The place of that code, in these calls only. */
const recovery = `0x${"5e".repeat(20)}`;

interface Unknown {
  signature: string;
  done: (account: string) => void;
  failed: (error: unknown) => void;
}

let started = 0;

/**
 * One process of anvil. The service decides its input, order and time, so another engine with the same input has the same blocks, hash
 * by hash.
 */
export class Engine extends Caller {
  over = false;
  blocks = 0;

  readonly #unknown: Unknown[] = [];
  #isRecovering = false;

  private constructor(
    socketPath: string,
    readonly ended: Promise<string>,
    readonly end: () => void,
  ) {
    super(socketPath);
    void ended.then(() => (this.over = true));
  }

  /** Starts one at its genesis. @param all has it until it has ended */
  static async start(
    { command, memory, dir }: Host,
    { spec, data, sealer }: Started,
    all: Set<Engine>,
  ): Promise<Engine> {
    const socketPath = join(dir, `${++started}`);
    const places = ["--host", await unreachable(), "--init", data.genesis, "--ipc", socketPath];
    const args = [...argumentsOf(spec), "--memory-limit", `${memory}`, ...places];
    const { ended, end } = watched(command, args, dir);
    const engine = new Engine(socketPath, ended, end);
    all.add(engine);
    void ended.then(() => all.delete(engine));
    const failed = ended.then((why) => {
      throw new Refusal(503, `The ledger does not start: ${why}.`);
    });
    failed.catch(() => undefined);
    await Promise.race([engine.#listening(), failed]);
    for (const address of perBlock) await engine.call("anvil_setCode", [address, "0x"]);
    if (sealer !== undefined) await engine.call("anvil_setCoinbase", [sealer]);
    return engine;
  }

  head = (): Promise<Block> => this.call<Block>("eth_getBlockByNumber", ["latest", false]);

  /** A block with its results. @param rawOf the signed transaction of a hash */
  async made(number: number, rawOf: (hash: string) => string | undefined): Promise<Made> {
    const wanted = `0x${number.toString(16)}`;
    const [block, receipts] = await Promise.all([
      this.call<Block>("eth_getBlockByNumber", [wanted, true]),
      this.call<Receipt[]>("eth_getBlockReceipts", [wanted]),
    ]);
    const made = { block, receipts, raws: block.transactions.map(({ hash }) => rawOf(hash) ?? "0x") };
    return number === 0 ? { ...made, ...(await this.#firstState()) } : made;
  }

  /** The root of the first state: the engine's first block has that of an empty one. */
  async #firstState(): Promise<{ stateRoot?: string }> {
    const { accountProof } = await this.call<{ accountProof: string[] }>("eth_getProof", [perBlock[0], [], "0x0"]);
    const stateRoot = rootOf(accountProof);
    return stateRoot === undefined ? {} : { stateRoot };
  }

  async seal(timestamp: number): Promise<void> {
    await this.call("evm_mine", [{ timestamp }]);
    this.blocks++;
  }

  send = (raw: string): Promise<Answer> => this.answer("eth_sendRawTransaction", [raw]);

  load = (state: Buffer): Promise<unknown> => this.call("anvil_loadState", [`0x${state.toString("hex")}`], large);

  /** Its state after the latest block, compressed, with only that block. */
  async dump(number: number): Promise<Buffer> {
    const state = await this.call<string>("anvil_dumpState", [], large);
    return zipped(lastOf(await unzipped(Buffer.from(state.slice(2), "hex")), number));
  }

  /** The account of a signature. Those that come during a call share the next one, which is much faster than JavaScript. */
  recover = (signature: string): Promise<string> =>
    new Promise((done, failed) => {
      this.#unknown.push({ signature, done, failed });
      if (!this.#isRecovering) void this.#recoverAll();
    });

  async #recoverAll(): Promise<void> {
    this.#isRecovering = true;
    while (this.#unknown.length > 0) {
      const all = this.#unknown.splice(0);
      const data = `0x${all.map(({ signature }) => signature).join("")}`;
      const call = { to: all.length === 1 ? precompile : recovery, gas: "0x1c9c380", gasPrice: "0x0", data };
      const code = all.length === 1 ? [] : [{ [recovery]: { code: recovering } }];
      try {
        const found = (await this.call<string>("eth_call", [call, "latest", ...code])).padEnd(66, "0");
        all.forEach(({ done }, at) => done(`0x${found.slice(26 + 64 * at, 66 + 64 * at)}`));
      } catch (error) {
        for (const { failed } of all) failed(error);
      }
    }
    this.#isRecovering = false;
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

export const headOf = ({ number, hash, timestamp, gasUsed }: Block): Head => {
  return { number: Number(number), hash, timestamp: Number(timestamp), gas: Number(gasUsed) };
};

/** A dumped state with only the latest block, and without transactions. All values from users in it are hexadecimal. */
function lastOf(dump: Buffer, number: number): Buffer {
  const [begins, ends] = ['"blocks":[', '],"transactions":['];
  const from = dump.indexOf(begins, dump.indexOf('"best_block_number":')) + begins.length;
  const until = dump.lastIndexOf(ends);
  const after = dump.lastIndexOf('],"historical_states"');
  const at = dump.indexOf(`"number":"0x${number.toString(16)}"`, from);
  if (from < begins.length || until < from || after < until || at < 0)
    throw new ServiceError("The engine dumps its state in an unknown format.");
  const header = '{"header":{"parentHash":"';
  const next = dump.indexOf(header, at);
  const block = dump.subarray(dump.lastIndexOf(header, at), next < 0 ? until : next - 1);
  return Buffer.concat([
    dump.subarray(0, from),
    block,
    dump.subarray(until, until + ends.length),
    dump.subarray(after),
  ]);
}

/**
 * Anvil always opens a TCP port. On Linux, it is bound to the broadcast address, where nobody can connect; otherwise to the loopback
 * address, without CORS.
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
    // keeps the latest states, and recent transactions: everything older is kept by the service
    ...["--accounts", "0", "--no-mining", "--prune-history", `${profile?.history ?? leastHistory}`],
    ...["--transaction-block-keeper", "256"],
    // contracts' console output does not belong in a node's log
    "--disable-console-log",
    ...(profile ? ["--hardfork", profile.hardFork, "--code-size-limit", `${profile.codeSize}`] : []),
    ...(profile ? ["--block-base-fee-per-gas", `${profile.gasPrice}`] : []),
  ];
}

const names: Partial<Record<NodeJS.Architecture, string>> = { x64: "amd64", arm64: "arm64" };

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
