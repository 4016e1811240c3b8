import { type Path, type Problem, type Reading } from "./problems";

/** Values that a definition may hold, aliases, merges and shared objects counted each time: a network has some hundred. */
const mostValues = 100_000;

/** Nobody nests that deep; parsers call themselves for each level, and would end the process. */
export const mostLevels = 200;

export const tooDeepText = "it is nested too deeply";
export const cycleText = "it contains itself";

/** More than anybody means: too many values, too many levels. */
export class TooMuch extends Error {
  constructor(
    message: string,
    /** The value or node that is one too many, or its place in the text. */
    readonly at: unknown,
  ) {
    super(message);
  }
}

/** @throws TooMuch */
export function refuseMore(count: number, at: unknown): void {
  if (count <= mostValues) return;
  throw new TooMuch(`the definition has more than ${mostValues} values, aliases and merges counted each time`, at);
}

/** What a value is: a list or a mapping, with the object that tells it from others, or else a plain value. */
export type Opened =
  | { plain: unknown }
  | { itself: object; items: readonly unknown[] }
  | { itself: object; entries: Iterable<readonly [string, unknown]>; merged?: number };

/**
 * Copies a definition, so that nothing but plain data is left of it and no part of it is shared.
 * @param open says what a value is, and why it is none (undefined then)
 * @throws TooMuch
 */
export function copyOf(
  root: unknown,
  open: (value: unknown, path: Path) => Opened | undefined,
  problems: Problem[],
): unknown {
  const above = new Set<object>();
  let count = 0;

  const copy = (value: unknown, path: Path): unknown => {
    const opened = open(value, path);
    if (!opened) return undefined;
    count += 1 + ("entries" in opened ? (opened.merged ?? 0) : 0);
    refuseMore(count, value);
    if ("plain" in opened) return opened.plain;
    if (above.size > mostLevels) throw new TooMuch(tooDeepText, value);
    if (above.has(opened.itself)) return void problems.push({ path, message: cycleText });
    above.add(opened.itself);
    const made =
      "items" in opened ? opened.items.map((item, index) => copy(item, [...path, index])) : record(opened, path);
    above.delete(opened.itself);
    return made;
  };

  const record = ({ entries }: { entries: Iterable<readonly [string, unknown]> }, path: Path) => {
    const made: Record<string, unknown> = {};
    for (const [key, inner] of entries) {
      if (key in Object.prototype) {
        const message = `"${key}" cannot be a key: JavaScript uses that name itself. Choose another one`;
        problems.push({ path: [...path, key], message, atKey: true });
      } else if (inner !== undefined) made[key] = copy(inner, [...path, key]);
    }
    return made;
  };

  return copy(root, []);
}

const laterText =
  "the value is known only later (an Output or a Promise), but a definition must be known immediately: use a plain value, or use the resource classes for this part";

/** Whether a value is an Output: programs tell that with Pulumi's SDK, which the fleet, that reads files only, never loads. */
export type IsOutput = (value: unknown) => boolean;

function whyNotPlain(value: unknown, isOutput: IsOutput): string | undefined {
  if (["function", "symbol", "bigint"].includes(typeof value)) return `a ${typeof value} is not a plain value`;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return undefined;
  if (value instanceof Promise || isOutput(value)) return laterText;
  return "only plain objects, lists, text, numbers and booleans belong in a definition";
}

/** Reads a definition that the program gives. */
export function readData(given: unknown, isOutput: IsOutput): Reading {
  const problems: Problem[] = [];
  const open = (value: unknown, path: Path): Opened | undefined => {
    const message = whyNotPlain(value, isOutput);
    if (message !== undefined) return void problems.push({ path, message });
    if (typeof value !== "object" || value === null) return { plain: value };
    return Array.isArray(value) ? { itself: value, items: value } : { itself: value, entries: Object.entries(value) };
  };
  try {
    return { value: copyOf(given, open, problems), problems };
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error;
    return { value: undefined, problems: [{ path: [], message: error.message }] };
  }
}
