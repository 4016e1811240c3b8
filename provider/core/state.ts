import { type z } from "zod";
import { type Identified } from "../api";
import { type CollectionDefinition, type Definition, inputKeys, type Props } from "./definition";
import { sameValue } from "./diff";
import { metaOf, wireName } from "./field";

/** The form of the state that this version writes; a later one can tell and convert. */
export const stateVersion = 1;

/** Whether a verb of this package made or read it before; the first look of a `get` knows only where to look. */
export const isRecorded = (state: Props): boolean => state.__version !== undefined;

const entries = (object: z.ZodObject): [string, z.ZodType][] => Object.entries<z.ZodType>(object.shape);

/** What the service shows of an object, under the names of the properties. Never its secrets. */
export function fromWire(definition: CollectionDefinition, item: Identified): Props {
  const read = definition.wire.safeParse(item);
  const object: Props = read.success ? read.data : item;
  const shown: Props = {};
  for (const [key, schema] of [...entries(definition.inputs), ...entries(definition.outputs)]) {
    const meta = metaOf(schema);
    const value = object[wireName(key)];
    if (meta.local || meta.secret || meta.parent === "path" || value === undefined) continue;
    shown[key] = value;
  }
  return shown;
}

/**
 * The whole state: inputs, what is known from before, what the service shows now.
 * Where the service only formats a value differently, the user's own text stays.
 */
export function merge(inputs: Props, before: Props, shown: Props): Props {
  const state: Props = { ...before, ...inputs };
  for (const [key, value] of Object.entries(shown)) if (!sameValue(state[key], value)) state[key] = value;
  return { ...withoutUndefined(state), __version: stateVersion };
}

/** The inputs within a state. */
export function inputsOf(definition: Definition, state: Props): Props {
  const keys = inputKeys(definition);
  return withoutUndefined(Object.fromEntries(keys.map((key) => [key, state[key]])));
}

/** The outputs within a state: everything that is no input. */
export function outputsOf(definition: Definition, state: Props): Props {
  const keys = Object.keys(definition.outputs.shape);
  return withoutUndefined(Object.fromEntries(keys.map((key) => [key, state[key]])));
}

/** The body of a create: what the user gave, under the service's names, and `extra` as it is. */
export function toBody(definition: CollectionDefinition, inputs: Props, without: readonly string[] = []): Props {
  const body: Props = {};
  for (const [key, schema] of entries(definition.inputs)) {
    const meta = metaOf(schema);
    if (meta.local || meta.parent === "path" || inputs[key] === undefined || without.includes(key)) continue;
    body[wireName(key)] = inputs[key];
  }
  return { ...body, ...(inputs.extra as Props | undefined) };
}

const withoutUndefined = (props: Props): Props =>
  Object.fromEntries(Object.entries(props).filter(([, value]) => value !== undefined));
