import { type ConsortiumClient } from "../../provider/api";
import { type Verification, verifyReport } from "../../sdk/runtime/verify";
import { pinOf } from "../../sdk/runtime/pinned-report";
import { targetProvider } from "../../sdk/runtime/target-chain";
import { type TetherModel } from "../model";

/** What the public chain says of a tether's last pins. */
export interface TetherProbe {
  /** Absent: there is no report, or no chain to ask. */
  verdict?: Verification;
  /** What the last pins cost on average. */
  weiPerPin?: bigint;
  /** Why the chain could not be asked. */
  unseen?: string;
}

/** So many of the last pins tell what one costs. */
const samples = 3;

export async function probeTether(
  client: ConsortiumClient,
  { id, reports = 0, account }: TetherModel,
  targetUrl: string | undefined,
): Promise<TetherProbe> {
  if (reports === 0 || targetUrl === undefined) return {};
  try {
    const count = Math.min(samples, reports);
    const indexes = Array.from({ length: count }, (_, back) => reports - 1 - back);
    const some = await Promise.all(indexes.map((index) => client.getTetherReport(id, index)));
    const verdict = await verifyReport(some[0], targetUrl, { account });
    return { verdict, weiPerPin: await averageCost(some, targetUrl) };
  } catch (error) {
    // The whole message of ethers has the address in it, and that may hold somebody's key.
    const { shortMessage, message } = error as Error & { shortMessage?: string };
    return { unseen: shortMessage ?? message };
  }
}

/** undefined: none of the reports names a transaction of that chain. */
async function averageCost(reports: readonly unknown[], targetUrl: string): Promise<bigint | undefined> {
  const provider = targetProvider(targetUrl);
  try {
    const costs = await Promise.all(
      reports.map(async (report) => {
        const hash = transactionOf(report);
        return hash === undefined ? undefined : (await provider.getTransactionReceipt(hash))?.fee;
      }),
    );
    const known = costs.filter((cost) => cost !== undefined && cost !== null);
    return known.length === 0 ? undefined : known.reduce((sum, cost) => sum + cost, 0n) / BigInt(known.length);
  } finally {
    provider.destroy();
  }
}

function transactionOf(report: unknown): string | undefined {
  try {
    return pinOf(report).transaction_hash;
  } catch {
    return undefined; // verifyReport has said why
  }
}
