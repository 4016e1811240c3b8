import type { z } from "zod";
import { explain, ServiceError } from "../errors";

/** Checks what a caller gave, and says in one sentence what is wrong with it. */
export function checked<T extends z.ZodType>(what: string, rules: T, value: unknown): z.output<T> {
  const result = rules.safeParse(value);
  if (!result.success) throw new ServiceError(`${what}: ${explain(result.error)}`);
  return result.data;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Settings with a change laid over them; a field given as undefined is not a change. */
export function overlay(base: unknown, change: unknown): unknown {
  if (change === undefined) return base;
  if (!isObject(base) || !isObject(change)) return change;
  const changed = Object.entries(change).map(([name, value]) => [name, overlay(base[name], value)]);
  return { ...base, ...(Object.fromEntries(changed) as object) };
}
