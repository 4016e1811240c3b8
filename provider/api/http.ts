import pLimit from "p-limit";
import { type Clock, type Deadline, systemClock } from "./clock";
import { type ApiError, apiError, checkAddress, type ErrorFacts, isApiError, kindOfStatus } from "./api-error";
import { type Repeatable, retryAfterMs, retryDelay } from "./retry";
import { type Settings } from "./settings";
import { type Transport, TransportError, type WireAnswer } from "./transport";
import { version } from "../version";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

export interface CallOptions {
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  /** For a POST that may be sent twice without harm, such as setting a value. Default: all but POST. */
  repeatable?: Repeatable;
}

export interface HttpOptions {
  transport?: Transport;
  clock?: Clock;
  /** Told before each wait for another attempt. */
  onRetry?: (error: ApiError, delayMs: number) => void;
}

/** What a request gave: the status and the parsed body, undefined where there was none. */
export interface Answer {
  status: number;
  body: unknown;
}

/** What all calls to one service share, whatever time each of them has. */
interface Connections {
  limit: ReturnType<typeof pLimit>;
  transport?: Transport;
  /** Whether the service has ever answered. */
  reached: boolean;
}

/** So much a read gets even at the deadline: the last look is worth it. */
const lastLookMs = 1_000;

/** The one request path: every call of the product goes through `request`. */
export class Http {
  readonly #clock: Clock;

  constructor(
    readonly settings: Settings,
    private readonly options: HttpOptions = {},
    private readonly connections: Connections = {
      limit: pLimit(settings.maxConcurrency),
      transport: options.transport,
      reached: false,
    },
    private readonly deadline?: Deadline,
  ) {
    this.#clock = options.clock ?? systemClock;
  }

  /** The same connections for calls that end at the deadline: none is repeated beyond it. */
  until(deadline: Deadline): Http {
    return new Http(this.settings, this.options, this.connections, deadline);
  }

  /** @throws ApiError for everything but an answer 2xx whose body is empty or JSON. */
  async request(method: Method, path: string, options: CallOptions = {}): Promise<Answer> {
    const repeatable = options.repeatable ?? (method === "POST" ? "unless taken" : "freely");
    const start = this.#clock.now();
    for (let attempt = 1; ; attempt++) {
      try {
        // The wait between attempts is outside of the limit: a sleeping call is not in flight.
        return await this.connections.limit(() => this.#once(method, path, options));
      } catch (error) {
        if (!isApiError(error)) throw error;
        const tried = { attempt, elapsedMs: this.#clock.now() - start, reached: this.connections.reached };
        const delay = retryDelay(error, repeatable, tried);
        if (delay === undefined) throw error;
        if (this.#clock.now() + delay > (this.deadline?.at ?? Infinity)) throw this.#outOfTime(error);
        this.options.onRetry?.(error, delay);
        await this.#clock.sleep(delay);
      }
    }
  }

  async close(): Promise<void> {
    await this.connections.transport?.close();
  }

  /** undici is loaded with the first request: most runs of the program itself never make one. */
  async #transport(): Promise<Transport> {
    const { UndiciTransport } = await import("./undici-transport.js");
    return (this.connections.transport ??= new UndiciTransport(this.settings));
  }

  /** What a read waits for is lost with the time; what changes something is heard out, or nobody would know what it did. */
  #timeoutMs(method: Method): number {
    const whole = Math.round(this.settings.requestTimeout * 1000); // timers take whole milliseconds
    if (method !== "GET" || !this.deadline) return whole;
    return Math.min(whole, Math.max(lastLookMs, Math.round(this.deadline.at - this.#clock.now())));
  }

  #outOfTime(error: ApiError): ApiError {
    const { kind, call, status, errorMessage, retryAfterMs, late, next } = error;
    const over = `${errorMessage.replace(/[.\s]*$/, "")}; no time is left to try again: the limit is ${this.deadline!.limit} (customTimeouts)`;
    return apiError(this.settings, { kind, call, status, errorMessage: over, retryAfterMs, late, next, cause: error });
  }

  async #once(method: Method, path: string, { query, body }: CallOptions): Promise<Answer> {
    const call = `${method} ${path}`;
    const fail = (facts: Omit<ErrorFacts, "call">): ApiError => apiError(this.settings, { call, ...facts });
    let answer: WireAnswer;
    try {
      answer = await (this.connections.transport ?? (await this.#transport())).send({
        method,
        url: this.settings.baseUrl + path + queryText(query),
        headers: {
          authorization: `Bearer ${this.settings.apiKey.reveal()}`,
          "content-type": "application/json", // on every call: section 5.1 of the spec
          accept: "application/json",
          "user-agent": `pulumi-consortium/${version}`,
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        timeoutMs: this.#timeoutMs(method),
      });
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      throw fail({ kind: error.kind, errorMessage: error.message, late: error.late, next: error.next, cause: error });
    }
    this.connections.reached = true;
    return this.#judge(answer, fail);
  }

  #judge({ status, headers, text }: WireAnswer, fail: (facts: Omit<ErrorFacts, "call">) => ApiError): Answer {
    const body = parseJson(text);
    if (status >= 200 && status < 300) {
      if (body !== unreadable) return { status, body };
      throw fail({
        kind: "lost",
        status,
        errorMessage: `the answer is ${nature(text)}`,
        next: checkAddress(this.settings),
      });
    }
    const kind = kindOfStatus(status);
    const facts = {
      status,
      late: status === 408 || status === 504,
      errorMessage:
        messageOf(body) ?? (body === unreadable ? `the answer is ${nature(text)}` : "no explanation was given"),
      retryAfterMs: retryAfterMs(single(headers["retry-after"]), Date.now()),
    };
    // A page from something in between says nothing about the resource: never take it for "gone".
    const foreign = kind === "missing" && body === unreadable;
    if (foreign) {
      const next = checkAddress(this.settings);
      throw fail({ ...facts, kind: "server", next });
    }
    // The API has no redirects, and following one would hand the key to another host.
    throw fail({ ...facts, kind, next: status < 400 ? checkAddress(this.settings) : undefined });
  }
}

const unreadable = Symbol("unreadable");

function parseJson(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return unreadable;
  }
}

const nature = (text: string): string => (/^\s*</.test(text) ? "an HTML page, not JSON" : "cut or not JSON");

function messageOf(body: unknown): string | undefined {
  if (typeof body === "string") return body;
  if (typeof body !== "object" || body === null) return undefined;
  const { errorMessage, message, error } = body as Record<string, unknown>;
  return [errorMessage, message, error].find((text) => typeof text === "string" && text !== "") as string | undefined;
}

const single = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

function queryText(query: CallOptions["query"] = {}): string {
  const given = Object.entries(query).flatMap(([key, value]): [string, string][] =>
    value === undefined ? [] : [[key, String(value)]],
  );
  if (given.length === 0) return "";
  return `?${new URLSearchParams(given).toString()}`;
}
