import { isApiError, type TetherAccount } from "../../api";
import { messageOf } from "../../plain";
import { UserError } from "../../core/user-error";
import { type Props } from "../../core/definition";
import { type Session } from "../../core/session";
import { shownOf, showsContract, type TetherInputs } from "./read";
import { funded, payerOf } from "./funds";
import {
  canActivate,
  isUnknownOutcome,
  look,
  lookForTrace,
  type Traces,
  type UnknownOutcome,
  briefly,
  confirmedAs,
} from "./outcome";

export interface Deployment {
  account: TetherAccount;
  /** Whether no other network has a contract. */
  first: boolean;
  /** What shows that it has run before, so that it may have its contract already. */
  ran?: string;
  /** What an earlier run sent without learning the outcome. */
  unknown?: UnknownOutcome;
  note: (facts: Props) => void;
  /** Records in the state that the outcome is unknown; without an argument, that it is known. */
  keep: (unknown: UnknownOutcome | undefined) => void;
}

/**
 * Deploys the contract on the network, once: it costs money. If the outcome of an earlier attempt is unknown, it only looks, and
 * sends again only after a person says that nothing was deployed.
 */
export async function deploy(session: Session, inputs: TetherInputs, deployment: Deployment): Promise<void> {
  const { tetherId, network } = inputs;
  const { account, unknown, first, ran, note, keep } = deployment;
  const say = (text: string): void => session.say(`tether service "${tetherId}": ${text}`);
  const traces: Traces = { first, account, activated: () => note({ state: "active" }) };

  const there = unknown ? await settled(session, inputs, unknown, traces) : await already(session, inputs, traces, ran);
  if (there !== undefined) return say(`the contract is deployed on ${network}: ${there}. It is not sent again.`);
  if (unknown) say(`no contract is deployed on ${network}, says CONSORTIUM_NOT_DEPLOYED: it is sent once more.`);
  keep(undefined);

  const before = (await funded(session, inputs, account, true))?.toString();
  note({ balanceWei: before ?? account.balanceWei });
  const since = new Date().toISOString();
  try {
    await session.client.deployTether(tetherId, inputs.extra);
  } catch (error) {
    if (isApiError(error, "conflict") && /\balready\b|\bexists\b/i.test(error.errorMessage)) return;
    if (!isUnknownOutcome(error)) {
      throw new UserError(
        `the deployment on ${network} failed: ${messageOf(error)} ` +
          `The account ${payerOf(account)} must have funds on ${network}.`,
      );
    }
    const lost: UnknownOutcome = {
      since,
      why: briefly(error),
      ...(before === undefined ? {} : { balanceWei: before }),
    };
    keep(lost);
    say(
      `${lost.why}. The contract may be deployed nevertheless: it is not sent again, and the run looks for it on ${network}.`,
    );
    const trace = await lookForTrace(session, inputs, lost, traces);
    say(`the contract is deployed on ${network}: ${trace}.`);
  }
}

/** How an earlier deployment ended: what shows the contract. undefined: a person says that there is none. */
async function settled(
  session: Session,
  inputs: TetherInputs,
  unknown: UnknownOutcome,
  traces: Traces,
): Promise<string | undefined> {
  const word = confirmedAs(inputs.tetherId, unknown);
  if (word === "deployed") return "CONSORTIUM_DEPLOYED says so";
  if (word === undefined) return lookForTrace(session, inputs, unknown, traces);
  const seen = await look(session, inputs, { ...traces, balanceWei: unknown.balanceWei });
  return "done" in seen ? seen.done : undefined;
}

/**
 * What shows that somebody has deployed it before. A killed run remembers nothing of it, nor does a resource with another name.
 * A tether that has run can be activated only if it has a contract.
 */
async function already(
  session: Session,
  inputs: TetherInputs,
  { first, activated }: Traces,
  ran: string | undefined,
): Promise<string | undefined> {
  const { tetherId, network, active } = inputs;
  const shows = showsContract(await shownOf(session, tetherId), network, first);
  if (shows) return "the service shows it";
  const unseen = (session.adoptAll || session.createLog.isContinued || ran !== undefined) && shows === undefined;
  if (!unseen) return undefined;
  if (active === false) return ran;
  if (!(await canActivate(session, tetherId))) return undefined;
  activated();
  return ran ?? "the service can be activated";
}
