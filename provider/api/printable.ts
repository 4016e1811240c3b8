/** What moves the cursor, changes colours, turns the direction of writing, or ends a line: nothing that a name has to do with. */
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
