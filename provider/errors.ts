import { messageOf } from "./plain";

/*
 * Everything that can go wrong for a user. `npm run generate` makes docs/troubleshooting.md of it, in this order: how likely one meets
 * it. A code never changes, because pipelines compare it.
 */

interface Problem {
  /** Why one meets it. */
  cause: string;
  /** What to do. */
  fix: string;
}

export const problems = {
  "no-key": {
    cause: "No API key is set.",
    fix: "Set `CONSORTIUM_API_KEY`, or run `pulumi config set --secret consortium:apiKey`.",
  },
  "key-refused": {
    cause: "The API key is wrong or revoked.",
    fix: "Set `CONSORTIUM_API_KEY`. `destroy` and `refresh` use the key of the last `up`: add `--run-program`.",
  },
  "name-taken": {
    cause: "Another object has this name.",
    fix: "Choose another name, or set `adopt: true`. [Other cases](#a-name-that-is-taken).",
  },
  "unknown-argument": { cause: "An argument is misspelled.", fix: "Correct it." },
  "missing-argument": {
    cause: "An argument is required.",
    fix: "Give it: of a parent its id (`membershipId`), or in TypeScript the resource.",
  },
  "invalid-argument": {
    cause: "A value cannot be used.",
    fix: "Correct it. If a new value is meant, [say so](settings.md).",
  },
  "invalid-file": { cause: "A file is missing or wrong.", fix: "Correct it." },
  "limit-reached": {
    cause: "The plan allows no more.",
    fix: "Delete an object, or ask for more.",
  },
  "not-ready": {
    cause: "The object was not ready in time (`customTimeouts`).",
    fix: "Run `pulumi up` again: it goes on waiting.",
  },
  "object-failed": {
    cause: "The object failed in the service.",
    fix: "Look at [its log](recovery.md#a-node-that-failed), then replace it.",
  },
  unreachable: {
    cause: "Wrong address, service down, or a proxy.",
    fix: "Correct the address, `HTTPS_PROXY` (`http://me:secret@proxy:3128`) or `NO_PROXY`.",
  },
  "wrong-address": {
    cause: "Something other than the API answers.",
    fix: "Correct the base URL. It ends in `/api/v1`.",
  },
  "wrong-organization": {
    cause: "Key, provider or `consortium:organization` are of another organization.",
    fix: "`unset CONSORTIUM_API_KEY`, or use the key of [the right organization](recovery.md#the-right-organization).",
  },
  "unclear-organization": {
    cause: "Nothing shows whose the key is.",
    fix: "[What to do](recovery.md#the-right-organization).",
  },
  "not-allowed": { cause: "The key may not do this.", fix: "Ask your administrator." },
  "not-found": { cause: "The object does not exist, or this key cannot see it.", fix: "Check the id and the key." },
  "answer-lost": { cause: "No usable answer came.", fix: "Run it again: nothing is created twice." },
  "service-failed": { cause: "The service has problems.", fix: "Try again later." },
  "too-many-calls": {
    cause: "The service wants fewer calls.",
    fix: "Lower `consortium:maxConcurrency`.",
  },
  "request-refused": { cause: "The service refuses a value.", fix: "Correct what the error names." },
  conflict: { cause: "Something else changes it.", fix: "Run again afterwards." },
  "stack-locked": {
    cause: "Another run has the stack.",
    fix: "Wait. If it was killed, run `pulumi cancel`.",
  },
  "loses-ledger": { cause: "A stack would lose a ledger.", fix: "If meant: `--allow-ledger-loss <stack>`." },
  "policy-violated": { cause: "A policy forbids it.", fix: "Change what it names." },
  "stack-of-others": {
    cause: "The stack is another fleet's, or nobody's.",
    fix: "[Take it over](fleet.md#the-fleet-of-a-stack).",
  },
  "unknown-setting": { cause: "A setting is misspelled.", fix: "Remove it with `pulumi config rm`." },
  "invalid-setting": { cause: "A setting has an unusable value.", fix: "Correct it where the error says." },
  "clear-text": {
    cause: "The key would be readable on the way.",
    fix: "Use `https://`; in a trusted network, `consortium:allowHttp: true`.",
  },
  "not-empty": {
    cause: "The object contains or serves what is not in this stack.",
    fix: "Delete that first, or leave it to others: `pulumi state delete`.",
  },
  "not-deleted": {
    cause: "The service does not delete the object.",
    fix: "Delete it in the console, then run `pulumi refresh`.",
  },
  "cannot-change": {
    cause: "The service cannot change this property.",
    fix: "Restore the old value, or use the console, then `pulumi refresh`.",
  },
  "cannot-adopt": {
    cause: "The object differs from the program, or several fit.",
    fix: "Adopt one by its id, or choose another name.",
  },
  "managed-twice": {
    cause: "Another resource has the same object.",
    fix: "Give each its own name, or use `aliases`.",
  },
  "deleted-outside": { cause: "Somebody deleted the object.", fix: "`pulumi up --refresh` makes it again." },
  "not-listed": {
    cause: "Nothing proves that the object is gone.",
    fix: "Run it again, or set `CONSORTIUM_CONFIRM_DELETED`.",
  },
  "partial-list": { cause: "A list is incomplete.", fix: "Ask whoever runs it." },
  "unclear-create": {
    cause: "It is unclear what was created.",
    fix: "Look at the objects in the error, then adopt one by its id.",
  },
  "unclear-change": {
    cause: "Perhaps the object was changed.",
    fix: "`pulumi up` finds out.",
  },
  "step-failed": { cause: "Another resource failed first.", fix: "Correct its error." },
  interrupted: { cause: "The run was cancelled.", fix: "Run it again." },
  "no-funds": { cause: "The account cannot pay. Nothing was spent.", fix: "Send money." },
  "unclear-deployment": {
    cause: "Perhaps the contract was deployed.",
    fix: "Look for it, then [say what you found](tethers.md#when-the-outcome-is-unknown).",
  },
  "tether-failed": {
    cause: "The service refused a step of the tether.",
    fix: "Correct what the error names.",
  },
  unsupported: { cause: "The service lacks the call.", fix: "Use the console." },
  "port-taken": {
    cause: "Another program has the port.",
    fix: "Use the service there, or another `--port`.",
  },
  "folder-in-use": {
    cause: "Another service uses the folder.",
    fix: "Use that one, or another `--data`.",
  },
  "data-damaged": {
    cause: "A file of the data folder is missing or changed.",
    fix: "Restore [a backup](service.md#the-data-folder).",
  },
  "not-installed": { cause: "Something is missing.", fix: "Install it." },
  "pulumi-failed": { cause: "Pulumi failed.", fix: "Correct what it says." },
  "wrong-version": { cause: "Program, plugin or state have different versions.", fix: "Install the same version." },
} as const satisfies Record<string, Problem>;

export type ErrorCode = keyof typeof problems;

const isCode = (code: unknown): code is ErrorCode => typeof code === "string" && Object.hasOwn(problems, code);

/** The code of an error. undefined: it is none for users. */
export function codeOf(error: unknown): ErrorCode | undefined {
  const { code } = Object(error) as { code?: unknown };
  return isCode(code) ? code : undefined;
}

export const hasCode = (error: unknown, ...codes: ErrorCode[]): error is UserError =>
  error instanceof UserError && codes.includes(error.code);

/** An error's text with its code and where that is explained, as users see it. */
export function coded(text: string, code: ErrorCode | undefined): string {
  if (code === undefined) return text;
  return `${text}${text.includes("\n") ? "\n" : " "}[${code}: docs/troubleshooting.md#${code}]`;
}

/** Why a value is refused, as users see it. */
export const reasonShown = ({ reason, code = "invalid-argument" }: { reason: string; code?: ErrorCode }): string =>
  coded(reason, code);

/** The first code in a text that users have seen, such as Pulumi's output. */
export const codeIn = (text: string): ErrorCode | undefined =>
  Array.from(text.matchAll(/\[([a-z-]+)(?:: docs\/\S+)?\]/g), ([, code]) => code).find(isCode);

export function codedMessage(error: unknown): string {
  const text = messageOf(error);
  return codeIn(text) ? text : coded(text, codeOf(error));
}

export interface ErrorDetails {
  /** The short form of an error that all resources of a run share: for all but the first. */
  brief?: string;
  /** In words that can follow "because", for the error of what depends on it. */
  why?: string;
  /** It is unknown whether a change was made, or only a part of it. */
  unclear?: boolean;
  cause?: unknown;
}

/** An error for people, without a stack or internals. */
export class UserError extends Error {
  override readonly name: string = "UserError";
  readonly brief?: string;
  readonly why?: string;
  readonly unclear: boolean;

  constructor(
    readonly code: ErrorCode,
    message: string,
    { brief, why, unclear = false, cause }: ErrorDetails = {},
  ) {
    super(message, { cause });
    this.brief = brief;
    this.why = why;
    this.unclear = unclear;
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
    readonly state: Record<string, unknown>,
    cause: unknown,
  ) {
    super(codeOf(cause) ?? "not-ready", messageOf(cause), { cause });
  }
}

/** Marks an error of a change that may have been made. */
export const unclear = (cause: unknown): UserError =>
  new UserError(codeOf(cause) ?? "unclear-change", messageOf(cause), { cause, unclear: true });

/** Whether a change that failed so may have been made. */
export const isUnclear = (error: unknown): error is UserError => error instanceof UserError && error.unclear;
