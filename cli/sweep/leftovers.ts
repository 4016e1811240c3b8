import { type Item, titleOf } from "./tree";

/** What makes an object a leftover. */
export interface Match {
  prefix: string;
  /** Ms since 1970: what was created after that is too young. */
  before: number;
  /** Whether a name is enough where the service shows no age. */
  undated: boolean;
}

export interface Leftovers {
  going: ReadonlySet<Item>;
  /** What would have to go by its name and age, and why it stays all the same. */
  kept: ReadonlyMap<Item, string>;
}

/**
 * Chooses what goes: a consortium or environment that matches, with all that is in it; elsewhere each object by itself.
 * A member goes only if everything that it owns does, since the service lets go of that with the member.
 */
export function leftovers(consortia: readonly Item[], match: Match): Leftovers {
  const going = new Set<Item>();
  const kept = new Map<Item, string>();
  const takeAll = (item: Item): void => {
    going.add(item);
    item.children.forEach(takeAll);
  };
  const verdict = (item: Item, mayBeUndated = match.undated): boolean => {
    if (!item.name.startsWith(match.prefix)) return false;
    const created = Date.parse(item.createdAt ?? "");
    if (Number.isNaN(created) && !mayBeUndated) kept.set(item, "the service does not show its age (--undated)");
    return Number.isNaN(created) ? mayBeUndated : created <= match.before;
  };

  for (const consortium of consortia) {
    if (verdict(consortium)) {
      takeAll(consortium);
      continue;
    }
    const environments = consortium.children.filter(({ kind }) => kind === "environment");
    for (const environment of environments) {
      if (verdict(environment)) takeAll(environment);
      else for (const child of environment.children) if (verdict(child)) going.add(child);
    }
    for (const member of consortium.children.filter(({ kind }) => kind === "membership")) {
      if (!verdict(member)) continue;
      const own = environments.flatMap(({ children }) => children).filter((one) => one.membershipId === member.id);
      const others = own.filter((one) => !going.has(one) && !(one.createdAt === undefined && verdict(one, true)));
      if (others.length > 0) {
        kept.set(member, `it owns ${others.map(titleOf).join(", ")}`);
        continue;
      }
      going.add(member);
      for (const one of own) {
        going.add(one);
        kept.delete(one);
      }
    }
  }
  return { going, kept };
}

/** The objects of these ids, each with all that is in it. @throws Error that names those that are not there, before anything is deleted */
export function exactly(consortia: readonly Item[], ids: readonly string[]): Leftovers {
  const going = new Set<Item>();
  const found = new Set<string>();
  const walk = (item: Item, taken: boolean): void => {
    const isMeant = ids.includes(item.id);
    if (isMeant) found.add(item.id);
    if (taken || isMeant) going.add(item);
    for (const child of item.children) walk(child, taken || isMeant);
  };
  for (const consortium of consortia) walk(consortium, false);
  const missing = ids.filter((id) => !found.has(id));
  if (missing.length === 0) return { going, kept: new Map() };
  throw new Error(
    `The service lists nothing with the id ${missing.join(", ")}. Nothing was deleted: check the id and the key, or delete it in the console.`,
  );
}
