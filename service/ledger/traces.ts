import { said, Unfit } from "./failures";
import type { Sealed } from "./ledger-data";

type Fields = Record<string, unknown>;

export interface Options extends Fields {
  tracer?: "callTracer";
  tracerConfig?: Fields;
  limit?: number;
}

/** Gas beyond which struct logs are refused: an engine holds all of them in memory. */
const mostGas = 3_000_000;

type Ask = (method: string, params: unknown[]) => Promise<unknown>;

/** The trace of a transaction: its calls, or its steps (struct logs). */
export function traceOf(ask: Ask, { block, receipts }: Sealed, at: number, options: Options) {
  const [tx, receipt] = [block.transactions[at]!, receipts[at]!];
  return options.tracer === undefined
    ? steps(ask, tx, Number(receipt.gasUsed), block, options)
    : calls(ask, tx, receipt, options);
}

async function calls(ask: Ask, tx: Fields, receipt: Fields, { tracerConfig = {} }: Options) {
  const wanted = { tracer: "callTracer", tracerConfig };
  const frame = (await ask("debug_traceTransaction", [tx.hash, wanted])) as Frame;
  const [log] = receipt.logs as Fields[];
  return { ...shown(frame, Number(log?.logIndex ?? 0)), gas: tx.gas, gasUsed: receipt.gasUsed };
}

interface Frame extends Fields {
  error?: string;
  calls?: Frame[];
  logs?: Fields[];
}

/** A frame in geth's words. @param first the index in the block of the transaction's first log, where an engine counts from 0 */
function shown({ error, calls, logs, ...others }: Frame, first: number): Frame {
  const indexed = logs?.map((log) => ({ ...log, index: `0x${(Number(log.index) + first).toString(16)}` }));
  return {
    ...others,
    ...(error === undefined ? {} : { error: (isOwn.test(error) && said(error)) || error }),
    ...(calls && { calls: calls.map((call) => shown(call, first)) }),
    ...(indexed && { logs: indexed }),
  };
}

/** How an engine calls some failures. */
const isOwn = /^[A-Z]|memory limit/;

type AccessList = { address: string; storageKeys: string[] }[];

/**
 * The accounts and slots that a call needs, and its gas with this list. An engine's own answer knows no overrides, and is an error if the
 * call fails.
 */
export async function accessListOf(ask: Ask, [call, at, stateOverrides]: unknown[], sealer: string | undefined) {
  const { from, to, accessList: given = [] } = call as { from?: string; to?: string; accessList?: AccessList };
  const trace = async <T>(tracer: string, more: object = {}) =>
    (await ask("debug_traceCall", [{ ...(call as Fields), ...more }, at, { tracer, stateOverrides }])) as T;
  const created = to ?? (await trace<{ to: string }>("callTracer")).to;
  const isFree = (account: string) => [from, created, sealer].includes(account) || BigInt(account) <= lastPrecompile;
  const kept = given.filter(({ address }) => !isFree(address));
  const needed = new Map(kept.map(({ address, storageKeys }) => [address, new Set(storageKeys)]));
  for (const [account, { storage = {} }] of Object.entries(await trace<State>("prestateTracer")))
    needed.set(account, new Set([...(needed.get(account) ?? []), ...Object.keys(storage)]));
  const accessList = [...needed]
    .filter(([account, keys]) => keys.size > 0 || !isFree(account))
    .map(([address, keys]) => ({ address, storageKeys: [...keys] }));
  const { gasUsed, error } = shown(await trace<Frame>("callTracer", { accessList }), 0);
  return { accessList, ...(error === undefined ? {} : { error }), gasUsed };
}
const lastPrecompile = 9n;

/**
 * An engine keeps no steps of its transactions: it executes this one again, in the state that it met. The state of the accounts and
 * slots that it touched comes from the engine, too.
 */
async function steps(ask: Ask, tx: Fields, gasUsed: number, block: Fields, options: Options) {
  if (gasUsed > mostGas)
    throw new Unfit(`The transaction used ${gasUsed} gas; struct logs have a limit of ${mostGas}. Use callTracer.`);
  const { limit = 0, ...others } = options;
  const met = (await ask("debug_traceTransaction", [tx.hash, { tracer: "prestateTracer" }])) as State;
  const { from, to, gas, gasPrice, value, input, nonce, accessList } = tx;
  const call = { from, ...(to === null ? {} : { to }), gas, gasPrice, value, input, nonce, accessList };
  const blockOverrides = { number: block.number, time: block.timestamp, gasLimit: block.gasLimit };
  const overrides = { ...others, stateOverrides: overridesOf(met), blockOverrides };
  const { structLogs, ...trace } = (await ask("debug_traceCall", [call, "latest", overrides])) as Trace;
  const some = limit > 0 ? structLogs.slice(0, limit) : structLogs;
  return { ...trace, structLogs: some.map(withoutNothing) };
}

interface Trace extends Fields {
  structLogs: Fields[];
}
type State = Record<string, { balance?: string; nonce?: number; code?: string; storage?: Fields }>;

const overridesOf = (state: State): object =>
  Object.fromEntries(
    Object.entries(state).map(([account, { balance, nonce = 0, code = "0x", storage: stateDiff }]) => {
      const slots = stateDiff === undefined ? {} : { stateDiff };
      return [account, { balance, nonce: `0x${nonce.toString(16)}`, code, ...slots }];
    }),
  );

const isNothing = (value: unknown) => value === 0 || value === "0x" || (Array.isArray(value) && value.length === 0);

/** geth leaves out what is empty, and what the trace itself says. */
const withoutNothing = ({ error: _, ...step }: Fields): Fields =>
  Object.fromEntries(
    Object.entries(step).filter(
      ([name, value]) => !(["refund", "returnData", "memory"].includes(name) && isNothing(value)),
    ),
  );
