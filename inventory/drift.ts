import { hiddenKey, type Kind, signatureKey } from "../provider/constants";
import { type z } from "zod";
import { type Definition, inputKeys, inputMeta } from "../provider/core/definition";
import { changedKeys } from "../provider/core/diff";
import { stateSeen } from "../provider/core/lifecycle/read";
import { partsOf } from "../provider/core/state";
import { isUnset, secretPaths, unknown as unknownMark } from "../provider/core/values";
import { printable } from "../provider/api/printable";
import { fieldsOf, isObject } from "../provider/plain";
import { tetherIn } from "../provider/api/tether";
import { definitions } from "../provider/resources";
import { tetherSeen } from "../provider/resources/tether/read";

/* How an object differs from its stack: the provider's comparison, in words. No secret is in them. */

type Props = Readonly<Record<string, unknown>>;

/** An input that somebody changed in the service. */
export interface Difference {
  name: string;
  /** Shortened for people; undefined: nothing, or a secret. */
  was?: string;
  is?: string;
  isSecret: boolean;
}

/** An input with another value in the service now than in its answer. */
interface Drift {
  key: string;
  /** The value that the program asked for, or else the one that the service chose. */
  was: unknown;
  is: unknown;
  isSecret: boolean;
}

/** Changes that somebody made in the service since a run last applied this state. @param now the state, as a refresh reads it */
export function driftBetween(definition: Definition, state: Props, now: Props): Drift[] {
  const [before, after] = [partsOf(definition, state), partsOf(definition, now)];
  const { changed, drifted, lasting } = changedKeys(definition, { ...after, unclear: [] }, before.asked);
  const hidden = secretPaths(state).map(([key]) => key);
  // Every state has the others, unless somebody edited it.
  const isOptional = (key: string): boolean => (definition.inputs.shape[key] as z.ZodType).safeParse(undefined).success;
  const found = new Set([...changed, ...drifted, ...lasting]);
  return inputKeys(definition)
    .filter((key) => found.has(key) && (!isUnset(before.asked[key]) || isOptional(key)))
    .map((key) => ({
      key,
      was: isUnset(before.asked[key]) ? (before.answered[key] ?? after.answered[key]) : before.asked[key],
      is: after.shown[key],
      isSecret: inputMeta(definition, key)!.secret === true || hidden.includes(key),
    }));
}

/** The differences between a state and a later look at the same object. Properties that neither shows are left out. */
export function differencesBetween(kind: Kind, state: Props, now: Props): Difference[] {
  const isSealed = isObject(state[hiddenKey]) ? holdsSecret(state[hiddenKey]) : state[hiddenKey] !== undefined;
  return driftBetween(definitions[kind], state, now)
    .filter(({ was, is, isSecret }) => !(holdsSecret(was) || holdsSecret(is) || (isSecret && isSealed)))
    .map(({ key: name, was, is, isSecret }) => ({
      name,
      isSecret,
      ...(!isSecret && !isUnset(was) && { was: shownValue(was) }),
      ...(!isSecret && !isUnset(is) && { is: shownValue(is) }),
    }));
}

/** One sentence per difference between the state of a stack and what the service shows now. */
export const driftOf = (kind: Kind, state: Props, shown: Props, lacked: readonly string[] = []): string[] =>
  differencesBetween(kind, state, seen(kind, state, shown, lacked)).map(inWords);

/** The state as a refresh would make it. */
function seen(kind: Kind, state: Props, shown: Props, lacked: readonly string[]): Props {
  if (kind !== "tetherService") return stateSeen(definitions[kind], state, shown, lacked);
  const { network, state: progress, intervalHours: interval } = shown;
  return tetherSeen(state, tetherIn({ network, interval, state: progress }));
}

export const inWords = ({ name, was, is, isSecret }: Difference): string =>
  isSecret
    ? `${name} is not as in the stack (it is secret)`
    : `${name} is ${is ?? "not set"}, and ${was ?? "not set"} in the stack`;

const longest = 80;

/** How previews show a secret, and how this shows one of a state. */
const secretText = "[secret]";

/** Stands for a value that cannot be shown. */
const standIn = (value: unknown): string | undefined =>
  value === unknownMark
    ? "[known later]"
    : value === secretText || signatureKey in fieldsOf(value)
      ? secretText
      : undefined;

export const holdsSecret = (value: unknown): boolean =>
  standIn(value) === secretText ||
  (typeof value === "object" && value !== null && Object.values(value).some(holdsSecret));

/** A value for people, shortened. */
export function shownValue(value: unknown): string {
  const whole = standIn(value) ?? JSON.stringify(value, (_, inner: unknown) => standIn(inner) ?? inner);
  return printable(whole.length > longest ? `${whole.slice(0, longest)}…` : whole);
}
