import { failedStates, pendingStates } from "../../provider/resources/fields";
import { type Change, type ObjectKind, type ObjectModel } from "../model";

/** How something is: `plain` where there is nothing to say. */
export type Tone = "good" | "waiting" | "bad" | "plain";

/** What is said of an object besides its state. */
export type Mark = Change | "drift" | "by hand";

const good: Partial<Record<ObjectKind, readonly string[]>> = { node: ["started"], tether: ["active"] };
const bad: readonly string[] = failedStates;
const waiting: readonly string[] = [...pendingStates, "initial", "configured", "deployed"];

/** By its state; only of nodes and tethers is the good one known, elsewhere every state is that is neither pending nor failed. */
export function toneOf(kind: ObjectKind, object: ObjectModel): Tone {
  const state = "state" in object ? object.state : undefined;
  if (state === undefined) return "plain";
  if (good[kind]?.includes(state)) return "good";
  if (waiting.includes(state)) return "waiting";
  return bad.includes(state) || kind in good ? "bad" : "good";
}

export const marksOf = ({ change, drift, managed }: ObjectModel): Mark[] => [
  ...(change ? [change] : []),
  ...(drift && drift.length > 0 ? (["drift"] as const) : []),
  ...(managed === "by hand" ? (["by hand"] as const) : []),
];

/** A sign besides each word, so that no mark is told by its colour alone. */
export const signs: Record<Mark, string> = {
  create: "+",
  update: "~",
  replace: "±",
  delete: "−",
  drift: "≠",
  "by hand": "✎",
};
