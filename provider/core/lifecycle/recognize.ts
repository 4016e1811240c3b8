import { type Identified } from "../../api";
import { type Collection } from "../collection";
import { inputKeys, inputMeta, isOver, type Props } from "../definition";
import { wireName } from "../field";
import { isReadable } from "../state";
import { isUnset, normalOf, sameName, sameValue, timeOf } from "../values";

/*
 * Whether a new object is the result of a create with a lost answer, in this run or in a killed one. Looking alike is not enough: nothing
 * that the service shows may contradict it.
 */

/** One create with all its attempts. */
export interface CreateAttempts {
  collection: Collection;
  inputs: Props;
  /** Ids that were there before. undefined: the service does not list them. */
  before: ReadonlySet<string> | undefined;
  /** When it was first sent, by the service's clock, in ms since 1970. undefined: the service does not tell the time. */
  since: () => number | undefined;
}

export interface NewObjects {
  /** Objects that nothing contradicts. */
  ours: Identified[];
  /** Objects with the same name that are visibly something else. */
  others: { item: Identified; why: string }[];
}

/** New objects with this name, except those of the stack and of other creates. undefined: the service does not list them. */
export async function newObjects(create: CreateAttempts): Promise<NewObjects | undefined> {
  const { collection, inputs, before } = create;
  const siblings = before && (await collection.siblings(0));
  if (!siblings) return undefined;
  const fresh = siblings.filter(({ id }) => !before.has(id) && !collection.isMade(id) && !collection.isOfStack(id));
  const named = collection.definition.naming
    ? collection.namesakes(fresh)
    : fresh.filter((item) => isTwin(collection, item, inputs));
  const similar = named.length > 0 ? [] : similarIn(collection, fresh);
  const judged = named.map((item) => ({
    item,
    why: [...differences(create, item), ...tooOld(create, item)].join("; "),
  }));
  return {
    ours: judged.filter(({ why }) => why === "").map(({ item }) => item),
    others: [...judged.filter(({ why }) => why !== ""), ...similar.map((item) => ({ item, why: "in another form" }))],
  };
}

/**
 * Those whose name only differs in its form, and that no other resource is to have: a service may write names in its own way, so none is
 * taken, and none is made beside them.
 */
export function similarIn({ definition, inputs, session }: Collection, items: Identified[]): Identified[] {
  const [key, ...more] = definition.naming ?? [];
  if (key === undefined || more.length > 0) return [];
  const isOthers = (name: unknown): boolean =>
    session.run.leases.isWanted(definition, { ...inputs, [key]: name }, session.resource);
  return items.filter((item) => {
    const name = item[wireName(key)];
    return !isOver(definition, item) && sameName(name, inputs[key]) && !isOthers(name);
  });
}

/**
 * Whether it was made for the same thing under the same name. A service that shows no names says too little:
 * the object may be a sibling's, and in use.
 */
export function isTwin(collection: Collection, item: Identified, inputs: Props): boolean {
  const shown = collection.shown(item);
  return (
    shown.name !== undefined && inputKeys(collection.definition).every((key) => agrees(collection, shown, inputs, key))
  );
}

/**
 * Whether the shown value may be the service's way to write the requested one. A value that is not shown, or that the service chooses, does
 * not count as different, and neither does a member that it adds to an object.
 */
export function agrees({ definition }: Collection, shown: Props, inputs: Props, key: string): boolean {
  const meta = inputMeta(definition, key)!;
  // What a later update asks for says nothing of a new object.
  if (!isReadable(meta) || meta.action || shown[key] === undefined || (meta.computed && isUnset(inputs[key])))
    return true;
  const [there, wanted] = [shown, inputs].map((props) => normalOf(definition, props)[key]);
  return key.endsWith("Id") ? sameValue(there, wanted) : isLike(there, wanted);
}

/** Equal, except for how a service may write it. */
function isLike(there: unknown, wanted: unknown): boolean {
  const isObject = (value: unknown): value is Props => typeof value === "object" && value !== null;
  if (!isObject(there) || !isObject(wanted)) return sameName(there, wanted);
  return Object.entries(wanted).every(([key, value]) => isLike(there[key], value));
}

/** The object in words. Values such as `details` are left out: they may hold secrets of others. */
export const factOf = (shown: Props, key: string): string =>
  `${key} is ${typeof shown[key] === "object" ? "another one" : JSON.stringify(shown[key])}`;

/** How the object differs from the request. Quotes only the service's value: the requested one may be secret. */
function differences({ collection, inputs }: CreateAttempts, item: Identified): string[] {
  const { definition, session } = collection;
  const shown = collection.shown(item);
  const fields = inputKeys(definition)
    .filter((key) => !agrees(collection, shown, inputs, key))
    .map((key) => `its ${factOf(shown, key)}`);
  const extra = Object.entries((inputs.extra ?? {}) as Props)
    .filter(([name, value]) => name in item && !isUnset(item[name]) && !sameLoosely(item[name], value))
    .map(([name]) => `its ${name} is another one`);
  const { owner } = shown;
  const { organization } = session.client.http.settings;
  const ours = organization
    ? [organization.id]
    : session.run.stateObjects.flatMap(({ ownership }) => ownership.organizations ?? []);
  const foreign = typeof owner === "string" && ours.length > 0 && !ours.includes(owner);
  return [...fields, ...extra, ...(foreign ? [`its owner is ${owner}`] : [])];
}

/** A service may show a number as text. */
const sameLoosely = (a: unknown, b: unknown): boolean => sameValue(asText(a), asText(b));
const asText = (value: unknown): unknown => (typeof value === "number" ? String(value) : value);

/** Why the object is older than the request, by the service's clock. */
function tooOld({ since }: CreateAttempts, { created_at: created }: Identified): string[] {
  const [start, at] = [since(), timeOf(created)];
  if (at === undefined || start === undefined) return [];
  const latest = at + (/[.,]\d/.test(String(created)) ? 0 : 999); // it may be cut to seconds
  return latest < start ? [`it was created at ${String(created)}, before this run asked for one`] : [];
}

/** Fields that differ between any two objects. */
const ownFields = /^(_?id|username|password|state|_revision)$|_at$/;

/** Whether two objects are the same in all that the service shows, except for fields that always differ. */
export function looksSame(one: Identified, other: Identified): boolean {
  const itsOwn = (name: string): boolean =>
    ownFields.test(name) || [one, other].some((item) => JSON.stringify(item[name] ?? null).includes(item.id));
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => itsOwn(name) || sameValue(one[name], other[name]));
}
