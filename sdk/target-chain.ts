import { Contract, getAddress, isError, JsonRpcProvider, keccak256, toUtf8Bytes } from "ethers";
import { canonical, must, type Pin, same } from "./pinned-report";
import { type Verification, type VerifyOptions } from "./verify";

/* Loaded at the first report that is to be verified, since it loads ethers. */

const anchorAbi = [
  "event Pinned(uint256 indexed index, bytes32 hash)",
  "function owner() view returns (address)",
  "function hashAt(uint256 index) view returns (bytes32)",
];

/** The public chain, and its id; an address where no chain answers is an error at once. */
async function openTarget(url: string): Promise<{ provider: JsonRpcProvider; chainId: bigint }> {
  if (!URL.canParse(url))
    throw new Error("verifyReport: targetRpcUrl is no address: give the chain's, such as https://…");
  // Nothing that was asked before may stand for what is there now.
  const provider = new JsonRpcProvider(url, undefined, { staticNetwork: true, cacheTimeout: -1 });
  try {
    return { provider, chainId: (await provider._detectNetwork()).chainId };
  } catch (error) {
    provider.destroy();
    const { origin } = new URL(url); // the rest of it may hold somebody's key
    throw new Error(`the target chain at ${origin} does not answer: ${messageOf(error)}`, { cause: error });
  }
}

/** ethers' own short form, without the address that was asked. */
function messageOf(error: unknown): string {
  const { shortMessage, message, code } = error as { shortMessage?: string; message?: string; code?: string };
  return shortMessage ?? (message || code || String(error));
}

/** @throws Refused at the first thing that does not hold */
export async function checkOnChain(pin: Pin, url: string, expected: VerifyOptions): Promise<Verification> {
  const hash = keccak256(toUtf8Bytes(canonical(pin.reports)));
  must(
    same(hash, pin.hash),
    () => `the hash of what the nodes reported is ${hash}, but the report says ${pin.hash}: it was changed`,
  );
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
    must(receipt !== null, () => `there is no transaction ${transaction} on this chain`);
    must(receipt.status === 1, () => `the transaction ${transaction} failed`);
    must(
      receipt.blockNumber === pin.block_number,
      () => `the transaction is in block ${receipt.blockNumber}, but the report says ${pin.block_number}`,
    );
    const anchor = new Contract(address, anchorAbi, provider);
    const logs = receipt.logs.filter((log) => same(log.address, address)).map((log) => anchor.interface.parseLog(log));
    must(
      logs.some((log) => log?.args.index === BigInt(pin.contract_index) && same(String(log.args.hash), hash)),
      () => `the transaction ${transaction} did not pin this hash in the contract ${address}`,
    );
    const stored = await read(anchor, "hashAt", pin.contract_index);
    must(
      stored !== undefined && same(stored, hash),
      () => `the contract ${address} holds ${stored ?? "nothing"} at ${pin.contract_index}, not ${hash}`,
    );
    const owner = (await read(anchor, "owner")) ?? "nobody";
    must(!account || same(account, owner), () => `the contract ${address} belongs to ${owner}, not to ${account}`);
    const block = await provider.getBlock(receipt.blockNumber);
    must(block !== null, () => `there is no block ${receipt.blockNumber} on this chain`);
    return {
      ...{ verified: true, hash, chainId: pin.chain_id, contractAddress: address, owner },
      ...{ transactionHash: transaction, blockNumber: receipt.blockNumber, pinnedAt: new Date(block.timestamp * 1000) },
    };
  } finally {
    target.provider.destroy();
  }
}

/** undefined: another contract, or nothing at that index. */
async function read(anchor: Contract, name: "hashAt" | "owner", ...args: unknown[]): Promise<string | undefined> {
  try {
    return String(await anchor.getFunction(name)(...args));
  } catch (error) {
    if (isError(error, "CALL_EXCEPTION") || isError(error, "BAD_DATA")) return undefined;
    throw error;
  }
}
