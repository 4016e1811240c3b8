import { type Path, type Problem, type Reading } from "./problems";

/** Maximum number of values in a definition; each use of an alias counts. A usual network has a few hundred. */
const mostValues = 100_000;

/** Far deeper than any real definition. Recursion beyond it could overflow the stack. */
export const mostLevels = 200;

const laterText =
  "the value is known only later (an Output or a Promise), but a definition must be known immediately: use a plain value, or use the resource classes for this part";

/** Whether a value is an Output. Programs pass it from Pulumi's SDK, which the fleet never loads because it only reads files. */
export type IsOutput = (value: unknown) => boolean;

function whyNotPlain(value: unknown, isOutput: IsOutput): string | undefined {
  if (["function", "symbol", "bigint"].includes(typeof value)) return `a ${typeof value} is not a plain value`;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return undefined;
  if (value instanceof Promise || isOutput(value)) return laterText;
  return "only plain objects, lists, text, numbers and booleans belong in a definition";
}

/** Copies a definition as plain data, with Outputs only where they are allowed. The copies share nothing with each other. */
export function readData(
  given: unknown,
  isOutput: IsOutput = () => false,
  mayBeOutput: (path: Path) => boolean = () => false,
): Reading {
  const problems: Problem[] = [];
  const above = new Set<object>();
  let count = 0;

  const copy = (value: unknown, path: Path): unknown => {
    const wrong = (message: string): undefined => void problems.push({ path, message });
    count += 1;
    if (count > mostValues) return undefined;
    if (isOutput(value) && mayBeOutput(path)) return value;
    const reason = whyNotPlain(value, isOutput);
    if (reason !== undefined) return wrong(reason);
    if (typeof value !== "object" || value === null) return value;
    if (above.has(value)) return wrong("it contains itself");
    if (above.size > mostLevels) return wrong("it is nested too deeply");
    above.add(value);
    const made = Array.isArray(value) ? value.map((item, at) => copy(item, [...path, at])) : record(value, path);
    above.delete(value);
    return made;
  };

  const record = (given: object, path: Path): Record<string, unknown> => {
    const made: Record<string, unknown> = {};
    for (const [key, inner] of Object.entries(given)) {
      if (key in Object.prototype) {
        const message = `"${key}" cannot be a key: JavaScript uses that name itself. Choose another one`;
        problems.push({ path: [...path, key], message, atKey: true });
      } else if (inner !== undefined) made[key] = copy(inner, [...path, key]);
    }
    return made;
  };

  const value = copy(given, []);
  if (count <= mostValues) return { value, problems };
  const message = `the definition has more than ${mostValues} values, aliases and merges counted each time`;
  return { value: undefined, problems: [{ path: [], message }] };
}
