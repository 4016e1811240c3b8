import { Refusal } from "../errors";
import type { CallLimits } from "../settings/settings";
import { failure, type RpcCall, rpcCall } from "./rpc";

/** The calls of Ethereum's specification that a node answers. Anvil's own (`anvil_`, `evm_`, …) are for the service only. */
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

type Fields = Record<string, unknown>;
const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});

const sender = ([transaction]: unknown[]) => fieldsOf(transaction).from;
const first = ([account]: unknown[]) => account;

/** Calls that sign for an account, and where they name it. */
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

/** What a caller may do. */
export interface Rights {
  limits: CallLimits;
  /** The only account that the node signs for; undefined: none. */
  account?: string;
  /** Whether calls may override the state of the chain. */
  overrides: boolean;
  /** Whether the answers go over a WebSocket. */
  socket: boolean;
  /** The allowed calls, if not all are. */
  methods?: ReadonlySet<string>;
  /** The refusal of any other call. */
  closed?: (method: string) => Error;
}

/** One call, screened: what to ask the chain, or an answer that needs no chain. */
export type Screened = RpcCall | { answer: object };

export interface Message {
  batch: boolean;
  calls: Screened[];
}

const whole = (answer: object): Message => ({ batch: false, calls: [{ answer }] });

/** Parses and screens a body. Refuses numbers that JavaScript cannot hold exactly: the chain would get other ones. */
export function read(body: string, rights: Rights): Message {
  let calls: unknown;
  try {
    calls = JSON.parse(body, exact);
  } catch (error) {
    const why = error instanceof TooLong ? error.message : "The body is not JSON.";
    return whole(failure(null, -32_700, why));
  }
  return screen(calls, rights);
}

/** Refuses a body that is no message at all, but answers what is wrong with a single call in JSON-RPC. */
export function mustBeMessage({ batch, calls: [call] }: Message): void {
  if (batch || call === undefined || !("answer" in call)) return;
  const { code, message } = (call.answer as { error?: { code: number; message: string } }).error ?? {};
  if (code === -32_700 || code === -32_600) throw new Refusal(400, message!);
}

/**
 * Screens a call or a batch before the chain gets it. The chain gets what was understood here, call by call, not the original
 * bytes, so the two cannot disagree about what they mean.
 */
export function screen(calls: unknown, rights: Rights): Message {
  if (!Array.isArray(calls)) return { batch: false, calls: [screened(calls, rights)] };
  if (calls.length === 0) return whole(failure(null, -32_600, "The batch is empty."));
  const { batch } = rights.limits;
  if (calls.length > batch)
    return whole(failure(null, -32_600, `The batch has ${calls.length} calls; at most ${batch} are allowed.`));
  return { batch: true, calls: calls.map((call) => screened(call, rights)) };
}

/** A call that is not passed on, and why. */
class Unfit extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

function screened(call: unknown, rights: Rights): Screened {
  const { jsonrpc, id, method, params = [] } = fieldsOf(call);
  const known = typeof id === "string" || typeof id === "number" ? id : null;
  try {
    if (typeof method !== "string") throw new Unfit(-32_600, "A call must be an object with a method.");
    if (jsonrpc !== "2.0") throw new Unfit(-32_600, 'A call must have the field jsonrpc: "2.0".');
    if (known !== id && id !== null) throw new Unfit(-32_600, "The id of a call must be a string or a number.");
    const { account } = rights;
    if (account !== undefined && (method === "eth_accounts" || method === "eth_requestAccounts"))
      return { answer: { jsonrpc: "2.0", id: known, result: [account] } };
    const given = Array.isArray(params) ? (params as unknown[]) : [];
    admit(method, given, rights);
    if (!Array.isArray(params)) throw new Unfit(-32_602, "The params of a call must be a list.");
    return rpcCall(method, fitted(method, given, rights), known);
  } catch (error) {
    const deep = error instanceof RangeError && new Unfit(-32_600, "The call is nested too deeply.");
    const unfit = error instanceof Unfit ? error : deep;
    if (!unfit) throw error;
    const { code, message } = unfit;
    return { answer: failure(known, code, message) };
  }
}

function admit(method: string, params: unknown[], { account, socket, methods, closed }: Rights): void {
  if (methods && !methods.has(method)) throw closed!(method.slice(0, 64));
  const signer = signing.get(method);
  if (signer && account !== undefined) return signs(signer(params), method, account);
  if (method === "eth_subscribe" && !socket) throw new Unfit(-32_601, "eth_subscribe needs a WebSocket.");
  if (standard.has(method)) return;
  const which = "nodes answer the eth_, net_ and web3_ calls of Ethereum's specification";
  throw new Unfit(-32_601, `${method.slice(0, 64)} is not available: ${which}.`);
}

function signs(wanted: unknown, method: string, account: string): void {
  if (typeof wanted === "string" && wanted.toLowerCase() === account.toLowerCase()) return;
  const whose = typeof wanted === "string" ? `not ${wanted.slice(0, 64)}` : "and the call names none";
  const instead = "Send from that one, or sign yourself and use eth_sendRawTransaction.";
  throw new Unfit(-32_000, `${method}: this node signs for its own account ${account} only, ${whose}. ${instead}`);
}

/** How many percentiles, proofs and blocks one call may ask for. The numbers are Geth's. */
const most = { percentiles: 100, proofs: 1_024, simulatedBlocks: 16 };

/** The params of a call, with defaults filled in. Refuses what exceeds a limit. */
function fitted(method: string, params: unknown[], rights: Rights): unknown[] {
  const [subject, ...others] = params;
  const { gas } = rights.limits;
  switch (method) {
    case "eth_call":
    case "eth_estimateGas":
    case "eth_createAccessList": {
      const [block, ...overrides] = others;
      return [withGas(subject, gas, gas), ...(block === undefined ? [] : [block]), ...overridden(overrides, rights)];
    }
    case "eth_simulateV1":
      return [simulation(subject, rights), ...others];
    case "eth_sendTransaction":
    case "eth_sendTransactionSync":
    case "eth_signTransaction":
      return [withGas(subject, gas), ...others];
    case "eth_feeHistory":
      atMost(params[2], most.percentiles, "percentiles");
      return params;
    case "eth_getProof":
      atMost(params[1], most.proofs, "storage keys");
      return params;
    default:
      return params;
  }
}

function atMost(list: unknown, count: number, what: string): void {
  if (Array.isArray(list) && list.length > count)
    throw new Unfit(-32_602, `${list.length} ${what} are too many: at most ${count} are allowed.`);
}

const object = (value: unknown, what: string): Fields => {
  if (!isObject(value)) throw new Unfit(-32_602, `${what} must be an object.`);
  return value;
};

const quantity = /^(0x[\da-f]+|\d+)$/i;

/** The gas that a transaction names, in each form that a chain understands. */
function gasOf(transaction: Fields): bigint[] {
  return [transaction.gas, transaction.gasLimit].flatMap((given) => {
    if (given === undefined || given === null) return [];
    const text = typeof given === "number" ? `${given}` : given;
    if (typeof text !== "string" || !quantity.test(text))
      throw new Unfit(-32_602, 'The gas must be a hexadecimal number, such as "0x5208".');
    return BigInt(text);
  });
}

/**
 * A transaction that states its gas. The chain itself has no limit, and its default changes with block overrides.
 *
 * @param open the gas of a transaction that names none
 */
function withGas(transaction: unknown, limit: number, open?: number): Fields {
  const fields = object(transaction, "The transaction");
  const given = gasOf(fields);
  for (const gas of given) {
    if (gas > BigInt(limit))
      throw new Unfit(-32_000, `The call asks for ${gas} gas; the limit is ${limit}. Ask for less, or leave it out.`);
  }
  const gas = given[0]?.toString(16) ?? open?.toString(16);
  return { ...fields, gasLimit: undefined, gas: gas === undefined ? undefined : `0x${gas}` };
}

const isEmpty = (value: unknown) => value === undefined || value === null || JSON.stringify(value) === "{}";

function overridden(overrides: unknown[], { overrides: allowed, limits }: Rights): unknown[] {
  if (overrides.every(isEmpty)) return [];
  if (!allowed) throw new Unfit(-32_602, "State overrides need an application credential and a node.");
  const { length } = JSON.stringify(overrides);
  if (length <= limits.overrides) return overrides;
  throw new Unfit(-32_602, `The state overrides are ${length} bytes long; at most ${limits.overrides} are allowed.`);
}

/** A simulation whose calls together have at most the gas of one call. */
function simulation(given: unknown, rights: Rights): Fields {
  const { limits } = rights;
  const simulated = object(given, "The simulation");
  const blocks = Array.isArray(simulated.blockStateCalls) ? (simulated.blockStateCalls as unknown[]) : [];
  atMost(blocks, most.simulatedBlocks, "blocks");
  const parts = blocks.map((block) => object(block, "A block"));
  overridden(
    parts.flatMap(({ stateOverrides, blockOverrides }) => [stateOverrides, blockOverrides]),
    rights,
  );
  const callsOf = ({ calls }: Fields) => (Array.isArray(calls) ? (calls as unknown[]) : []);
  const calls = parts.flatMap(callsOf).map((call) => gasOf(object(call, "The transaction"))[0]);
  atMost(calls, limits.batch, "calls");
  const named = calls.reduce<bigint>((sum, gas) => sum + (gas ?? 0n), 0n);
  if (named > BigInt(limits.gas))
    throw new Unfit(-32_000, `The calls ask for ${named} gas together; the limit is ${limits.gas}.`);
  const open = calls.filter((gas) => gas === undefined).length;
  const share = Math.floor((limits.gas - Number(named)) / Math.max(1, open));
  const filled = (block: Fields) => ({
    ...block,
    ...(block.calls === undefined ? {} : { calls: callsOf(block).map((call) => withGas(call, limits.gas, share)) }),
  });
  return { ...simulated, blockStateCalls: parts.map(filled) };
}

class TooLong extends Error {}

function exact(_key: string, value: unknown): unknown {
  if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw new TooLong('A number is beyond 2^53 - 1: write it as a hexadecimal string, such as "0x20000000000000".');
  return value;
}
