import { z } from "zod";
import { Refusal } from "../errors";
import { type CallLimits, isObject } from "../settings/settings";
import { Unfit } from "./failures";
import { hasFork, type Profile } from "../profiles";
import { ofConsensus, signing, type Simulation, standard, subscriptions, type Transaction, whyInvalid } from "./params";
import { failure, type RpcCall, rpcCall, unforeseen } from "./rpc";

type Fields = Record<string, unknown>;
const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});

/** The account that a call signs for. */
const signerIn = (method: string, [first, second]: unknown[]): unknown =>
  method === "personal_sign" ? second : isObject(first) ? first.from : first;

/** Fixed answers of the imitated client. The engine would suggest 1 gwei, which accounts without money do not have. */
function ownAnswer(method: string, [first]: unknown[], { account, profile }: Rights): unknown {
  if (account !== undefined && (method === "eth_accounts" || method === "eth_requestAccounts")) return [account];
  switch (method) {
    case "eth_coinbase":
      return profile && ["raft", "clique"].includes(profile.consensus) ? account : undefined;
    case "web3_clientVersion":
      return profile?.clientVersion ?? "consortium-service";
    case "eth_gasPrice":
    case "eth_maxPriorityFeePerGas":
      return profile && `0x${profile.gasPrice.toString(16)}`;
    case "eth_feeHistory":
      return Number(first) === 0 ? { oldestBlock: "0x0", gasUsedRatio: null } : undefined;
    case "net_peerCount":
    case "eth_hashrate":
      return "0x0";
    case "eth_mining":
      return false;
    case "eth_protocolVersion":
      return "0x41";
    default:
      return undefined;
  }
}

/** The rights and limits of a caller. */
export interface Rights {
  limits: CallLimits;
  /** The only account that the node signs for, if any. */
  account?: string;
  /** The client that the ledger imitates; undefined for a public network. */
  profile: Profile | undefined;
  /** Whether answers go over a WebSocket. */
  socket: boolean;
  /** For a caller without a credential: the allowed calls, without state overrides, and the reason for refusing others. */
  only?: { methods: ReadonlySet<string>; because: string };
  /** Reports an unexpected error. */
  report: (error: unknown) => void;
}

/** A screened call: the call to the chain, or an answer that needs no chain. */
type Screened = (RpcCall | { answer: object }) & {
  /** Whether it has no id: then it gets no answer. */
  silent?: boolean;
};

export interface Message {
  batch: boolean;
  calls: Screened[];
}

const whole = (answer: object): Message => ({ batch: false, calls: [{ answer }] });

/** Parses and screens a body. */
export function read(body: string, rights: Rights): Message {
  try {
    return screen(JSON.parse(body), rights);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return whole(failure(null, -32_700, "The body is not JSON."));
  }
}

/** The id of a call, to answer it; null if it has none. */
function idOf(call: unknown): string | number | null {
  const { id } = fieldsOf(call);
  return typeof id === "string" || (typeof id === "number" && !isInexact(id)) ? id : null;
}

/** Whether JavaScript cannot represent the caller's number: the chain would get another one. */
const isInexact = (value: unknown): boolean =>
  typeof value === "number"
    ? Math.abs(value) > Number.MAX_SAFE_INTEGER
    : typeof value === "object" && value !== null && Object.values(value).some(isInexact);

/** Refuses a body that is not a message; answers problems of a single call in JSON-RPC. */
export function mustBeMessage({ batch, calls: [call] }: Message): void {
  if (batch || call === undefined || !("answer" in call)) return;
  const { code, message } = (call.answer as { error?: { code: number; message: string } }).error ?? {};
  if (code === -32_700 || code === -32_600) throw new Refusal(400, message!);
}

/**
 * Screens a call or a batch for the chain. The chain gets the parsed calls, not the original bytes, so that both always agree about
 * their meaning.
 */
export function screen(calls: unknown, rights: Rights): Message {
  if (!Array.isArray(calls)) return { batch: false, calls: [screened(calls, rights)] };
  if (calls.length === 0) return whole(failure(null, -32_600, "The batch is empty."));
  const { batch } = rights.limits;
  if (calls.length > batch)
    return whole(failure(null, -32_600, `The batch has ${calls.length} calls; at most ${batch} are allowed.`));
  return { batch: true, calls: calls.map((call) => screened(call, rights)) };
}

function screened(call: unknown, rights: Rights): Screened {
  const isNotification = typeof fieldsOf(call).method === "string" && fieldsOf(call).id === undefined;
  const passed = understood(call, rights);
  return isNotification ? { ...passed, silent: true } : passed;
}

function understood(call: unknown, rights: Rights): Screened {
  const { jsonrpc, id, method } = fieldsOf(call);
  const params = fieldsOf(call).params ?? [];
  const known = idOf(call);
  try {
    if (typeof method !== "string") throw new Unfit(-32_600, "A call must be an object with a method.");
    if (jsonrpc !== "2.0") throw new Unfit(-32_600, 'A call must have the field jsonrpc: "2.0".');
    if (isInexact(call))
      throw new Unfit(
        -32_600,
        'A number is beyond 2^53 - 1: write it as a hexadecimal string, such as "0x20000000000000".',
      );
    if (known !== id && id !== null && id !== undefined)
      throw new Unfit(-32_600, "The id of a call must be a string or a number.");
    const rules = admit(method, Array.isArray(params) ? (params as unknown[]) : [], rights);
    if (!Array.isArray(params)) throw new Unfit(-32_602, "non-array args: the params of a call must be a list");
    const { data, error } = rules.safeParse(params);
    if (error) throw new Unfit(-32_602, whyInvalid(error, params, rules));
    const result = ownAnswer(method, data, rights);
    if (result !== undefined) return { answer: { jsonrpc: "2.0", id: known, result } };
    const passed = fitted(method, data, rights);
    while (passed.length > 0 && passed.at(-1) === undefined) passed.pop();
    return rpcCall(method, passed, known);
  } catch (error) {
    if (error instanceof Unfit) return { answer: failure(known, error.code, error.message) };
    if (error instanceof Refusal) throw error;
    if (error instanceof RangeError) return { answer: failure(known, -32_600, "The call is nested too deeply.") };
    rights.report(error);
    return { answer: unforeseen(known) };
  }
}

const accounts = new Set(["eth_accounts", "eth_requestAccounts"]);
const none = z.tuple([]);

/** Refuses a call that the caller may not make. Returns the rules of its params. */
function admit(method: string, params: unknown[], { account, socket, only, profile }: Rights): z.ZodTuple {
  if (only && !only.methods.has(method)) throw new Refusal(403, `${method.slice(0, 64)} ${only.because}.`);
  if (account !== undefined && accounts.has(method)) return none;
  const signed = account !== undefined && signing.get(method);
  if (signed) {
    signs(signerIn(method, params), account);
    return signed;
  }
  if (method === "eth_subscribe" && !socket)
    throw new Unfit(-32_601, "notifications not supported: eth_subscribe needs a WebSocket");
  if (method === "eth_subscribe") return subscribing(params[0]);
  const rules = standard.get(method) ?? (profile && ofConsensus[profile.consensus].get(method));
  const isLater = method === "eth_blobBaseFee" && profile && !hasFork(profile.hardFork, "cancun");
  if (rules && !isLater) return rules;
  const which = "nodes answer the eth_, net_ and web3_ calls of Ethereum's specification, and debug_traceTransaction";
  throw new Unfit(-32_601, `the method ${method.slice(0, 64)} does not exist/is not available: ${which}`);
}

function subscribing(kind: unknown): z.ZodTuple {
  if (typeof kind !== "string") throw new Unfit(-32_602, "expected subscription name as first argument");
  const rules = subscriptions.get(kind);
  if (rules) return rules;
  throw new Unfit(-32_601, `no "${kind.slice(0, 64)}" subscription in eth namespace`);
}

function signs(wanted: unknown, account: string): void {
  if (typeof wanted === "string" && wanted.toLowerCase() === account.toLowerCase()) return;
  const whose = typeof wanted === "string" ? `not ${wanted.slice(0, 64)}` : "and the call names none";
  const instead = "Send from that one, or sign yourself and use eth_sendRawTransaction.";
  throw new Unfit(
    -32_000,
    `unknown account: this node signs for its own account ${account} only, ${whose}. ${instead}`,
  );
}

/** How many percentiles, proofs and blocks one call may ask for. The limits are Geth's. */
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
      return [withGas(capped(subject as Transaction, gas), gas, gas), block, ...overridden(overrides, rights)];
    }
    case "eth_simulateV1":
      return [simulation(subject as Simulation, rights), ...others];
    case "eth_sendTransaction":
    case "eth_sendTransactionSync":
    case "eth_signTransaction":
      return [withGas(mustAgree(subject as Transaction), gas), ...others];
    case "eth_feeHistory":
      mustRise(params[2] as number[]);
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

function mustRise(percentiles: readonly number[]): void {
  atMost(percentiles, most.percentiles, "percentiles");
  percentiles.forEach((one, at) => {
    const before = percentiles[at - 1] ?? 0;
    const shown = (index: number) => `#${index}:${percentiles[index]!.toFixed(6)}`;
    if (one < 0 || one > 100) throw new Unfit(-32_000, `invalid reward percentile: ${one.toFixed(6)}`);
    if (one < before) throw new Unfit(-32_000, `invalid reward percentile: ${shown(at - 1)} >= ${shown(at)}`);
  });
}

/** A transaction must not contain contradictory data; in a call, `input` wins. */
function mustAgree(transaction: Transaction): Transaction {
  const { data, input } = transaction;
  if (data === undefined || data === input) return transaction;
  const which = 'Please use "input" to pass transaction call data';
  throw new Unfit(-32_000, `both "data" and "input" are set and not equal. ${which}`);
}

/** The gas of a transaction, in each form that a chain understands. */
const gasOf = ({ gas, gasLimit }: Transaction): bigint[] =>
  [gas, gasLimit].filter((given) => given !== undefined).map((given) => BigInt(given));

/** A call that asks for no more gas than a block has, as in geth. */
function capped(call: Transaction, most: number): Transaction {
  const { gas, gasLimit, ...others } = call;
  const given = gas ?? gasLimit;
  return given !== undefined && BigInt(given) > BigInt(most) ? { ...others, gas: `0x${most.toString(16)}` } : call;
}

/**
 * A transaction that states its gas. The chain itself has no limit, and its default changes with block overrides.
 *
 * @param open the gas of a transaction without a limit
 */
function withGas(transaction: Transaction, limit: number, open?: number): Transaction {
  const given = gasOf(transaction);
  for (const gas of given) {
    if (gas > BigInt(limit))
      throw new Unfit(-32_000, `The call asks for ${gas} gas; the limit is ${limit}. Ask for less, or leave it out.`);
  }
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  if (gasPrice !== undefined && (maxFeePerGas ?? maxPriorityFeePerGas) !== undefined)
    throw new Unfit(-32_000, "both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified");
  const gas = given[0] ?? open;
  const others = { ...transaction };
  delete others.gasLimit;
  delete others.data;
  return gas === undefined ? others : { ...others, gas: `0x${gas.toString(16)}` };
}

const isEmpty = (value: unknown) => value === undefined || value === null || JSON.stringify(value) === "{}";

function overridden(overrides: unknown[], { only }: Rights): unknown[] {
  if (overrides.every(isEmpty)) return [];
  if (only) throw new Unfit(-32_602, "State overrides need an application credential and a node.");
  for (const [address, account] of overrides.flatMap((one) => Object.entries(fieldsOf(one)))) {
    const { state, stateDiff } = fieldsOf(account);
    if (state !== undefined && stateDiff !== undefined)
      throw new Unfit(-32_000, `account ${address} has both 'state' and 'stateDiff'`);
  }
  return overrides;
}

/** A simulation: all its calls together may use the gas of one call. */
function simulation(simulated: Simulation, rights: Rights): object {
  const { limits } = rights;
  const blocks = simulated.blockStateCalls ?? [];
  atMost(blocks, most.simulatedBlocks, "blocks");
  overridden(
    blocks.flatMap(({ stateOverrides, blockOverrides }) => [stateOverrides, blockOverrides]),
    rights,
  );
  const calls = blocks.flatMap(({ calls }) => calls ?? []).map((call) => gasOf(call)[0]);
  atMost(calls, limits.batch, "calls");
  const named = calls.reduce<bigint>((sum, gas) => sum + (gas ?? 0n), 0n);
  if (named > BigInt(limits.gas))
    throw new Unfit(
      -38_015,
      `block gas limit reached: the calls ask for ${named} gas together; the limit is ${limits.gas}`,
    );
  const open = calls.filter((gas) => gas === undefined).length;
  const share = Math.floor((limits.gas - Number(named)) / Math.max(1, open));
  const blockStateCalls = blocks.map((block) => ({
    ...block,
    ...(block.calls ? { calls: block.calls.map((call) => withGas(call, limits.gas, share)) } : {}),
  }));
  return { ...simulated, blockStateCalls };
}
