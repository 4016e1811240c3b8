import { type Found, type ListedKind, type Shown } from "../../provider/resources/tree";

/** Names that have a special meaning in YAML, in JavaScript or in a line of text. */
export const strangeNames = [
  ...["true", "null", "no", "~", "0123", "1e3", "12:30", "- a", "a: b", "#x", "# a", "&a", "*a", "!t", "<<", "'", '"'],
  ...["{", "]", "|", ">", "%YAML 1.1", "---", "${a}", "__proto__", "constructor", "", " ", "\n", "\r# x", "a\r\nb"],
  ...["acme", "Acme", "acme.", " acme", " a ", "東京", "x".repeat(256), "x".repeat(257), "\u202eabc", "a\u2028b"],
  ...["\ud83d", "\udc1f", "a\u0000b", "a\u0085b", "\ufeffa", "\ufffe"],
];

/** An object as it is read from a service. */
export const found = (kind: ListedKind, id: string, props: Shown, inside: Found[] = []): Found => ({
  kind,
  id,
  place: {},
  props,
  inside,
});
