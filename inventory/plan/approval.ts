import { createHash } from "node:crypto";
import { changesOf, doesSomething, type PlannedChange } from "./changes";
import { type Plan } from "./read";

/* Whether a plan does exactly what people approved, to the same objects. */

/** Approved plans, and digests of approved plans. */
export interface Approvals {
  /** By `project/stack`. */
  plans: ReadonlyMap<string, Plan>;
  digests: ReadonlySet<string>;
}

/** `nothing`: there is nothing to approve. */
type Approval = "nothing" | "by digest" | "as planned" | "none";

export function approvalOf(plan: Plan, { plans, digests }: Approvals): Approval {
  if (!plan.isWhole) return "none";
  if (deedsOf(plan).size === 0) return "nothing";
  if (digests.has(digestOf(plan))) return "by digest";
  const approved = plans.get(plan.name);
  return approved?.isWhole && digestOf(approved) === digestOf(plan) ? "as planned" : "none";
}

/** A hash of what a plan does, whatever the order of its steps. It does not cover values of secrets, which plans do not show. */
export function digestOf(plan: Plan): string {
  const deeds = [...deedsOf(plan)].sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([plan.name, deeds]))
    .digest("hex");
}

export type Deviation = ReturnType<typeof deviationsOf>[number];

/** The resources for which a plan differs from the approved one. */
export function deviationsOf(plan: Plan, approved: Plan) {
  const [is, was] = [deedsOf(plan), deedsOf(approved)];
  const changes = { is: changesOf(plan), was: changesOf(approved) };
  const of = (list: PlannedChange[], urn: string): PlannedChange[] => list.filter((change) => change.urn === urn);
  return [...new Set([...is.keys(), ...was.keys()])]
    .filter((urn) => is.get(urn) !== was.get(urn))
    .map((urn) => ({ urn, approved: of(changes.was, urn), now: of(changes.is, urn) }));
}

/** The steps of a plan, by URN. Values are complete, because reports shorten long ones, which may differ only at their ends. */
function deedsOf({ steps }: Plan): Map<string, string> {
  const deeds = new Map<string, string[]>();
  for (const step of steps.filter(doesSomething)) {
    const { op, urn, found, old, new: next, reasons } = step;
    const { id = null, inputs = null, retainOnDelete = false } = old ?? {};
    const deed = [op, found, id, inputs, retainOnDelete, next?.inputs ?? null, [...reasons].sort()];
    deeds.set(urn, [...(deeds.get(urn) ?? []), JSON.stringify(deed)]);
  }
  return new Map([...deeds].map(([urn, all]) => [urn, all.sort().join("\n")]));
}
