/** A filter of logs. Omit an address or topic, or set it to null, to match anything. */
export type Criteria = Partial<Record<"fromBlock" | "toBlock" | "blockHash", unknown>> & {
  address?: string | string[] | null;
  topics?: (string | (string | null | undefined)[] | null | undefined)[] | null;
};

export interface Log {
  blockNumber: string;
  address: string;
  topics: string[];
}

/** A matcher of logs: the text must contain one of each `names`; then `fits` decides exactly. */
export function matching({ address, topics }: Criteria) {
  const addresses = [address ?? []].flat();
  const wanted = (topics ?? []).map((one) => [one ?? []].flat());
  const some = (all: readonly (string | null | undefined)[]) => all.filter((one) => typeof one === "string");
  const isAny = (all: readonly unknown[]) => all.length === 0 || some(all as string[]).length < all.length;
  const narrow = [addresses, ...wanted].filter((all) => !isAny(all)).map(some);
  // a wildcard topic must exist, too
  if (wanted.length > 0 && narrow.length === 0) narrow.push(["0x"]);
  const names = narrow.map((all) => all.map((name) => Buffer.from(name)));
  const fits = (log: Log) =>
    (isAny(addresses) || addresses.includes(log.address)) &&
    wanted.length <= log.topics.length &&
    wanted.every((all, at) => isAny(all) || all.includes(log.topics[at]));
  return { names, fits };
}
