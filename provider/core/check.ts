import { type z } from "zod";
import { type Definition, type Issue, type Props } from "./definition";

export interface Checked {
  inputs: Props;
  issues: Issue[];
}

/** Property names that a Pulumi host adds. */
const isInternal = (key: string): boolean => key.startsWith("__");

/**
 * Validates inputs by property, with no call. Unknown values (of a preview) are let through as they are.
 * Defaults are filled in, so that state and policies see them.
 */
export function check(definition: Definition, news: Props, isUnknown: (value: unknown) => boolean): Checked {
  const inputs: Props = {};
  const issues: Issue[] = [];
  const shape = definition.inputs.shape as Record<string, z.ZodType>;
  for (const [key, schema] of Object.entries(shape)) {
    const value = news[key];
    if (value !== undefined && isUnknown(value)) {
      inputs[key] = value;
      continue;
    }
    const result = schema.safeParse(value ?? undefined);
    if (!result.success) {
      issues.push(
        ...result.error.issues.map((issue) => ({ property: [key, ...issue.path].join("."), reason: issue.message })),
      );
    } else if (result.data !== undefined) {
      inputs[key] = result.data;
    }
  }
  for (const key of Object.keys(news)) {
    if (key in shape || isInternal(key) || news[key] === undefined || news[key] === null) continue;
    const known = Object.keys(shape).filter((name) => name !== "customTimeouts");
    const reason = `${definition.type} has no argument "${key}". Its arguments are ${known.join(", ")}; fields beyond these go into extra.`;
    issues.push({ property: key, reason });
  }
  const known = Object.fromEntries(Object.entries(inputs).filter(([, value]) => !isUnknown(value)));
  if (issues.length === 0) issues.push(...(definition.rules?.(known) ?? []));
  return { inputs, issues };
}
