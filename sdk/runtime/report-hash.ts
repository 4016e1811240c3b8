import { ethers } from "./ethers";
import { must, type Pin, same } from "./pinned-report";

/** The hash of what the nodes reported. @throws Refused if it is not the one that the report names */
export function checkHash({ reports, hash: named }: Pin): string {
  const { keccak256, toUtf8Bytes } = ethers();
  const hash = keccak256(toUtf8Bytes(canonicalJson(reports)));
  must(
    same(hash, named),
    () => `the hash of what the nodes reported is ${hash}, but the report says ${named}: it was changed`,
  );
  return hash;
}

/**
 * JSON with sorted keys and without white space (RFC 8785): the same text whoever writes it, however deep it is.
 * A surrogate without its partner is written as its escape.
 */
export function canonicalJson(value: unknown): string {
  const parts: string[] = [];
  const open = new Set<unknown>();
  const todo: Step[] = [{ before: "", value }];
  for (let step = todo.pop(); step; step = todo.pop()) {
    if ("closes" in step) {
      parts.push(step.text);
      open.delete(step.closes);
      continue;
    }
    parts.push(step.before);
    const { value } = step;
    if (typeof value !== "object" || value === null) {
      parts.push(scalar(value));
      continue;
    }
    must(!open.has(value), () => "the report contains itself, so there is no text of it");
    open.add(value);
    parts.push(Array.isArray(value) ? "[" : "{");
    todo.push({ text: Array.isArray(value) ? "]" : "}", closes: value }, ...membersOf(value).reverse());
  }
  return parts.join("");
}

/** What canonicalJson still has to write: a value after a comma or key, or what closes a list or an object. */
type Step = { before: string; value: unknown } | { text: string; closes: object };

function membersOf(value: object): Step[] {
  const comma = (at: number): string => (at === 0 ? "" : ",");
  if (Array.isArray(value))
    return Array.from(value, (inner: unknown, at) => ({ before: comma(at), value: inner ?? null }));
  const given = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return given // by UTF-16 code units, as RFC 8785 says
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]: [string, unknown], at) => ({ before: `${comma(at)}${JSON.stringify(key)}:`, value: inner }));
}

function scalar(value: unknown): string {
  const isJson = value === null || ["string", "boolean"].includes(typeof value) || Number.isFinite(value);
  must(isJson, () => `the report holds ${typeof value === "number" ? value : `a ${typeof value}`}, which JSON has not`);
  return JSON.stringify(value);
}
