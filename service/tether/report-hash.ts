import { keccak } from "./contract";

/** The hash of a report, which is what a tether pins: Keccak-256 of its canonical JSON. A simulated tether pins nothing. */
export const reportHash = (states: readonly unknown[]): string => keccak(canonicalJson(states));

/** JSON without white space, with the keys of each object sorted (RFC 8785): the same text for the same content. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(",")}}`;
}
