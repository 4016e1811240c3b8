import { isApiError, path, type TetherAccount } from "../../api";
import { longestWaitMs } from "../../api/retry";
import { type Props } from "../../core/definition";
import { messageOf, UserError } from "../../core/errors";
import { type Session } from "../../core/session";
import { type TetherInputs } from "./configure";
import { balanceOf, funded, payerOf } from "./funds";

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
  const what = `tether service "${tetherId}"`;
  const payer = payerOf(account);
  // An earlier run may have ended without knowing: the trace is looked for before anything is spent.
  if (pending && (await canActivate(session, tetherId, note))) {
    session.say(`${what}: an earlier run has deployed the contract on ${network} already; it is not deployed again.`);
    return;
  }
  const before = await funded(session, inputs, account);
  note({ balanceWei: before?.toString() ?? account.balanceWei });

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
      session.say(`${what}: ${error.message} Looking whether the contract was deployed all the same.`);
      const trace = await traceOf(session, inputs, before, note);
      const had = before === undefined ? "" : `; the account ${payer} still has ${before} wei there`;
      session.say(
        trace
          ? `${what}: the contract is deployed on ${network}: ${trace}. It is not sent again.`
          : `${what}: no trace of a contract on ${network}: it cannot be activated${had}. Sending once more.`,
      );
      if (trace) return;
      await session.clock.sleep(error.retryAfterMs ?? 0);
    }
  }
}

/** What shows that the contract was deployed; undefined: nothing does. */
async function traceOf(
  session: Session,
  inputs: TetherInputs,
  before: bigint | undefined,
  note: (facts: Props) => void,
): Promise<string | undefined> {
  const { tetherId } = inputs;
  const end = session.clock.now() + lookMs;
  while (before !== undefined) {
    const account = await session.client.getTetherAccount(tetherId);
    const now = await balanceOf(session, inputs, account);
    if (now !== undefined && now < before) return `the account ${payerOf(account)} has paid ${before - now} wei for it`;
    if (session.clock.now() >= end) break;
    await session.clock.sleep(lookEveryMs);
  }
  return (await canActivate(session, tetherId, note)) ? "the service can be activated" : undefined;
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
