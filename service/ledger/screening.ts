import { failure } from "./rpc";

/** The calls of the Ethereum specification that a node answers. Anvil's own (`anvil_`, `evm_`, `debug_`, …) stay with the service. */
const standard = new Set([
  ...["web3_clientVersion", "web3_sha3", "net_listening", "net_peerCount", "net_version"],
  ...["eth_blobBaseFee", "eth_blockNumber", "eth_call", "eth_chainId", "eth_coinbase", "eth_config"],
  ...["eth_createAccessList", "eth_estimateGas", "eth_feeHistory", "eth_gasPrice", "eth_maxPriorityFeePerGas"],
  ...["eth_getBalance", "eth_getCode", "eth_getProof", "eth_getStorageAt", "eth_getTransactionCount", "eth_getLogs"],
  ...["eth_getBlockByHash", "eth_getBlockByNumber", "eth_getBlockReceipts"],
  ...["eth_getBlockTransactionCountByHash", "eth_getBlockTransactionCountByNumber"],
  ...["eth_getTransactionByHash", "eth_getTransactionReceipt", "eth_getRawTransactionByHash"],
  ...["eth_getTransactionByBlockHashAndIndex", "eth_getTransactionByBlockNumberAndIndex"],
  ...["eth_getUncleByBlockHashAndIndex", "eth_getUncleByBlockNumberAndIndex"],
  ...["eth_getUncleCountByBlockHash", "eth_getUncleCountByBlockNumber"],
  ...["eth_newBlockFilter", "eth_newFilter", "eth_newPendingTransactionFilter", "eth_uninstallFilter"],
  ...["eth_getFilterChanges", "eth_getFilterLogs", "eth_subscribe", "eth_unsubscribe"],
  ...["eth_protocolVersion", "eth_simulateV1", "eth_syncing", "eth_sendRawTransaction", "eth_sendRawTransactionSync"],
]);

const sender = ([transaction]: unknown[]) => (transaction as { from?: unknown } | null | undefined)?.from;
const first = ([account]: unknown[]) => account;

/** Calls that the chain signs for an account, and whose account it is. */
const signing = new Map<string, (params: unknown[]) => unknown>([
  ["eth_sendTransaction", sender],
  ["eth_sendTransactionSync", sender],
  ["eth_signTransaction", sender],
  ["eth_sign", first],
  ["personal_sign", ([, account]) => account],
  ["eth_signTypedData", first],
  ["eth_signTypedData_v3", first],
  ["eth_signTypedData_v4", first],
]);

/** What a body holds, sorted: what the chain answers, and what is answered here. */
export interface Screened {
  /** JSON for the chain; undefined if nothing is left for it. */
  send: string | undefined;
  answers: object[];
  batch: boolean;
}

/**
 * Looks through a call or a batch before the chain gets it, for the node that signs for this account only. The chain gets what was
 * understood here, not the bytes that came, so that the two cannot differ about what they mean.
 *
 * @param socket whether the answers go over a WebSocket
 */
export function screen(body: string, account: string, socket: boolean): Screened {
  let calls: unknown;
  try {
    calls = JSON.parse(body, exact);
  } catch (error) {
    const why = error instanceof TooLong ? error.message : "The body is not JSON.";
    return { send: undefined, answers: [failure(null, -32_700, why)], batch: false };
  }
  const batch = Array.isArray(calls);
  const asked = batch ? (calls as unknown[]) : [calls];
  if (asked.length === 0)
    return { send: undefined, answers: [failure(null, -32_600, "The batch is empty.")], batch: false };
  const passed: unknown[] = [];
  const answers: object[] = [];
  for (const call of asked) {
    const answered = answerHere(call, account, socket);
    if (answered) answers.push(answered);
    else passed.push(call);
  }
  return { send: passed.length === 0 ? undefined : JSON.stringify(batch ? passed : passed[0]), answers, batch };
}

/** The answer to a call that does not go to the chain. */
function answerHere(call: unknown, account: string, socket: boolean): object | undefined {
  const { id = null, method, params = [] } = (call ?? {}) as { id?: unknown; method?: unknown; params?: unknown };
  if (typeof method !== "string") return failure(id, -32_600, "A call is an object with a method.");
  if (method === "eth_accounts" || method === "eth_requestAccounts") return { jsonrpc: "2.0", id, result: [account] };
  const signer = signing.get(method);
  if (signer) return signs(signer(Array.isArray(params) ? params : []), id, method, account);
  if (method === "eth_subscribe" && !socket) return failure(id, -32_601, "eth_subscribe needs a WebSocket.");
  if (standard.has(method)) return undefined;
  return failure(
    id,
    -32_601,
    `${method.slice(0, 64)} is not available: nodes answer the eth_, net_ and web3_ calls of Ethereum's specification.`,
  );
}

function signs(wanted: unknown, id: unknown, method: string, account: string): object | undefined {
  if (typeof wanted === "string" && wanted.toLowerCase() === account.toLowerCase()) return undefined;
  const whose = typeof wanted === "string" ? `not ${wanted.slice(0, 64)}` : "and the call names none";
  return failure(
    id,
    -32_000,
    `${method}: this node signs for its own account ${account} only, ${whose}. Send from that one, or sign yourself and use eth_sendRawTransaction.`,
  );
}

class TooLong extends Error {}

/** A number that JavaScript cannot hold would reach the chain as another one. */
function exact(_key: string, value: unknown): unknown {
  if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw new TooLong('A number is beyond 2^53 - 1: write it as a hexadecimal string, such as "0x20000000000000".');
  return value;
}
