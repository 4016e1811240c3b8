/** What a report has to hold so that it can be checked; the rest of it does not matter. */
export interface Pin {
  network?: string;
  chain_id: number;
  contract_address: string;
  transaction_hash: string;
  block_number: number;
  contract_index: number;
  hash: string;
  reports: unknown[];
}

/** A reason to refuse the report, in contrast to a failure to look. */
export class Refused extends Error {}

export function must(holds: boolean, reason: () => string): asserts holds {
  if (!holds) throw new Refused(reason());
}

export const isHex = (value: unknown, bytes: number): boolean =>
  typeof value === "string" && new RegExp(`^0x[0-9a-f]{${2 * bytes}}$`, "i").test(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
export const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Takes a report as the service shows it, or with its index, as `getTetherReports` answers it. */
export function pinOf(given: unknown): Pin {
  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  const report = isObject(given) && "report" in given ? given.report : given;
  must(isObject(report) && report.transaction_hash !== undefined && report.contract_address !== undefined, () => {
    const what = Array.isArray(report) ? "it holds the reports of the nodes, but" : "it";
    return `the report was not pinned: ${what} names no contract and no transaction on a public chain`;
  });
  const rules: [string, boolean][] = [
    ["chain_id", isCount(report.chain_id)],
    ["contract_address", isHex(report.contract_address, 20)],
    ["transaction_hash", isHex(report.transaction_hash, 32)],
    ["block_number", isCount(report.block_number)],
    ["contract_index", isCount(report.contract_index)],
    ["hash", isHex(report.hash, 32)],
    ["reports", Array.isArray(report.reports)],
  ];
  const wrong = rules.filter(([, holds]) => !holds).map(([key]) => key);
  must(wrong.length === 0, () => `the report is not complete: ${wrong.join(", ")} missing or malformed`);
  return report as unknown as Pin;
}
