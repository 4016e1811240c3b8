import { type ApiError } from "./api-error";

/** When a call may be repeated: always, or only if the service certainly has not acted on it. */
export type Repeatable = "freely" | "unless accepted";

export interface Tried {
  /** Attempts that failed in this way so far, from 1. */
  attempt: number;
  /** Milliseconds since the first of them began. */
  elapsedMs: number;
  /** Whether the service has answered anything before. If not, the address may be wrong, which should be reported soon. */
  reached: boolean;
}

const patienceMs = { unreached: 8_000, reached: 30_000, limited: 10 * 60_000 };
const mostAttempts = 6;
/** The longest `Retry-After` to wait for. */
export const longestWaitMs = patienceMs.limited;

/** Doubling from 250 ms to 8 s, with a quarter of jitter so that siblings do not come back together. */
export const backoffMs = (attempt: number, random = Math.random): number =>
  Math.round(Math.min(250 * 2 ** (attempt - 1), 8_000) * (0.75 + random() * 0.5));

/**
 * Milliseconds to wait before the next attempt, or undefined to give up.
 * A create (`unless accepted`) is repeated here only if the service certainly did not accept it: 425, 429, or no connection. Any other call
 * is also repeated after 408, every 5xx but 501, a lost connection, and what is not from the API: a 2xx, 404 or 410 without JSON.
 */
export function retryDelay(error: ApiError, repeatable: Repeatable, tried: Tried): number | undefined {
  const delay = Math.max(error.retryAfterMs ?? 0, backoffMs(tried.attempt));
  const within = (limit: number): number | undefined => (tried.elapsedMs + delay <= limit ? delay : undefined);
  const whileAway = within(tried.reached ? patienceMs.reached : patienceMs.unreached);
  switch (error.kind) {
    case "limited":
      return within(patienceMs.limited);
    case "unsent":
      return whileAway;
    case "unavailable":
      if (repeatable !== "freely") return undefined;
      return within(error.retryAfterMs === undefined ? patienceMs.reached : patienceMs.limited);
    case "lost":
    case "server":
      if (repeatable !== "freely" || delay > longestWaitMs) return undefined;
      if (tried.attempt < mostAttempts) return delay;
      // A proxy closes each connection at once while the service behind it is away.
      return error.kind === "lost" ? whileAway : undefined;
    default:
      return undefined;
  }
}

/** Milliseconds from a `Retry-After` header: seconds, or an HTTP date by the clock of the service. @param date its `Date` header */
export function retryAfterMs(header: string | undefined, date: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  const now = date === undefined ? NaN : Date.parse(date);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - (Number.isNaN(now) ? Date.now() : now);
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
