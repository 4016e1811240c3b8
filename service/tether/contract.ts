import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type * as Ethers from "ethers";
import type { JsonFragment } from "ethers";
import type { Target } from "./targets";

interface Artifact {
  abi: JsonFragment[];
  bytecode: string;
}

let artifact: Artifact | undefined;
function anchor(): Artifact {
  const root = dirname(createRequire(__filename).resolve("pulumi-consortium/package.json"));
  return (artifact ??= JSON.parse(readFileSync(join(root, "contracts", "Anchor.json"), "utf8")) as Artifact);
}

/** Large, and most services never pin: loaded when first needed. */
export const library = () => createRequire(__filename)("ethers") as typeof Ethers;

const coder = () => new (library().Interface)(anchor().abi);

export const addressOf = (key: string): string => library().computeAddress(key);
export const keccak = (text: string): string => library().id(text);

export const deployment = () => anchor().bytecode;

/** Where a contract will be that an account deploys with this nonce. */
export const contractAddress = (from: string, nonce: number) => library().getCreateAddress({ from, nonce });

/** Whether there is a contract at the address; a network that lost its state has none. */
export async function isThere(target: Target, address: string): Promise<boolean> {
  return (await target.call<string>("eth_getCode", [address, "latest"])) !== "0x";
}

/** What pins a hash at an index; the contract takes each index once, in turn. */
export const pinData = (index: number, hash: string) => coder().encodeFunctionData("pin", [index, hash]);

export async function pinCount(target: Target, address: string): Promise<number> {
  const data = coder().encodeFunctionData("count");
  return Number(await target.call<string>("eth_call", [{ to: address, data }, "latest"]));
}

/** Where a pin is that was made earlier. */
export async function pinnedAt(target: Target, address: string, index: number) {
  const topics = coder().encodeFilterTopics("Pinned", [index]);
  type Log = { transactionHash: string; blockNumber: string };
  const [log] = await target.call<Log[]>("eth_getLogs", [{ address, topics, fromBlock: "0x0", toBlock: "latest" }]);
  if (!log) throw new Error(`the contract ${address} does not show its pin ${index}`);
  return { transaction_hash: log.transactionHash, block_number: Number(log.blockNumber) };
}
