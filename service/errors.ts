import { inspect } from "node:util";
import type { z, ZodError } from "zod";

/** An error that answers a request: a status, and the message as `{ errorMessage }`. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  constructor(
    readonly status: number,
    message: string,
    /** After how many seconds the call may be repeated, if that helps. */
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

/** What can go wrong for whoever runs the service: some of the codes that docs/troubleshooting.md explains. */
export type ErrorCode = "invalid-setting" | "port-taken" | "folder-in-use" | "data-damaged" | "conflict";

/** The service cannot start, or a setting is not valid. The message is one sentence for people. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: ErrorCode;
  constructor(message: string, { code = "invalid-setting", cause }: { code?: ErrorCode; cause?: unknown } = {}) {
    super(message, { cause });
    this.code = code;
  }
}

/** An error as people see it: with its code, and where that is explained. */
export function codedMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return error instanceof ServiceError ? `${text} [${error.code}: docs/troubleshooting.md#${error.code}]` : text;
}

/** A file of the data folder is missing, cut off or changed. */
export class Damaged extends ServiceError {
  constructor(
    /** Which file, and what is wrong with it. */
    readonly what: string,
  ) {
    super(`${what}. Nothing was changed. Restore the data folder from a backup, or start over with an empty one.`, {
      code: "data-damaged",
    });
  }
}

const full = new Set<unknown>(["ENOSPC", "EDQUOT", "EFBIG", "EROFS"]);

/** Whether an error says that a file system is full or read-only. */
export const isFull = (error: unknown) => error instanceof Error && "code" in error && full.has(error.code);

/** The response to a change that could not be written. @param what such as "This cannot be written" */
export function unwritten(what: string, error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const why = (error as Error).message;
  return new Refusal(507, `${what}, so nothing was changed: ${why}. Free up space there.`);
}

const named = 5;

/** The issues that zod found, on one line: `timing.nodeStart: Too small: expected number to be >=0; …`. */
export function explain({ issues }: ZodError): string {
  const first = issues
    .slice(0, named)
    .map((issue) => (issue.path.length > 0 ? `${issue.path.map(String).join(".")}: ${issue.message}` : issue.message));
  return [...first, ...(issues.length > named ? [`and ${issues.length - named} more`] : [])].join("; ");
}

/** Reports unexpected errors with their stack. */
export const reporter = (warn: (text: string) => void) => (error: unknown) => {
  const stack = error instanceof Error ? error.stack : undefined;
  warn(`A call failed with an unexpected error, and the service continues: ${stack ?? inspect(error)}`);
};

/** Validates a value. Throws one sentence with its problems. */
export function checked<T extends z.ZodType>(what: string, rules: T, value: unknown): z.output<T> {
  const result = rules.safeParse(value);
  if (!result.success) throw new ServiceError(`${what}: ${explain(result.error)}`);
  return result.data;
}
