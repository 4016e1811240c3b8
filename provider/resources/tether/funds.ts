import { type ApiError, noDeadline, type TetherAccount } from "../../api";
import { answerOr } from "../../api/api-error";
import { messageOf } from "../../plain";
import { codeOf, UserError } from "../../errors";
import { type Props } from "../../core/definition";
import { type Session } from "../../core/session";
import { type Look } from "../../core/wait";
import { durationSeconds } from "../../constants";
import { patiently, type TetherInputs, titleOf } from "./read";

/** How messages name an account that the service does not show. */
export const payerOf = ({ account }: TetherAccount): string => account ?? "of the tether service";

/**
 * The balance on the network in wei, once it is enough to deploy there. With `waitForFunds` it waits for that; otherwise it fails
 * at once, before anything is spent. undefined: the service does not show a balance.
 * @param isTarget whether the tether is set to the network, so that its account shows the balance there
 */
export async function funded(
  session: Session,
  inputs: TetherInputs,
  account: TetherAccount,
  isTarget: boolean,
): Promise<bigint | undefined> {
  const { clock } = session;
  const { network, tetherId, waitForFunds = "0s" } = inputs;
  const first = await balanceOf(session, inputs, isTarget ? account : {});
  const short = shortage(inputs, account, first);
  if (!short) return first;
  const patience = 1000 * durationSeconds(waitForFunds)!;
  const send = `Send funds to ${account.account ?? "the account of the tether service"} on ${network}`;
  if (patience === 0) {
    throw new UserError(
      "no-funds",
      `${send}, or let it wait for them with waitForFunds: "30m". Now, ${short.text}, which is ${short.missing} too little to deploy the ` +
        "contract. Nothing was spent.",
    );
  }
  session.say(
    `${titleOf(tetherId)}: ${short.text}; ${short.missing} wei are missing. ${send}: it waits ${waitForFunds}.`,
  );
  return waitForMore(session, inputs, account, { end: clock.now() + patience, send, isTarget });
}

/** The session with time to wait for funds, which is none of the resource's own. */
export function withPatience(session: Session, { waitForFunds = "0s" }: Props): Session {
  const { deadline, client } = session;
  const longer = { ...deadline, at: deadline.at + 1000 * durationSeconds(String(waitForFunds))! };
  return { ...session, deadline: longer, client: client.until(longer) };
}

async function waitForMore(
  session: Session,
  inputs: TetherInputs,
  account: TetherAccount,
  { end, send, isTarget }: { end: number; send: string; isTarget: boolean },
): Promise<bigint | undefined> {
  const { client, clock } = session;
  const look = async (): Promise<Look<bigint | undefined>> => {
    const balance = await balanceOf(session, inputs, isTarget ? await client.getTetherAccount(inputs.tetherId) : {});
    const short = shortage(inputs, account, balance);
    if (!short) return { done: balance };
    if (clock.now() < end) return { waiting: `${short.text}; ${short.missing} wei are missing` };
    throw new UserError(
      "no-funds",
      `${send}. After a wait of ${inputs.waitForFunds}, ${short.text}, which is ${short.missing} too little to deploy the contract. ` +
        "Nothing was spent.",
    );
  };
  /** A service that is away for a moment does not end a long wait. One that stays away does. */
  const away = (error: ApiError): string => {
    if (clock.now() >= end) throw error;
    return `cannot read the balance (${error.message})`;
  };
  try {
    return await patiently({ ...session, deadline: noDeadline }, inputs.tetherId, look, away);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(
      codeOf(error) ?? "tether-failed",
      `while it waited for funds: ${messageOf(error)} Nothing was spent. ${send}.`,
    );
  }
}

/** The account may be shown without a balance. Then the network's balance is requested. */
export async function balanceOf(
  session: Session,
  { tetherId, network }: TetherInputs,
  { balanceWei }: TetherAccount,
): Promise<bigint | undefined> {
  if (balanceWei !== undefined) return BigInt(balanceWei);
  const answer = session.client.getTetherBalance(tetherId, network);
  const shown = await answerOr(answer, undefined, "missing", "unsupported", "invalid");
  return shown === undefined ? undefined : BigInt(shown);
}

/** What is missing, in words and in wei. undefined: nothing, or it is unknown. */
function shortage(
  { network, minimumBalanceWei }: TetherInputs,
  account: TetherAccount,
  balance: bigint | undefined,
): { text: string; missing: bigint } | undefined {
  const least = minimumBalanceWei === undefined ? 1n : BigInt(minimumBalanceWei);
  if (balance === undefined || balance >= least) return undefined;
  return { text: `the account ${payerOf(account)} has ${balance} wei on ${network}`, missing: least - balance };
}
