import { type ApiError, type ConsortiumClient, isApiError, type TetherAccount } from "../../api";
import { answerOr } from "../../api/api-error";
import { paths } from "../../api/paths";
import { contractOn, type ShownTether, tetherIn } from "../../api/tether";
import { type Props } from "../../core/definition";
import { Listed } from "../../core/collection";
import { type Session } from "../../core/session";
import { isStored, storedIn, storedKey, stateVersion } from "../../core/state";
import { times } from "../../core/times";
import { type Look, waitFor } from "../../core/wait";
import { isObject } from "../../plain";
import { type TetherNetwork, tetherNetworks } from "../../constants";

/** How messages name it. */
export const titleOf = (id: string): string => `tether service "${id}"`;

/** Whether two texts name the same network: services write them in upper or lower case. */
export const isSame = (one: unknown, other: unknown): boolean =>
  String(one).toLowerCase() === String(other).toLowerCase();

/** Whether the network is among those with a contract. */
export const hasContract = (deployed: unknown, network: unknown): boolean =>
  Array.isArray(deployed) && deployed.some((one) => isSame(one, network));

/** The current state. undefined: the service does not know this tether any more. */
export async function read(session: Session, id: string, state: Props): Promise<Props | undefined> {
  const shown = await shownOf(session, id);
  if (!shown && !(await isShown(session.client, id))) {
    await requireService(session);
    return undefined;
  }
  return isStored(state) ? tetherSeen(state, shown) : firstRead(session, id, state, shown);
}

/** The state after a look at a tether that a run has configured. */
export function tetherSeen(state: Props, shown?: Pick<ShownTether, "network" | "interval" | "state">): Props {
  const now: Props = { ...state };
  if (shown?.network !== undefined && !isSame(shown.network, state.network)) now.network = shown.network;
  if (shown?.interval && !shown.interval.hours.includes(Number(state.intervalHours)))
    now.intervalHours = shown.interval.hours[0];
  const running = shown?.state === "active";
  if (shown?.state && running !== (state.state === "active")) {
    now.state = running ? "active" : "inactive";
    now.active = running;
  }
  return now;
}

/** The state of a tether that somebody else configured, as the service shows it. */
async function firstRead({ client }: Session, id: string, state: Props, shown?: ShownTether): Promise<Props> {
  const account = Object.entries(await client.getTetherAccount(id)).filter(([, value]) => value !== undefined);
  const kept = { ...storedIn(state), version: stateVersion };
  return { ...state, tetherId: id, ...asItIs(shown), ...Object.fromEntries(account), [storedKey]: kept };
}

/**
 * Settings and progress that the service shows, by property.
 * @param wanted settings that it may show in its own way, such as an interval in minutes
 */
export function asItIs(shown: ShownTether = { unclear: [] }, wanted: Props = {}): Props {
  const { network, interval, state } = shown;
  // What else a list names may be another word for one of these.
  const networks = new Set([...tetherNetworks, ...(network ? [network] : [])]);
  const deployedNetworks = [...networks].filter((name) => contractOn(shown, name) === "yes");
  const active = state === "active";
  const progress = active ? "active" : hasContract(deployedNetworks, network) ? "inactive" : "configured";
  const seen = tetherSeen(wanted, { network, interval });
  return {
    ...(interval && { intervalHours: seen.intervalHours }),
    ...(network && { network: seen.network, state: progress, active }),
    deployedNetworks,
  };
}

/** undefined: the service does not show it. */
export async function shownOf({ client }: Session, id: string): Promise<ShownTether | undefined> {
  const shown = await answerOr(client.getTether(id), undefined, "missing", "unsupported", "invalid");
  if (shown === undefined || shown === null || shown === "") return undefined;
  return isObject(shown) ? tetherIn(shown) : { unclear: ["its answer"] };
}

/** Whether the service knows it and shows it to this key. It may have no account yet. */
export async function isShown(client: ConsortiumClient, id: string): Promise<boolean> {
  const account = client.getTetherAccount(id).then(() => true);
  if (await answerOr(account, false, "missing")) return true;
  const whole = client.getTether(id).then(() => true);
  return answerOr(whole, false, "missing", "unsupported", "invalid");
}

/** Its account, which is made if there is none yet and the service has a call for that. */
export async function accountOf(session: Session, id: string): Promise<TetherAccount> {
  const { client } = session;
  try {
    return await client.getTetherAccount(id);
  } catch (error) {
    if (!isApiError(error, "missing")) throw error;
    const made = client.makeTetherAccount(id).then(() => true);
    if (!(await answerOr(made, false, "missing", "unsupported", "invalid"))) throw error;
    const account = await client.getTetherAccount(id);
    session.say(`${titleOf(id)}: it had no account yet; ${account.account ?? "one"} was created.`);
    return account;
  }
}

/** Whether the service may be away for a moment only, so that looking again helps. */
export const isPassing = (error: unknown): error is ApiError =>
  isApiError(error, "unsent", "lost", "limited", "unavailable", "server");

/**
 * Looks until done, also while the service is away for a moment.
 * @param away what it waits for meanwhile, in words; may throw to end the wait
 * @param passes which failures do not end it
 */
export const patiently = <T>(
  session: Session,
  id: string,
  look: () => Promise<Look<T>>,
  away: (error: ApiError) => string,
  passes: (error: ApiError) => boolean = isPassing,
): Promise<T> =>
  waitFor(session, titleOf(id), async () => {
    try {
      return await look();
    } catch (error) {
      if (!isApiError(error) || !passes(error)) throw error;
      return { waiting: away(error) };
    }
  });

/** Fails for a wrong address, which would otherwise look like a service that does not know the tether. */
export const requireService = (session: Session): Promise<unknown> =>
  new Listed(session, { collection: paths.consortia }).look(times.steadyAgeMs);

/** The checked inputs of a tether service: see tether-service.ts. */
export interface TetherInputs extends Props {
  tetherId: string;
  network: TetherNetwork;
  intervalHours: number;
  active?: boolean;
  minimumBalanceWei?: string;
  waitForFunds?: string;
  extra?: Props;
}
