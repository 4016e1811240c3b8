import { type ErrorKind } from "./api-error";

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
    /** What the person can do next. */
    readonly next?: string,
  ) {
    super(message, { cause });
  }
}

/** The proxy on the way was not reached, or made no connection. */
export class ProxyError extends Error {
  override readonly name = "ProxyError";
  constructor(
    message: string,
    readonly next: string,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

const explanations: Record<string, string> = {
  ECONNREFUSED: "the connection was refused",
  ENOTFOUND: "the host name is not known",
  EAI_AGAIN: "the host name could not be resolved",
  EHOSTUNREACH: "the host is unreachable",
  ENETUNREACH: "the host's network is unreachable",
  ECONNRESET: "the connection was reset before an answer arrived",
  UND_ERR_SOCKET: "the connection was closed before the answer was complete",
  UND_ERR_CONNECT_TIMEOUT: "the connection timed out",
  UND_ERR_HEADERS_TIMEOUT: "no answer arrived in time",
  Z_DATA_ERROR: "the answer is compressed, and damaged",
  Z_BUF_ERROR: "the answer is compressed, and cut",
  EPROTO: "the host does not speak TLS there",
};

function codeOf(error: unknown): string {
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown[] };
  if (typeof code === "string") return code;
  const inner = cause ?? errors?.[0];
  return inner === undefined ? "" : codeOf(inner);
}

/** Why an exchange failed, for people. */
export function explain(error: unknown): string {
  return explanations[codeOf(error)] ?? (error instanceof Error ? error.message : String(error));
}
