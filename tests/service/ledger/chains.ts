import { execFileSync } from "node:child_process";
import { findAnvil } from "../../../service/ledger/engine";
import { type Pace, usualPace } from "../../../service/ledger/chain-base";
import { type Chain, Chains } from "../../../service/ledger/chains";
import { registerOf } from "../../../service/store/ledgers";
import { profiles } from "../../../service/profiles";
import { own, rpcCall } from "../../../service/ledger/rpc";
import { atEnd } from "../helpers";
import { SteadyClock } from "../../../service/storage/steady-clock";
import { Store } from "../../../service/store/store";

/** Changes of a chain's pace. `blocks`: a snapshot follows after this many. */
export type Changed = Partial<Pace> & { blocks?: number };

const paceOf = ({ blocks = usualPace.snapshot.blocks, ...changed }: Changed): Pace => ({
  ...usualPace,
  snapshot: { ...usualPace.snapshot, blocks },
  ...changed,
});

const open: Chains[] = [];
/** Ends all chains that the test has begun so far. */
export const closeAll = () => Promise.all(open.splice(0).map((chains) => chains.close()));

/** Chains in a folder, which end with the test, and their warnings. */
export function chainsAt(folder: string, pace: Changed = {}, store = emptyStore()) {
  const warnings: string[] = [];
  const warn = (text: string) => void warnings.push(text);
  const chains = new Chains(findAnvil(undefined)!, folder, registerOf(store), warn, undefined, paceOf(pace));
  open.push(chains);
  atEnd(closeAll);
  return { chains, warnings };
}

/** The client of these tests' ledgers: its gas is free. */
export const profile = profiles.geth!.poa!;

/** A member's call, which keeps a chain awake; the service's own, `chain.call`, do not. */
export const use = (chain: Chain) => chain.ask(rpcCall("eth_blockNumber", []), own);

/** The latest block. The service's own calls keep no chain awake. */
export async function latest(chain: Chain) {
  const block = await chain.call<Record<"number" | "timestamp", string>>("eth_getBlockByNumber", ["latest", false]);
  return { number: Number(block.number), timestamp: Number(block.timestamp) };
}

export const emptyStore = () => new Store(new SteadyClock(Date.now));

/** The processes that execute chains of a folder, without the shells that watch over them. */
export const enginesOf = (folder: string) =>
  execFileSync("ps", ["-eww", "-o", "pid=,args="], { encoding: "utf8" })
    .split("\n")
    .filter((line) => !line.includes("/bin/sh") && line.includes(`--init ${folder}`))
    .map((line) => Number(line.trim().split(" ")[0]));

type Block = { number: string; hash: string; timestamp: string; transactions: unknown[] };

/** All blocks and receipts of a chain, and the balances of some accounts. */
export async function allOf(chain: Chain, accounts: readonly string[], from = 0) {
  const height = Number(await chain.call<string>("eth_blockNumber"));
  const blocks: [Block, unknown][] = [];
  for (let number = from; number <= height; number++) {
    const at = `0x${number.toString(16)}`;
    const asked = ["eth_getBlockByNumber", "eth_getBlockReceipts"].map((method, index) =>
      chain.call(method, index === 0 ? [at, true] : [at]),
    );
    blocks.push((await Promise.all(asked)) as [Block, unknown]);
  }
  const balances = await Promise.all(accounts.map((one) => chain.call<string>("eth_getBalance", [one, "latest"])));
  return { blocks, balances };
}

type All = Awaited<ReturnType<typeof allOf>>;

/**
 * The transactions of newer blocks of a chain. Checks first that all earlier blocks and the balances are unchanged.
 */
export function since(before: All, now: All): unknown[] {
  const count = before.blocks.length;
  expect(now.blocks.slice(0, count)).toEqual(before.blocks);
  expect(now.balances).toEqual(before.balances);
  return now.blocks.slice(count).flatMap(([{ transactions }]) => transactions);
}
