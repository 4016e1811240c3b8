import { type ObjectKind } from "../model";

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
