/** What moves the cursor, changes colors or the writing direction, or ends a line: names need none of it. */
const unprintable = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** As JSON and YAML write it, too. */
const escaped = (character: string): string => {
  const code = `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[character] ?? code;
};

/** Text of a service or a file as a terminal may show it, on one line. */
export const printable = (text: string): string => text.replace(unprintable, escaped);

/** The same of a text with lines of its own. */
export const printableLines = (text: string): string => text.split("\n").map(printable).join("\n");

/** For text that cannot be written in UTF-8. */
export const brokenReason =
  "it has half of a character (a surrogate without its partner), such as text has that was cut within one";

type Steps = (string | number)[];

/** The paths of such text in plain data, keys included. */
export function brokenTexts(value: unknown, path: Steps = []): Steps[] {
  if (typeof value === "string") return /\p{Surrogate}/u.test(value) ? [path] : [];
  if (Array.isArray(value)) return value.flatMap((one, index) => brokenTexts(one, [...path, index]));
  const isPlain = typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    brokenTexts(key).length > 0 ? [path] : brokenTexts(one, [...path, key]),
  );
}
