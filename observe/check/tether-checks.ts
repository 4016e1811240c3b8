import { inEther } from "../map/words";
import { nameOf, type TetherModel } from "../../inventory/model";
import { type Facts } from "./facts";
import { type TetherProbe } from "./probe-tethers";
import { type Check, failed, ok, skipped, unseen, type Verdict } from "./results";

function ofTethers(
  name: string,
  look: (tether: TetherModel, probe: TetherProbe, facts: Facts) => Verdict | undefined,
): Check {
  return {
    name,
    look: (facts) =>
      facts.model.tethers.flatMap((tether) => {
        const verdict = look(tether, facts.tethers.get(tether.id) ?? {}, facts);
        const subject = { kind: "tether" as const, id: tether.id, name: nameOf(tether) };
        return verdict ? [{ check: name, subject, ...verdict }] : [];
      }),
  };
}

const active = ofTethers("tether active", ({ state, network, problem }) => {
  if (problem !== undefined)
    return failed(`it could not pin: ${problem}`, "Mend that; the next pin is tried by itself.");
  if (state === "active") return ok(`it pins to ${network ?? "its network"}`);
  if (state === "missing") {
    const next = "Check its id: it is the last 10 characters of its address in the console.";
    return failed("the service does not show it", next);
  }
  if (state === undefined) return skipped("the service does not show its state");
  return failed(`its state is ${state}`, "Run `pulumi up` with a TetherService whose `active` is true.");
});

/** A pin waits for a block of the public chain, and that takes its time; and clocks differ. */
const graceMs = 15 * 60_000;

const late = "See whether its account has funds and its environment has started nodes; then look at it in the console.";

const onTime = ofTethers("last pin on time", (tether, _probe, { now }) => {
  const { lastPin, reports, intervalHours, state, changedAt } = tether;
  if (state === "missing" || reports === undefined) return undefined;
  if (reports === 0 && state === "active") {
    const isNew = now - Date.parse(changedAt ?? "") < (intervalHours ?? 0) * 3_600_000 + graceMs;
    if (isNew) return skipped(`its first report is due within ${intervalHours} h of its activation`);
    return failed("it is active, and has never reported", late);
  }
  if (reports === 0) return skipped("there is no report yet");
  if (lastPin?.at === undefined || intervalHours === undefined)
    return skipped("the service does not show when the last pin was, or the interval");
  const age = now - Date.parse(lastPin.at);
  const [hours, value] = [Math.round(Math.abs(age) / 360_000) / 10, Math.round(age / 1000)];
  if (age < -graceMs) {
    const next = "Compare the clock of this machine with that of the service, and set the wrong one.";
    return failed(`report ${lastPin.index} is dated ${hours} h from now`, next, value);
  }
  const text = `report ${lastPin.index} is ${hours} h old, and one is due every ${intervalHours} h`;
  return age <= intervalHours * 3_600_000 + graceMs ? ok(text, value) : failed(text, late, value);
});

const verified = ofTethers("last pin verified", (tether, probe, { trusted }) => {
  const { state, reports = 0, targetUrl, network = "" } = tether;
  if (state === "missing" || reports === 0) return undefined;
  if (probe.unseen !== undefined) return unseen(probe.unseen, "Give another address of the chain: --target.");
  const { verdict } = probe;
  if (verdict === undefined)
    return skipped("no address of the public chain is known", "Give one: --target rinkeby=https://…");
  if (!verdict.verified) return failed(verdict.reason, tampered);
  const own = trusted.has(network) ? "" : ` (by the service's own address of it, ${targetUrl})`;
  return ok(`in block ${verdict.blockNumber} of chain ${verdict.chainId}${own}`);
});

const tampered =
  "Do not rely on the ledger's history before this is understood: compare the nodes' blocks with earlier reports.";

const funds = ofTethers("tether funds", (tether, { weiPerPin }, { pinsAhead }) => {
  const { balanceWei, account, network = "the network", state } = tether;
  if (state === "missing") return undefined;
  if (balanceWei === undefined) return skipped("the service does not show its balance");
  const has = BigInt(balanceWei);
  const next = `Send ether to ${account ?? "its account"} on ${network}.`;
  if (has === 0n) return failed("its account is empty", next, 0);
  if (!weiPerPin) return ok(`${inEther(balanceWei)}; what a pin costs is not known yet`);
  const pins = Number(has / weiPerPin);
  const text = `${inEther(balanceWei)}, enough for ${pins} more pins`;
  return pins >= pinsAhead ? ok(text, pins) : failed(`${text}; ${pinsAhead} are wanted`, next, pins);
});

export const tetherChecks: readonly Check[] = [active, onTime, verified, funds];
