import { isDeepStrictEqual } from "node:util";
import { kindOf, type LedgerHolder, outlivesResource, partsOfUrn } from "../../provider/constants";
import { inputMeta } from "../../provider/core/definition";
import { isAdoptedShared } from "../../provider/core/state";
import { definitions } from "../../provider/resources";
import { service } from "../../provider/resources/service";
import { unknown as unknownMark } from "../../provider/core/values";
import { differencesBetween, holdsSecret, shownValue } from "../drift";
import { type Change, type NetworkModel } from "../model";
import { classIn, modelOf, namedBy, type StackRow } from "../rows";
import { type Plan, type State, type Step } from "./read";

/** In the order of a report. */
const actions = ["replaced", "deleted", "gone", "drifted", "created", "adopted", "changed", "moved"] as const;
export type Action = (typeof actions)[number];

export interface Property {
  name: string;
  /** Shortened for people; undefined if there was nothing. */
  from: string | undefined;
  to: string | undefined;
}

export interface PlannedChange {
  urn: string;
  action: Action;
  /** Such as `Node`; the whole type for other packages. */
  type: string;
  name: string;
  properties: Property[];
  /** Properties that make it a replacement. */
  reasons: string[];
  /** Properties that restart it when they change in place. */
  restarts: string[];
  /** The losses that come with it. */
  loss?: string;
  /** Whether that is a ledger or part of one. */
  losesLedger: boolean;
  /** Whether it leaves the stack but stays in the service. */
  kept: boolean;
}

const losses: Partial<Record<string, string>> = {
  Consortium: "all its environments with their ledgers, nodes and credentials",
  Environment: "its ledger, its nodes and its credentials",
  Node: "its key and its copy of the ledger",
  Service: "its data",
} satisfies Partial<Record<LedgerHolder | "Node" | "Service", string>>;

/** The changes of a plan, one entry per resource, the worst first. */
export function changesOf({ steps }: Plan): PlannedChange[] {
  const shown = steps.filter(({ urn }) => !/::pulumi:(pulumi:Stack|providers:[^:]+)::/.test(urn));
  const byUrn = new Map<string, Step & { action: Action }>();
  for (const step of shown) {
    const action = actionOf(step);
    const key = `${step.found}${step.urn}`;
    // A replacement has several steps, in either order. Keep the one with its reasons and both states.
    const before = byUrn.get(key);
    const saysLess = before && (step.reasons.length < before.reasons.length || (before.new && !step.new));
    if (action && isSeen(step) && !saysLess) byUrn.set(key, { ...step, action });
  }
  const found = [...byUrn.values()];
  const lost = new Set(found.filter(isLost).map(({ old }) => old?.id));
  return found
    .map((step) => changeOf(step, lost))
    .sort(
      (a, b) =>
        actions.indexOf(a.action) - actions.indexOf(b.action) ||
        rank(a) - rank(b) ||
        a.name.localeCompare(b.name, "en", { numeric: true }),
    );
}

/** Whether a step changes something or found a change. */
export const doesSomething = (step: Step): boolean => actionOf(step) !== undefined && isSeen(step);

/** A refresh lists everything that it read, changed or not. */
const isSeen = (step: Step): boolean =>
  step.op !== "refresh" || step.new?.outputs === undefined || propertiesOf(step).length > 0;

const types = Object.values(definitions).map(({ type }) => type);

/** Parents before children, other packages last, so that reports of one plan are identical. */
function rank({ type }: PlannedChange): number {
  const place = types.indexOf(type);
  return place < 0 ? Infinity : place;
}

function actionOf(step: Step): Action | undefined {
  const { op, found, new: next } = step;
  if (found) return op === "same" ? undefined : op === "delete" || !next ? "gone" : "drifted";
  if (op === "delete") return "deleted";
  if (/replace/.test(op) && op !== "remove-pending-replace") return "replaced";
  if (op === "import") return "adopted";
  if (op === "create") return next?.inputs?.adopt === undefined ? "created" : "adopted";
  if (op !== "update") return undefined;
  return isMoved(step) && propertiesOf(step).length === 0 ? "moved" : "changed";
}

/** Whether a resource moves between providers. On the dynamic one, its time-outs are among its inputs. */
const isMoved = ({ old, new: next }: Pick<Step, "old" | "new">): boolean =>
  old?.type !== undefined && old.type !== next?.type;
const ofDynamic = "customTimeouts";

const typeOf = (urn: string): string => classIn(partsOfUrn(urn).type);

/** An object that was adopted unchanged belongs to others, too. */
function staysThere({ urn, old }: Step): boolean {
  const kind = kindOf(typeOf(urn));
  return outlivesResource(old) || (!!kind && isAdoptedShared({ ...old?.outputs }));
}

const isLost = (step: Step & { action: Action }): boolean =>
  ["replaced", "deleted", "gone"].includes(step.action) && losses[typeOf(step.urn)] !== undefined && !staysThere(step);

function changeOf(step: Step & { action: Action }, lost: ReadonlySet<string | undefined>): PlannedChange {
  const { action, urn, old, reasons } = step;
  const type = typeOf(urn);
  const parents = [old?.inputs?.environmentId, old?.inputs?.consortiumId] as (string | undefined)[];
  const isLedger = type !== service.type;
  const isSaid = isLedger && parents.some((id) => id !== undefined && lost.has(id));
  const own = isLost(step) && !isSaid;
  const properties = ["changed", "drifted", "replaced", "adopted"].includes(action) ? propertiesOf(step) : [];
  const kind = kindOf(type);
  const restarts = properties.filter(({ name }) => kind && inputMeta(definitions[kind], name)?.onChange === "restart");
  return {
    urn,
    action,
    type,
    name: partsOfUrn(urn).name,
    reasons,
    properties,
    restarts: action === "changed" ? restarts.map(({ name }) => name) : [],
    ...(own ? { loss: losses[type] } : {}),
    losesLedger: own && isLedger,
    kept: ["replaced", "deleted"].includes(action) && staysThere(step),
  };
}

function propertiesOf(step: Step): Property[] {
  const { op, found, old, new: next } = step;
  const inputs = differences(step, old?.inputs, next?.inputs);
  if (!found) return inputs;
  const kind = kindOf(typeOf(step.urn));
  const drift = kind && old?.outputs && next?.outputs ? differencesBetween(kind, old.outputs, next.outputs) : [];
  if (drift.length > 0) return drift.map(({ name, was, is }) => ({ name, from: was, to: is }));
  // A value that the service chose is not drift, unless it is the only difference that Pulumi reports.
  const asked = inputs.filter(({ name, from }) => from !== undefined && name !== "adopt");
  return asked.length > 0 || op !== "update" ? asked : differences(step, old?.outputs, next?.outputs);
}

/** Properties that differ, or those that are secret in both states and may differ, which a plan does not show. */
function differences({ found, ...states }: Step, from: State["inputs"], to: State["inputs"]): Property[] {
  const shown = (value: unknown): string | undefined => (value === undefined ? undefined : shownValue(value));
  const all = [...new Set([...Object.keys(from ?? {}), ...Object.keys(to ?? {})])]
    .filter((key) => !key.startsWith("__") && !(key === ofDynamic && isMoved(states)))
    .sort()
    .map((name) => ({ name, from: shown(from?.[name]), to: shown(to?.[name]) }));
  const different = all.filter(({ name }) => !isDeepStrictEqual(from?.[name], to?.[name]));
  const unseen = all.filter(({ name }) => holdsSecret(from?.[name]) && holdsSecret(to?.[name]));
  return different.length > 0 || found ? different : unseen;
}

const changes: Partial<Record<Action, Change>> = {
  replaced: "replace",
  deleted: "delete",
  created: "create",
  adopted: "create",
  changed: "update",
};

/** The network after the plan, marked with what the plan does to each part. It still contains deleted parts. */
export function modelOfPlan(plan: Plan): NetworkModel {
  const rows = new Map<string, StackRow>();
  for (const step of plan.steps) {
    const row = rowOf(step);
    const before = rows.get(step.urn); // a replacement has several steps, and may end with the deletion of the old state
    const props = step.new ? { ...before?.props, ...row?.props } : { ...row?.props, ...before?.props };
    if (row) rows.set(step.urn, { ...row, id: before?.id ?? row.id, props });
  }
  for (const { urn, action, properties, kept } of changesOf(plan)) {
    const row = rows.get(urn);
    if (!row) continue;
    row.kept = kept;
    if (changes[action]) row.change = changes[action];
    else if (action === "gone") row.drift = ["the service no longer shows it"];
    else row.drift = properties.map(({ name, from, to }) => `${name}: ${from ?? "nothing"} → ${to ?? "nothing"}`);
  }
  return modelOf([...rows.values()], { source: "plan", title: plan.name });
}

/** Known values; newer ones take precedence. */
function rowOf({ urn, old, new: next }: Step): StackRow | undefined {
  const named = namedBy(urn);
  if (!named) return undefined;
  const known = [old?.outputs, old?.inputs, next?.outputs, next?.inputs].flatMap((props) =>
    Object.entries(props ?? {}).filter(([, value]) => value !== unknownMark),
  );
  const id = old?.id || next?.id || undefined;
  return { ...named, id, props: Object.fromEntries(known) };
}
