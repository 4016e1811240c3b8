import { isHex, pinOf, Refused } from "./report";

export interface VerifyOptions {
  /**
   * The account of the tether service that the report must come from (`TetherService.account`, `getTetherAccount`).
   * A report names its contract itself, and anybody can deploy one and pin anything there: without the account,
   * or the contract, the verdict says only that somebody did, and `owner` who.
   */
  account?: string;
  /** The contract that the report must be pinned in. */
  contractAddress?: string;
}

/** The verdict: verified, or the first thing that does not hold. */
export type Verification =
  | {
      verified: true;
      /** The hash that was computed from the report, as it is on the chain. */
      hash: string;
      chainId: number;
      contractAddress: string;
      /** Account that owns the contract, so that it alone can pin there, and that sent the transaction. */
      owner: string;
      transactionHash: string;
      blockNumber: number;
      /** When the block was made, by the target chain's clock. */
      pinnedAt: Date;
    }
  | { verified: false; reason: string };

/* The form of a report, and its hash: report.ts. What the chain must hold: target-chain.ts. */

/**
 * Checks that a report of a tether service is really on the target chain: its hash is computed anew from what the nodes
 * reported, and must be what a tether's contract stores, and what a transaction of the contract's owner wrote there.
 * @param report as the service shows it, or an element of `getTetherReports`
 * @param targetRpcUrl JSON-RPC address of the public chain, of your own choice: it is what is trusted
 * @returns the verdict, whatever the report is; it throws only when the chain cannot be asked, which says nothing of the
 * report, or when an address that you give is none
 */
export async function verifyReport(
  report: unknown,
  targetRpcUrl: string,
  expected: VerifyOptions = {},
): Promise<Verification> {
  for (const [name, address] of Object.entries(expected)) {
    if (address === undefined || isHex(address, 20)) continue;
    throw new Error(`verifyReport: ${name} must be an address: 0x and 40 hexadecimal digits.`);
  }
  try {
    const pin = pinOf(report);
    const { checkOnChain } = await import("./target-chain.js"); // ethers is loaded here, not before
    return await checkOnChain(pin, targetRpcUrl, expected);
  } catch (error) {
    if (error instanceof Refused) return { verified: false, reason: error.message };
    throw error;
  }
}
