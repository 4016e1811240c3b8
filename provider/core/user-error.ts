import { type Props } from "./field";
import { messageOf } from "../plain";

/** An error for people, without a stack or internals. */
export class UserError extends Error {
  override readonly name: string = "UserError";
}

/** An error that all resources of a run share, such as a key of another organization. */
export class CommonError extends UserError {
  /** @param brief the short form, for all resources but the first */
  constructor(
    message: string,
    readonly brief: string,
  ) {
    super(message);
  }
}

/** It is unknown whether a change was made, or only a part of it. */
export class Unclear extends UserError {
  constructor(override readonly cause: unknown) {
    super(messageOf(cause));
  }
}

/**
 * The object exists but is not completely ready: its id and state must be kept.
 * The next update completes it.
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
