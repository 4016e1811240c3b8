import { isDeepStrictEqual } from "node:util";
import { type LedgerHolder, outlivesResource } from "../../provider/constants";
import { classOf } from "../rows";
import { type Plan, type State, type Step } from "./read";

export type Action = "replaced" | "deleted" | "gone" | "drifted" | "created" | "adopted" | "changed" | "moved";

export interface Property {
  name: string;
  /** As they are shown; not there where there was nothing. */
  from: string | undefined;
  to: string | undefined;
}

export interface Change {
  urn: string;
  action: Action;
  /** `Node`; of other packages the whole type. */
  type: string;
  name: string;
  properties: Property[];
  /** Properties that make it a replacement. */
  reasons: string[];
  /** What is destroyed with it for good. */
  loss?: string;
  /** Whether it stays in the service, out of the stack. */
  kept: boolean;
}

/** In the order of a report. */
const actions: Action[] = ["replaced", "deleted", "gone", "drifted", "created", "adopted", "changed", "moved"];

const losses: Record<LedgerHolder | "Node", string> = {
  Consortium: "all its environments with their ledgers, nodes and credentials",
  Environment: "its ledger, its nodes and its credentials",
  Node: "its key and its copy of the ledger",
};

const secretMark = "4dabf18193072939515e22adb298388d";
/** Pulumi's mark of a value that is known only later. */
export const unknownMark = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** What a plan changes, one entry a resource, the worst first. */
export function changesOf({ steps }: Plan): Change[] {
  const shown = steps.filter(({ urn }) => !/::pulumi:(pulumi:Stack|providers:[^:]+)::/.test(urn));
  const byUrn = new Map<string, Step & { action: Action }>();
  for (const step of shown) {
    const action = actionOf(step);
    const key = `${step.found}${step.urn}`;
    // A replacement comes as several steps. The one that names its reasons, and both states, is kept.
    if (action && isSeen(step) && (byUrn.get(key)?.reasons.length ?? 0) <= step.reasons.length)
      byUrn.set(key, { ...step, action });
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

/** A refresh names everything that it read. */
const isSeen = (step: Step): boolean =>
  step.op !== "refresh" || step.new?.outputs === undefined || propertiesOf(step).length > 0;

/** Parents before children, what is not ours at the end: two reports of one plan are the same. */
function rank({ type }: Change): number {
  const place = ["Consortium", "Membership", "Environment", "Node", "AppCred", "TetherService"].indexOf(type);
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

/** Whether a resource goes to the dynamic provider or comes from there, where its inputs have its time-outs, too. */
const isMoved = ({ old, new: next }: Pick<Step, "old" | "new">): boolean =>
  old?.type !== undefined && old.type !== next?.type;
const ofDynamic = "customTimeouts";

const typeOf = (urn: string): string => classOf(urn.split("::")[2]?.split("$").at(-1) ?? "");

const isLost = ({ action, urn, old }: Step & { action: Action }): boolean =>
  ["replaced", "deleted", "gone"].includes(action) && typeOf(urn) in losses && !outlivesResource(old);

function changeOf(step: Step & { action: Action }, lost: ReadonlySet<string | undefined>): Change {
  const { action, urn, old, reasons } = step;
  const type = typeOf(urn);
  const parents = [old?.inputs?.environmentId, old?.inputs?.consortiumId] as (string | undefined)[];
  const own = isLost(step) && !parents.some((id) => id !== undefined && lost.has(id));
  return {
    ...{ urn, action, type, name: urn.split("::").slice(3).join("::"), reasons },
    properties: ["changed", "drifted", "replaced", "adopted"].includes(action) ? propertiesOf(step) : [],
    ...(own ? { loss: losses[type as LedgerHolder] } : {}),
    kept: ["replaced", "deleted"].includes(action) && outlivesResource(old),
  };
}

function propertiesOf(step: Step): Property[] {
  const { op, found, old, new: next } = step;
  const inputs = differences(step, old?.inputs, next?.inputs);
  if (!found) return inputs;
  // What the service chose, and the program did not ask for, is no drift; unless Pulumi says so and nothing else is.
  const asked = inputs.filter(({ name, from }) => from !== undefined && name !== "adopt");
  return asked.length > 0 || op !== "update" ? asked : differences(step, old?.outputs, next?.outputs);
}

/** Properties that differ. One that is secret in both states may differ, too: a plan does not show that. */
function differences({ found, old, new: next }: Step, from: State["inputs"], to: State["inputs"]): Property[] {
  const secrets = new Set([...(old?.additionalSecretOutputs ?? []), ...(next?.additionalSecretOutputs ?? [])]);
  const keys = [...new Set([...Object.keys(from ?? {}), ...Object.keys(to ?? {})])].sort();
  const shown = (value: unknown, key: string): string | undefined =>
    value === undefined ? undefined : secrets.has(key) ? "[secret]" : shownValue(value);
  const all = keys
    .filter((key) => !key.startsWith("__") && !(key === ofDynamic && isMoved({ old, new: next })))
    .map((name) => ({ name, from: shown(from?.[name], name), to: shown(to?.[name], name) }));
  const different = all.filter(({ name }) => !isDeepStrictEqual(from?.[name], to?.[name]));
  const unseen = all.filter((one) => one.from?.includes("[secret]") && one.to?.includes("[secret]"));
  return different.length > 0 || found ? different : unseen;
}

const longest = 80;

function shownValue(value: unknown): string {
  const text = JSON.stringify(value, (_, inner: unknown) => {
    if (inner === unknownMark) return "[known later]";
    return typeof inner === "object" && inner !== null && secretMark in inner ? "[secret]" : inner;
  });
  const bare = /^"\[(secret|known later)\]"$/.test(text) ? text.slice(1, -1) : text;
  return bare.length > longest ? `${bare.slice(0, longest)}…` : bare;
}
