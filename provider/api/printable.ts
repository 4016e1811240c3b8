/** Characters that move the cursor, change colors or the writing direction, or end a line. No name needs them. */
const unprintable = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** As in JSON and YAML. */
const escaped = (character: string): string => {
  const code = `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[character] ?? code;
};

/** Text of a service or a file that is safe to show in a terminal, on one line. */
export const printable = (text: string): string => text.replace(unprintable, escaped);

/** The same for text with several lines. */
export const printableLines = (text: string): string => text.split("\n").map(printable).join("\n");

/** For text that UTF-8 cannot represent. */
export const brokenReason = "it contains half of a character (an unpaired surrogate), as in text that was cut off";

type Steps = (string | number)[];

/** Paths of such text in plain data, including keys. */
export function brokenTexts(value: unknown, path: Steps = []): Steps[] {
  if (typeof value === "string") return /\p{Surrogate}/u.test(value) ? [path] : [];
  if (Array.isArray(value)) return value.flatMap((one, index) => brokenTexts(one, [...path, index]));
  const isPlain = typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    brokenTexts(key).length > 0 ? [path] : brokenTexts(one, [...path, key]),
  );
}
