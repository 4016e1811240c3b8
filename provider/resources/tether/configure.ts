import { briefly } from "../../api/api-error";
import { isApiError } from "../../api";
import { contractOn, type ShownTether, tetherIn } from "../../api/tether";
import { type Props } from "../../core/definition";
import { messageOf, withoutUndefined } from "../../plain";
import { codeOf, Incomplete, UserError } from "../../errors";
import { type Session } from "../../core/session";
import { storedIn, storedKey, stateVersion } from "../../core/state";
import { activated, activateSoon, deactivated, refusedStart, saysUndeployed, type Start } from "./activation";
import { deploy, reported, type UnknownOutcome, unknownsIn } from "./deploy";
import { funded } from "./funds";
import { accountOf, asItIs, hasContract, isSame, requireService, shownOf, type TetherInputs, titleOf } from "./read";

/** Configures a tether service that no state describes: it may be running already. */
export async function begin(session: Session, news: Props): Promise<Props> {
  const inputs = news as TetherInputs;
  try {
    const shown = await shownOf(session, inputs.tetherId);
    const mayRun = inputs.active === false && shown?.state === undefined;
    // First, so that no failure later on leaves it running.
    if (mayRun) await deactivated(session, inputs.tetherId, inConsole, !(await reported(session, inputs.tetherId)));
    const before = shown ? asItIs(shown, inputs) : {};
    const runs = shown?.state === "active";
    const isSet = before.network === inputs.network && before.intervalHours === inputs.intervalHours;
    if (runs && !isSet) session.say(`Warning: ${titleOf(inputs.tetherId)}: ${others}`);
    const made = await configure(session, before, news, runs ? "it is running" : undefined);
    return mayRun ? { ...made, state: "inactive" } : made;
  } catch (error) {
    throw error instanceof UserError ? error : failure(inputs, error);
  }
}

const failure = ({ tetherId }: TetherInputs, error: unknown, kept = ""): UserError => {
  // A tether may have no account.
  const reason =
    isApiError(error, "missing") && !/\/accounts?$/.test(error.call)
      ? "create it in the console; its id is the last 10 characters of its address there. There is no tether service with this id " +
        `(${briefly(error)}).`
      : messageOf(error);
  return new UserError(codeOf(error) ?? "tether-failed", `${titleOf(tetherId)}: ${reason}${kept}`);
};

/**
 * Checks, before a tether that works on one network is stopped, that there are funds to deploy on the other.
 * @returns the address of the contract on the other network, if the service shows it
 * @throws UserError, and leaves the tether as it was
 */
async function fit(session: Session, olds: Props, inputs: TetherInputs): Promise<ShownTether["contract"]> {
  const { network, tetherId } = inputs;
  const { network: before, deployedNetworks = [], account } = olds;
  if (typeof before !== "string" || isSame(before, network) || hasContract(deployedNetworks, network)) return undefined;
  if (unknownsIn(olds)[network]) return undefined; // it may be paid for
  try {
    const shown = await shownOf(session, tetherId);
    const elsewhere = isSame(shown?.network, before) ? shown?.contract : undefined;
    if (shown && contractOn(shown, network, deployedNetworks as string[], elsewhere) === "yes") return elsewhere;
    const payer = typeof account === "string" ? account : (await session.client.getTetherAccount(tetherId)).account;
    await funded(session, inputs, { account: payer }, false);
    return elsewhere;
  } catch (error) {
    throw failure(inputs, error, ` The tether stays on ${before}, unchanged.`);
  }
}

/**
 * Brings a tether service to its inputs: targetNetwork, interval, deploy, activate, in this order (spec, section 4.3), each only if it is
 * missing. It is stopped before network or interval change. After a failure, the completed steps are kept, and the next update does the
 * others.
 * @param before evidence that it has run, if the service does not show its settings
 */
export async function configure(session: Session, olds: Props, news: Props, before?: string): Promise<Props> {
  const inputs = news as TetherInputs;
  const { tetherId, network, intervalHours } = inputs;
  const { client } = session;
  const elsewhere = await fit(session, olds, inputs);

  let ran = before;
  const stopped = (): void => {
    ran ??= "it was running";
    session.say(`Warning: ${titleOf(tetherId)}: ${others}`);
  };
  let done = soFar(olds, inputs);
  const note = (facts: Props): void => {
    done = { ...done, ...facts };
  };
  const isUnclear = olds.network !== undefined && olds.state === undefined;
  /** Progress while it does not run. Whether it runs may be unclear, and stays so until it is started or stopped. */
  const progress = (state: "configured" | "deployed"): void => {
    if (done.state !== "active" && !(isUnclear && done.state === undefined)) note({ state });
  };
  /** Forgets the value until an answer is clear: the next update sends it again, whatever the program asks for then. */
  const setting = async <T>(key: "network" | "intervalHours" | "state", send: () => Promise<T>): Promise<T> => {
    const { [key]: before } = done;
    note({ [key]: undefined });
    try {
      return await send();
    } catch (error) {
      if (!isApiError(error) || !error.unclear) note({ [key]: before });
      throw error;
    }
  };
  const start: Start = async () => {
    const { state } = done;
    const refusal = await setting("state", () => refusedStart(session, tetherId));
    note({ state: refusal ? state : "active" });
    return refusal;
  };
  const keep = (unknown: UnknownOutcome | undefined): void => {
    const others = Object.entries(unknownsIn(done)).filter(([name]) => name !== network);
    const deployment = Object.fromEntries(unknown ? [...others, [network, unknown]] : others);
    note({ [storedKey]: { ...storedIn(done), deployment } });
  };

  try {
    if (isUnclear) note({ state: asItIs(await shownOf(session, tetherId)).state });
    const isMoved = !isSame(olds.network, network);
    const moves = isMoved || olds.intervalHours !== intervalHours;
    if (moves && done.state === "active") {
      await setting("state", () => deactivated(session, tetherId, inConsole));
      note({ state: "inactive", active: false });
    }
    if (isMoved) {
      const set = (): Promise<unknown> => client.setTetherNetwork(tetherId, network);
      const shown = await setting("network", () => whileStopped(session, tetherId, set, stopped));
      if (shown.network !== undefined && !isSame(shown.network, network))
        throw new UserError(
          "tether-failed",
          `the service answers that its network is ${shown.network}, not ${network}. Nothing was paid.`,
        );
      note({ network });
      progress("configured");
    }
    if (olds.intervalHours !== intervalHours) {
      const set = (): Promise<unknown> => client.setTetherInterval(tetherId, intervalHours);
      const shown = await setting("intervalHours", () => whileStopped(session, tetherId, set, stopped));
      const caution = agreeOnInterval(inputs, shown);
      if (caution !== undefined) session.say(`Warning: ${titleOf(tetherId)}: ${caution}`);
      note({ intervalHours });
    }
    const account = await accountOf(session, tetherId);
    const unknown = unknownsIn(done)[network];
    note({ account: account.account ?? done.account, balanceWei: account.balanceWei ?? done.balanceWei });
    const deployed = done.deployedNetworks as string[];
    if (!hasContract(deployed, network)) {
      await deploy({ session, inputs, account, others: deployed, elsewhere, ran, unknown, start, note, keep });
      keep(undefined);
      note({ deployedNetworks: [...deployed, network] });
      progress("deployed");
    }
    const active = inputs.active !== false;
    if (active && done.state !== "active") {
      // A contract may be mined only some time after the answer to `deploy`.
      const fresh = done.state === "deployed" || done.state === undefined;
      await (fresh ? activateSoon(session, tetherId, start) : activated(start)).catch((error: unknown) => {
        throw saysUndeployed(error) ? withoutContract(network, error) : error;
      });
      note({ active });
    } else if (!active && (done.state === "active" || done.state === undefined)) {
      await setting("state", () => deactivated(session, tetherId, inConsole, isUnclear));
      note({ state: "inactive", active });
    }
  } catch (error) {
    // Before the first step, there is nothing to keep in the state.
    if (done.network === undefined && olds.network === undefined) throw failure(inputs, error);
    const kept = " What was done so far is kept: run `pulumi up` again to continue.";
    throw new Incomplete(tetherId, stateOf(done), failure(inputs, error, kept));
  }
  return stateOf({ ...done, ...inputs });
}

const withoutContract = (network: string, error: unknown): UserError =>
  new UserError(
    "tether-failed",
    `remove the resource from the program for one run if the contract on ${network}, which the state records, no longer exists: then it is ` +
      `deployed, and paid for, again. ${messageOf(error)}`,
  );

/**
 * The state before the first step. Inputs that are not settings of the service take their new values at once, and the old ones are dropped.
 */
function soFar(olds: Props, { network: _network, intervalHours: _interval, active: _active, ...local }: Props): Props {
  const { network, intervalHours, active, account, balanceWei, state, deployedNetworks = [] } = olds;
  return {
    ...local,
    network,
    intervalHours,
    active,
    account,
    balanceWei,
    state,
    deployedNetworks,
    [storedKey]: { ...storedIn(olds), version: stateVersion },
  };
}

const inConsole = "Look in the console, and stop it there.";
const others =
  "it was running, although this stack had not started it: it is stopped and configured again. If another stack manages it, that stack is not told.";

/**
 * Sets something, and stops a tether that somebody else started, if the service requires that.
 * @returns the settings in the answer, which are compared with the request before anything is paid
 */
async function whileStopped(
  session: Session,
  tetherId: string,
  set: () => Promise<unknown>,
  stopped: () => void,
): Promise<ShownTether> {
  const answer = await set().catch(async (error: unknown) => {
    if (!isApiError(error, "conflict")) throw error;
    await session.client.deactivateTether(tetherId).catch((later: unknown) => {
      throw isApiError(later, "conflict", "invalid") ? error : later; // the tether did not run, so that was not the reason
    });
    stopped();
    return set();
  });
  return tetherIn(answer);
}

/** @returns a warning if the unit cannot be told @throws UserError if it set another interval */
function agreeOnInterval({ intervalHours }: TetherInputs, { interval }: ShownTether): string | undefined {
  if (interval === undefined) return undefined;
  const { hours, isUntold } = interval;
  if (!hours.includes(intervalHours))
    throw new UserError(
      "tether-failed",
      `the service answers that its interval is ${hours[0]}, not ${intervalHours}. Nothing was paid.`,
    );
  if (!isUntold || hours[0] !== intervalHours) return undefined;
  return (
    `the service confirms an interval of ${intervalHours}, but does not say whether in hours or in minutes. ` +
    "In minutes, it pins sixty times as often and pays for each pin: `consortium check --tether` compares its last two reports."
  );
}

function stateOf(done: Props): Props {
  const { deployment, ...kept } = storedIn(done);
  const isOpen = Object.keys(deployment ?? {}).length > 0;
  return withoutUndefined({ ...done, [storedKey]: isOpen ? { ...kept, deployment } : kept });
}

/** Stops the tether service, which is all that can be undone. Succeeds if it is gone or stopped already. */
export async function stop(session: Session, id: string, state: Props): Promise<void> {
  for (const network of Object.keys(unknownsIn(state))) {
    session.say(
      `${titleOf(id)}: it is not known whether its contract was deployed on ${network}, and ` +
        `the state no longer records that: check the account ${String(state.account)} there before you deploy it again.`,
    );
  }
  try {
    const next = "If the console shows that it is stopped, run `pulumi state delete` with its URN.";
    // Somebody may have started it since: a service may not show that.
    await deactivated(session, id, next, state.state === "inactive" || state.state === "configured");
  } catch (error) {
    if (!isApiError(error, "missing")) throw error;
    await requireService(session);
  }
}
