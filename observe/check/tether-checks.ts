import { inEther } from "../map/words";
import { nameOf, type TetherModel } from "../model";
import { type Facts } from "./facts";
import { type Check } from "./network-checks";
import { type TetherProbe } from "./probe-tethers";
import { type Result } from "./results";

type Verdict = Pick<Result, "outcome" | "text"> & Partial<Pick<Result, "next" | "value">>;

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
    return {
      outcome: "failed",
      text: `it could not pin: ${problem}`,
      next: "Mend that; the next pin is tried by itself.",
    };
  if (state === "active") return { outcome: "ok", text: `it pins to ${network ?? "its network"}` };
  if (state === "missing")
    return {
      ...{ outcome: "failed", text: "the service does not show it" },
      next: "Check its id: it is the last 10 characters of its address in the console.",
    };
  if (state === undefined) return { outcome: "skipped", text: "the service does not show its state" };
  return {
    ...{ outcome: "failed", text: `its state is ${state}` },
    next: "Run `pulumi up` with a TetherService whose `active` is true.",
  };
});

/** A pin waits for a block of the public chain, and that takes its time. */
const graceMs = 15 * 60_000;

const onTime = ofTethers("last pin on time", ({ lastPin, reports = 0, intervalHours, state }, _probe, { now }) => {
  if (state === "missing") return undefined;
  if (reports === 0) return { outcome: "skipped", text: "there is no report yet" };
  if (lastPin?.at === undefined || intervalHours === undefined)
    return { outcome: "skipped", text: "the service does not show when the last pin was, or the interval" };
  const age = now - Date.parse(lastPin.at);
  const hours = Math.round(age / 360_000) / 10;
  const text = `report ${lastPin.index} is ${hours} h old, and one is due every ${intervalHours} h`;
  const value = Math.round(age / 1000);
  if (age <= intervalHours * 3_600_000 + graceMs) return { outcome: "ok", text, value };
  return {
    ...{ outcome: "failed", text, value },
    next: "See whether its account has funds and its environment has started nodes; then look at it in the console.",
  };
});

const verified = ofTethers("last pin verified", (tether, { verdict, unseen }, facts) => {
  const { state, reports = 0, targetUrl, network = "" } = tether;
  if (state === "missing" || reports === 0) return undefined;
  if (unseen !== undefined)
    return { outcome: "unseen", text: unseen, next: "Give another address of the chain: --target." };
  if (verdict === undefined)
    return {
      ...{ outcome: "skipped", text: "no address of the public chain is known" },
      next: "Give one: --target rinkeby=https://…",
    };
  const own = facts.trusted.has(network) ? "" : ` (by the service's own address of it, ${targetUrl})`;
  if (verdict.verified)
    return { outcome: "ok", text: `in block ${verdict.blockNumber} of chain ${verdict.chainId}${own}` };
  return { outcome: "failed", text: verdict.reason, next: tampered };
});

const tampered =
  "Do not rely on the ledger's history before this is understood: compare the nodes' blocks with earlier reports.";

const funds = ofTethers("tether funds", (tether, { weiPerPin }, { pinsAhead }) => {
  const { balanceWei, account, network = "the network", state } = tether;
  if (state === "missing") return undefined;
  if (balanceWei === undefined) return { outcome: "skipped", text: "the service does not show its balance" };
  const has = BigInt(balanceWei);
  const next = `Send ether to ${account ?? "its account"} on ${network}.`;
  if (has === 0n) return { outcome: "failed", text: "its account is empty", next, value: 0 };
  if (!weiPerPin) return { outcome: "ok", text: `${inEther(balanceWei)}; what a pin costs is not known yet` };
  const pins = Number(has / weiPerPin);
  const text = `${inEther(balanceWei)}, enough for ${pins} more pins`;
  return pins >= pinsAhead
    ? { outcome: "ok", text, value: pins }
    : { outcome: "failed", text: `${text}; ${pinsAhead} are wanted`, next, value: pins };
});

export const tetherChecks: readonly Check[] = [active, onTime, verified, funds];
