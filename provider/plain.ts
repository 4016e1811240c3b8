/* Helpers for plain values, for code that reads answers, states, plans and files. Imports nothing. */

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The members of an object; none for any other value. */
export const fieldsOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

export const withoutUndefined = (props: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(props).filter(([, value]) => value !== undefined));

/** Keys and indexes from the properties down to a value. */
export type Path = readonly (string | number)[];

/** The value at that path, if there is one. */
export const at = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce((inner, step) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[step], value);

/** Groups items by key, in the order of each group's first item. */
export function groupBy<K, T>(items: readonly T[], keyOf: (item: T) => K): Map<K, [T, ...T[]]> {
  const groups = new Map<K, [T, ...T[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** The value, if it is text and not empty. */
export const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** `1 node`, `2 nodes`. @param many of words that do not only get an `s` */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const decimals = 18;

/** Wei for people, cut after some decimal places: `0.9987 ether`. */
export function inEther(wei: string, places = 4): string {
  const digits = wei.padStart(decimals + 1, "0");
  const [whole, part] = [digits.slice(0, -decimals), digits.slice(-decimals).slice(0, places).replace(/0+$/, "")];
  if (whole === "0" && part === "" && wei !== "0") return `less than 0.${"1".padStart(places, "0")} ether`;
  return `${BigInt(whole).toLocaleString("en")}${part && `.${part}`} ether`;
}

/** The wei of an amount of ether as typed, such as `0.5`. undefined: zero, or not an amount. */
export function weiOf(ether: string): bigint | undefined {
  const [, whole = "0", part = ""] = /^(\d{1,12})(?:\.(\d{1,18}))?$/.exec(ether.trim()) ?? [];
  return BigInt(whole + part.padEnd(decimals, "0")) || undefined;
}
