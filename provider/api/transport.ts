import { Agent, type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import { type Proxy, type Settings } from "./settings";
import { messageOf } from "../plain";
import { TransportError } from "./api-error";

export interface WireRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** Milliseconds for the whole exchange. */
  timeoutMs: number;
}

export interface WireAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** Sends one request once. Throws a `TransportError` unless a complete answer arrives. */
export interface Transport {
  send(request: WireRequest): Promise<WireAnswer>;
  /** @param how whether calls in progress may end first */
  close(how?: "gently" | "at once"): Promise<void>;
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
  EPROTO: "the host does not speak TLS there",
};

function codeOf(error: unknown): string {
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown[] };
  if (typeof code === "string") return code;
  const inner = cause ?? errors?.[0];
  return inner === undefined ? "" : codeOf(inner);
}

/** Why an exchange failed, for people. */
function explain(error: unknown): string {
  return explanations[codeOf(error)] ?? messageOf(error);
}

type Interceptor = Dispatcher.DispatcherComposeInterceptor;
type Handler = Dispatcher.DispatchHandler;

type ConnectionSettings = Pick<Settings, "maxConcurrency" | "requestTimeout" | "proxy">;

/** Kept-alive connections to one service, through the proxy where one is set. */
function connections({ maxConcurrency, requestTimeout, proxy }: ConnectionSettings): Dispatcher {
  const timeout = Math.min(requestTimeout, 10) * 1000;
  const options = {
    connections: maxConcurrency,
    pipelining: 1,
    keepAliveTimeout: 10_000,
    headersTimeout: 0, // one timer of the transport covers the whole exchange
    bodyTimeout: 0,
    connect: { timeout },
  };
  if (!proxy) return new Agent(options);
  return new EnvHttpProxyAgent({
    ...options,
    httpProxy: proxy.address,
    httpsProxy: proxy.address,
    noProxy: proxy.except,
    proxyTls: { timeout },
    requestTls: { timeout },
    clientFactory: (origin, given) => new Pool(origin, { ...given, headersTimeout: timeout }).compose(naming(proxy)),
  });
}

/** Reports when a request is handed to an open connection: before that, none of it can have reached the service. */
const noting =
  (onSend: () => void): Interceptor =>
  (dispatch) =>
  (options, handler) =>
    dispatch(options, {
      ...passedOn(handler),
      onRequestStart(controller, context) {
        handler.onRequestStart?.(controller, context);
        if (!controller.aborted) onSend();
      },
    });

/** Makes errors between this machine and the proxy name the proxy. */
const naming = ({ address, source }: Proxy): Interceptor => {
  const { protocol, host } = new URL(address); // without user name and password
  const name = `the proxy ${protocol}//${host} (environment variable ${source})`;
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      ...passedOn(handler),
      onResponseError: (controller, error) =>
        handler.onResponseError?.(controller, new TransportError("unsent", `${name}: ${explain(error)}`, error)),
    });
};

/** A handler as a plain object: `...` does not copy methods of a class. */
const passedOn = (handler: Handler): Handler => ({
  onRequestStart: (...args) => handler.onRequestStart?.(...args),
  onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
  onResponseStart: (...args) => handler.onResponseStart?.(...args),
  onResponseData: (...args) => handler.onResponseData?.(...args),
  onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
  onResponseError: (...args) => handler.onResponseError?.(...args),
});

/** undici with kept-alive connections, at most one per concurrent request. */
export class UndiciTransport implements Transport {
  readonly #connections: Dispatcher;

  constructor(settings: ConnectionSettings) {
    this.#connections = connections(settings);
  }

  async send({ method, url, headers, body, timeoutMs }: WireRequest): Promise<WireAnswer> {
    const { origin, pathname, search } = new URL(url);
    const signal = AbortSignal.timeout(timeoutMs);
    let sent = false;
    const dispatcher = this.#connections.compose(noting(() => (sent = true)));
    const exchange = async (): Promise<WireAnswer> => {
      const path = pathname + search;
      const answer = await dispatcher.request({ method, origin, path, headers, body, signal });
      return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
    };
    // undici waits for a connection before it looks at the signal; it sends nothing then.
    const late = new Promise<never>((_, reject) => (signal.onabort = () => reject(signal.reason as Error)));
    try {
      return await Promise.race([exchange(), late]);
    } catch (error) {
      const seconds = timeoutMs / 1000;
      if (!sent && signal.aborted)
        throw new TransportError("unsent", `no connection was established within ${seconds} s`, error);
      if (signal.aborted) throw new TransportError("lost", `no answer arrived within ${seconds} s`, error, true);
      const message = error instanceof TransportError ? error.message : explain(error);
      throw new TransportError(sent ? "lost" : "unsent", message, error);
    } finally {
      signal.onabort = null;
    }
  }

  async close(how: "gently" | "at once" = "gently"): Promise<void> {
    await (how === "gently" ? this.#connections.close() : this.#connections.destroy());
  }
}
