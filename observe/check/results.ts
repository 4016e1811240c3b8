import { type ObjectKind } from "../../inventory/model";
import { type Facts } from "./facts";

/**
 * - `ok`, `failed`
 * - `skipped`: there was nothing to ask, such as no credential; it says why
 * - `unseen`: it could not be looked at, which says nothing of the network
 */
export type Outcome = "ok" | "failed" | "skipped" | "unseen";

export interface Subject {
  kind: ObjectKind | "organization";
  id: string;
  name: string;
  /** Name of the environment or consortium that it is in. */
  within?: string;
}

/** What one check found of one thing. */
export interface Result {
  check: string;
  subject: Subject;
  outcome: Outcome;
  /** What was seen, or why it failed. */
  text: string;
  /** What to do about it. */
  next?: string;
  /** What was measured, for metrics. */
  value?: number;
}

/** 1: something is wrong. 2: nothing is, as far as could be seen, but something could not be looked at. */
export function exitCode(results: readonly Result[]): 0 | 1 | 2 {
  if (results.some(({ outcome }) => outcome === "failed")) return 1;
  return results.some(({ outcome }) => outcome === "unseen") ? 2 : 0;
}

/** One thing that a usable network has. Each looks at the facts alone, and asks nobody. */
export interface Check {
  name: string;
  look: (facts: Facts) => Result[];
}

export type Verdict = Pick<Result, "outcome" | "text"> & Partial<Pick<Result, "next" | "value">>;

const told = (outcome: Outcome, text: string, next?: string, value?: number): Verdict => ({
  ...{ outcome, text, ...(next !== undefined && { next }), ...(value !== undefined && { value }) },
});
export const ok = (text: string, value?: number): Verdict => told("ok", text, undefined, value);
export const failed = (text: string, next: string, value?: number): Verdict => told("failed", text, next, value);
export const skipped = (text: string, next?: string): Verdict => told("skipped", text, next);
export const unseen = (text: string, next: string): Verdict => told("unseen", text, next);
