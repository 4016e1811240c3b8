import { isObject } from "../../provider/plain";
import { ethers } from "./ethers";

/** The parts of a report that are needed to verify it. */
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

/** The report is wrong. Other errors mean that it could not be checked. */
export class Refused extends Error {}

export function must(holds: boolean, reason: () => string): asserts holds {
  if (!holds) throw new Refused(reason());
}

export const isHex = (value: unknown, bytes: number): boolean =>
  typeof value === "string" && new RegExp(`^0x[0-9a-f]{${2 * bytes}}$`, "i").test(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
export const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Takes a report as the service returns it, or with its index, as `getTetherReports` returns it. */
export function pinOf(given: unknown): Pin {
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

/** The hash of the nodes' reports. @throws Refused if the report names another one */
export function checkHash({ reports, hash: named }: Pin): string {
  const { keccak256, toUtf8Bytes } = ethers();
  const hash = keccak256(toUtf8Bytes(textOf(reports)));
  must(
    same(hash, named),
    () => `the hash of the nodes' reports is ${hash}, but the report says ${named}: it was changed`,
  );
  return hash;
}

function textOf(reports: unknown): string {
  try {
    return canonicalJson(reports);
  } catch (error) {
    if (error instanceof RangeError) throw new Refused("the report is nested too deeply, or contains itself");
    throw error;
  }
}

/**
 * JSON in a canonical form: sorted keys, no white space (RFC 8785). A lone surrogate is written as its escape.
 * @throws RangeError if the value is cyclic or nested too deeply
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${Array.from(value, (inner: unknown) => canonicalJson(inner ?? null)).join(",")}]`;
  if (typeof value !== "object" || value === null) return scalar(value);
  const members = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1)); // by UTF-16 code units, as RFC 8785 says
  return `{${members.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(",")}}`;
}

function scalar(value: unknown): string {
  const isJson = value === null || ["string", "boolean"].includes(typeof value) || Number.isFinite(value);
  must(
    isJson,
    () => `the report holds ${typeof value === "number" ? value : `a ${typeof value}`}, which JSON does not have`,
  );
  return JSON.stringify(value);
}
