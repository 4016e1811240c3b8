const longest = 40;

/** What is left of a name when only what a key may hold stays: `Globex & Co.` is `Globex-Co`. */
function plain(name: string): string {
  const ascii = name.normalize("NFKD").replace(/\p{M}+/gu, "");
  const slug = ascii.replace(/[^A-Za-z0-9._]+/g, "-").slice(0, longest);
  return slug.replace(/^[-._]+|[-._]+$/g, "");
}

/** A key of digits alone is a number to YAML, and JavaScript would put it before all others. */
const worded = (slug: string, kind: string) => (/^\d+$/.test(slug) ? `${kind}-${slug}` : slug);

interface Sibling {
  id: string;
  props: { name?: string; orgName?: string };
}

/**
 * A key for each of some siblings: its name, as far as a key may hold it; with its id where that is not enough. The key of
 * one depends on the names of the others only where they are alike, and never on their order.
 */
export function keysOf(siblings: readonly Sibling[], kind: string): Map<string, string> {
  const slugs = siblings.map(({ id, props }) => ({ id, slug: worded(plain(props.name ?? props.orgName ?? ""), kind) }));
  const taken = (slug: string): number => slugs.filter((one) => one.slug.toLowerCase() === slug.toLowerCase()).length;
  const used = new Set<string>();
  /** Ids as no service has them may be alike in what a key may hold. */
  const once = (key: string): string => {
    let own = key;
    for (let count = 2; used.has(own.toLowerCase()); count++) own = `${key}-${count}`;
    used.add(own.toLowerCase());
    return own;
  };
  return new Map(
    slugs.map(({ id, slug }) => {
      const usable = slug !== "" && !(slug in Object.prototype);
      return [id, once(usable && taken(slug) === 1 ? slug : `${usable ? slug : kind}-${plain(id) || "unnamed"}`)];
    }),
  );
}
