import { type ApiError, isApiError } from "../../api";
import { briefly, sentence } from "../../api/api-error";
import { isSilent } from "../../api/refusal";
import { times } from "../../core/times";
import { UserError } from "../../errors";
import { type Session } from "../../core/session";
import { isPassing, patiently, shownOf, titleOf } from "./read";

/* Starting and stopping a tether. A service may refuse to repeat either: an answer was lost, or somebody else did it before. */

/** Messages of a service that refuses to start a tether because it is active. */
const saysActive = /\balready (active|activated|running|started)\b|\bis (active|running|started)\b/i;

/** Whether it refuses because the contract is missing. */
export const saysUndeployed = (error: unknown): boolean =>
  isApiError(error, "conflict", "invalid") && /\b(deploy|contract)/i.test(error.errorMessage);

const refusalOf = (call: Promise<unknown>): Promise<ApiError | undefined> =>
  call.then(
    () => undefined,
    (error: unknown) => {
      if (isApiError(error, "conflict", "invalid", "missing")) return error;
      throw error;
    },
  );

/**
 * Starts it. "A successful deployment is required before the first activate" (spec, section 4.3), but a refusal may also mean that it is
 * active. If the service neither shows nor says which, the tether is stopped: then it can be started if it has a contract.
 * @returns the refusal; undefined: it is active
 */
export async function refusedStart(session: Session, tetherId: string): Promise<ApiError | undefined> {
  const { client } = session;
  const refusal = await refusalOf(client.activateTether(tetherId));
  if (!refusal) return undefined;
  const state = (await shownOf(session, tetherId))?.state;
  if (state === undefined ? saysActive.test(refusal.errorMessage) : state === "active") return undefined;
  if (state !== undefined || refusal.kind !== "conflict" || saysUndeployed(refusal)) return refusal;
  await refusalOf(client.deactivateTether(tetherId));
  return (await refusalOf(client.activateTether(tetherId))) && refusal;
}

/** Starts it and remembers the result. See `refusedStart`. */
export type Start = () => Promise<ApiError | undefined>;

/** @throws the refusal */
export async function activated(start: Start): Promise<void> {
  const refusal = await start();
  if (refusal) throw refusal;
}

/** Messages of a service that does not know the environment to pin. */
const saysNoEnvironment =
  /\benvironment\b.*\b(does not|doesn't) exist\b|\bno such environment\b|\benvironment\b.*\bnot found\b/i;

/** How long to retry if a service refuses to start it without saying why: a contract may need a moment. */
const silentMs = 30_000;

/** Activates it as soon as the service allows that. Waiting for an environment helps only while this run creates something. */
export function activateSoon(session: Session, tetherId: string, start: Start): Promise<unknown> {
  const { clock, run } = session;
  const startedAt = clock.now();
  const mayPass = (error: ApiError): boolean => {
    if (isSilent(error)) return clock.now() < startedAt + silentMs;
    if (!saysNoEnvironment.test(error.errorMessage) || clock.now() < startedAt + times.unseenMs) return true;
    return [...run.unsettled.values()].some((count) => count > 0);
  };
  return patiently(
    session,
    tetherId,
    async () => ({ done: await activated(start) }),
    (error) => `not ready to be activated (${briefly(error)})`,
    (error) => (isApiError(error, "conflict", "invalid") && mayPass(error)) || isPassing(error),
  );
}

/** Messages of a service that refuses to stop a tether because it is stopped. */
const saysStopped =
  /\b(not|never) (active|activated|running|started)\b|\b(already|is) (inactive|stopped|deactivated)\b/i;

/**
 * Stops it. A service may refuse if it is stopped already: an answer was lost, or somebody else did it.
 * @param mayBe whether an earlier run may have stopped it, without an answer
 * @throws the refusal, unless the service shows or says that it is stopped: an active one costs money
 */
export async function deactivated(session: Session, tetherId: string, next: string, mayBe = false): Promise<void> {
  try {
    await session.client.deactivateTether(tetherId);
  } catch (error) {
    if (!isApiError(error, "conflict", "invalid")) throw error;
    const state = (await shownOf(session, tetherId))?.state;
    if (state === "active") throw error;
    if (state === undefined && !mayBe && !saysStopped.test(error.errorMessage))
      throw new UserError(
        "tether-failed",
        `${next} ${sentence(briefly(error))} The service does not show whether it is active, and goes on paying for pins if it is.`,
      );
    session.say(`${titleOf(tetherId)}: was not active (${error.errorMessage})`);
  }
}
