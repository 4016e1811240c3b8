/** Which logs a caller wants: an address or a topic that may be anything is left out, or null. */
export type Criteria = Partial<Record<"fromBlock" | "toBlock" | "blockHash", unknown>> & {
  address?: string | string[] | null;
  topics?: (string | (string | null | undefined)[] | null | undefined)[] | null;
};

export interface Log {
  address: string;
  topics: string[];
}

/** What a log must have: `names` of which its text must have one each, and whether it fits exactly. */
export function matching({ address, topics }: Criteria) {
  const addresses = [address ?? []].flat();
  const wanted = (topics ?? []).map((one) => [one ?? []].flat());
  const some = (all: readonly (string | null | undefined)[]) => all.filter((one) => typeof one === "string");
  const isAny = (all: readonly unknown[]) => all.length === 0 || some(all as string[]).length < all.length;
  const narrow = [addresses, ...wanted].filter((all) => !isAny(all)).map(some);
  // even a topic that may be anything must be there
  if (wanted.length > 0 && narrow.length === 0) narrow.push(["0x"]);
  const names = narrow.map((all) => all.map((name) => Buffer.from(name)));
  const fits = (log: Log) =>
    (isAny(addresses) || addresses.includes(log.address)) &&
    wanted.length <= log.topics.length &&
    wanted.every((all, at) => isAny(all) || all.includes(log.topics[at]));
  return { names, fits };
}
