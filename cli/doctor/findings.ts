/** What the doctor found about one thing. */
export interface Finding {
  about: string;
  /** `note`: nothing is wrong. `unknown`: nobody could tell. */
  state: "ok" | "note" | "unknown" | "wrong";
  text: string;
  /** What to do about it. */
  next?: string;
}

export const ok = (about: string, text: string): Finding => ({ about, state: "ok", text });
export const note = (about: string, text: string): Finding => ({ about, state: "note", text });
export const unknown = (about: string, text: string): Finding => ({ about, state: "unknown", text });
export const wrong = (about: string, text: string, next: string): Finding => ({ about, state: "wrong", text, next });

/** Whether a version is at least another one: `3.220.0` and `3.216.0`. */
export const isAtLeast = (version: string, least: string): boolean =>
  new Intl.Collator("en", { numeric: true }).compare(version.replace(/^v/, ""), least) >= 0;

/** The sentence that says what is wrong, and those that say what to do. */
export function parts(text: string): [what: string, next: string] {
  const [first = "", ...rest] = text.split(/(?<=[.!?]) (?=[A-Z])/);
  return [first.replace(/\.$/, ""), rest.join(" ")];
}
