import type { z, ZodError } from "zod";

/** An error that answers a request: a status, and the message as `{ errorMessage }`. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The service cannot start, or a setting is not valid. The message is one sentence for people. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
}

const full = new Set<unknown>(["ENOSPC", "EDQUOT", "EFBIG", "EROFS"]);

/** Whether an error says that a file system is full or read-only. */
export const isFull = (error: unknown) => error instanceof Error && "code" in error && full.has(error.code);

/** The issues that zod found, on one line: `timing.nodeStart: Too small: expected number to be >=0; …`. */
export function explain(error: ZodError): string {
  return error.issues
    .map((issue) => (issue.path.length > 0 ? `${issue.path.map(String).join(".")}: ${issue.message}` : issue.message))
    .join("; ");
}

/** Validates a value. Throws one sentence that says what is wrong with it. */
export function checked<T extends z.ZodType>(what: string, rules: T, value: unknown): z.output<T> {
  const result = rules.safeParse(value);
  if (!result.success) throw new ServiceError(`${what}: ${explain(result.error)}`);
  return result.data;
}
