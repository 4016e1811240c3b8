import { isApiError } from "../../api";
import { type Props } from "../../core/definition";
import { Incomplete, messageOf, UserError } from "../../core/errors";
import { type Session } from "../../core/session";
import { stateVersion } from "../../core/state";
import { deploy } from "./deploy";

export interface TetherInputs extends Props {
  tetherId: string;
  network: "mainnet" | "rinkeby";
  intervalHours: number;
  active?: boolean;
  minimumBalanceWei?: string;
  waitForFunds?: string;
  extra?: Props;
}

/**
 * Brings a tether service to what the inputs say: targetNetwork, interval, deploy, activate, in this order
 * (spec, section 4.3), each only where it is missing. It is stopped before network or interval change.
 * Whatever fails half way, the steps that were done are kept, and the next update goes on with the missing one.
 */
export async function configure(session: Session, olds: Props, news: Props): Promise<Props> {
  const inputs = news as TetherInputs;
  const { tetherId, network, intervalHours } = inputs;
  const { client } = session;
  const what = `tether service "${tetherId}"`;

  /** What is true of the service so far: it only grows with steps that were done. */
  let done: Props = {
    ...olds,
    tetherId,
    deployedNetworks: olds.deployedNetworks ?? [],
    __version: stateVersion,
  };
  const note = (facts: Props): void => {
    done = { ...done, ...facts };
  };

  try {
    const moves = olds.network !== network || olds.intervalHours !== intervalHours;
    if (moves && olds.state === "active") {
      await client.deactivateTether(tetherId);
      note({ state: "inactive", active: false });
    }
    if (olds.network !== network) {
      await whileStopped(session, tetherId, () => client.setTetherNetwork(tetherId, network));
      note({ network, state: "configured" });
    }
    if (olds.intervalHours !== intervalHours) {
      await whileStopped(session, tetherId, () => client.setTetherInterval(tetherId, intervalHours));
      note({ intervalHours });
    }
    const account = await client.getTetherAccount(tetherId);
    note({ account: account.account ?? done.account, balanceWei: account.balanceWei ?? done.balanceWei });
    const deployed = done.deployedNetworks as string[];
    if (!deployed.includes(network)) {
      // After a run that died, nobody recorded whether it had deployed already.
      const pending = done.__deployment === network || session.adoptAll;
      await deploy(session, inputs, account, { pending, note });
      note({ deployedNetworks: [...deployed, network], __deployment: undefined });
      if (done.state !== "active") note({ state: "deployed" });
    }
    const active = inputs.active !== false;
    if (active && done.state !== "active") {
      await client.activateTether(tetherId);
      note({ state: "active", active });
    } else if (!active && done.state === "active") {
      await client.deactivateTether(tetherId);
      note({ state: "inactive", active });
    }
  } catch (error) {
    if (isApiError(error, "missing")) {
      throw new UserError(
        `${what}: the service knows none with this id (${error.message}) ` +
          "It is made in the console; its id is the last 10 characters of its address there.",
      );
    }
    // Before the first step nothing was done that the state would have to remember.
    if (done.network === undefined) throw new UserError(`${what}: ${messageOf(error)}`);
    const kept = "What was done so far is kept; run `pulumi up` again to go on from here.";
    throw new Incomplete(tetherId, definedOnly(done), new UserError(`${what}: ${messageOf(error)} ${kept}`));
  }
  return definedOnly({ ...done, ...inputs });
}

/** One that somebody else started has to be stopped before it takes another setting. */
async function whileStopped(session: Session, tetherId: string, set: () => Promise<unknown>): Promise<void> {
  try {
    await set();
  } catch (error) {
    if (!isApiError(error, "conflict")) throw error;
    await session.client.deactivateTether(tetherId);
    await set();
  }
}

const definedOnly = (props: Props): Props =>
  Object.fromEntries(Object.entries(props).filter(([, value]) => value !== undefined));
