import { z } from "zod";
import { Refusal } from "../errors";
import { type CallLimits, isObject } from "../settings/settings";
import { Unfit } from "./failures";
import { hasFork, type Profile } from "../profiles";
import { ofConsensus, signing, type Simulation, standard, subscriptions, type Transaction, whyInvalid } from "./params";
import { failure, type RpcCall, rpcCall, unforeseen } from "./rpc";

type Fields = Record<string, unknown>;
const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});

export interface Rights {
  limits: CallLimits;
  /** The only account that the node signs for, if any. */
  account?: string;
  /** The client that the ledger imitates; undefined for a public network. */
  profile: Profile | undefined;
  socket: boolean;
  /** For a caller without a credential: the allowed calls, and the reason for refusing others. */
  only?: { methods: ReadonlySet<string>; because: string };
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

export function read(body: string, rights: Rights): Message {
  try {
    return screen(JSON.parse(body), rights);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return whole(failure(null, -32_700, "The body is not JSON."));
  }
}

/** Whether JavaScript cannot represent the caller's number: the chain would get another one. */
const isInexact = (value: unknown): boolean =>
  typeof value === "number"
    ? Math.abs(value) > Number.MAX_SAFE_INTEGER
    : typeof value === "object" && value !== null && Object.values(value).some(isInexact);

/**
 * Screens a call or a batch for the chain. The chain gets the parsed calls, not the original bytes, so that both always agree about
 * their meaning.
 */
export function screen(calls: unknown, rights: Rights): Message {
  if (!Array.isArray(calls)) return { batch: false, calls: [screened(calls, rights)] };
  if (calls.length === 0) return whole(failure(null, -32_600, "The batch is empty."));
  const { batch } = rights.limits;
  if (calls.length > batch) return { batch: true, calls: [{ answer: tooMany(calls, batch) }] };
  return { batch: true, calls: calls.map((call) => screened(call, rights)) };
}

/** As geth answers: to the first call, in a list. */
const tooMany = ([first, ...others]: unknown[], most: number) =>
  failure(
    fieldsOf(first).id ?? null,
    -32_600,
    `batch too large: ${others.length + 1} calls, at most ${most} are allowed`,
  );

function screened(call: unknown, rights: Rights): Screened {
  const { id, method } = fieldsOf(call);
  const known = typeof id === "string" || (typeof id === "number" && !isInexact(id)) ? id : null;
  const silent = typeof method === "string" && id === undefined ? { silent: true } : {};
  try {
    return { ...understood(call, known, rights), ...silent };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if (error instanceof Unfit) return { answer: failure(known, error.code, error.message), ...silent };
    if (error instanceof RangeError)
      return { answer: failure(known, -32_600, "The call is nested too deeply."), ...silent };
    rights.report(error);
    return { answer: unforeseen(known), ...silent };
  }
}

function understood(call: unknown, known: string | number | null, rights: Rights): Screened {
  const { jsonrpc, id, method, params: given } = fieldsOf(call);
  const params = given ?? [];
  if (typeof method !== "string") throw new Unfit("A call must be an object with a method.", -32_600);
  if (jsonrpc !== "2.0") throw new Unfit('A call must have the field jsonrpc: "2.0".', -32_600);
  if (isInexact(call))
    throw new Unfit(
      'A number is beyond 2^53 - 1: write it as a hexadecimal string, such as "0x20000000000000".',
      -32_600,
    );
  if (known !== (id ?? null)) throw new Unfit("The id of a call must be a string or a number.", -32_600);
  const rules = admit(method, Array.isArray(params) ? (params as unknown[]) : [], rights);
  if (!Array.isArray(params)) throw new Unfit("non-array args: the params of a call must be a list", -32_602);
  const { data, error } = rules.safeParse(params);
  if (error) throw whyInvalid(error, params, rules);
  const result = answers[method]?.(rights, data);
  if (result !== undefined) return { answer: { jsonrpc: "2.0", id: known, result } };
  const passed = fits[method]?.(data as never, rights.limits.gas) ?? data;
  while (passed.length > 0 && passed.at(-1) === undefined) passed.pop();
  return rpcCall(method, passed, known);
}

const accounts = ({ account }: Rights) => (account === undefined ? undefined : [account]);
/** The engine would suggest 1 gwei, which accounts without money do not have. */
const price = ({ profile }: Rights) => profile && `0x${profile.gasPrice.toString(16)}`;

/** Fixed answers of the imitated client; undefined where the chain answers. */
const answers: Partial<Record<string, (rights: Rights, params: unknown[]) => unknown>> = {
  eth_accounts: accounts,
  eth_requestAccounts: accounts,
  eth_coinbase: ({ account, profile }) =>
    profile && ["raft", "clique"].includes(profile.consensus) ? account : undefined,
  web3_clientVersion: ({ profile }) => profile?.clientVersion ?? "consortium-service",
  eth_gasPrice: price,
  eth_maxPriorityFeePerGas: price,
  eth_feeHistory: (_rights, [count]) => (Number(count) === 0 ? { oldestBlock: "0x0", gasUsedRatio: null } : undefined),
  net_peerCount: () => "0x0",
  eth_hashrate: () => "0x0",
  eth_mining: () => false,
  eth_protocolVersion: () => "0x41",
};

/** Refuses a call that the caller may not make. Returns the rules of its params. */
function admit(method: string, params: unknown[], { account, socket, only, profile }: Rights): z.ZodTuple {
  if (only && !only.methods.has(method)) throw new Refusal(403, `${method.slice(0, 64)} ${only.because}.`);
  if (account !== undefined && answers[method] === accounts) return z.tuple([]);
  const signed = account !== undefined && signing.get(method);
  if (signed) {
    const [first, second] = params;
    signs(method === "personal_sign" ? second : isObject(first) ? first.from : first, account);
    return signed;
  }
  if (method === "eth_subscribe" && !socket)
    throw new Unfit("notifications not supported: eth_subscribe needs a WebSocket", -32_601);
  if (method === "eth_subscribe") return subscribing(params[0]);
  const rules = standard.get(method) ?? (profile && ofConsensus[profile.consensus].get(method));
  const isLater = method === "eth_blobBaseFee" && profile && !hasFork(profile.hardFork, "cancun");
  if (rules && !isLater) return rules;
  const which = "nodes answer the eth_, net_ and web3_ calls of Ethereum's specification, and debug_traceTransaction";
  throw new Unfit(`the method ${method.slice(0, 64)} does not exist/is not available: ${which}`, -32_601);
}

function subscribing(kind: unknown): z.ZodTuple {
  if (typeof kind !== "string") throw new Unfit("expected subscription name as first argument", -32_602);
  const rules = subscriptions.get(kind);
  if (rules) return rules;
  throw new Unfit(`no "${kind.slice(0, 64)}" subscription in eth namespace`, -32_601);
}

function signs(wanted: unknown, account: string): void {
  if (typeof wanted === "string" && wanted.toLowerCase() === account.toLowerCase()) return;
  const whose = typeof wanted === "string" ? `not ${wanted.slice(0, 64)}` : "and the call names none";
  const instead = "Send from that one, or sign yourself and use eth_sendRawTransaction.";
  throw new Unfit(`unknown account: this node signs for its own account ${account} only, ${whose}. ${instead}`);
}

type Fit = (params: [never, ...unknown[]], gas: number) => unknown[];
const ofCall: Fit = ([call, ...others], gas) => [withGas(capped(call, gas), gas, gas), ...others];
const ofSent: Fit = ([transaction, ...others], gas) => [withGas(mustAgree(transaction), gas), ...others];

/** The params of calls with gas. The chain itself has no limit, and its default changes with block overrides. */
const fits: Partial<Record<string, Fit>> = {
  eth_call: ofCall,
  eth_estimateGas: ofCall,
  eth_createAccessList: ofCall,
  eth_simulateV1: ([asked, ...others], gas) => {
    const { blockStateCalls, ...more }: Simulation = asked;
    const blocks = blockStateCalls?.map(({ calls, ...block }) => {
      return calls ? { ...block, calls: calls.map((call) => withGas(call, gas, gas, -38_015)) } : block;
    });
    return [{ ...more, blockStateCalls: blocks }, ...others];
  },
  eth_sendTransaction: ofSent,
  eth_signTransaction: ofSent,
};

/** A transaction must not contain contradictory data; in a call, `input` wins. */
function mustAgree(transaction: Transaction): Transaction {
  const { data, input } = transaction;
  if (data === undefined || data === input) return transaction;
  const which = 'Please use "input" to pass transaction call data';
  throw new Unfit(`both "data" and "input" are set and not equal. ${which}`);
}

/** A call that asks for no more gas than a block has, as in geth. */
function capped(call: Transaction, most: number): Transaction {
  const { gas, gasLimit, ...others } = call;
  const given = gas ?? gasLimit;
  return given !== undefined && BigInt(given) > BigInt(most) ? { ...others, gas: `0x${most.toString(16)}` } : call;
}

/** A transaction that states its gas. @param open the gas of a transaction without a limit */
function withGas(
  { data: _, gasLimit, ...others }: Transaction,
  limit: number,
  open?: number,
  code?: number,
): Transaction {
  const { gas: named = gasLimit, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = others;
  const gas = named === undefined ? open : BigInt(named);
  if (gas !== undefined && gas > limit)
    throw new Unfit(`The call asks for ${gas} gas; the limit is ${limit}. Ask for less, or leave it out.`, code);
  if (gasPrice !== undefined && (maxFeePerGas ?? maxPriorityFeePerGas) !== undefined)
    throw new Unfit("both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified");
  return gas === undefined ? others : { ...others, gas: `0x${gas.toString(16)}` };
}
