import { type ApiError, isApiError, type TetherAccount } from "../../api";
import { messageOf, UserError } from "../../core/user-error";
import { type Session } from "../../core/session";
import { type Look, waitFor } from "../../core/wait";
import { durationSeconds } from "../../constants";
import { type TetherInputs } from "./read";

/** How messages speak of an account that the service does not show. */
export const payerOf = ({ account }: TetherAccount): string => account ?? "of the tether service";

/** How long funds are waited for, at most. */
export const patienceMs = ({ waitForFunds = "0s" }: TetherInputs): number =>
  1000 * (durationSeconds(waitForFunds) ?? 0);

/** A service that is away for a moment: looking again may help. */
export const isPassing = (error: unknown): error is ApiError =>
  isApiError(error, "unsent", "lost", "limited", "unavailable", "server");

/** Reads the balance on the network once more; undefined: the service does not show it. */
type Reading = () => Promise<bigint | undefined>;

/** The balance as the account is shown, which is that of the network that is targeted now. */
const onTarget =
  (session: Session, inputs: TetherInputs): Reading =>
  async () =>
    balanceOf(session, inputs, await session.client.getTetherAccount(inputs.tetherId));

/**
 * Holds before a tether that runs on one network is stopped for another one: there is enough to deploy there. While it waits
 * for funds, the tether goes on.
 */
export async function fundedElsewhere(session: Session, inputs: TetherInputs, account: TetherAccount): Promise<void> {
  const read: Reading = () => balanceOf(session, inputs, {});
  await outsideOf(session, inputs, async () => enough(session, inputs, account, await read(), read));
}

/**
 * The balance on the target network in wei, once it is enough to deploy there. With `waitForFunds` it waits for them,
 * else it ends at once, before anything is spent. undefined: the service does not show a balance.
 */
export const funded = (session: Session, inputs: TetherInputs, account: TetherAccount): Promise<bigint | undefined> =>
  outsideOf(session, inputs, async () =>
    enough(session, inputs, account, await balanceOf(session, inputs, account), onTarget(session, inputs)),
  );

/** Waiting for funds takes none of the time that the resource has. */
async function outsideOf<T>({ clock, deadline }: Session, inputs: TetherInputs, wait: () => Promise<T>): Promise<T> {
  const patience = patienceMs(inputs);
  const start = clock.now();
  deadline.at += patience;
  try {
    return await wait();
  } finally {
    deadline.at -= patience - (clock.now() - start);
  }
}

async function enough(
  session: Session,
  inputs: TetherInputs,
  account: TetherAccount,
  first: bigint | undefined,
  read: Reading,
): Promise<bigint | undefined> {
  const short = shortage(inputs, account, first);
  if (short === undefined) return first;
  const patience = patienceMs(inputs);
  const { network } = inputs;
  const send = `Send funds to ${account.account ?? "the account of the tether service"} on ${network}`;
  if (patience === 0) {
    throw new UserError(
      `${short.text}, which is ${short.missing} too little to deploy the contract. Nothing was spent. ` +
        `${send}, or let it wait for them with waitForFunds: "30m".`,
    );
  }
  const what = `tether service "${inputs.tetherId}"`;
  session.say(`${what}: ${short.text}; ${short.missing} wei are missing. ${send}: it waits ${inputs.waitForFunds}.`);
  return waited(session, inputs, account, { what, patience, send, read });
}

async function waited(
  session: Session,
  inputs: TetherInputs,
  account: TetherAccount,
  { what, patience, send, read }: { what: string; patience: number; send: string; read: Reading },
): Promise<bigint | undefined> {
  const end = session.clock.now() + patience;
  let trouble: unknown;

  const look = async (): Promise<Look<bigint | undefined>> => {
    const seen = await glance();
    if (seen instanceof Error) return { waiting: `cannot read the balance (${seen.message})` };
    const short = shortage(inputs, account, seen);
    if (!short) return { done: seen };
    if (session.clock.now() < end) return { waiting: `${short.text}; ${short.missing} wei are missing` };
    throw new UserError(
      `${short.text} after a wait of ${inputs.waitForFunds}, which is ${short.missing} too little to deploy the contract. ` +
        `Nothing was spent. ${send}.`,
    );
  };

  /** A service that is away for a moment does not end a wait of half an hour; one that stays away does. */
  const glance = async (): Promise<bigint | undefined | Error> => {
    try {
      return await read();
    } catch (error) {
      trouble = error;
      if (!isPassing(error) || session.clock.now() >= end) throw error;
      return error;
    }
  };

  try {
    return await waitFor(session, what, Infinity, look);
  } catch (error) {
    if (error === trouble || !(error instanceof UserError)) {
      throw new UserError(`while it waited for funds: ${messageOf(error)} Nothing was spent. ${send}.`);
    }
    throw error;
  }
}

/** The account may be shown without a balance; then the balance of the network is asked for. */
export async function balanceOf(
  session: Session,
  { tetherId, network }: TetherInputs,
  { balanceWei }: TetherAccount,
): Promise<bigint | undefined> {
  if (balanceWei !== undefined) return BigInt(balanceWei);
  try {
    const shown = await session.client.getTetherBalance(tetherId, network);
    return shown === undefined ? undefined : BigInt(shown);
  } catch (error) {
    if (isApiError(error, "missing", "unsupported", "invalid")) return undefined;
    throw error;
  }
}

/** What is missing, in words and in wei; undefined: nothing, or nobody can tell. */
function shortage(
  { network, minimumBalanceWei }: TetherInputs,
  account: TetherAccount,
  balance: bigint | undefined,
): { text: string; missing: bigint } | undefined {
  const least = minimumBalanceWei === undefined ? 1n : BigInt(minimumBalanceWei);
  if (balance === undefined || balance >= least) return undefined;
  return { text: `the account ${payerOf(account)} has ${balance} wei on ${network}`, missing: least - balance };
}
