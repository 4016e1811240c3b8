import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type * as Ethers from "ethers";
import type { Contract, JsonFragment, JsonRpcProvider, Wallet } from "ethers";
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

/** Where a pin is on the target network. */
export interface Mined {
  transaction_hash: string;
  block_number: number;
}

/** Large, and most services never pin: loaded when first needed. */
const library = () => createRequire(__filename)("ethers") as typeof Ethers;

export function addressOf(key: string): string {
  const { Wallet: Signer } = library();
  return new Signer(key).address;
}

export function keccak(text: string): string {
  const { keccak256, toUtf8Bytes } = library();
  return keccak256(toUtf8Bytes(text));
}

/** Works on a target network with an account. */
export async function onTarget<T>({ url, chainId }: Target, key: string, work: (wallet: Wallet) => Promise<T>) {
  const { JsonRpcProvider: Provider, Network, Wallet: Signer } = library();
  const staticNetwork = Network.from(chainId);
  const provider: JsonRpcProvider = new Provider(url, staticNetwork, { staticNetwork, cacheTimeout: -1 });
  provider.pollingInterval = 250;
  try {
    return await work(new Signer(key, provider));
  } finally {
    provider.destroy();
  }
}

/** What the deployment costs now, in wei, and where the contract will be. */
export async function planned(wallet: Wallet): Promise<{ cost: bigint; address: string; nonce: number }> {
  const { getCreateAddress } = library();
  const nonce = await wallet.getNonce("pending");
  const from = wallet.address;
  const gas = await wallet.provider!.estimateGas({ data: anchor().bytecode });
  const { gasPrice, maxFeePerGas } = await wallet.provider!.getFeeData();
  const cost = ((gas * 21n) / 20n) * (maxFeePerGas ?? gasPrice ?? 0n);
  return { cost, nonce, address: getCreateAddress({ from, nonce }) };
}

export async function deployed(wallet: Wallet, nonce: number): Promise<Mined> {
  const sent = await wallet.sendTransaction({ data: anchor().bytecode, nonce });
  const receipt = await sent.wait();
  if (!receipt) throw new Error("it was not mined");
  return { transaction_hash: receipt.hash, block_number: receipt.blockNumber };
}

/** Pins at an index, unless that has been done already. */
export async function pinned(wallet: Wallet, address: string, index: number, hash: string): Promise<Mined> {
  const contract = contractAt(wallet, address);
  if ((await countAt(contract)) <= index) {
    const sent = (await contract.getFunction("pin")(index, hash)) as Awaited<ReturnType<Wallet["sendTransaction"]>>;
    const receipt = await sent.wait();
    if (!receipt) throw new Error("it was not mined");
    return { transaction_hash: receipt.hash, block_number: receipt.blockNumber };
  }
  const [event] = await contract.queryFilter(contract.getEvent("Pinned")(index), 0);
  if (!event) throw new Error(`the contract ${address} does not show its pin ${index}`);
  return { transaction_hash: event.transactionHash, block_number: event.blockNumber };
}

export const pinCount = (wallet: Wallet, address: string) => countAt(contractAt(wallet, address));

const countAt = async (contract: Contract) => Number(await (contract.getFunction("count")() as Promise<bigint>));

function contractAt(wallet: Wallet, address: string): Contract {
  const { Contract: At } = library();
  return new At(address, anchor().abi, wallet);
}
