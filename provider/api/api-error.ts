import { type ErrorCode } from "../errors";
import { messageOf } from "../plain";
import { printable } from "./printable";
import { isSilent } from "./refusal";
import { otherRegionOfKey, type Settings } from "./settings";

/**
 * The kind of failure of a call. Code decides by this, never by the message.
 * - `unsent`: no connection was made, so nothing happened there
 * - `lost`: sent, but no usable answer came back (reset, timeout, 408, 504, truncated JSON, an HTML page)
 * - `limited`: 425, 429 · `unavailable`: 503 · `server`: other 5xx, and a 404 or 410 that is not from the API
 * - `denied`: 401, 403 · `missing`: 404, 410 · `unsupported`: 405, 501
 * - `conflict`: 409, 412, 423 · `invalid`: other 4xx
 * - `partial`: a list that is known to be incomplete
 * A 2xx that contains a refusal is `invalid`, or `conflict` without a reason: see refusal.ts.
 */
export type ErrorKind =
  | "unsent"
  | "lost"
  | "limited"
  | "unavailable"
  | "server"
  | "denied"
  | "missing"
  | "unsupported"
  | "conflict"
  | "invalid"
  | "partial";

export interface ErrorFacts {
  kind: ErrorKind;
  /** Method and path, such as `PATCH /consortia/c1`. */
  call: string;
  /** HTTP status, if there was one. */
  status?: number;
  /** The service's own `errorMessage`, or what happened instead of an answer. */
  errorMessage: string;
  /** The service's own number of the request, for those who run it. */
  requestId?: string;
  /** How long the service asked us to wait. */
  retryAfterMs?: number;
  /** Neither the service nor a proxy answered in time: the service may still be working on it. */
  late?: boolean;
  /** Whether the service may have acted on it, because an attempt had no clear answer. Default: by the kind. */
  unclear?: boolean;
  /** The methods that the service has instead (`Allow`). */
  allow?: string;
  /** Something other than the API has answered. */
  isForeign?: boolean;
  /** The next step for the user. Default: `nextStep`. */
  next?: string;
  /** For a partial list: the elements that it has. */
  items?: unknown[];
  cause?: unknown;
}

/** The error of every failed call, made by `Http.error`. It never contains a key, a password or a body. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  declare readonly kind: ErrorKind;
  declare readonly call: string;
  declare readonly status?: number;
  declare readonly requestId?: string;
  declare readonly retryAfterMs?: number;
  declare readonly allow?: string;
  declare readonly next?: string;
  readonly code: ErrorCode;
  readonly errorMessage: string;
  readonly late: boolean;
  unclear: boolean;

  constructor(facts: ErrorFacts) {
    const { kind, call, status, requestId, retryAfterMs, allow, next } = facts;
    const errorMessage = printable(facts.errorMessage);
    const answered = status === undefined ? "" : `HTTP ${status}: `;
    const request = requestId === undefined ? "" : ` (Request ${requestId}.)`;
    super(`${next ? `${next} ` : ""}${call}: ${answered}${sentence(errorMessage)}${request}`, { cause: facts.cause });
    Object.assign(this, { kind, call, status, requestId, retryAfterMs, allow, next });
    this.code = codeOfFailure(facts);
    this.errorMessage = errorMessage;
    this.late = facts.late ?? false;
    this.unclear = facts.unclear ?? ["lost", "server", "unavailable"].includes(kind);
  }
}

/** Why no answer arrived: what a `Transport` throws. */
export class TransportError extends Error {
  override readonly name = "TransportError";
  constructor(
    readonly kind: Extract<ErrorKind, "unsent" | "lost">,
    message: string,
    cause: unknown,
    /** It timed out: the service may still be working on it. */
    readonly late = false,
  ) {
    super(message, { cause });
  }
}

/** An incomplete list: an object that is not in it may still exist. */
export class PartialList extends ApiError {
  readonly #items: unknown[];

  constructor(facts: ErrorFacts) {
    super(facts);
    this.#items = facts.items ?? [];
  }

  /** Its elements. Not shown with the error. */
  get items(): readonly unknown[] {
    return this.#items;
  }
}

/** The short form of a failure that affects every call alike. */
export function briefOf({ kind, status }: ApiError): string | undefined {
  if (status === 401) return "the API key was refused";
  return kind === "unsent" ? "the service cannot be reached" : undefined;
}

/** A failed call, without advice. */
export const briefly = (error: unknown): string => {
  if (!isApiError(error)) return messageOf(error);
  const { call, status, errorMessage } = error;
  return `${call}: ${status === undefined ? "" : `HTTP ${status}: `}${errorMessage}`;
};

export const isApiError = (error: unknown, ...kinds: ErrorKind[]): error is ApiError =>
  error instanceof ApiError && (kinds.length === 0 || kinds.includes(error.kind));

/** The answer, or `otherwise` after an error of one of these kinds. */
export async function answerOr<T, F>(answer: Promise<T>, otherwise: F, ...kinds: ErrorKind[]): Promise<T | F> {
  try {
    return await answer;
  } catch (error) {
    if (isApiError(error, ...kinds)) return otherwise;
    throw error;
  }
}

/** Adds a full stop unless the text has its own end punctuation. */
export const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

const statuses: Partial<Record<ErrorKind, readonly number[]>> = {
  denied: [401, 403],
  missing: [404, 410],
  unsupported: [405, 501],
  conflict: [409, 412, 423],
  lost: [408, 504],
  limited: [425, 429],
  unavailable: [503],
};

export const kindOfStatus = (status: number): ErrorKind =>
  (Object.keys(statuses) as ErrorKind[]).find((kind) => statuses[kind]!.includes(status)) ??
  (status >= 500 ? "server" : "invalid");

export const limitAdvice =
  "The organization has reached its limit: delete one that is not needed, or ask whoever runs the service for a higher limit.";

const codes = {
  unsent: "unreachable",
  lost: "answer-lost",
  limited: "too-many-calls",
  unavailable: "service-failed",
  server: "service-failed",
  denied: "not-allowed",
  missing: "not-found",
  unsupported: "unsupported",
  conflict: "conflict",
  invalid: "request-refused",
  partial: "partial-list",
} as const satisfies Record<ErrorKind, ErrorCode>;

/** Whether an answer shows that the address is not the API's. */
const isElsewhere = ({ isForeign, kind, call }: ErrorFacts): boolean =>
  isForeign === true || (kind === "missing" && call === "GET /consortia");

function codeOfFailure(facts: ErrorFacts): ErrorCode {
  if (isElsewhere(facts)) return "wrong-address";
  if (facts.status === 402) return "limit-reached";
  return facts.status === 401 ? "key-refused" : codes[facts.kind];
}

/** Next steps by kind of failure. */
export function nextStep(facts: ErrorFacts, settings: Settings): string {
  const { kind, status, retryAfterMs = 0 } = facts;
  const { apiKey, baseUrl, advice, proxy } = settings;
  if (isElsewhere(facts) || kind === "unsupported")
    return `Check that ${addressOf(settings)} is the address of the API.`;
  if (isSilent(facts)) return `Look for the reason in the console, then ${advice.again}.`;
  if (status === 402) return limitAdvice;
  switch (kind) {
    case "unsent":
      return (
        `The service at ${addressOf(settings)} cannot be reached: check the address, the network` +
        `${proxy ? `, ${proxy.source}, NO_PROXY` : ""} and that the service is running.`
      );
    case "denied": {
      const what = status === 401 ? "was refused" : "is not allowed to do this";
      const other = status === 401 ? otherRegionOfKey(settings) : undefined;
      const hint = other && ` The key's id is from region ${other}, but the region is set to ${settings.region}.`;
      return `The API key from ${apiKey.source} ${what} (${baseUrl}): ${advice.replaceKey(apiKey)}${hint ?? ""}`;
    }
    case "missing":
      return `Check the key first: either it was deleted, or the API key from ${apiKey.source} belongs to another organization.`;
    case "conflict":
      return `Once nothing else changes or uses it, ${advice.again}.`;
    case "invalid":
      return `${advice.correct}, then ${advice.again}.`;
    case "partial":
      return "Ask whoever runs the service to show the whole list, or to name the next page in a Link header (RFC 8288).";
    case "lost":
    case "server":
    case "unavailable":
    case "limited":
      if (retryAfterMs > 60_000)
        return `The service asks to wait for ${Math.ceil(retryAfterMs / 60_000)} minutes: then ${advice.again}.`;
      return `The service at ${baseUrl} may be having problems: ${advice.again} later.`;
  }
}

const addressOf = ({ baseUrl, baseUrlSource }: Settings): string => `${baseUrl} (from ${baseUrlSource})`;
