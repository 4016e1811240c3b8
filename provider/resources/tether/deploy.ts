import { isApiError, path, type TetherAccount } from "../../api";
import { longestWaitMs } from "../../api/retry";
import { type Props } from "../../core/definition";
import { messageOf, UserError } from "../../core/errors";
import { type Session } from "../../core/session";
import { type TetherInputs } from "./configure";

/** How long a deployment whose answer was lost may take to show in the balance. */
const lookMs = 6_000;
const lookEveryMs = 1_000;
const mostAttempts = 3;

/**
 * Deploys the contract on the network, exactly once: it costs money. After a lost answer it looks for the traces
 * of a deployment (a lower balance; a tether that can be activated) before it ever sends again.
 */
export async function deploy(
  session: Session,
  inputs: TetherInputs,
  account: TetherAccount,
  { pending, note }: { pending: boolean; note: (facts: Props) => void },
): Promise<void> {
  const { tetherId, network } = inputs;
  // An earlier run may have ended without knowing: the trace is looked for before anything is spent.
  if (pending && (await canActivate(session, tetherId, note))) return;
  const before = account.balanceWei === undefined ? undefined : BigInt(account.balanceWei);
  const payer = account.account ?? "of the tether service";
  requireFunds(inputs, payer, before);

  for (let attempt = 1; ; attempt++) {
    try {
      note({ __deployment: network });
      await session.client.http.request("POST", path`/tether/${tetherId}/deploy`, { body: inputs.extra ?? {} });
      return;
    } catch (error) {
      if (isApiError(error, "conflict") && /already|exist/i.test(error.errorMessage)) return;
      const uncertain = isApiError(error, "lost", "server", "unavailable");
      if (!uncertain || attempt >= mostAttempts || (error.retryAfterMs ?? 0) > longestWaitMs) {
        if (!uncertain) note({ __deployment: undefined });
        throw new UserError(
          `the deployment on ${network} failed: ${messageOf(error)} The account ${payer} has to have funds on ${network}.`,
        );
      }
      session.say(
        `tether service "${tetherId}": ${error.message} Looking whether the contract was deployed all the same.`,
      );
      if (await wasDeployed(session, inputs, before, note)) return;
      await session.clock.sleep(error.retryAfterMs ?? 0);
    }
  }
}

async function wasDeployed(
  session: Session,
  inputs: TetherInputs,
  before: bigint | undefined,
  note: (facts: Props) => void,
): Promise<boolean> {
  const end = session.clock.now() + lookMs;
  while (before !== undefined) {
    const now = await balance(session, inputs.tetherId);
    if (now !== undefined && now < before) return true;
    if (session.clock.now() >= end) break;
    await session.clock.sleep(lookEveryMs);
  }
  return canActivate(session, inputs.tetherId, note);
}

/** "A successful deployment is required before the first activate" (spec, section 4.3). */
async function canActivate(session: Session, tetherId: string, note: (facts: Props) => void): Promise<boolean> {
  try {
    await session.client.activateTether(tetherId);
    note({ state: "active" });
    return true;
  } catch (error) {
    if (isApiError(error, "conflict", "invalid", "missing")) return false;
    throw error;
  }
}

async function balance(session: Session, tetherId: string): Promise<bigint | undefined> {
  const { balanceWei } = await session.client.getTetherAccount(tetherId);
  return balanceWei === undefined ? undefined : BigInt(balanceWei);
}

function requireFunds(
  { network, minimumBalanceWei }: TetherInputs,
  payer: string,
  balanceWei: bigint | undefined,
): void {
  const least = minimumBalanceWei === undefined ? 1n : BigInt(minimumBalanceWei);
  if (balanceWei === undefined || balanceWei >= least) return;
  throw new UserError(
    `the account ${payer} has ${balanceWei} wei on ${network}, which is ${least - balanceWei} too little to deploy the contract. ` +
      "Nothing was spent. Send it funds.",
  );
}
