import { type z } from "zod";
import { type Identified } from "../api";
import { type Definition, inputKeys, inputMeta, type Props } from "./definition";
import { fixedKey, isLeft, type Left, leftKey } from "./diff";
import { fingerprint, isUnset, sameName, sameValue } from "./values";
import { metaOf, wireName } from "./field";

/** Version of the state's format, so that later releases can convert it. */
export const stateVersion = 1;

/** Whether a verb has made or read it before. A `get` begins with only the object's place. */
export const isRecorded = (state: Props): boolean => state.__version !== undefined;

/** Whether the service wrote the name differently. */
export const isRewritten = (state: Props): boolean => state[writtenKey] !== undefined;

/** Fingerprints of names as the service writes them: a name may be secret. */
const writtenKey = "__written";

const nameKeys: readonly string[] = ["name", "orgName"];

const entries = (object: z.ZodObject): [string, z.ZodType][] => Object.entries<z.ZodType>(object.shape);

/** What the service shows of an object, by property, without its secrets. */
export function fromWire(definition: Definition, item: Identified): Props {
  const read = definition.wire.safeParse(item);
  const object: Props = read.success ? read.data : item;
  const shown: Props = {};
  for (const [key, schema] of [...entries(definition.inputs), ...entries(definition.outputs)]) {
    const meta = metaOf(schema);
    const value = object[wireName(key)];
    if (meta.programOnly || meta.sentOnly || meta.secret || meta.elsewhere) continue;
    if (meta.parent === "path" || value === undefined) continue;
    shown[key] = value;
  }
  return shown;
}

/**
 * The complete state: inputs, what was known before, and what the service shows now. If the service only formats a value
 * differently, the user's text stays. A name that the service reformats stays too, if this run has just written it, or if the
 * service still writes it in the same way.
 */
export function merge(inputs: Props, before: Props, shown: Props, isRead = false): Props {
  const state: Props = { ...before, ...inputs };
  const written = { ...(state[writtenKey] as Record<string, string> | undefined) };
  for (const [key, value] of Object.entries(shown)) {
    if (sameValue(state[key], value)) continue;
    const mark = nameKeys.includes(key) && sameName(state[key], value) ? fingerprint(value) : undefined;
    if (mark === undefined || (isRead && written[key] !== mark)) state[key] = value;
    else written[key] = mark;
  }
  const kept = Object.keys(written).length > 0 ? { [writtenKey]: written } : {};
  return { ...withoutUndefined(state), ...kept, __version: stateVersion };
}

/** Records what an adopted object has and the program does not set; for a shared object, also what the program sets differently. */
export function leaving(definition: Definition, inputs: Props, state: Props, isShared: boolean): Props {
  const left = inputKeys(definition).flatMap((key): Left[] => {
    const { programOnly, parent, computed, sentOnly } = inputMeta(definition, key)!;
    if (programOnly || parent === "path") return [];
    if (inputs[key] !== undefined) {
      const stays = isShared && (sentOnly || !sameValue(state[key], inputs[key]));
      return stays ? [[key, fingerprint(inputs[key])]] : [];
    }
    return parent || computed || isUnset(state[key]) ? [] : [key];
  });
  return left.length > 0 || isShared ? { ...state, [leftKey]: left } : state;
}

/** Whether it is a shared object that was adopted as it was. */
export const isAdoptedShared = ({ shared }: Definition, state: Props): boolean =>
  shared !== undefined && state[leftKey] !== undefined;

/** What a change keeps of the old state besides its outputs. */
export function carried(definition: Definition, olds: Props, news: Props): Props {
  const before = (olds[leftKey] as Left[] | undefined) ?? [];
  const keyOf = (left: Left): string => (typeof left === "string" ? left : left[0]);
  const left = before.filter((one) => isLeft(olds, keyOf(one), news[keyOf(one)]));
  const values = Object.fromEntries(left.map((one) => [keyOf(one), olds[keyOf(one)]]));
  const kept = left.length > 0 || isAdoptedShared(definition, olds) ? left : undefined;
  return { ...values, [leftKey]: kept, [writtenKey]: olds[writtenKey], [fixedKey]: olds[fixedKey] };
}

const pick = (state: Props, keys: readonly string[]): Props =>
  withoutUndefined(Object.fromEntries(keys.map((key) => [key, state[key]])));

/** The inputs within a state. */
export const inputsOf = (definition: Definition, state: Props): Props => pick(state, inputKeys(definition));

/** The outputs within a state. */
export const outputsOf = ({ outputs }: Definition, state: Props): Props => pick(state, Object.keys(outputs.shape));

/** The body of a create: inputs under the service's names, and `extra` as it is. */
export function toBody(definition: Definition, inputs: Props, without: readonly string[] = []): Props {
  const body: Props = {};
  for (const [key, schema] of entries(definition.inputs)) {
    const meta = metaOf(schema);
    if (meta.programOnly || meta.parent === "path" || inputs[key] === undefined || without.includes(key)) continue;
    body[wireName(key)] = inputs[key];
  }
  return { ...body, ...definition.bodyOf?.(inputs), ...(inputs.extra as Props | undefined) };
}

const withoutUndefined = (props: Props): Props =>
  Object.fromEntries(Object.entries(props).filter(([, value]) => value !== undefined));
