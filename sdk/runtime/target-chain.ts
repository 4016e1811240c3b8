import type { Contract, JsonRpcProvider } from "ethers";
import Anchor from "../../contracts/Anchor.json";
import { UserError } from "../../provider/errors";
import { ethers, saidIn } from "./ethers";
import { HttpProvider } from "./node-connections";
import { checkHash, must, type Pin, same } from "./report";

/* Loaded when the first report is verified, because it loads ethers. */

const { getAddress, isError } = ethers();

/** How long a public chain may take to answer. */
const patienceMs = 30_000;

/** A provider for a public chain, without any cache. */
export const targetProvider = (url: string): JsonRpcProvider =>
  new HttpProvider(url, { cacheTimeout: -1, timeoutMs: patienceMs });

/** The public chain and its id. @throws at once if no chain answers at the address */
async function openTarget(url: string): Promise<{ provider: JsonRpcProvider; chainId: bigint }> {
  if (!URL.canParse(url))
    throw new UserError(
      "invalid-argument",
      "verifyReport: targetRpcUrl must be the address of the target chain, such as https://…",
    );
  const provider = targetProvider(url);
  try {
    return { provider, chainId: (await provider._detectNetwork()).chainId };
  } catch (error) {
    provider.destroy();
    const { origin } = new URL(url); // the path may contain a key
    throw new UserError("unreachable", `the target chain at ${origin} does not answer: ${saidIn(error)}`, {
      cause: error,
    });
  }
}

/** Checks a report against the chain. @throws Refused at the first thing that does not match */
export async function checkOnChain(pin: Pin, url: string, expected: { account?: string; contractAddress?: string }) {
  const hash = checkHash(pin);
  const target = await openTarget(url);
  const { transaction_hash: transaction } = pin;
  const address = getAddress(pin.contract_address.toLowerCase());
  try {
    must(
      target.chainId === BigInt(pin.chain_id),
      () => `the report was pinned on the chain ${pin.chain_id}, and this is the chain ${target.chainId}`,
    );
    const { contractAddress, account } = expected;
    must(
      !contractAddress || same(contractAddress, address),
      () => `it is pinned in the contract ${address}, not in ${contractAddress}`,
    );
    const { provider } = target;
    const [code, receipt] = await Promise.all([provider.getCode(address), provider.getTransactionReceipt(transaction)]);
    must(code !== "0x", () => `there is no contract at ${address} on this chain`);
    const owner = ownerIn(code);
    must(owner !== undefined, () => `the contract ${address} does not have the code of a tether service`);
    must(!account || same(account, owner), () => `the contract ${address} belongs to ${owner}, not to ${account}`);
    must(receipt !== null, () => `there is no transaction ${transaction} on this chain`);
    must(receipt.status === 1, () => `the transaction ${transaction} failed`);
    must(
      receipt.blockNumber === pin.block_number,
      () => `the transaction is in block ${receipt.blockNumber}, but the report says ${pin.block_number}`,
    );
    // Whoever deploys can put any owner into the code, and write any pin during deployment, but cannot send in the owner's name.
    must(
      same(receipt.from, owner),
      () => `the transaction ${transaction} comes from ${receipt.from}, not from the owner of the contract, ${owner}`,
    );
    const anchor = new (ethers().Contract)(address, Anchor.abi, provider);
    const logs = receipt.logs.filter((log) => same(log.address, address)).map((log) => anchor.interface.parseLog(log));
    must(
      logs.some((log) => log?.args.index === BigInt(pin.contract_index) && same(String(log.args.hash), hash)),
      () => `the transaction ${transaction} did not pin this hash in the contract ${address}`,
    );
    const stored = await hashAt(anchor, pin.contract_index);
    must(
      stored !== undefined && same(stored, hash),
      () => `the contract ${address} holds ${stored ?? "nothing"} at ${pin.contract_index}, not ${hash}`,
    );
    const block = await provider.getBlock(receipt.blockNumber);
    must(block !== null, () => `there is no block ${receipt.blockNumber} on this chain`);
    return {
      verified: true as const,
      hash,
      chainId: pin.chain_id,
      contractAddress: address,
      owner,
      transactionHash: transaction,
      blockNumber: receipt.blockNumber,
      pinnedAt: new Date(block.timestamp * 1000),
    };
  } finally {
    target.provider.destroy();
  }
}

/** The owner, who is part of the contract's code; undefined if it is another contract. */
function ownerIn(code: string): string | undefined {
  const places = Object.values(Anchor.immutableReferences).flat();
  const cut = (text: string, { start, length }: (typeof places)[number]): [string, string, string] => {
    const [from, to] = [2 + 2 * start, 2 + 2 * (start + length)];
    return [text.slice(0, from), text.slice(from, to), text.slice(to)];
  };
  const [, owner] = cut(code, places[0]!);
  const ours = places.reduce((text, place) => {
    const [before, , after] = cut(text, place);
    return before + owner + after;
  }, Anchor.deployedBytecode);
  return same(code, ours) && /^0{24}/.test(owner) ? getAddress(`0x${owner.slice(24)}`) : undefined;
}

/** Undefined if there is nothing at the index. */
async function hashAt(anchor: Contract, index: number): Promise<string | undefined> {
  try {
    return String(await anchor.getFunction("hashAt")(index));
  } catch (error) {
    if (isError(error, "CALL_EXCEPTION") || isError(error, "BAD_DATA")) return undefined;
    throw error;
  }
}
