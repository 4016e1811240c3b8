import { type Condition, conditionOf } from "../../provider/api/states";
import { type Change, type ObjectKind, type ObjectModel } from "../../inventory/model";

/** How something is: `plain` where there is nothing to say. */
export type Tone = "good" | "waiting" | "bad" | "plain";

/** What is said of an object besides its state. */
export type Mark = Change | "drift" | "not in stacks";

const tones: Record<Condition, Tone> = {
  ...{ ready: "good", pending: "waiting", going: "waiting", stopped: "plain", failed: "bad", gone: "bad" },
};
/** A tether does nothing before it is active, nor after. */
const tethers: Record<string, Tone> = {
  active: "good",
  initial: "waiting",
  configured: "waiting",
  deployed: "waiting",
};

export function toneOf(kind: ObjectKind, object: ObjectModel): Tone {
  const state = "state" in object ? object.state : undefined;
  if (state === undefined) return "plain";
  if (kind === "tether") return tethers[state] ?? "bad";
  const condition = conditionOf(state);
  return kind === "node" && condition === "stopped" ? "bad" : tones[condition];
}

export const marksOf = ({ change, drift, managed }: ObjectModel): Mark[] => [
  ...(change ? [change] : []),
  ...(drift && drift.length > 0 ? (["drift"] as const) : []),
  ...(managed === "by hand" ? (["not in stacks"] as const) : []),
];

/** A sign besides each word, so that no mark is told by its colour alone. */
export const signs: Record<Mark, string> = {
  create: "+",
  update: "~",
  replace: "±",
  delete: "−",
  drift: "≠",
  "not in stacks": "✎",
};
