import type { Base } from "../context";
import { Refusal } from "../errors";
import { begun, type Entity, firstStart, stateAt } from "../store/entities";
import type { Changed } from "./crud";

type Environment = Entity<"environment">;

/** An environment is live once one of its nodes was started. */
export function environmentState({ store }: Base, entity: Environment, at: number): string {
  const state = stateAt(entity, at);
  const started = () => store.present("node", entity.id, at).some((node) => firstStart(node, at) !== undefined);
  return state === "setup" && started() ? "live" : state;
}

/** Begins an upgrade. The ledger goes on meanwhile. */
export function upgraded(base: Base, entity: Environment): Omit<Changed, "fields"> {
  refuseUnless(base, entity, ["setup", "live"], "can be upgraded");
  return begun("environment", "upgrade", base.clock(), base.settings.timing);
}

/** Pauses an environment, or resumes it. Its nodes stay as they are. */
export function pausedOrLive(base: Base, entity: Environment, wanted: "paused" | "live"): Changed {
  const { since, before } = { before: 0, ...entity.fields.pause };
  const now = base.clock();
  if (wanted === "paused") {
    refuseUnless(base, entity, ["live"], "can be paused");
    return { fields: { pause: { since: now, before } }, state: "paused", due: undefined };
  }
  refuseUnless(base, entity, ["paused"], "can be resumed");
  return { fields: { pause: { before: before + now - since! } }, state: "setup", due: undefined };
}

function refuseUnless(base: Base, entity: Environment, states: readonly string[], what: string): void {
  const state = environmentState(base, entity, base.clock());
  if (states.includes(state)) return;
  throw new Refusal(409, `The environment ${entity.id} is ${state}: only one that is ${states.join(" or ")} ${what}.`);
}

/** Starts an environment that has waited for its first node. */
export function startWaiting({ store, settings, clock }: Base, id: string): void {
  const waiting = store.get("environment", id);
  if (!settings.quirks.environmentsWait || waiting?.state !== "initializing" || waiting.due !== undefined) return;
  store.put([{ ...waiting, ...begun("environment", "initializing", clock(), settings.timing) }]);
}

/** Nothing starts in an environment that is paused. */
export function refusePaused({ id, state }: Environment): void {
  if (state === "paused")
    throw new Refusal(409, `The environment ${id} is paused. Resume it first: PATCH it with { "state": "live" }.`);
}
