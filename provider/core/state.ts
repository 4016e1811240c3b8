import { type z } from "zod";
import { type Identified } from "../api";
import { hiddenKey } from "../constants";
import { type Definition, inputKeys, inputMeta, nameKey, type Props } from "./definition";
import { type FieldMeta, metaOf, wireName } from "./field";
import { isObject, withoutUndefined } from "../plain";
import { times } from "./times";
import { UserError } from "../errors";
import { isUnset, sameValue, secretPaths, timeOf } from "./values";

/*
 * The state of a resource keeps three values of each input apart: what the program asked for, what the service answered to that,
 * and what it shows now. Only differences are written down.
 */

/** Contents of a state besides the properties. */
interface StoredState {
  /** Version of this form. */
  version: 2;
  /** How the object came to the stack. Absent: the stack created it. Written when it happens, never inferred. */
  how?: "adopted" | "shared";
  /** Requested values, where the property does not show them. null: no value. */
  asked?: Props;
  /** Values in the answer, where the property shows something else. null: no value. */
  answered?: Props;
  /** When the stack made it, in ms since 1970 by the service's clock, where `createdAt` does not tell that. */
  at?: number;
  /** Steps that were begun and are not finished, such as `restart`, and `ready`: a run has waited for it, and not to the end. */
  open?: readonly string[];
  /** Inputs that the service did not change in place when it was asked to: another change replaces the object. */
  refused?: readonly string[];
  /** Inputs with an unclear last change: they are sent again, whatever the program asks for. */
  unclear?: readonly string[];
  /** Inputs that the service's list lacked right after they were set: that it lacks them says nothing. */
  unlisted?: readonly string[];
  /** See organization.ts. */
  organizations?: string[];
  keys?: string[];
  /** Deployments of a tether with an unknown outcome. */
  deployment?: Props;
  /** Whether the program has something in it that goes with it (`deletedWith`): Pulumi announces no deletion of that. */
  takesItsOwn?: true;
}

/** The step of waiting until it is ready. */
export const readyStep = "ready";

/** Its key in the state. */
export const storedKey = "__kept";

export const stateVersion = 2;

/** @throws UserError for the state of a newer version, which may mean something else by it */
export function storedIn({ [storedKey]: kept }: Props): Partial<StoredState> {
  if (!isObject(kept)) return {};
  if (Number(kept.version) > stateVersion)
    throw new UserError(
      "wrong-version",
      "Install a newer version of pulumi-consortium: it wrote the state of this resource.",
    );
  return kept;
}

/** Whether a verb has made or read it before. A `get` begins with only the object's place. */
export const isStored = (state: Props): boolean => state[storedKey] !== undefined;

/** A shared object is adopted as it is, and never deleted. */
export const isAdoptedShared = (state: Props): boolean => storedIn(state).how === "shared";

/** A state taken apart. */
export interface StateParts extends Pick<StoredState, "how" | "at">, Record<(typeof lists)[number], readonly string[]> {
  /** The inputs as they were last applied. */
  asked: Props;
  /** The inputs as the service showed them right after that. */
  answered: Props;
  /** Inputs and outputs as the service showed them last. */
  shown: Props;
}

const lists = ["open", "refused", "unclear", "unlisted"] as const;
const none = { open: [], refused: [], unclear: [], unlisted: [] };

/** The state of an object that was just created or adopted. */
export const fresh = (asked: Props, shown: Props): StateParts => ({ asked, answered: shown, shown, ...none });

/** When the object was made, in ms since 1970. undefined: nobody knows. */
export const madeAt = ({ shown, at }: Pick<StateParts, "shown" | "at">): number | undefined =>
  at ?? timeOf(shown.createdAt);

/** Whether the service shows it under its name. Otherwise only the program knows it. */
export const isReadable = ({ visibility, secret, parent }: FieldMeta): boolean =>
  visibility === undefined && !secret && parent !== "path";

/** The requested value if none is recorded: undefined if the service chooses it. */
const impliedAsked = (definition: Definition, state: Props, key: string): unknown =>
  inputMeta(definition, key)!.computed ? undefined : state[key];

const written = (values: Props | undefined, key: string): boolean => values !== undefined && key in values;

export function partsOf(definition: Definition, state: Props): StateParts {
  const { how, at, open = [], refused = [], unclear = [], unlisted = [], ...kept } = storedIn(state);
  const hidden = (state[hiddenKey] ?? {}) as Pick<StoredState, "asked" | "answered">;
  const all = { asked: { ...kept.asked, ...hidden.asked }, answered: { ...kept.answered, ...hidden.answered } };
  const parts: StateParts = { asked: {}, answered: {}, shown: {}, how, at, open, refused, unclear, unlisted };
  for (const [key, value] of Object.entries(state)) if (!key.startsWith("__")) parts.shown[key] = value;
  for (const key of inputKeys(definition)) {
    parts.asked[key] = written(all.asked, key) ? (all.asked[key] ?? undefined) : impliedAsked(definition, state, key);
    parts.answered[key] = written(all.answered, key) ? (all.answered[key] ?? undefined) : state[key];
    // Somebody has cleared it.
    if (!isUnset(parts.asked[key]) && state[key] === undefined && written(all.answered, key)) parts.shown[key] = null;
  }
  return parts;
}

/** The property as programs see it: as the service shows it. What is only formatted differently stays as it was written. */
function propertyOf(definition: Definition, { asked, shown }: StateParts, key: string): unknown {
  const [wanted, seen] = [asked[key], shown[key]];
  if (isUnset(wanted)) return isUnset(seen) ? undefined : seen;
  if (seen === undefined || !isReadable(inputMeta(definition, key)!)) return wanted;
  if (seen === null) return undefined;
  return sameValue(seen, wanted) ? wanted : seen;
}

/** The state of these parts. @param before the earlier state, or what else is known: keys that are no properties stay */
export function stateOf(definition: Definition, parts: StateParts, before: Props = {}): Props {
  const state: Props = { ...parts.shown };
  for (const key of inputKeys(definition)) state[key] = propertyOf(definition, parts, key);
  const secrets = new Set(secretPaths(before).map(([key]) => key));
  const visible: Pick<StoredState, "asked" | "answered"> = {};
  const hidden: Pick<StoredState, "asked" | "answered"> = {};
  const write = (part: "asked" | "answered", key: string): void => {
    const target = secrets.has(key) || inputMeta(definition, key)!.secret ? hidden : visible;
    target[part] = { ...target[part], [key]: parts[part][key] ?? null };
  };
  for (const key of inputKeys(definition)) {
    if (!sameValue(parts.asked[key], impliedAsked(definition, state, key))) write("asked", key);
    const isShown = isReadable(inputMeta(definition, key)!) && parts.shown[key] !== undefined;
    if (isShown && !sameValue(parts.answered[key], state[key])) write("answered", key);
  }
  const { organizations, keys, deployment, takesItsOwn } = storedIn(before);
  const { how, at } = parts;
  const isTold = at === undefined || Math.abs((timeOf(parts.shown.createdAt) ?? 0) - at) < times.sameTimeMs;
  const kept: Props = {
    version: stateVersion,
    how,
    at: isTold ? undefined : at,
    ...visible,
    ...Object.fromEntries(lists.map((name) => [name, parts[name].length > 0 ? parts[name] : undefined])),
    organizations,
    keys,
    deployment,
    takesItsOwn,
  };
  return withoutUndefined({
    ...state,
    [storedKey]: withoutUndefined(kept),
    [hiddenKey]: Object.keys(hidden).length > 0 ? hidden : undefined,
  });
}

const entries = (object: z.ZodObject): [string, z.ZodType][] => Object.entries<z.ZodType>(object.shape);

/** The properties of an object that the service shows, without secrets. */
export function fromWire(definition: Definition, item: Identified): Props {
  const read = definition.wire.safeParse(item);
  const object: Props = read.success ? read.data : item;
  const shown: Props = {};
  for (const [key, schema] of [...entries(definition.inputs), ...entries(definition.outputs)]) {
    const meta = metaOf(schema);
    const value = meta.action ? meta.action.shown(object) : object[wireName(key)];
    if (isReadable(meta) && value !== undefined) shown[key] = value;
  }
  return shown;
}

/** Inputs of which an object shows no value, although it may have one: what cannot be read is not missing. */
export const lackedIn = (definition: Definition, item: Identified): string[] =>
  inputKeys(definition).filter((key) => {
    const meta = inputMeta(definition, key)!;
    const isElsewhere = meta.parent !== undefined || meta.action !== undefined || key === nameKey(definition);
    return isReadable(meta) && !isElsewhere && (item[wireName(key)] ?? null) === null;
  });

/** The inputs that a program would write for this state: what it asked for, or what somebody has changed since. */
export function inputsOf(definition: Definition, parts: StateParts): Props {
  const inputs = inputKeys(definition).map((key) => {
    const isDrift = isReadable(inputMeta(definition, key)!) && !sameValue(parts.shown[key], parts.answered[key]);
    return [key, isDrift ? parts.shown[key] : parts.asked[key]] as const;
  });
  return withoutUndefined(Object.fromEntries(inputs));
}

/** The body of a create: inputs under the service's names, what follows from several of them, and `extra` as it is. */
export function toBody(
  definition: Definition,
  inputs: Props,
  more: Props = {},
  without: readonly string[] = [],
): Props {
  const body: Props = {};
  for (const [key, schema] of entries(definition.inputs)) {
    const meta = metaOf(schema);
    if (meta.visibility === "program" || meta.parent === "path" || meta.action) continue;
    if (inputs[key] === undefined || without.includes(key)) continue;
    body[wireName(key)] = inputs[key];
  }
  return { ...body, ...more, ...(inputs.extra as Props | undefined) };
}
