import { Unfit } from "./failures";
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
  const frame = (await ask("debug_traceTransaction", [tx.hash, wanted])) as Fields;
  return { ...frame, gas: tx.gas, gasUsed: receipt.gasUsed };
}

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
  const shown = limit > 0 ? structLogs.slice(0, limit) : structLogs;
  return { ...trace, structLogs: shown.map(withoutNothing) };
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
