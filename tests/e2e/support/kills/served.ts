import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { serveJson } from "../../../service/child";
import { basic } from "../../../service/helpers";
import { chainsBelow } from "../../../service/ledgers";

/** A node, or a target network, which asks for no credential. */
export interface Chain {
  url: string;
  headers?: { authorization: string };
}
/** An environment with one node, and its first account. */
export interface Ledger extends Chain {
  name: string;
  chainId: number;
  account: string;
}
export interface Block {
  number: string;
  hash: string;
  parentHash: string;
  transactions: { hash: string; from: string; value: string; blockNumber: string }[];
}
type Call = [method: string, params: unknown[]];
interface Rpc {
  result: unknown;
  error?: { code: number; message: string };
}

/** A call without an answer: the service may have acted or not. */
export class Unanswered extends Error {}

/** `consortium serve` in a process that can be killed, in whole or in part, and started again on the same data. */
export class Served {
  readonly #folder = mkdtempSync(join(tmpdir(), "consortium-kills-"));
  #running?: Awaited<ReturnType<typeof serveJson>>;

  constructor(private readonly options: string[]) {}

  get url(): string {
    return this.#running!.ready.url;
  }

  async start(): Promise<void> {
    const port = this.#running ? new URL(this.url).port : "0";
    const quick = ["--node-start", "0", "--environment-start", "0"];
    this.#running = await serveJson(["--port", port, "--data", join(this.#folder, "data"), ...quick, ...this.options]);
  }

  /** Stops it as a supervisor does. */
  async stop(): Promise<void> {
    this.#running?.child.kill("SIGTERM");
    await this.#running?.ended;
  }

  async close(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** The ids of its processes. */
  processes() {
    const service = this.#running!.child.pid!;
    return { service: [service], ...chainsBelow(service) };
  }

  /** Calls the API, and answers the body; throws if the answer is an error. */
  api<T = { _id: string }>(method: string, path: string, content?: unknown): Promise<T> {
    const headers = { authorization: `Bearer ${this.#running!.key}` };
    return answered<T>(`${this.url}/api/v1${path}`, headers, method, content);
  }

  /** The answers to a batch of calls to a chain. */
  async batch({ url, headers }: Chain, calls: Call[]): Promise<Rpc[]> {
    const found: Rpc[] = [];
    for (let at = 0; at < calls.length; at += 100) {
      const asked = calls.slice(at, at + 100).map(([method, params], id) => ({ jsonrpc: "2.0", id, method, params }));
      found.push(...(await answered<Rpc[]>(url, headers, "POST", asked)));
    }
    return found;
  }

  async rpc(chain: Chain, method: string, ...params: unknown[]): Promise<Rpc> {
    const [answer] = await this.batch(chain, [[method, params]]);
    if (answer!.error?.code === -32_603) throw new Unanswered(answer!.error.message); // it could not ask its chain
    return answer!;
  }

  /** Several calls of one method, whose results are of one type. */
  async results<T>(chain: Chain, method: string, params: unknown[][]): Promise<T[]> {
    const calls = params.map((one): Call => [method, one]);
    return (await this.batch(chain, calls)).map(({ result }) => result as T);
  }

  /** All blocks of a chain, with their transactions. */
  async blocks(chain: Chain): Promise<Block[]> {
    const height = Number((await this.rpc(chain, "eth_blockNumber")).result);
    const params = Array.from({ length: height + 1 }, (_, number) => [`0x${number.toString(16)}`, true]);
    return this.results(chain, "eth_getBlockByNumber", params);
  }

  /** Waits until the target network, which `tether` asks, and every node answer. */
  async answers(tether: string, ledgers: Ledger[]): Promise<void> {
    await untilAnswered(() => this.api("GET", `/tether/${tether}/balance/rinkeby`));
    for (const ledger of ledgers) await untilAnswered(() => this.rpc(ledger, "eth_blockNumber"));
  }
}

async function untilAnswered(ask: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      return void (await ask());
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      await wait(20);
    }
  }
}

async function answered<T>(url: string, headers: object | undefined, method: string, content?: unknown): Promise<T> {
  const sent = content === undefined ? {} : { body: JSON.stringify(content) };
  const all = { "content-type": "application/json", ...headers };
  const unanswered = (cause: unknown) => Promise.reject(new Unanswered(String(cause), { cause }));
  const signal = AbortSignal.timeout(60_000);
  const response = await fetch(url, { method, headers: all, signal, ...sent }).catch(unanswered);
  const text = await response.text().catch(unanswered);
  if ([502, 503, 504].includes(response.status)) throw new Unanswered(text);
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`);
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

/** One environment for each consensus protocol. */
export const environments = [
  { name: "ibft", provider: "quorum", consensus_type: "ibft", block_period: 1 },
  { name: "poa", provider: "geth", consensus_type: "poa", block_period: 1 },
  { name: "raft", provider: "quorum", consensus_type: "raft" },
];
export const tetherOf = ({ name }: { name: string }): string => `t-${name}`;

/** A consortium of one member. Each of its environments has a node, a credential, and a tether that pins. */
export async function makeNetwork(service: Served) {
  const make = (path: string, body: object) => service.api<Record<string, string>>("POST", path, body);
  const consortium = `/consortia/${(await make("/consortia", { name: "kills" }))._id}`;
  const { _id: membership_id } = await make(`${consortium}/memberships`, { org_name: "first" });
  const ledgers: Ledger[] = [];
  for (const kind of environments) {
    const { _id: id, chain_id } = await make(`${consortium}/environments`, kind);
    const inside = `${consortium}/environments/${id}`;
    const { username, password } = await make(`${inside}/appcreds`, { membership_id });
    const { _id: node } = await make(`${inside}/nodes`, { membership_id });
    type Status = { urls: { rpc: string }; user_accounts: string[] };
    const { urls, user_accounts } = await service.api<Status>("GET", `${inside}/nodes/${node}/status`);
    const headers = basic(username!, password!);
    ledgers.push({ name: kind.name, chainId: Number(chain_id), url: urls.rpc, headers, account: user_accounts[0]! });
    const tether = `/tether/${tetherOf(kind)}`;
    await make(`${tether}/targetNetwork`, { network: "rinkeby" });
    await make(`${tether}/interval`, { interval: 1 });
    await make(`${tether}/deploy`, {});
  }
  return { list: `${consortium}/memberships`, first: membership_id!, ledgers };
}
