import { inGethsWords, Unfit } from "./failures";
import { following, shownTransaction } from "./header";
import type { Block, Sealed } from "./ledger-data";
import type { Simulation } from "./params";
import type { Profile } from "../profiles";

type Fields = Record<string, unknown>;

const pause = 12n;
const mostBlocks = 256n;

/**
 * A simulation whose blocks follow each other, and the one before them, as geth orders them. The engine would accept any order, and give
 * the first one the number of the block before.
 */
export function inOrder(simulation: Simulation, before: Block): Simulation {
  const hex = (value: bigint) => `0x${value.toString(16)}`;
  const first = BigInt(before.number);
  let [number, time] = [first, BigInt(before.timestamp as string)];
  const blocks: Blocks = [];
  const add = (block: Blocks[number], at: bigint) => {
    if (at <= time) throw new Unfit(`block timestamps must be in order: ${at} <= ${time}`, -38_021);
    [number, time] = [number + 1n, at];
    blocks.push({ ...block, blockOverrides: { ...block.blockOverrides!, number: hex(number), time: hex(time) } });
  };
  for (const block of simulation.blockStateCalls ?? []) {
    const { number: named, time: at } = block.blockOverrides ?? {};
    const next = named === undefined ? number + 1n : BigInt(named);
    if (next <= number) throw new Unfit(`block numbers must be in order: ${next} <= ${number}`, -38_020);
    if (next - first > mostBlocks) throw new Unfit("too many blocks", -38_026);
    while (number + 1n < next) add({} as Blocks[number], time + pause);
    add(block, at === undefined ? time + pause : BigInt(at));
  }
  return { ...simulation, blockStateCalls: blocks };
}

/** Refuses a simulation with validation whose nonces do not follow: an engine would accept them. */
export async function mustFollow({ blockStateCalls }: Simulation, used: (account: string) => Promise<unknown>) {
  const next = new Map<string, number>();
  for (const { stateOverrides, calls } of blockStateCalls ?? []) {
    for (const [account, { nonce }] of Object.entries(stateOverrides ?? {}))
      if (nonce !== undefined) next.set(account, Number(nonce));
    for (const { from = `0x${"0".repeat(40)}`, nonce } of calls ?? []) {
      const wanted = next.get(from) ?? Number(await used(from));
      const given = Number(nonce ?? wanted);
      if (given !== wanted) {
        const [why, code] = given < wanted ? ["low", -38_010] : ["high", -38_011];
        throw new Unfit(`nonce too ${why}: address ${from}, tx: ${given} state: ${wanted}`, code);
      }
      next.set(from, wanted + 1);
    }
  }
}

const codes: readonly [begin: string, code: number][] = [
  ["max fee per gas less than block base fee", -38_012],
  ["intrinsic gas too low", -38_013],
  ["insufficient funds", -38_014],
];
/** Throws a simulation's error with its code. */
export function coded(error: unknown): never {
  const [, code] = codes.find(([begin]) => error instanceof Unfit && error.message.startsWith(begin)) ?? [];
  throw code === undefined ? error : new Unfit((error as Unfit).message, code);
}
type Blocks = NonNullable<Simulation["blockStateCalls"]>;

interface CallResult extends Fields {
  gasUsed: string;
  logs?: Fields[];
  returnData?: string;
  error?: object;
}

/** The blocks of a simulation as geth shows them, after another one. @param asked has the gas of each call */
export function simulated(
  blocks: readonly Block[],
  asked: Simulation,
  parent: Sealed,
  profile: Profile | undefined,
): Block[] {
  return following(blocks, parent, profile).map((block, index) => {
    const gas = (at: number) => Number(asked.blockStateCalls?.[index]?.calls?.[at]?.gas);
    const inIt = <T extends Fields>(one: T): T => ({ ...one, blockHash: block.hash });
    const transactions = block.transactions.map((one) => (typeof one === "string" ? one : shownTransaction(inIt(one))));
    const calls = (block.calls as CallResult[]).map(({ logs, error, ...call }, at) => ({
      ...call,
      ...(logs ? { logs: logs.map(inIt) } : {}),
      ...(error ? { returnData: "0x", error: failure(call, gas(at)) } : {}),
    }));
    return { ...block, transactions, calls };
  });
}

/** The engine gives all failures one code and text, but only a revert leaves gas or returns data. */
function failure({ returnData: data = "0x", gasUsed }: CallResult, gas: number) {
  if (data === "0x" && Number(gasUsed) >= gas)
    return { code: -32_015, message: "the call failed: it was out of gas, or met an invalid instruction" };
  const { message } = inGethsWords({ code: 3, message: "", data }, { height: 0, history: 0 });
  return { code: 3, message, data };
}
