import { jsonText, print } from "../shared/terminal";
import { type Secrets } from "../../provider/api/secrets";
import { codeOf, type ErrorCode } from "../../provider/errors";
import { messageOf } from "../../provider/plain";

/** What the doctor found about one thing. */
export interface Finding {
  about: string;
  /** `note`: information only. `unknown`: could not be determined. */
  state: "ok" | "note" | "unknown" | "wrong";
  text: string;
  /** What to do about it. */
  next?: string;
  code?: ErrorCode;
}

export const ok = (about: string, text: string): Finding => ({ about, state: "ok", text });
export const note = (about: string, text: string): Finding => ({ about, state: "note", text });
export const unknown = (about: string, text: string): Finding => ({ about, state: "unknown", text });
export const wrong = (about: string, text: string, next: string, code?: ErrorCode): Finding => ({
  about,
  state: "wrong",
  text,
  next,
  ...(code && { code }),
});

/** An error as a finding. Its first sentence says what to do. @param otherwise what to do, if it has only one */
export function failure(about: string, error: unknown, otherwise: string): Finding {
  const [first = "", ...rest] = messageOf(error).split(/(?<=[.!?]) /);
  const [text, next] = rest.length > 0 ? [rest.join(" "), first] : [first, otherwise];
  return wrong(about, text.replace(/\.$/, ""), next, codeOf(error));
}

/** Whether a version is at least another one: `3.220.0` and `3.216.0`. */
export const isAtLeast = (version: string, least: string): boolean =>
  new Intl.Collator("en", { numeric: true }).compare(version.replace(/^v/, ""), least) >= 0;

/** Prints findings without secrets, and what to do. The exit code says whether something is wrong. */
export function showFindings(findings: readonly Finding[], secrets: Secrets, json?: boolean): void {
  const masked = findings.map((one) => maskedWith(secrets, one));
  print(json ? jsonOf(masked) : linesOf(masked));
  process.exitCode = masked.some(({ state }) => state === "wrong") ? 1 : 0;
}

const maskedWith = (secrets: Secrets, { next, ...one }: Finding): Finding => ({
  ...one,
  text: secrets.mask(one.text),
  ...(next !== undefined && { next: secrets.mask(next) }),
});

const todoOf = (findings: readonly Finding[]): string[] => [...new Set(findings.flatMap(({ next }) => next ?? []))];

/** For programs. */
const jsonOf = (findings: readonly Finding[]): string =>
  jsonText({ ok: findings.every(({ state }) => state !== "wrong"), findings, todo: todoOf(findings) });

/** A symbol and, where something is wrong, a word: no state depends on color alone. */
const signs: Record<Finding["state"], string> = { ok: "✓", note: "-", unknown: "?", wrong: "✗ WRONG" };

function linesOf(findings: readonly Finding[]): string[] {
  const lines = findings.map(({ about, state, text }) => `${signs[state]} ${about}: ${text}`);
  const todo = todoOf(findings);
  const end =
    todo.length === 0
      ? ["Nothing wrong was found."]
      : ["What to do:", ...todo.map((one, index) => `${index + 1}. ${one}`)];
  return [...lines, "", ...end];
}
