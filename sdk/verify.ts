import { pinOf, Refused } from "./pinned-report";

export interface VerifyOptions {
  /**
   * The contract that the report must be pinned in. A report names its contract itself, and anybody can deploy one:
   * whoever does not trust the source of the report gives the contract, or the account, that they know.
   */
  contractAddress?: string;
  /** The account that must own the contract: that of the tether service (`getTetherAccount`). */
  account?: string;
}

/** The verdict: verified, or the first thing that does not hold. */
export type Verification =
  | {
      verified: true;
      /** The hash that was computed from the report, as it is on the chain. */
      hash: string;
      chainId: number;
      contractAddress: string;
      /** Account that owns the contract, so that it alone can pin there. */
      owner: string;
      transactionHash: string;
      blockNumber: number;
      /** When the block was made, by the target chain's clock. */
      pinnedAt: Date;
    }
  | { verified: false; reason: string };

/**
 * Checks that a report of a tether service is really on the target chain: its hash is computed anew from what the nodes
 * reported, and has to be what the contract stores and what the transaction wrote.
 * @param report as the service shows it, or an element of `getTetherReports`
 * @param targetRpcUrl JSON-RPC address of the public chain, of your own choice: it is what is trusted
 * @returns the verdict; it throws only when the chain cannot be asked, which says nothing of the report
 */
export async function verifyReport(
  report: unknown,
  targetRpcUrl: string,
  expected: VerifyOptions = {},
): Promise<Verification> {
  try {
    const pin = pinOf(report);
    const { checkOnChain } = await import("./target-chain.js"); // ethers is loaded here, not before
    return await checkOnChain(pin, targetRpcUrl, expected);
  } catch (error) {
    if (error instanceof Refused) return { verified: false, reason: error.message };
    throw error;
  }
}
