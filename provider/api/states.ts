/* What the state of an object means, for all who ask. Imports nothing, so that browser pages can use it. */

type Stated = { id?: unknown; state?: unknown };

/** A deleted object may still be listed for a moment (spec, section 3). */
export const isGone = ({ state }: Stated): boolean => state === "deleted";

/** On its way out: it still counts toward limits, but nothing may depend on it. Services have several words for it. */
export const isGoing = ({ state }: Stated): boolean =>
  typeof state === "string" &&
  /^(delet(ing|ion)|delet(e|ion)[-_ ]pending|pending[-_ ]delet(e|ion)|terminating|removing)$/i.test(state);

export type Condition = "ready" | "pending" | "failed" | "stopped" | "going" | "gone";

const known: Partial<Record<Condition, readonly string[]>> = {
  /** States that pass by themselves: `initializing` in the spec, and what services call the same; `upgrade` of an environment. */
  pending: ["initializing", "pending", "creating", "provisioning", "starting", "upgrade", "upgrading"],
  failed: ["failed", "error", "errored"],
  /** Stopped and started by hand only: nothing to wait for. */
  stopped: ["stopping", "stopped", "paused", "suspended", "hibernated"],
  /** The service no longer has it: only who remembers it calls it so. */
  gone: ["gone"],
};

/** The spec names one state to wait for (section 3). Every state that is not known to be something else is ready. */
export function conditionOf(state: unknown): Condition {
  if (isGone({ state })) return "gone";
  if (isGoing({ state })) return "going";
  const found = Object.entries(known).find(([, states]) => states.includes(state as string));
  return found ? (found[0] as Condition) : "ready";
}

/** Neither pending nor failed: nothing to wait for. */
export const isSettledState = (state: unknown): boolean => !["pending", "failed"].includes(conditionOf(state));
