import { printable } from "../../provider/api/printable";
import { definitions } from "../../provider/resources";
import { type Found } from "../../provider/resources/tree";

export const nameOf = ({ props }: Found): string => props.name ?? props.orgName ?? "";

/** How a person calls it: `node "n1" (n5f0a9)`. */
export const titleOf = (item: Found): string => {
  const name = nameOf(item);
  return `${definitions[item.kind].title} ${name === "" ? "" : `"${printable(name)}" `}(${printable(item.id)})`;
};

/** What makes an object a leftover. */
export interface Match {
  prefix: string;
  /** Ms since 1970: what was created after that is too young. */
  before: number;
  /** Whether a name is enough where the service shows no age. */
  undated: boolean;
}

export interface Leftovers {
  going: ReadonlySet<Found>;
  /** What would have to go by its name and age, and why it stays all the same. */
  kept: ReadonlyMap<Found, string>;
}

/**
 * Chooses what goes: a consortium or environment that matches, with all that is in it; elsewhere each object by itself.
 * A member goes only if everything that it owns does, since the service lets go of that with the member.
 */
export function leftovers(consortia: readonly Found[], match: Match): Leftovers {
  const going = new Set<Found>();
  const kept = new Map<Found, string>();
  const takeAll = (item: Found): void => {
    going.add(item);
    item.inside.forEach(takeAll);
  };
  const verdict = (item: Found, mayBeUndated = match.undated): boolean => {
    if (!nameOf(item).startsWith(match.prefix)) return false;
    const created = Date.parse(item.props.createdAt ?? "");
    if (Number.isNaN(created) && !mayBeUndated) kept.set(item, "the service does not show its age (--undated)");
    return Number.isNaN(created) ? mayBeUndated : created <= match.before;
  };

  for (const consortium of consortia) {
    if (verdict(consortium)) {
      takeAll(consortium);
      continue;
    }
    const environments = consortium.inside.filter(({ kind }) => kind === "environment");
    for (const environment of environments) {
      if (verdict(environment)) takeAll(environment);
      else for (const child of environment.inside) if (verdict(child)) going.add(child);
    }
    for (const member of consortium.inside.filter(({ kind }) => kind === "membership")) {
      if (!verdict(member)) continue;
      const own = environments.flatMap(({ inside }) => inside).filter((one) => one.props.membershipId === member.id);
      const others = own.filter((one) => !going.has(one) && !(one.props.createdAt === undefined && verdict(one, true)));
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
export function exactly(consortia: readonly Found[], ids: readonly string[]): Leftovers {
  const going = new Set<Found>();
  const found = new Set<string>();
  const walk = (item: Found, taken: boolean): void => {
    const isMeant = ids.includes(item.id);
    if (isMeant) found.add(item.id);
    if (taken || isMeant) going.add(item);
    for (const child of item.inside) walk(child, taken || isMeant);
  };
  for (const consortium of consortia) walk(consortium, false);
  const missing = ids.filter((id) => !found.has(id));
  if (missing.length === 0) return { going, kept: new Map() };
  throw new Error(
    `The service lists nothing with the id ${missing.join(", ")}. Nothing was deleted: check the id and the key, or delete it in the console.`,
  );
}
