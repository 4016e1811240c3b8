import { type Change, type NetworkModel, type ObjectKind } from "../model";
import { modelOf, namedBy, type StackRow } from "../rows";
import { type Action, changesOf, unknownMark } from "./changes";
import { type Plan, type State, type Step } from "./read";

const changes: Partial<Record<Action, Change>> = {
  replaced: "replace",
  deleted: "delete",
  created: "create",
  adopted: "create",
  changed: "update",
};

/** The network once the plan is carried out, with what the plan does to each part; what it deletes is still in it. */
export function modelOfPlan(plan: Plan): NetworkModel {
  const rows = new Map<string, StackRow>();
  for (const step of plan.steps) {
    const row = rowOf(step);
    const before = rows.get(step.urn);
    if (row) rows.set(step.urn, before ? merged(before, row) : row);
  }
  for (const { urn, action, properties, kept } of changesOf(plan)) {
    const row = rows.get(urn);
    if (!row) continue;
    row.kept = kept;
    if (changes[action]) row.change = changes[action];
    else if (action === "gone") row.drift = ["the service does not show it any more"];
    else row.drift = properties.map(({ name, from, to }) => `${name}: ${from ?? "nothing"} → ${to ?? "nothing"}`);
  }
  return modelOf([...rows.values(), ...mentionedIn(rows)], { source: "plan", title: plan.name });
}

/** Properties that name what a resource is in, or belongs to. */
const parents: Record<string, ObjectKind> = {
  consortiumId: "consortium",
  environmentId: "environment",
  membershipId: "membership",
};

/** One of Pulumi's two formats leaves out what stays the same; what follows from it still says what it is called. */
function mentionedIn(rows: ReadonlyMap<string, StackRow>): StackRow[] {
  const found = new Map<string, StackRow>();
  for (const { props, sources } of rows.values()) {
    for (const [property, kind] of Object.entries(parents)) {
      const named = (sources?.[property] ?? []).flatMap((urn) => namedBy(urn) ?? []).find((one) => one.kind === kind);
      if (!named || rows.has(named.managed.urn)) continue;
      const id = typeof props[property] === "string" ? props[property] : undefined;
      const consortiumId = kind === "consortium" ? undefined : props.consortiumId;
      const consortium = kind === "consortium" ? undefined : sources?.consortiumId;
      found.set(named.managed.urn, { ...named, id, props: { consortiumId }, sources: { consortiumId: consortium } });
    }
  }
  return [...found.values()];
}

/** Values that are known, with the newer ones over the older ones. */
function rowOf({ urn, old, new: next }: Step): StackRow | undefined {
  const named = namedBy(urn);
  if (!named) return undefined;
  const known = [old?.outputs, old?.inputs, next?.outputs, next?.inputs].flatMap((props) =>
    Object.entries(props ?? {}).filter(([, value]) => value !== unknownMark),
  );
  const id = old?.id || next?.id || undefined;
  return { ...named, id, props: Object.fromEntries(known), sources: { ...sourcesIn(old), ...sourcesIn(next) } };
}

/** A replacement comes as several steps. */
const merged = (one: StackRow, other: StackRow): StackRow => ({
  ...{ ...one, id: one.id ?? other.id },
  ...{ props: { ...one.props, ...other.props }, sources: { ...one.sources, ...other.sources } },
});

/** Only one of Pulumi's two formats says what a property follows from. */
function sourcesIn(state: State | undefined): StackRow["sources"] {
  const all = (state?.propertyDependencies ?? {}) as Record<string, unknown>;
  const lists = Object.entries(all).filter(([, urns]) => Array.isArray(urns));
  return Object.fromEntries(lists) as StackRow["sources"];
}
