import { distance } from "fastest-levenshtein";
import { printable } from "../api/printable";
import { otherPrefix } from "../constants";

/** Minimum length of a prefix that counts as a match: `consensus` of `consensusType`. */
const beginning = 4;

/** The nearest by edits, if no more than a third of the letters differ; or one that begins like this. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  const wanted = given.toLowerCase();
  const most = given.length === 1 ? 0 : Math.ceil(given.length / 3);
  const ranked = known
    .map((name) => ({ name, off: distance(wanted.slice(0, 80), name.toLowerCase()) }))
    .filter(({ name, off }) => off <= most || (given.length >= beginning && name.toLowerCase().startsWith(wanted)))
    .sort((one, other) => one.off - other.off);
  return ranked[0]?.name;
}

/** The error for an unknown key in stack configuration. Its value is never shown: it may be an API key. */
export const unknownSetting = (given: string, known: readonly string[]): string =>
  `Stack configuration consortium:${printable(given)} is not a setting${didYouMean(given, known)} ` +
  `Remove it with \`pulumi config rm consortium:${printable(given)}\`.`;

const shownAtMost = 12;

/** The error about a value that is not known, and how a program says that it is meant. */
export function notKnown(key: string, given: string, known: readonly string[]): string {
  const [value, meant] = [printable(given), nearest(given, known)];
  const rule =
    known.length > shownAtMost
      ? `"${value}" is not a known ${key}`
      : `${key} must be one of ${known.join(", ")}, not "${value}"`;
  const hint = meant === undefined ? "." : `; did you mean "${meant}"?`;
  return `${rule}${hint} If the service has it, and it is meant, write "${otherPrefix}${value}".`;
}

/** `; did you mean "acme"?`, or a short list of what exists. */
export function didYouMean(given: string, known: readonly string[]): string {
  const found = nearest(given, known);
  if (found !== undefined) return `; did you mean "${printable(found)}"?`;
  if (known.length === 0) return "";
  const more = known.length > shownAtMost ? `, and ${known.length - shownAtMost} more` : "";
  return `; there ${known.length === 1 ? "is only" : "are"} ${known.slice(0, shownAtMost).map(printable).join(", ")}${more}`;
}
