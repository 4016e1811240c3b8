import { setImmediate as nextRound } from "node:timers/promises";
/**
 * Limits of a caller's JSON. A limit of bytes alone bounds neither time nor memory: `[[],[],…]` takes twenty times as much as a string
 * of the same length.
 */
const most = { levels: 64, values: 50_000 };

/** JSON that exceeds a limit, so it is not parsed. */
export class TooMuch extends Error {
  override readonly name = "TooMuch";
  constructor(of: keyof typeof most) {
    super(`has too many ${of}: at most ${most[of]} are allowed`);
  }
}

/** Parses a caller's JSON, unless it has too many levels or values, which one pass over the text finds. */
export function parseJson(json: string): unknown {
  let values = 1;
  for (const { closes, level } of marksIn(json)) {
    if (level > most.levels) throw new TooMuch("levels");
    if (!closes && ++values > most.values) throw new TooMuch("values");
  }
  return JSON.parse(json);
}

/** The number of values in JSON. */
export function valuesIn(json: string): number {
  let values = 1;
  for (const { closes } of marksIn(json)) if (!closes) values++;
  return values;
}

/** An object's top-level members, with null in place of nested values; undefined if there are too many. */
export function outlineOf(json: string): unknown {
  const parts: string[] = [];
  let from = 0;
  for (const { opens, closes, level, at } of marksIn(json)) {
    if (level === 2 && opens) parts.push(json.slice(from, at), "null");
    if (level === 2 && closes) from = at + 1;
  }
  try {
    return parseJson(parts.join("") + json.slice(from));
  } catch {
    return undefined;
  }
}

const [quote, backslash, comma] = ['"', "\\", ","].map((mark) => mark.charCodeAt(0));
const [brace, bracket, closing, closed] = ["{", "[", "}", "]"].map((mark) => mark.charCodeAt(0));

/** The brackets and commas outside strings. A bracket has the level of its contents. */
function* marksIn(json: string) {
  let level = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === quote) at = endOfText(json, at);
    else if (code === brace || code === bracket) yield { at, level: ++level, opens: true, closes: false };
    else if (code === closing || code === closed) yield { at, level: level--, opens: false, closes: true };
    else if (code === comma) yield { at, level, opens: false, closes: false };
  }
}

/** The end of a string: the next quote after an even number of backslashes. */
function endOfText(json: string, begin: number): number {
  for (let end = json.indexOf('"', begin + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let before = end;
    while (json.charCodeAt(before - 1) === backslash) before--;
    if ((end - before) % 2 === 0) return end;
  }
  return json.length;
}

/** Bodies of this size or more count as large. */
const large = 8_192;
let last: Promise<unknown> = Promise.resolve();

/** Waits before reading a large body, so that the event loop can answer other requests after each one. */
export function gapBefore(body: string): Promise<unknown> {
  return body.length < large ? Promise.resolve() : (last = last.then(nextRound));
}
