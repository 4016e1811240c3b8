/** The logical name of a resource, and after it those that it may have had before. */
export type Names = readonly string[];

/** Every name of the parent with every key, first the ones of today: `trade/prod` and `acme-1` make `trade/prod/acme-1`. */
export const chained = (parent: Names, keys: Names): Names => [
  ...new Set(parent.flatMap((one) => keys.map((key) => `${one}/${key}`))),
];

/** The keys that an entry had before. */
export function formerKeys(entry: { formerly?: string | readonly string[] } | null | undefined): string[] {
  const { formerly = [] } = entry ?? {};
  return typeof formerly === "string" ? [formerly] : [...formerly];
}
