import { type ApiError, isApiError, type TetherAccount } from "../../api";
import { answerOr } from "../../api/api-error";
import { processEnvironment } from "../../api/environment";
import { type Props } from "../../core/definition";
import { messageOf } from "../../plain";
import { UserError } from "../../core/user-error";
import { type Session } from "../../core/session";
import { keptIn } from "../../core/state";
import { type Look, waitFor } from "../../core/wait";
import { shownOf, showsContract, type TetherInputs } from "./read";
import { balanceOf, isPassing, payerOf } from "./funds";

/** A deployment that was sent and whose outcome is unknown. The state keeps it. */
export interface UnknownOutcome {
  /** When it was sent. Identifies it: see `confirmedAs`. */
  since: string;
  /** What came instead of an answer. */
  why: string;
  /** The account's balance before it. */
  balanceWei?: string;
}

/** Unknown outcomes in the state, by network. */
export const unknownsIn = (state: Props): Record<string, UnknownOutcome> =>
  (keptIn(state).deployment ?? {}) as Record<string, UnknownOutcome>;

/** Whether a failed deployment may have succeeded all the same. Then it is not sent again unasked. */
export const isUnknownOutcome = (error: unknown): boolean =>
  !(error instanceof UserError) &&
  !isApiError(error, "unsent", "limited", "denied", "missing", "unsupported", "conflict", "invalid");

/** A failed call, without advice. */
export const briefly = (error: unknown): string => {
  if (!isApiError(error)) return messageOf(error);
  const { call, status, errorMessage }: ApiError = error;
  return `${call}: ${status === undefined ? "" : `HTTP ${status}: `}${errorMessage}`;
};

const wordFor = (tetherId: string, { since }: UnknownOutcome): string => `${tetherId}@${since}`;

/** What a person says, after looking, about this deployment. */
export function confirmedAs(tetherId: string, unknown: UnknownOutcome): "deployed" | "not deployed" | undefined {
  const env = processEnvironment();
  const says = (variable: string): boolean =>
    (env[variable] ?? "").split(/[\s,]+/).includes(wordFor(tetherId, unknown));
  if (says("CONSORTIUM_DEPLOYED")) return "deployed";
  return says("CONSORTIUM_NOT_DEPLOYED") ? "not deployed" : undefined;
}

export interface Traces {
  /** The account's balance before the deployment, if it is known. */
  balanceWei?: string;
  /** Whether no other network had a contract before. */
  first: boolean;
  account: TetherAccount;
  /** Called after an activation, which is the trace if a service shows neither its balance nor itself. */
  activated: () => void;
}

/** Looks once for traces of a deployed contract. Does not activate a tether with `active: false`. */
export async function look(session: Session, inputs: TetherInputs, traces: Traces): Promise<Look<string>> {
  const { tetherId, network } = inputs;
  const shown = await shownOf(session, tetherId);
  const shows = showsContract(shown, network, traces.first);
  if (shows) return { done: "the service shows it" };
  const payer = payerOf(traces.account);
  if (shown?.network && shown.network !== network) {
    return { waiting: `targeting ${shown.network}: the account ${payer} shows nothing about ${network}` };
  }
  const balance = await balanceOf(session, inputs, await session.client.getTetherAccount(tetherId));
  const before = traces.balanceWei === undefined ? undefined : BigInt(traces.balanceWei);
  if (before !== undefined && balance !== undefined && balance < before) {
    return { done: `the account ${payer} has paid ${before - balance} wei for it` };
  }
  const unseen = balance === undefined && shows === undefined;
  if (unseen && inputs.active !== false && (await canActivate(session, tetherId))) {
    traces.activated();
    return { done: "the service can be activated" };
  }
  const has = balance === undefined ? "shows no balance" : `has ${balance} wei`;
  return { waiting: `no trace of a contract on ${network}: the account ${payer} ${has}` };
}

/** Looks for a trace until the deadline. @throws UserError that says where to look */
export async function lookForTrace(
  session: Session,
  inputs: TetherInputs,
  unknown: UnknownOutcome,
  traces: Traces,
): Promise<string> {
  const { tetherId, network } = inputs;
  let before = "nothing seen of a contract";
  const patiently = async (): Promise<Look<string>> => {
    try {
      const seen = await look(session, inputs, { ...traces, balanceWei: unknown.balanceWei });
      if ("waiting" in seen) before = seen.waiting;
      return seen;
    } catch (error) {
      if (!isPassing(error)) throw error;
      return { waiting: `${before} (at last ${briefly(error)})` };
    }
  };
  try {
    return await waitFor(session, `tether service "${tetherId}"`, patiently);
  } catch (error) {
    const word = wordFor(tetherId, unknown);
    throw new UserError(
      `it is not known whether the contract was deployed on ${network} (${unknown.why}): ${messageOf(error)} ` +
        "It may have been paid for, so it is not sent again. " +
        `Check the account ${payerOf(traces.account)} on ${network}, and the tether service in the console: ` +
        `if there is no contract, CONSORTIUM_NOT_DEPLOYED=${word} sends it once more; ` +
        `if there is one, CONSORTIUM_DEPLOYED=${word} uses it as it is.`,
    );
  }
}

/** "A successful deployment is required before the first activate" (spec, section 4.3). */
export function canActivate({ client }: Session, tetherId: string): Promise<boolean> {
  const activated = client.activateTether(tetherId).then(() => true);
  return answerOr(activated, false, "conflict", "invalid", "missing");
}
