import { type Identified } from "../provider/api";
import { printable } from "../provider/api/printable";
import { Collection } from "../provider/core/collection";
import {
  type Definition,
  inputKeys,
  inputMeta,
  isOver,
  nameKey,
  nameOf,
  type Props,
} from "../provider/core/definition";
import { wireName } from "../provider/core/field";
import { isGone } from "../provider/api/states";
import { type Session } from "../provider/core/session";
import { didYouMean } from "../provider/core/suggest";
import { UserError } from "../provider/errors";
import { insteadOfImport, kindOf, tetherIdOf } from "../provider/constants";
import { definitions } from "../provider/resources";
import { type Found, type ListedKind, placeWithin, readOrganization } from "../provider/resources/tree";
import { check } from "../provider/core/check";
import { isUnset } from "../provider/core/values";
import { inputsOf, partsOf } from "../provider/core/state";

/** The object of an import or a `get`: its own id, and its place. */
export interface Located {
  id: string;
  state: Props;
}

/** How old a list may be, so that one list serves many imports in a row. */
export const lookAgeMs = 10_000;

/** The kind that each parent property refers to. */
export const owners: Record<string, Definition> = {
  consortiumId: definitions.consortium,
  environmentId: definitions.environment,
  serviceId: definitions.service,
};

/** The properties that locate an object. */
const placeKeys = (definition: Definition): string[] =>
  inputKeys(definition).filter((key) => inputMeta(definition, key)?.parent === "path");

export const ownerKeys = (definition: Definition): string[] => placeKeys(definition).filter((key) => key in owners);

/** The form of a path, such as `consortium/environment/node`. */
const formOf = (definition: Definition): string =>
  [...ownerKeys(definition).map((key) => owners[key]!.title), definition.title].join("/");

const allKnown = (keys: readonly string[], known: Props): boolean =>
  keys.length > 0 && keys.every((key) => typeof known[key] === "string" && known[key] !== "");

/**
 * Finds the object to import: by a path of ids or names from the consortium down, or by its id alone. If the program gives the
 * place (`get`), the id is taken as it is.
 */
export async function locate(session: Session, definition: Definition, given: string, known: Props): Promise<Located> {
  if (definition.steps?.idKey !== undefined)
    return { id: given.includes("/") ? tetherIdOf(given) : given, state: known };
  const keys = ownerKeys(definition);
  if (allKnown(placeKeys(definition), known)) return { id: given, state: known };
  const path = given.split("/").map((part) => part.trim());
  if (path.includes("") || ![1, keys.length + 1].includes(path.length)) throw badPath(definition, given);
  const found =
    path.length > keys.length ? await follow(session, definition, path) : await search(session, definition, given);
  return { id: found.id, state: { ...known, ...found.state } };
}

/** Follows a path from the consortium down. Each part is an id or a name. */
async function follow(session: Session, definition: Definition, path: readonly string[]): Promise<Located> {
  const keys = ownerKeys(definition);
  const state: Props = {};
  for (const [index, key] of keys.entries()) {
    const collection = Collection.of(session, owners[key]!, state);
    const owner = await pick(collection, path[index]!);
    Object.assign(state, placeWithin({ kind: kindIn(owners[key]!), id: owner.id, props: collection.shown(owner) }));
  }
  const { id } = await pick(Collection.of(session, definition, state), path.at(-1)!);
  return { id, state };
}

/** Searches the whole organization for the object's own id. */
async function search(session: Session, definition: Definition, id: string): Promise<Located> {
  const kind = kindIn(definition);
  const kinds = [...ownerKeys(definition).map((key) => kindIn(owners[key]!)), kind];
  const found = withInside(await readOrganization(session, { kinds, maxAgeMs: lookAgeMs }));
  const [one, ...others] = found.filter((object) => object.kind === kind && object.id === id);
  if (one && others.length > 0)
    throw new UserError("not-found", `Give the path ${formOf(definition)}: several have the id "${printable(id)}".`);
  if (one) return { id, state: one.place };
  if (found.some(({ unlisted }) => unlisted?.includes(kind))) throw unlistedError(definition);
  throw new UserError(
    "not-found",
    `Check the id, or give the path ${formOf(definition)}, each part an id or a name. ` +
      `There is no ${definition.title} with the id "${printable(id)}" in any consortium that the API key shows.`,
  );
}

const kindIn = ({ type }: Definition): ListedKind => kindOf(type) as ListedKind;

const withInside = (found: readonly Found[]): Found[] => found.flatMap((one) => [one, ...withInside(one.inside)]);

/** @throws UserError if the service does not list these, so that none can be found */
async function present(collection: Collection): Promise<Identified[]> {
  const items = await collection.siblings(lookAgeMs);
  if (items) return items;
  throw unlistedError(collection.definition);
}

export const unlistedError = ({ title, type }: Definition): UserError =>
  new UserError(
    "unsupported",
    `${insteadOfImport[type] ?? ""} This service does not list any ${title}, so none can be imported.`.trim(),
  );

/** A part of a path as given, and without the escapes that a "/" in a name needs. */
function readings(part: string): string[] {
  try {
    return [part, decodeURIComponent(part)];
  } catch {
    return [part];
  }
}

const escapes = 'A "/" in a name is written %2F.';

/** The item with this id, or else with this name. */
async function pick(collection: Collection, part: string): Promise<Identified> {
  const { definition, path } = collection;
  const items = await present(collection);
  const wanted = readings(part);
  const field = wireName(nameKey(definition)!);
  const byId = items.filter(({ id }) => wanted.includes(id));
  const named = items.filter((item) => wanted.includes(item[field] as string));
  const current = named.filter((item) => !isOver(definition, item));
  const [found, ...others] = [byId, current, named].find((some) => some.length > 0) ?? [];
  const what = `${definition.title} "${printable(part)}"`;
  if (found && others.length > 0) {
    const ids = [found, ...others].map(({ id }) => id).join(", ");
    throw new UserError("not-found", `Give an id instead of the name: ${ids} in ${path} match ${what}.`);
  }
  const item = found ?? (await collection.get(part)); // the list may lag
  if (item && !isGone(item)) return item;
  const names = items.map((one) => (typeof one[field] === "string" ? one[field] : one.id));
  const hint = didYouMean(part, names) || "; there is none";
  throw new UserError(
    "not-found",
    `There is no ${what} in ${path}${hint}${hint.endsWith("?") ? "" : "."} Check its id or name, and that the API key ` +
      `belongs to the organization that has it. ${escapes}`,
  );
}

function badPath(definition: Definition, given: string): UserError {
  const isAtTop = ownerKeys(definition).length === 0;
  const how = isAtTop ? "its id or name" : `its id, or the path ${formOf(definition)}, each part an id or a name`;
  return new UserError(
    "invalid-argument",
    `"${printable(given)}" does not say which ${definition.title}: give ${how}. ${escapes}`,
  );
}

/** The known properties of an object before it is read. If the service shows no name, it is the resource's. */
export function beforeRead(definition: Definition, resourceName: string, state: Props): Props {
  const key = nameKey(definition);
  return key === undefined ? state : { [key]: resourceName, ...state };
}

/** The inputs of a program that changes nothing: without what the service chose itself. */
export function importedInputs(definition: Definition, state: Props): Props {
  const given = Object.entries(inputsOf(definition, partsOf(definition, state)));
  return Object.fromEntries(given.filter(([key, value]) => !inputMeta(definition, key)?.computed && !isUnset(value)));
}

/** Notes on a successful import. @throws UserError for an object that no program can describe */
export function importWarnings(definition: Definition, id: string, inputs: Props): string[] {
  const what = `${nameOf(definition, inputs)} (${id})`;
  const { issues } = check(definition, inputs);
  const [issue] = issues;
  if (issue) {
    const missing = issues.filter(({ property }) => inputs[property] === undefined).map(({ property }) => property);
    const why = missing.length > 0 ? `the service does not show ${missing.join(" and ")}` : issue.reason;
    const instead = insteadOfImport[definition.type];
    throw new UserError(
      "cannot-adopt",
      `${what} cannot be imported: ${why}.${instead === undefined ? "" : ` ${instead}`}`,
    );
  }
  const next = definition.steps?.onImport;
  return next === undefined ? [] : [`${what}: ${next}`];
}
