import { isApiError, type TetherAccount } from "../../api";
import { briefly } from "../../api/api-error";
import { processEnvironment } from "../../api/environment";
import { conditionOf } from "../../api/states";
import { fieldsOf, messageOf } from "../../plain";
import { UserError } from "../../core/user-error";
import { type Props } from "../../core/definition";
import { type Session } from "../../core/session";
import { storedIn } from "../../core/state";
import { type Look } from "../../core/wait";
import { patiently, shownOf, ShownTether, showsContract, type TetherInputs, titleOf } from "./read";
import { balanceOf, funded, payerOf } from "./funds";
import { type Start } from "./activation";

/** A deployment that was sent, but has an unknown outcome. The state keeps it. */
export interface UnknownOutcome {
  /** When it was sent. Identifies it: see `confirmedAs`. */
  since: string;
  /** The failure that came instead of an answer. */
  why: string;
  /** The account's balance before it. */
  balanceWei?: string;
}

/** Unknown outcomes in the state, by network. */
export const unknownsIn = (state: Props): Record<string, UnknownOutcome> =>
  (storedIn(state).deployment ?? {}) as Record<string, UnknownOutcome>;

/** Whether a failed deployment may have succeeded all the same. Then it is not sent again unasked. */
const isUnknownOutcome = (error: unknown): boolean =>
  !(error instanceof UserError) &&
  !isApiError(error, "unsent", "limited", "denied", "missing", "unsupported", "conflict", "invalid");

/** Messages of a service about a tether that has its contract. Something else may exist already, such as a transaction. */
const saysDeployed =
  /\balready (been )?deployed\b|\balready (has|have) (a |an |its |the )?contract\b|\b(contract|deployment)( already)? exists\b|^already exists/i;

/** The contract that a tether is to have on its network. */
export interface Deployment {
  session: Session;
  inputs: TetherInputs;
  account: TetherAccount;
  /** Whether no other network has a contract. */
  first: boolean;
  /** Evidence that it has run before, so it may have its contract already. */
  ran?: string;
  /** A deployment that an earlier run sent without learning the outcome. */
  unknown?: UnknownOutcome;
  start: Start;
  note: (facts: Props) => void;
  /** Records in the state that the outcome is unknown; without an argument, that it is known. */
  keep: (unknown: UnknownOutcome | undefined) => void;
}

/**
 * Deploys the contract on the network, once: it costs money. If the outcome of an earlier attempt is unknown, it only looks, and
 * sends again only after a person says that nothing was deployed.
 */
export async function deploy(deployment: Deployment): Promise<void> {
  const { session, inputs, account, unknown, note, keep } = deployment;
  const { tetherId, network } = inputs;
  const say = (text: string): void => session.say(`${titleOf(tetherId)}: ${text}`);

  const there = await (unknown ? settled(deployment, unknown) : already(deployment));
  if (there !== undefined) return say(`the contract is deployed on ${network}: ${there}. It is not sent again.`);
  if (unknown) say(`no contract is deployed on ${network}, says CONSORTIUM_NOT_DEPLOYED: it is sent once more.`);
  keep(undefined);

  const before = (await funded(session, inputs, account, true))?.toString();
  note({ balanceWei: before ?? account.balanceWei });
  const since = new Date().toISOString();
  /** Looks for the result of a deployment with an unknown outcome. */
  const traced = async (why: string): Promise<void> => {
    const lost: UnknownOutcome = { since, why, ...(before === undefined ? {} : { balanceWei: before }) };
    keep(lost);
    say(
      `${why}. The contract may be deployed nevertheless: it is not sent again, and the run looks for it on ${network}.`,
    );
    const trace = await lookForTrace(deployment, lost);
    say(`the contract is deployed on ${network}: ${trace}.`);
  };
  try {
    const answer = await session.client.deployTether(tetherId, inputs.extra);
    const doubt = doubtIn(answer, deployment);
    if (doubt !== undefined) await traced(doubt);
  } catch (error) {
    if (error instanceof UserError) throw error;
    if (isApiError(error, "conflict") && saysDeployed.test(error.errorMessage)) return;
    if (isUnknownOutcome(error)) return traced(briefly(error));
    throw failed(deployment, messageOf(error));
  }
}

const failed = ({ inputs: { network }, account }: Deployment, why: string): UserError =>
  new UserError(
    `the deployment on ${network} failed: ${why} The account ${payerOf(account)} must have funds on ${network}.`,
  );

/** A sign in the answer that the contract is not deployed there. @throws UserError if it says that it failed */
function doubtIn(answer: unknown, deployment: Deployment): string | undefined {
  const { inputs, first } = deployment;
  const { state, success, deployed } = fieldsOf(answer);
  if (conditionOf(state) === "failed" || success === false || deployed === false)
    throw failed(deployment, "the service answers that it is not deployed.");
  const shown = ShownTether.safeParse(answer).data;
  if (shown?.network !== undefined && shown.network !== inputs.network)
    return `the service answers that its network is ${shown.network}`;
  const isMissing = showsContract(shown, inputs.network, first) === false;
  return isMissing ? `the service answers without a contract on ${inputs.network}` : undefined;
}

/**
 * Evidence that somebody has deployed it before. Neither a killed run nor a renamed resource remembers that. A tether that has run can be
 * activated only if it has a contract.
 */
async function already({ session, inputs, first, ran, start }: Deployment): Promise<string | undefined> {
  const { tetherId, network, active } = inputs;
  const shows = showsContract(await shownOf(session, tetherId), network, first);
  if (shows) return "the service shows it";
  const unseen = (session.adoptAll || session.createLog.isContinued || ran !== undefined) && shows === undefined;
  if (!unseen) return undefined;
  if (active === false) return ran;
  if (await start()) return undefined;
  return ran ?? "the service can be activated";
}

const wordFor = (tetherId: string, { since }: UnknownOutcome): string => `${tetherId}@${since}`;

/** The user's answer about this deployment, after a look. */
function confirmedAs(tetherId: string, unknown: UnknownOutcome): "deployed" | "not deployed" | undefined {
  const env = processEnvironment();
  const says = (variable: string): boolean =>
    (env[variable] ?? "").split(/[\s,]+/).includes(wordFor(tetherId, unknown));
  if (says("CONSORTIUM_DEPLOYED")) return "deployed";
  return says("CONSORTIUM_NOT_DEPLOYED") ? "not deployed" : undefined;
}

/** Evidence of the contract of an earlier deployment. undefined: the user says that it was not deployed. */
async function settled(deployment: Deployment, unknown: UnknownOutcome): Promise<string | undefined> {
  const word = confirmedAs(deployment.inputs.tetherId, unknown);
  if (word === "deployed") return "CONSORTIUM_DEPLOYED says so";
  if (word === undefined) return lookForTrace(deployment, unknown);
  const seen = await look(deployment, unknown);
  return "done" in seen ? seen.done : undefined;
}

/** Looks once for traces of a contract that was sent for. Does not activate a tether with `active: false`. */
async function look(
  { session, inputs, first, account, start }: Deployment,
  unknown: UnknownOutcome,
): Promise<Look<string>> {
  const { tetherId, network } = inputs;
  const shown = await shownOf(session, tetherId);
  const shows = showsContract(shown, network, first);
  if (shows) return { done: "the service shows it" };
  const payer = payerOf(account);
  if (shown?.network && shown.network !== network) {
    return { waiting: `targeting ${shown.network}: the account ${payer} shows nothing about ${network}` };
  }
  const balance = await balanceOf(session, inputs, await session.client.getTetherAccount(tetherId));
  const before = unknown.balanceWei === undefined ? undefined : BigInt(unknown.balanceWei);
  if (before !== undefined && balance !== undefined && balance < before) {
    return { done: `the account ${payer} has paid ${before - balance} wei for it` };
  }
  const unseen = balance === undefined && shows === undefined;
  if (unseen && inputs.active !== false && !(await start())) {
    return { done: "the service can be activated" };
  }
  const has = balance === undefined ? "shows no balance" : `has ${balance} wei`;
  return { waiting: `no trace of a contract on ${network}: the account ${payer} ${has}` };
}

/** Looks for a trace until the deadline. @throws UserError that says where to look */
async function lookForTrace(deployment: Deployment, unknown: UnknownOutcome): Promise<string> {
  const { session, inputs } = deployment;
  const { tetherId, network } = inputs;
  let before = "no contract seen yet";
  const again = async (): Promise<Look<string>> => {
    const seen = await look(deployment, unknown);
    if ("waiting" in seen) before = seen.waiting;
    return seen;
  };
  try {
    return await patiently(session, tetherId, again, (error) => `${before} (at last ${briefly(error)})`);
  } catch (error) {
    const word = wordFor(tetherId, unknown);
    throw new UserError(
      `it is not known whether the contract was deployed on ${network} (${unknown.why}): ${messageOf(error)} ` +
        "It may have been paid for, so it is not sent again. " +
        `Check the account ${payerOf(deployment.account)} on ${network}, and the tether service in the console: ` +
        `if there is no contract, CONSORTIUM_NOT_DEPLOYED=${word} sends it once more; ` +
        `if there is one, CONSORTIUM_DEPLOYED=${word} uses it as it is.`,
    );
  }
}
