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

export function matching({ address, topics }: Criteria): (log: Log) => boolean {
  const isIn = (wanted: unknown, value: unknown) => {
    const all = [wanted ?? []].flat();
    return all.length === 0 || all.some((one) => (one ?? value) === value);
  };
  return (log) =>
    isIn(address, log.address) &&
    (topics ?? []).length <= log.topics.length &&
    (topics ?? []).every((one, at) => isIn(one, log.topics[at]));
}
