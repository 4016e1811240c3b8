import { isApiError, type TetherAccount } from "../../api";
import { briefly } from "../../api/api-error";
import { printable } from "../../api/printable";
import { processEnvironment } from "../../api/environment";
import { conditionOf } from "../../api/states";
import { counted, fieldsOf, messageOf } from "../../plain";
import { UserError } from "../../errors";
import { type Props } from "../../core/definition";
import { type Session } from "../../core/session";
import { storedIn } from "../../core/state";
import { type Look } from "../../core/wait";
import { contractOn, type ShownTether, tetherIn } from "../../api/tether";
import { isSame, patiently, shownOf, type TetherInputs, titleOf } from "./read";
import { balanceOf, funded, payerOf } from "./funds";
import { type Start } from "./activation";

/** Nobody knows whether the contract is deployed: it was sent without a clear answer, or the service does not tell. The state keeps it. */
export interface UnknownOutcome {
  /** When that began. Identifies it: see `confirmedAs`. */
  since: string;
  /** The failure that came instead of an answer, or what the service shows. */
  why: string;
  /** The account's balance before it was sent. */
  balanceWei?: string;
  /** Whether this stack has sent nothing: then a clear answer of the service is enough. */
  isUnsent?: true;
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
  /** Other networks with a contract, and its address there. */
  others: readonly string[];
  elsewhere?: ShownTether["contract"];
  /** Evidence that it has run before, so it may have its contract already. */
  ran?: string;
  /** What an earlier run left unknown. */
  unknown?: UnknownOutcome;
  start: Start;
  note: (facts: Props) => void;
  /** Records in the state that it is unknown; without an argument, that it is known. */
  keep: (unknown: UnknownOutcome | undefined) => void;
}

/**
 * Deploys the contract on the network, once: it costs money. No source may say that there is one, and none may be unclear; otherwise it
 * only looks, and sends after a person says that nothing was deployed.
 */
export async function deploy(deployment: Deployment): Promise<void> {
  const { session, inputs, account, unknown, note, keep } = deployment;
  const { tetherId, network } = inputs;
  const say = (text: string): void => session.say(`${titleOf(tetherId)}: ${text}`);

  const there = await (unknown && !unknown.isUnsent ? settled(deployment, unknown) : already(deployment));
  if (there !== undefined) return say(`the contract is deployed on ${network}: ${there}. It is not sent again.`);
  if (unknown && confirmedAs(tetherId, unknown))
    say(
      `no contract is deployed on ${network}, says CONSORTIUM_NOT_DEPLOYED: it is sent${unknown.isUnsent ? "" : " once more"}.`,
    );
  const before = (await funded(session, inputs, account, true))?.toString();
  // After a refusal, what a person said of a contract that others may have deployed still applies.
  if (!unknown?.isUnsent) keep(undefined);
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
    "tether-failed",
    `the deployment on ${network} failed: ${why} The account ${payerOf(account)} must have funds on ${network}.`,
  );

/** A sign in the answer that the contract is not deployed there. @throws UserError if it says that it failed */
function doubtIn(answer: unknown, deployment: Deployment): string | undefined {
  const { inputs, others, elsewhere } = deployment;
  const { state, success, deployed } = fieldsOf(answer);
  if (conditionOf(state) === "failed" || success === false || deployed === false)
    throw failed(deployment, "the service answers that it is not deployed.");
  const shown = tetherIn(answer);
  if (isTargeting(shown, inputs.network) === false) return `the service answers that its network is ${shown.network}`;
  const isMissing = contractOn(shown, inputs.network, others, elsewhere) === "no";
  return isMissing ? `the service answers without a contract on ${inputs.network}` : undefined;
}

/** undefined: it does not show its network. */
const isTargeting = ({ network }: ShownTether, wanted: string): boolean | undefined =>
  network === undefined ? undefined : isSame(network, wanted);

/**
 * Evidence that somebody has deployed it before, from all sources; undefined: none has any. A tether can be activated only if it has a
 * contract, so where a source is unclear, and after a killed run, that is tried first: it costs nothing.
 * @throws UserError if that stays unclear
 */
async function already(deployment: Deployment): Promise<string | undefined> {
  const { session, inputs, others, elsewhere, unknown, start, keep } = deployment;
  const { tetherId, network, active } = inputs;
  const shown = (await shownOf(session, tetherId)) ?? { unclear: [] };
  if (isTargeting(shown, network) === false)
    throw new UserError(
      "tether-failed",
      `the service shows that its network is ${shown.network}, not ${network}. Nothing was paid.`,
    );
  const fact = contractOn(shown, network, others, elsewhere);
  if (fact === "yes") return "the service shows it";
  const word = unknown && confirmedAs(tetherId, unknown);
  if (word === "deployed") return "CONSORTIUM_DEPLOYED says so";
  // What it has done is explained by the contract on another network.
  const ran = others.length > 0 ? undefined : (deployment.ran ?? (await reported(session, tetherId)));
  const unclear = shown.unclear.map(printable).join(" and ");
  const seen = unclear ? `${unclear} in a form that cannot be read` : "a contract, and not clearly on which network";
  const doubt = ran ?? (fact === "unclear" ? `the service shows ${seen}` : undefined);
  const wasKilled = (session.adoptAll || session.createLog.isContinued) && fact === undefined;
  if ((doubt === undefined && !wasKilled) || word === "not deployed") return undefined;
  if (active !== false && !(await start())) return doubt ?? "the service can be activated";
  if (doubt === undefined) return undefined;
  const open: UnknownOutcome = { since: unknown?.since ?? new Date().toISOString(), why: doubt, isUnsent: true };
  keep(open);
  throw new UserError("unclear-deployment", unknownMessage(deployment, open, "Nothing was paid."));
}

/** What its reports tell. The first one proves that it was deployed and activated. undefined: there are none. */
export const reported = ({ client }: Session, id: string): Promise<string | undefined> =>
  client.getTetherReportCount(id).then(
    (count) => (count > 0 ? `it has made ${counted(count, "report")}` : undefined),
    (error: unknown) => {
      if (isApiError(error, "missing", "unsupported", "invalid")) return undefined;
      if (isApiError(error, "lost")) return "the number of its reports cannot be read";
      throw error;
    },
  );

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
  { session, inputs, others, elsewhere, account, start }: Deployment,
  unknown: UnknownOutcome,
): Promise<Look<string>> {
  const { tetherId, network } = inputs;
  const shown = (await shownOf(session, tetherId)) ?? { unclear: [] };
  const shows = contractOn(shown, network, others, elsewhere);
  if (shows === "yes") return { done: "the service shows it" };
  const payer = payerOf(account);
  if (isTargeting(shown, network) === false) {
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
  const { tetherId } = inputs;
  let before = "no contract seen yet";
  const again = async (): Promise<Look<string>> => {
    const seen = await look(deployment, unknown);
    if ("waiting" in seen) before = seen.waiting;
    return seen;
  };
  try {
    return await patiently(session, tetherId, again, (error) => `${before} (at last ${briefly(error)})`);
  } catch (error) {
    throw new UserError(
      "unclear-deployment",
      unknownMessage(deployment, unknown, `${messageOf(error)} It may have been paid for, so it is not sent again.`),
    );
  }
}

/** What a person has to look at, and how to say what it showed. */
function unknownMessage({ inputs, account }: Deployment, unknown: UnknownOutcome, what: string): string {
  const { tetherId, network } = inputs;
  const word = wordFor(tetherId, unknown);
  return (
    `check the account ${payerOf(account)} on ${network}, and the tether service in the console: ` +
    `if there is no contract, CONSORTIUM_NOT_DEPLOYED=${word} sends it${unknown.isUnsent ? "" : " once more"}; ` +
    `if there is one, CONSORTIUM_DEPLOYED=${word} uses it as it is. ` +
    `It is not known whether the contract was deployed on ${network} (${unknown.why}): ${what}`
  );
}
