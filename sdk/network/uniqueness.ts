import { type Planned } from "./plan";
import { type Problem } from "../yaml/problems";

/** Keys, names and former keys of siblings do not meet. */
export function uniqueEntries<A>(
  entries: readonly Planned<A>[],
  kinds: string,
  nameOf: (entry: Planned<A>) => unknown,
): Problem[] {
  const keys = new Map<string, Planned<A>>();
  const names = new Map<string, string>();
  const former = new Map<string, string>();
  const found: Problem[] = [];
  const say = ({ path }: Planned<A>, message: string): void => void found.push({ path, message, atKey: true });
  for (const entry of entries) {
    const given = nameOf(entry);
    const name = typeof given === "string" ? given : undefined;
    const namesake = name === undefined ? undefined : names.get(name);
    if (keys.has(entry.key)) say(entry, `"${entry.key}" appears twice: keys of ${kinds} must be unique`);
    else if (namesake !== undefined)
      say(entry, `its name "${name!}" is also that of "${namesake}": names of ${kinds} must be unique`);
    keys.set(entry.key, entry);
    if (name !== undefined) names.set(name, entry.key);
  }
  for (const entry of entries) {
    for (const old of entry.formerly) {
      const other = former.get(old);
      if (keys.has(old)) say(entry, `formerly "${old}": "${old}" still exists`);
      else if (other !== undefined && other !== entry.key) say(entry, `formerly "${old}": "${other}" claims it, too`);
      former.set(old, entry.key);
    }
  }
  return found;
}

/** An object of the service is that of one entry only. */
export function uniqueIds<A>(
  entries: readonly Planned<A>[],
  what: string,
  idOf: (entry: Planned<A>) => string | undefined,
): Problem[] {
  const seen = new Map<string, string>();
  return entries.flatMap((entry) => {
    const id = idOf(entry);
    if (id === undefined) return [];
    const before = seen.get(id);
    seen.set(id, entry.path.join("."));
    return before === undefined
      ? []
      : [{ path: entry.path, message: `${before} has the ${what} ${id}, too`, atKey: true }];
  });
}
