import { type Props } from "./field";

/** An error for people, complete as it is: no stack, no internals. */
export class UserError extends Error {
  override readonly name: string = "UserError";
}

/** One that every resource of a run meets alike, such as a key of another organization. */
export class CommonError extends UserError {
  /** @param brief what is wrong, for all resources but the first */
  constructor(
    message: string,
    readonly brief: string,
  ) {
    super(message);
  }
}

/**
 * The object exists, but is not (wholly) ready: its id and state must be kept.
 * The next update goes on from here.
 */
export class Incomplete extends UserError {
  override readonly name = "Incomplete";
  constructor(
    readonly id: string,
    readonly state: Props,
    cause: unknown,
  ) {
    super(messageOf(cause), { cause });
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
