import { Refusal } from "../errors";

/** Methods that only read, and take the chain no time. Others may wait for a block, or change something: they go alone. */
const quick = new Set([
  ...["eth_blockNumber", "eth_chainId", "eth_gasPrice", "eth_maxPriorityFeePerGas", "eth_syncing", "eth_accounts"],
  ...["eth_getBalance", "eth_getCode", "eth_getStorageAt", "eth_getTransactionCount"],
  ...["eth_getBlockByHash", "eth_getBlockByNumber", "eth_getTransactionByHash", "eth_getTransactionReceipt"],
  ...["net_version", "net_listening", "net_peerCount", "web3_clientVersion"],
]);

interface Call {
  jsonrpc?: unknown;
  id?: unknown;
  method?: unknown;
  params?: unknown;
}

interface Answer {
  id: number;
  result?: unknown;
  error?: unknown;
}

interface Waiting {
  id: string | number;
  done: (text: string) => void;
  fail: (error: unknown) => void;
}

/**
 * Quick calls of the same moment go to the chain as one batch, and equal ones as one call: with many callers that is what makes
 * the way through the service hardly longer than the direct one. Nobody waits for others to come, and nobody gets an answer
 * that the chain gave before it was asked.
 */
export class Gathered {
  #waiting = new Map<string, Waiting[]>();

  /** @param send takes a batch to the chain, and brings its answer */
  constructor(private readonly send: (batch: string) => Promise<string>) {}

  /** The answer to a call that can go with others; undefined for all else, such as a batch or what is not even JSON. */
  ask(body: Buffer): Promise<string> | undefined {
    const call = quickCall(body);
    if (!call) return undefined;
    return new Promise((done, fail) => {
      const question = `"method":${JSON.stringify(call.method)},"params":${JSON.stringify(call.params ?? [])}`;
      const one = { id: call.id, done, fail };
      const same = this.#waiting.get(question);
      if (same) return void same.push(one);
      this.#waiting.set(question, [one]);
      if (this.#waiting.size === 1) setImmediate(() => void this.#ask()); // when all that has arrived by now is read
    });
  }

  async #ask(): Promise<void> {
    const questions = [...this.#waiting];
    this.#waiting = new Map();
    try {
      const batch = questions.map(([question], id) => `{"jsonrpc":"2.0","id":${id},${question}}`);
      const answers = JSON.parse(await this.send(`[${batch.join(",")}]`)) as Answer[];
      if (!(answers.length >= questions.length)) throw new Refusal(502, "The ledger left calls without an answer.");
      for (const { id, ...said } of answers) {
        const [, waiting] = questions[id]!;
        const rest = JSON.stringify("error" in said ? { error: said.error } : { result: said.result }).slice(1);
        for (const one of waiting) one.done(`{"jsonrpc":"2.0","id":${JSON.stringify(one.id)},${rest}`);
      }
    } catch (error) {
      for (const [, waiting] of questions) for (const { fail } of waiting) fail(error);
    }
  }
}

/** A call as it is commonly sent; with anything unusual about it, it is for the chain itself to judge. */
function quickCall(body: Buffer): { id: string | number; method: string; params?: unknown[] } | undefined {
  const { jsonrpc, id, method, params } = parsed(body) ?? {};
  if (jsonrpc !== "2.0" || typeof method !== "string" || !quick.has(method)) return undefined;
  if (typeof id !== "string" && !Number.isSafeInteger(id)) return undefined;
  if (params !== undefined && !Array.isArray(params)) return undefined;
  return { id: id as string | number, method, params };
}

function parsed(body: Buffer): Call | undefined {
  if (body[0] !== 0x7b || body.length > 4_096) return undefined; // {
  try {
    return JSON.parse(body.toString()) as Call;
  } catch {
    return undefined;
  }
}
