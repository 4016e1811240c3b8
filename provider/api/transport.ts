import { type Agent } from "undici";
import { type ErrorKind } from "./errors";
import { type Settings } from "./settings";

export interface WireRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** Milliseconds that the whole exchange may take. */
  timeoutMs: number;
}

export interface WireAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** Sends one request once. Throws a `TransportError` when no whole answer came back. */
export interface Transport {
  send(request: WireRequest): Promise<WireAnswer>;
  close(): Promise<void>;
}

export class TransportError extends Error {
  override readonly name = "TransportError";
  constructor(
    readonly kind: Extract<ErrorKind, "unsent" | "lost">,
    message: string,
    cause: unknown,
    /** Nothing came in time: the service may still be at work on it. */
    readonly late = false,
  ) {
    super(message, { cause });
  }
}

/** Failures that come before the request could leave this machine. */
const unsentCodes =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EAI_FAIL|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EPROTO|UND_ERR_CONNECT_TIMEOUT|.*CERT.*|ERR_TLS.*|ERR_SSL.*)$/;

const explanations: Record<string, string> = {
  ECONNREFUSED: "the connection was refused",
  ENOTFOUND: "the host name is not known",
  EAI_AGAIN: "the host name could not be looked up",
  ECONNRESET: "the connection was reset before an answer came",
  UND_ERR_SOCKET: "the connection was closed before the answer was complete",
  UND_ERR_CONNECT_TIMEOUT: "no connection could be made in time",
  EPROTO: "the host does not speak TLS there",
};

function codeOf(error: unknown): string {
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown[] };
  if (typeof code === "string") return code;
  const inner = cause ?? errors?.[0];
  return inner === undefined ? "" : codeOf(inner);
}

/** undici with kept-alive connections, never more of them than requests may be in flight. */
export class UndiciTransport implements Transport {
  #agent?: Promise<Agent>;
  constructor(private readonly settings: Pick<Settings, "maxConcurrency" | "requestTimeout">) {}

  /** undici is loaded with the first request: most runs of the program itself never make one. */
  #connections(): Promise<Agent> {
    return (this.#agent ??= import("undici").then(
      ({ Agent }) =>
        new Agent({
          connections: this.settings.maxConcurrency,
          pipelining: 1,
          keepAliveTimeout: 10_000,
          headersTimeout: 0, // one timer, below, covers the whole exchange
          bodyTimeout: 0,
          connect: { timeout: Math.min(this.settings.requestTimeout, 10) * 1000 },
        }),
    ));
  }

  async send({ method, url, headers, body, timeoutMs }: WireRequest): Promise<WireAnswer> {
    const agent = await this.#connections();
    const { origin, pathname, search } = new URL(url);
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await agent.request({
        method: method,
        origin,
        path: pathname + search,
        headers,
        body,
        signal,
      });
      return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
    } catch (error) {
      if (signal.aborted) throw new TransportError("lost", `no answer came within ${timeoutMs / 1000} s`, error, true);
      const code = codeOf(error);
      const message = explanations[code] ?? (error instanceof Error ? error.message : String(error));
      throw new TransportError(unsentCodes.test(code) ? "unsent" : "lost", message, error);
    }
  }

  async close(): Promise<void> {
    await (await this.#agent)?.close();
  }
}
