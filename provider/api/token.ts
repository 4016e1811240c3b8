import { z } from "zod";
import { kindOfStatus } from "./api-error";
import { type Clock } from "./clock";
import { type ApiKey } from "./settings";
import { type WireAnswer } from "./transport";

/** A token is requested at most once in this many calls, so short runs make no extra call. */
const callsBefore = 100;
/** Lifetime of a token that does not state it (s). */
const usualLifetime = 3_600;
/** Tokens with a shorter lifetime are not used (s). */
const leastLifetime = 120;
/** A token is renewed after this share of its lifetime. */
const renewedAt = 0.9;
/** After this many refused tokens, only the key is used: this service does not accept its own tokens everywhere. */
const mostRefused = 2;

const claims = z.object({
  iat: z.number().optional().catch(undefined),
  exp: z.number().optional().catch(undefined),
  orgs: z.array(z.unknown()).optional().catch(undefined),
});

/** The claims of a token (JWT). They are hints: the service decides what it accepts. */
function claimsOf(token: string): z.infer<typeof claims> {
  try {
    return claims.parse(JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()));
  } catch {
    return {};
  }
}

/** The token in an answer, and its lifetime (ms). undefined: no usable token. */
function tokenIn({ status, text }: WireAnswer): { token: string; lifetimeMs: number } | undefined {
  if (status < 200 || status >= 300) return undefined;
  try {
    const { token } = z.object({ token: z.string().regex(/^[\x21-\x7e]{16,}$/) }).parse(JSON.parse(text));
    const { iat = Date.now() / 1000, exp, orgs } = claimsOf(token);
    const lifetime = exp === undefined ? usualLifetime : exp - iat;
    // With a token for several organizations, lists might show more than with the key, which acts for one.
    if (lifetime < leastLifetime || (orgs && orgs.length !== 1)) return undefined;
    return { token, lifetimeMs: lifetime * 1000 };
  } catch {
    return undefined;
  }
}

const passes = (status: number): boolean => ["limited", "unavailable", "server", "lost"].includes(kindOfStatus(status));

/**
 * The credential of each call: the key, or in a long run a token, which costs the service less work. Not in the
 * specification. Only the call that asks for a token waits for it; others send the key meanwhile.
 */
export class Bearer {
  #calls = 0;
  #held?: { token: string; renewAt: number; endsAt: number };
  #refused = 0;
  #isAsking = false;
  /** Whether the service has no tokens for this key. */
  #hasNone = false;

  constructor(
    private readonly key: ApiKey,
    private readonly clock: Clock,
  ) {}

  /** The credential for the next call. @param ask asks the service for a token */
  async next(ask: () => Promise<WireAnswer>): Promise<string> {
    const now = this.clock.now();
    const isDue = ++this.#calls > callsBefore && now >= (this.#held?.renewAt ?? 0);
    if (isDue && !this.#isAsking && !this.#hasNone) await this.#ask(ask, now);
    const held = this.#held;
    return held && this.clock.now() < held.endsAt ? held.token : this.key.reveal();
  }

  /** A call was refused (401). @returns the key, if the call was sent with a token: then it may be sent again */
  refused(sent: string): string | undefined {
    const key = this.key.reveal();
    if (sent === key) return undefined;
    if (sent === this.#held?.token) {
      this.#held = undefined;
      this.#hasNone = ++this.#refused >= mostRefused;
    }
    return key;
  }

  async #ask(ask: () => Promise<WireAnswer>, askedAt: number): Promise<void> {
    this.#isAsking = true;
    this.#calls = 0;
    const answer = await ask().catch(() => undefined);
    this.#isAsking = false;
    const found = answer && tokenIn(answer);
    if (found) {
      const { token, lifetimeMs } = found;
      this.#held = { token, renewAt: askedAt + lifetimeMs * renewedAt, endsAt: askedAt + lifetimeMs };
    } else if (answer && !passes(answer.status)) {
      this.#hasNone = true;
    }
  }
}
