import { Output } from "@pulumi/pulumi";
import { type Path } from "./problems";
import { cycleText, type Found, isReserved, mostValues, type Reading, reservedText, tooManyText } from "./reading";

const later =
  "the value is known only later (an Output or a Promise), but a definition has to be known at once: give a plain value, or use the resource classes for this part";

function kindOf(value: object): string | undefined {
  if (Output.isInstance(value) || value instanceof Promise) return later;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value) || prototype === null || prototype === Object.prototype) return undefined;
  return "only plain objects, lists, text, numbers and booleans belong in a definition";
}

/** Copies a definition that the program gives, so that nothing but plain data is left of it. */
export function readData(given: unknown): Reading {
  const found: Found[] = [];
  const open = new Set<object>();
  let count = 0;

  const copy = (value: unknown, path: Path): unknown => {
    if (++count > mostValues) {
      if (count === mostValues + 1) found.push({ path: [], message: tooManyText });
      return undefined;
    }
    if (typeof value !== "object" || value === null) {
      if (["function", "symbol", "bigint"].includes(typeof value))
        found.push({ path, message: `a ${typeof value} is no plain value` });
      return value;
    }
    const wrong = open.has(value) ? cycleText : kindOf(value);
    if (wrong !== undefined) {
      found.push({ path, message: wrong });
      return undefined;
    }
    open.add(value);
    const made = Array.isArray(value) ? value.map((item, index) => copy(item, [...path, index])) : record(value, path);
    open.delete(value);
    return made;
  };

  const record = (value: object, path: Path): Record<string, unknown> => {
    const made: Record<string, unknown> = {};
    for (const [key, inner] of Object.entries(value)) {
      if (inner === undefined) continue;
      if (isReserved(key)) found.push({ path: [...path, key], message: reservedText(key), atKey: true });
      else made[key] = copy(inner, [...path, key]);
    }
    return made;
  };

  return { value: copy(given, []), found, position: () => undefined };
}
