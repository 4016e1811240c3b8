import type { Entity, Kind } from "./entities";
import type { Timing } from "../settings/answers";

/** State machine of what happens by itself: state -> [next, after which time]. */
type Machine = Record<string, [next: string, after: keyof Timing]>;

const machines: Partial<Record<Kind, Machine>> = {
  environment: { initializing: ["setup", "environmentStart"] },
  node: { initializing: ["started", "nodeStart"] },
};

/** What an object is created with. */
export const firstState: Record<Kind, string> = {
  organization: "active",
  consortium: "setup",
  membership: "active",
  environment: "initializing",
  node: "initializing",
  credential: "active",
  tether: "active",
  report: "active",
};

/** Puts an object into a state; when it leaves it by itself is fixed now, so that it survives a restart. */
export function entering(kind: Kind, state: string, now: number, timing: Timing): { state: string; due?: number } {
  const step = machines[kind]?.[state];
  return step ? { state, due: now + timing[step[1]] } : { state };
}

/** The state at a time: nothing ticks, it follows from the time alone. */
export function stateAt(entity: Entity, at: number): string {
  const step = machines[entity.kind]?.[entity.state];
  return step && entity.due !== undefined && at >= entity.due ? step[0] : entity.state;
}
