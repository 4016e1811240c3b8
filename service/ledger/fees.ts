import type { Sealed } from "./ledger-data";

const hex = (value: bigint) => `0x${value.toString(16)}`;

/** The history of the fees of blocks, as geth has it. The next block has the base fee of the last one. */
export function feesOf(blocks: readonly Sealed[], percentiles: readonly number[]) {
  const base = blocks.map(({ block }) => (block.baseFeePerGas as string | undefined) ?? "0x0");
  return {
    oldestBlock: blocks[0]!.block.number,
    ...(percentiles.length > 0 ? { reward: blocks.map((one) => tipsOf(one, percentiles)) } : {}),
    baseFeePerGas: [...base, base.at(-1)],
    gasUsedRatio: blocks.map(({ block }) => Number(block.gasUsed) / Number(block.gasLimit)),
  };
}

function tipsOf({ block, receipts }: Sealed, percentiles: readonly number[]): string[] {
  const base = BigInt((block.baseFeePerGas as string | undefined) ?? 0);
  const paid = block.transactions.map(({ gasPrice, gas }, at) => {
    const used = receipts[at]?.gasUsed ?? gas; // waiting ones may use all of their gas
    return { tip: BigInt(gasPrice as string) - base, gas: Number(used) };
  });
  paid.sort((one, other) => (one.tip < other.tip ? -1 : one.tip > other.tip ? 1 : 0));
  const used = paid.reduce((sum, { gas }) => sum + gas, 0);
  return percentiles.map((percentile) => {
    let sum = 0;
    const found = paid.find(({ gas }, at) => (sum += gas) >= (used * percentile) / 100 || at === paid.length - 1);
    return hex(found?.tip ?? 0n);
  });
}
