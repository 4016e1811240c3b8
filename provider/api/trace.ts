import { AsyncLocalStorage } from "node:async_hooks";
import { messageOf } from "../plain";
import { processEnvironment } from "./environment";
import { type Attributes, type Open, type Tracing } from "./otel";

/* Spans for OpenTelemetry, whose SDK is loaded with the first verb, and only if the environment names a receiver. */

export interface Traced {
  name: string;
  attributes: Attributes;
  /** Whether another service does the work. */
  isCall?: boolean;
}

/** Adds attributes to a span. @param failure why its work failed, if it threw no error */
export type Note = (attributes: Attributes, failure?: string) => void;

/** What the caller of `begin` provides. */
interface Teller {
  mask: (text: string) => string;
  /** Reports once why no spans are sent. */
  warn: (message: string) => void;
}

interface Scope extends Pick<Teller, "mask"> {
  tracing: Tracing;
  context: Open["context"];
}

/** How long a process may take at its end to send the last spans: the engine kills it after 5 s. */
const lastMs = 3_000;

const scopes = new AsyncLocalStorage<Scope>();
const parents = new AsyncLocalStorage<string>();
let loading: Promise<Tracing | undefined> | undefined;

/** Work within another process's trace, if there is one: `traceparent` is in the form of W3C's Trace Context. */
export const below = <T>(traceparent: string | undefined, work: () => T): T =>
  traceparent === undefined ? work() : parents.run(traceparent, work);

/** Work that a queue does later, with the span that is open now. */
export function bound<T>(work: () => T): () => T {
  const scope = scopes.getStore();
  return scope ? () => scopes.run(scope, work) : work;
}

/** Work as a span within the open one. Without one, just the work. */
export function traced<T>(span: () => Traced, work: (note?: Note) => Promise<T>): Promise<T> {
  const scope = scopes.getStore();
  return scope ? inSpan(scope, span(), work) : work();
}

/** Work as a span of its own, if the environment names a receiver. */
export function begin<T>(span: Traced, teller: Teller, work: () => Promise<T>): Promise<T> {
  const scope = scopes.getStore();
  if (scope) return inSpan(scope, span, work);
  const receiver = receiverOf();
  if (!receiver) return work();
  loading ??= load(receiver, teller);
  return loading.then((tracing) => {
    if (!tracing) return work();
    const context = tracing.below(parents.getStore() ?? processEnvironment().TRACEPARENT);
    return inSpan({ tracing, context, mask: teller.mask }, span, work);
  });
}

/** Sends the last spans. undefined: there are none. */
export function sendSpans(): Promise<void> | undefined {
  const ending = loading;
  loading = undefined;
  if (!ending) return undefined;
  return new Promise((resolve) => {
    const late = setTimeout(resolve, lastMs);
    const done = (): void => {
      clearTimeout(late);
      resolve();
    };
    ending.then((tracing) => tracing?.end()).then(done, done); // a receiver that is down fails no run
  });
}

async function inSpan<T>(scope: Scope, { name, attributes, isCall }: Traced, work: (note: Note) => Promise<T>) {
  const open = scope.tracing.start(scope.mask(name), isCall === true, scope.context);
  let noted = attributes;
  let failure: string | undefined;
  try {
    return await scopes.run({ ...scope, context: open.context }, () =>
      work((more, why) => {
        noted = { ...noted, ...more };
        failure = why;
      }),
    );
  } catch (error) {
    failure = messageOf(error);
    throw error;
  } finally {
    // Only now are all secrets known that the spans may contain.
    const masked = Object.entries(noted).map(([key, value]) => [
      key,
      typeof value === "string" ? scope.mask(value) : value,
    ]);
    open.end(Object.fromEntries(masked) as Attributes, failure === undefined ? undefined : scope.mask(failure));
  }
}

interface Receiver {
  variable: string;
  url: string;
  protocol: string | undefined;
}

function receiverOf(): Receiver | undefined {
  const env = processEnvironment();
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own, OTEL_EXPORTER_OTLP_ENDPOINT: base } = env;
  if (!own && !base) return undefined;
  if (env.OTEL_SDK_DISABLED === "true" || env.OTEL_TRACES_EXPORTER === "none") return undefined;
  return {
    variable: `OTEL_EXPORTER_OTLP_${own ? "TRACES_" : ""}ENDPOINT`,
    url: own || `${base!.replace(/\/$/, "")}/v1/traces`,
    protocol: env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL,
  };
}

async function load({ variable, url, protocol }: Receiver, { warn }: Teller): Promise<Tracing | undefined> {
  const no = (why: string): undefined => void warn(`${variable} is set, but no spans are sent: ${why}`);
  if (protocol === "grpc")
    return no("they are sent over HTTP, not gRPC. Name the receiver's address for HTTP (port 4318), and http/json.");
  if (!/^https?:/.test(url) || !URL.canParse(url))
    return no("it is not an address that begins with http:// or https://.");
  const { Tracing } = await import("./otel.js");
  return new Tracing(url);
}
