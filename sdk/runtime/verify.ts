import { UserError } from "../../provider/errors";
import { isHex, pinOf, Refused } from "./report";

export interface VerifyOptions {
  /**
   * The account of the tether service that the report must come from (`TetherService.account`, `getTetherAccount`).
   * A report names its own contract, and anybody can deploy one and pin anything there. Without the account or the
   * contract, the verdict only says that somebody did; `owner` says who.
   */
  account?: string;
  /** The contract that the report must be pinned in. */
  contractAddress?: string;
}

/** The verdict: verified, or the first thing that is wrong. */
export type Verification =
  | {
      verified: true;
      /** The hash, computed from the report and found on the chain. */
      hash: string;
      chainId: number;
      contractAddress: string;
      /** Account that owns the contract and sent the transaction. Only it can pin there. */
      owner: string;
      transactionHash: string;
      blockNumber: number;
      /** When the block was made, by the target chain's clock. */
      pinnedAt: Date;
    }
  | { verified: false; reason: string };

/**
 * Checks that a report of a tether service is really on the target chain. The hash is computed again from the nodes' reports. The tether's
 * contract must store it, and a transaction of the contract's owner must have written it there.
 * @param report as the service returns it, or an element of `getTetherReports`
 * @param targetRpcUrl JSON-RPC address of the public chain. Choose one that you trust: the verdict depends on it
 * @returns the verdict, whatever the report contains
 * @throws only if the chain does not answer, which says nothing about the report, or if an address that you pass is invalid
 */
export async function verifyReport(
  report: unknown,
  targetRpcUrl: string,
  expected: VerifyOptions = {},
): Promise<Verification> {
  for (const [name, address] of Object.entries(expected)) {
    if (address === undefined || isHex(address, 20)) continue;
    throw new UserError("invalid-argument", `verifyReport: ${name} must be an address: 0x and 40 hexadecimal digits.`);
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
