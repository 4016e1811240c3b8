import type { ZodError } from "zod";

/** A request that is answered with an error: `{ errorMessage }` and a status. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The service cannot start (or a setting is not valid); the message is one sentence for a person. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
}

/** What zod found, on one line: `timing.nodeStart: Too small: expected number to be >=0; …`. */
export function explain(error: ZodError): string {
  return error.issues
    .map((issue) => (issue.path.length > 0 ? `${issue.path.map(String).join(".")}: ${issue.message}` : issue.message))
    .join("; ");
}
