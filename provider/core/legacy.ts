import { createHash } from "node:crypto";
import { type Definition, inputKeys, inputMeta, isPending, type Props } from "./definition";
import { type Kept, keptIn, keptKey, readyStep, stateVersion, withoutUndefined } from "./state";
import { isUnset, sameValue, unformatted } from "./values";

/*
 * States of 0.2.0. They kept one value of each property, what the service showed last, so they do not tell what was asked for
 * where a service chose the value or wrote it in its own way.
 */

/** An adopted object's properties that stayed as they were: keys that the program left out, or keys with a fingerprint of what it wanted. */
type Left = string | [key: string, wanted: string];

const isPair = (left: Left): left is [string, string] => typeof left !== "string";

const fingerprint = (value: unknown): string =>
  createHash("sha256")
    .update(typeof value === "string" ? value : (JSON.stringify(unformatted(value)) ?? ""))
    .digest("hex")
    .slice(0, 16);

/** Names that the service wrote in its own way, by property: fingerprints of what it showed. */
const writtenIn = ({ __written: names }: Props): Record<string, string> => (names ?? {}) as Record<string, string>;

/**
 * A state in today's form. What only the program knows is kept in the old form until an update gives it, and what only the
 * service knows until a read does.
 * @param news the program's inputs, if they are known
 */
export function upgraded(definition: Definition, state: Props, news?: Props): Props {
  const { __version, __organization, __left: left, __written, __fixed, __deployment, ...props } = state;
  if (__version === undefined && left === undefined && __written === undefined) return state;
  const all = (left ?? []) as Left[];
  const pairs = all.filter(isPair);
  const asked: Props = { ...keptIn(state).asked };
  for (const key of all) if (!isPair(key) && !inputMeta(definition, key)?.computed) asked[key] = null;
  if (news) {
    for (const [key, wanted] of pairs) asked[key] = fingerprint(news[key]) === wanted ? news[key] : null;
    if (__version !== undefined) Object.assign(asked, chosen(definition, state, news));
  }
  const how = left === undefined ? undefined : definition.shared?.applies(props) ? "shared" : "adopted";
  const kept: Partial<Kept> = {
    version: stateVersion,
    how,
    ...(isPending(definition, props) && { open: [readyStep] }),
    ...(Object.keys(asked).length > 0 && { asked }),
    ...(__fixed !== undefined && { refused: __fixed as string[] }),
    ...(__organization as Partial<Kept> | undefined),
    ...(__deployment !== undefined && { deployment: __deployment as Props }),
    ...keptIn(state),
    ...(Object.keys(asked).length > 0 && { asked }),
  };
  return withoutUndefined({
    ...props,
    [keptKey]: withoutUndefined(kept),
    __left: !news && pairs.length > 0 ? pairs : undefined,
    __written,
  });
}

/** A value that only a replacement could change counts as what was asked for: nothing is lost because of an upgrade. */
const chosen = (definition: Definition, state: Props, news: Props): Props =>
  Object.fromEntries(
    inputKeys(definition).flatMap((key) => {
      const { computed, replace } = inputMeta(definition, key)!;
      const isOpen =
        computed &&
        !isUnset(state[key]) &&
        !isUnset(news[key]) &&
        (replace === true || sameValue(state[key], news[key]));
      return isOpen ? [[key, news[key]]] : [];
    }),
  );

/** What an earlier run saw as the service's way to write a name, if the service still writes it like that. */
export const answeredBefore = (state: Props, shown: Props): Props =>
  Object.fromEntries(
    Object.entries(writtenIn(state)).flatMap(([key, mark]) =>
      fingerprint(shown[key]) === mark ? [[key, shown[key]]] : [],
    ),
  );

/** Keys of the old form that a state keeps after these verbs. */
export const keys020 = { read: ["__left"], update: ["__written"] } as const;
