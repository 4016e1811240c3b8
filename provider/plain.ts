/* What a plain value is, for code that reads answers, states, plans and files. Imports nothing. */

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Its members; none if it is no object. */
export const fieldsOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

export const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
