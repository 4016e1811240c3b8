import type { Timing } from "../settings/timing";
import type { Entity, Kind } from "./entities";

/** What happens by itself: a state, the one after it, and how long that takes. */
const steps: Partial<Record<Kind, { from: string; to: string; after: keyof Timing }>> = {
  environment: { from: "initializing", to: "setup", after: "environmentStart" },
  node: { from: "initializing", to: "started", after: "nodeStart" },
};

/** How an object begins; when it leaves that state by itself is fixed now, so that it survives a restart. */
export function firstState(kind: Kind, now: number, timing: Timing): { state: string; due?: number } {
  const step = steps[kind];
  if (step) return { state: step.from, due: now + timing[step.after] };
  return { state: kind === "consortium" ? "setup" : "active" };
}

/** The state at a time: nothing ticks, it follows from the time alone. */
export function stateAt(entity: Entity, at: number): string {
  const step = steps[entity.kind];
  const left = entity.state === step?.from && entity.due !== undefined && at >= entity.due;
  return left ? step.to : entity.state;
}
