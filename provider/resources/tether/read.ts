import { z } from "zod";
import { type ApiError, type ConsortiumClient, isApiError, type TetherAccount } from "../../api";
import { answerOr } from "../../api/api-error";
import { paths } from "../../api/paths";
import { isOneOf } from "../../api/states";
import { type Props } from "../../core/definition";
import { Listed } from "../../core/listed";
import { type Session } from "../../core/session";
import { isStored, storedIn, storedKey, stateVersion } from "../../core/state";
import { steadyAgeMs } from "../../core/times";
import { type Look, waitFor } from "../../core/wait";
import { type TetherNetwork, tetherNetworks } from "../../constants";

/** How messages name it. */
export const titleOf = (id: string): string => `tether service "${id}"`;

/** Another form of the answer: everything in a configuration. */
const Configured = z.looseObject({
  config: z.looseObject({
    targetNetwork: z.unknown().optional(),
    uploadInterval: z.unknown().optional(),
    arbitratorAddress: z.string().min(1).optional().catch(undefined),
    started: z.boolean().optional().catch(undefined),
  }),
});

function flat(answer: unknown): unknown {
  const { data } = Configured.safeParse(answer);
  if (!data) return answer;
  const { config, ...rest } = data;
  const { targetNetwork: network, uploadInterval: interval, arbitratorAddress: address, started } = config;
  const state = started === undefined ? undefined : started ? "active" : "inactive";
  return { network, interval, contract_address: address, state, isConfiguration: true, ...rest };
}

/** Words of services for the states that matter. Other words mean nothing for sure. */
const words = {
  active: ["active", "activated", "running", "started", "enabled"],
  inactive: ["inactive", "deactivated", "stopped", "disabled", "paused", "suspended"],
  deployed: ["deployed"],
  configured: ["configured"],
};
const inOurWords = (state: string): string | undefined =>
  Object.entries(words).find(([, theirs]) => isOneOf(theirs, state))?.[0];

/** Data that a service may show about a tether. The spec has no such call, so nothing relies on it. */
export const ShownTether = z.preprocess(
  flat,
  z.looseObject({
    network: z.string().min(1).optional().catch(undefined),
    interval: z.coerce.number().int().min(1).optional().catch(undefined),
    state: z.string().transform(inOurWords).optional().catch(undefined),
    deployed_networks: z.array(z.unknown()).optional().catch(undefined),
    contracts: z.record(z.string(), z.unknown()).optional().catch(undefined),
    contract_address: z.string().optional().catch(undefined),
  }),
);
export type Shown = z.infer<typeof ShownTether>;

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
export function tetherSeen(state: Props, shown?: Pick<Shown, "network" | "interval" | "state">): Props {
  const now: Props = { ...state };
  if (shown?.network) now.network = shown.network;
  if (shown?.interval) now.intervalHours = shown.interval;
  const running = shown?.state === "active";
  if (shown?.state && running !== (state.state === "active")) {
    now.state = running ? "active" : "inactive";
    now.active = running;
  }
  return now;
}

/** The state of a tether that somebody else configured, as the service shows it. */
async function firstRead({ client }: Session, id: string, state: Props, shown: Shown = {}): Promise<Props> {
  const account = Object.entries(await client.getTetherAccount(id)).filter(([, value]) => value !== undefined);
  const kept = { ...storedIn(state), version: stateVersion };
  return { ...state, tetherId: id, ...asItIs(shown), ...Object.fromEntries(account), [storedKey]: kept };
}

/** The networks that are known, and those that it shows. */
const networksOf = ({ network, deployed_networks: deployed = [], contracts = {} }: Shown): string[] => {
  const others = [network, ...deployed, ...Object.keys(contracts)].filter((one) => typeof one === "string");
  return [...new Set([...tetherNetworks, ...others])];
};

/** Settings and progress that the service shows, by property. */
export function asItIs(shown: Shown): Props {
  const { network, interval: intervalHours, state } = shown;
  const deployedNetworks = networksOf(shown).filter((one) => showsContract(shown, one, true));
  const active = state === "active";
  const progress = active ? "active" : deployedNetworks.some((one) => one === network) ? "inactive" : "configured";
  const known = Object.entries({ network, intervalHours }).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(known), ...(network && { state: progress, active }), deployedNetworks };
}

/** How many reports it has made. The first one proves that it was deployed and activated. */
export const reportsOf = ({ client }: Session, id: string): Promise<number> =>
  answerOr(client.getTetherReportCount(id), 0, "missing", "unsupported", "invalid", "lost");

/** undefined: the service does not show it. */
export async function shownOf({ client }: Session, id: string): Promise<Shown | undefined> {
  const shown = await answerOr(client.getTether(id), undefined, "missing", "unsupported", "invalid");
  return ShownTether.safeParse(shown).data;
}

/**
 * Whether the service shows a contract on the network. undefined: it does not tell.
 * @param first whether no other network has one: otherwise, a state or an address may belong to that
 */
export function showsContract(shown: Shown | undefined, network: string, first: boolean): boolean | undefined {
  if (!shown) return undefined;
  const { deployed_networks: networks, contracts, contract_address: address, state } = shown;
  if (networks ?? contracts) return Boolean(networks?.includes(network) || contracts?.[network]);
  const told = first && shown.network === network && (address || state === "deployed" || state === "active");
  return told ? true : undefined;
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
  new Listed(session, { collection: paths.consortia }).look(steadyAgeMs);

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
