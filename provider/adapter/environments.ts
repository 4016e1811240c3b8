import { printable } from "../api/printable";
import { type Props } from "../core/definition";
import { environmentsKey } from "../constants";

/*
 * Only `check` looks at the environments of a network, to which alone Pulumi shows what a program said before: whatever is deleted is
 * asked nothing at a preview.
 */

const namesIn = ({ [environmentsKey]: given }: Props): string[][] =>
  Array.isArray(given) ? given.filter((names): names is string[] => Array.isArray(names)) : [];

const keyOf = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

/** What to say of environments that are not in the file any more. */
export function lostEnvironments(olds: Props, news: Props): string[] {
  const [before, after] = [namesIn(olds), namesIn(news)];
  if (news[environmentsKey] === undefined) return [];
  const kept = new Set(after.flat());
  const known = new Set(before.flatMap(([name = ""]) => name));
  const added = after.filter((names) => !names.some((name) => known.has(name))).map(([name = ""]) => keyOf(name));
  return before.flatMap(([name = ""]) => {
    if (kept.has(name)) return [];
    const title = `environment "${printable(name)}"`;
    const why = "its key is no longer in the definition of the network";
    const loss = `WARNING: ${title}: DELETING AN ENVIRONMENT DESTROYS ITS LEDGER, its nodes and its credentials (${why})`;
    const keys = added.map((key) => `"${printable(key)}"`).join(" or ");
    const hint = `${title}: if only its key is another one now (${keys}), write "formerly: ${printable(keyOf(name))}" there: then nothing is deleted.`;
    return added.length > 0 ? [loss, hint] : [loss];
  });
}
