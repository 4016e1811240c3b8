import { printable } from "./printable";

const marker = "[secret]";

/** Values of at least this length are masked anywhere, even within words. */
const longLength = 8;
/** Shorter values are masked as words of their own; those shorter than this, only where they are written as values. */
const wordLength = 4;
/** If a value was cut off, its beginning is masked from this length on. */
const remainderLength = 6;
/** Shorter base64 occurs in other texts by chance. */
const encodedLength = 6;

const quoted = (text: string): string => JSON.stringify(text).slice(1, -1);
const ascii = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** A lone surrogate has no form in a URL. */
function inUrl(text: string): string[] {
  try {
    const encoded = encodeURIComponent(text);
    return [encoded, encoded.replaceAll("%20", "+"), encodeURI(text)];
  } catch {
    return [];
  }
}

/** How a text appears within base64, at each of the three possible offsets. */
function inBase64(text: string): string[] {
  const bytes = Buffer.from(text);
  if (bytes.length < encodedLength) return [];
  return [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    // The characters at both ends also depend on their neighbors.
    const [from, to] = [Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6)];
    return [whole.toString("base64").slice(from, to), whole.toString("base64url").slice(from, to)];
  });
}

/** The ways others write a text: in JSON (once and twice, as Python and PHP write it), on one line, in URLs and in HTML. */
const writings = (text: string): string[] => [
  text,
  quoted(text),
  quoted(quoted(text)),
  ascii(quoted(text)),
  quoted(text).replaceAll("/", "\\/"),
  printable(text),
  text.replace(/[&<>"']/g, (character) => entities[character]!),
  ...inUrl(text),
];

/** Letters that a case-insensitive pattern takes for the same one, including `ſ` and `S`. */
const folded = (text: string): string => text.toLowerCase().toUpperCase();

const byLength = (one: string, other: string): number => other.length - one.length;

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** A percent-encoded byte ends in a letter or digit but is still a boundary. */
const [letterBefore, letterAfter] = ["(?:(?<=%[0-9A-F]{2})|(?<![\\p{L}\\p{N}]))", "(?![\\p{L}\\p{N}])"];

/** A short text that is a value rather than a word of the message: in quotes, or after an equals sign or a colon. */
const asValue = (text: string): string =>
  `(?<=["'\`][-+]?|[=:]\\s?[-+]?|%2[27]|%3[AD])${text}(?=["'\`&,;)}\\]\\s]|%(?:2[2567C]|7D|5D)|\\.?$)`;

const patternOf = (text: string): string => {
  if (text.length >= longLength) return escaped(text);
  return text.length >= wordLength ? letterBefore + escaped(text) + letterAfter : asValue(escaped(text));
};

/**
 * Remembers secrets and masks them in texts. A service may quote whatever it was sent. The texts are for people, so they must
 * stay readable even if a secret is short, or a word as common as `node`.
 */
export class Secrets {
  /** The forms of a secret are computed with the first text to mask, which few runs have. */
  readonly #texts = new Map<string, Forms | undefined>();

  constructor(values: readonly unknown[] = []) {
    this.learn(values);
  }

  /** Remembers texts and numbers, at any depth. */
  learn(value: unknown): void {
    if (typeof value === "object" && value !== null) return Object.values(value).forEach((part) => this.learn(part));
    if (typeof value !== "string" && typeof value !== "number") return;
    const text = String(value).trim();
    // A service may quote a single line of a key that has several.
    const lines = text.split(/\s*\n\s*/).filter((line) => line.length >= longLength);
    for (const one of [text, ...lines]) {
      if (one !== "") this.#texts.set(one, this.#texts.get(one));
    }
  }

  mask(text: string): string {
    const known = [...this.#texts.keys()].map((secret) => this.#forms(secret));
    // Search first: one pattern of all secrets of a large network would take longer than the run.
    const here = folded(text);
    const plain = known.flatMap((forms) => forms.plain.filter(([, form]) => here.includes(form)).map(([form]) => form));
    const pattern = [...new Set(plain)].sort(byLength).map(patternOf).join("|");
    const whole = pattern === "" ? text : text.replace(new RegExp(pattern, "giu"), marker);
    const base64 = known.flatMap((forms) => forms.base64.filter((form) => whole.includes(form)));
    const encoded = base64.sort(byLength).reduce((masked, form) => masked.replaceAll(form, marker), whole);
    const long = known.flatMap((forms) => forms.plain.flatMap(([form]) => (form.length >= longLength ? [form] : [])));
    return encoded
      .split(/(…|\.{3})/)
      .map((part) => withoutRemainder(part, long))
      .join("");
  }

  #forms(text: string): Forms {
    const made = this.#texts.get(text) ?? formsOf(text);
    this.#texts.set(text, made);
    return made;
  }
}

/** How a secret may be written. `plain` also has each form without case. */
interface Forms {
  plain: [form: string, folded: string][];
  base64: string[];
}

function formsOf(text: string): Forms {
  const plain = [...new Set(writings(text))];
  return {
    plain: plain.map((form) => [form, folded(form)]),
    base64: [...new Set([text, quoted(text)].flatMap(inBase64))],
  };
}

/** Masks the beginning of a secret where the text was cut off within it. */
function withoutRemainder(part: string, secrets: readonly string[]): string {
  const ends = secrets.filter((one) => part.includes(one.slice(0, remainderLength)));
  for (const secret of ends.sort(byLength))
    for (let { length } = secret; length >= remainderLength; length--)
      if (part.endsWith(secret.slice(0, length))) return part.slice(0, -length) + marker;
  return part;
}

/** The value of the `Authorization` header for a node. */
export const basicAuthHeader = ({ username, password }: { username: string; password: string }): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
