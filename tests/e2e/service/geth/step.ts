import { AbiCoder, id, type TransactionRequest, type Wallet } from "ethers";

/* The parts of a step, which is a call to a ledger. */

/** One of the two ledgers, as a step sees it. */
export interface Seen {
  /** The result of an earlier step, as this ledger gave it. */
  of: <T>(step: string) => T;
  chainId: number;
  /** An account with money that both ledgers begin with. */
  rich: Wallet;
  /** The account that the node signs for. */
  account: string;
}

export interface Step {
  title: string;
  /** The text that is sent. */
  body: (seen: Seen) => string | Promise<string>;
  /** Whether both must include it in a block before the next step. */
  mined?: boolean;
}

export type Params = unknown[] | ((seen: Seen) => unknown[] | Promise<unknown[]>);
export type Row = [title: string, method: string, params: Params];

export const body = (method: string, params: unknown[]) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
export const call = ([title, method, params]: Row): Step => ({
  title,
  body: async (seen) => body(method, typeof params === "function" ? await params(seen) : params),
});
/** Params of which the first one may depend on what was seen. */
export const given =
  (first: object | ((seen: Seen) => object), ...more: unknown[]) =>
  (seen: Seen): unknown[] => [typeof first === "function" ? (first as (seen: Seen) => object)(seen) : first, ...more];
export const text = (title: string, sent: string): Step => ({ title, body: () => sent });

export const zero = `0x${"0".repeat(64)}`;
export const nobody = `0x${"a1".repeat(20)}`;
export const other = `0x${"12".repeat(20)}`;
export const gwei = 1_000_000_000n;
export const word = (value: number) => value.toString(16).padStart(64, "0");
export const encoded = (types: string[], values: unknown[]) =>
  AbiCoder.defaultAbiCoder().encode(types, values).slice(2);

/** Code that ends with these bytes as its return value, or as those of its revert. */
export const ending = (opcode: "f3" | "fd", bytes: string) =>
  `0x61${(bytes.length / 2).toString(16).padStart(4, "0")}80600c6000396000${opcode}${bytes}`;
export const reverting = (bytes: string) => ending("fd", bytes);

export const topic = id("Stored(uint256)");
/** Keeps the word of its data in slot 0, and logs it with a topic and the caller. */
const runtime = `60003580600055600052337f${topic.slice(2)}60206000a200`;
export const storing = `0x60${(runtime.length / 2).toString(16)}80600b6000396000f3${runtime}`;

export type Sent = Partial<TransactionRequest>;
export const signed =
  (request: Sent | ((seen: Seen) => Sent), by?: Wallet): Params =>
  async (seen) => {
    const usual = { chainId: seen.chainId, type: 0, gasLimit: 21_000, gasPrice: gwei, to: nobody };
    const own = typeof request === "function" ? request(seen) : request;
    return [await (by ?? seen.rich).signTransaction({ ...usual, ...own })];
  };
export const sends = (title: string, request: Sent | ((seen: Seen) => Sent)): Step => ({
  ...call([title, "eth_sendRawTransaction", signed(request)]),
  mined: true,
});

export const contract = (seen: Seen) =>
  seen.of<{ contractAddress: string }>("the receipt of the deployment").contractAddress;
export const blockOf = (seen: Seen) => seen.of<{ blockHash: string }>("the receipt of the deployment").blockHash;
export const hashOf = (step: string) => (seen: Seen) => [seen.of(step)];
/** Calls the contract, which keeps this value. */
export const stores = (title: string, nonce: number, value: number): Step =>
  sends(title, (seen) => ({ nonce, to: contract(seen), data: `0x${word(value)}`, gasLimit: 100_000 }));
