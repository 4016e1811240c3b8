import { type ErrorKind } from "./api-error";

/** In a file of its own, so that a process without requests does not load undici. */
export class TransportError extends Error {
  override readonly name = "TransportError";
  constructor(
    readonly kind: Extract<ErrorKind, "unsent" | "lost">,
    message: string,
    cause: unknown,
    /** It timed out: the service may still be working on it. */
    readonly late = false,
    /** What the user can do next. */
    readonly next?: string,
  ) {
    super(message, { cause });
  }
}
