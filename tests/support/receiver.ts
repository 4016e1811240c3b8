import { peer, type Reply } from "./peer";
import { setEnvironment } from "./service";

/* A receiver of OpenTelemetry's spans, in OTLP's JSON over HTTP. */

export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  kind: number;
  attributes: Record<string, string | number>;
  /** Why it failed, from the status. */
  failure?: string;
}

interface Sent {
  resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[];
}
type Value = { stringValue: string } | { intValue: string | number };
interface SentSpan extends Omit<Span, "attributes" | "failure"> {
  attributes: { key: string; value: Value }[];
  status: { code: number; message?: string };
}

const valueOf = (value: Value): string | number => ("intValue" in value ? Number(value.intValue) : value.stringValue);
const accept: Reply = (response) => void response.writeHead(200, { "content-type": "application/json" }).end("{}");

/** Points this process to it. */
export async function receiver(reply: Reply = accept) {
  const { baseUrl, requests } = await peer(reply);
  const { origin } = new URL(baseUrl);
  setEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: origin });
  return {
    origin,
    requests,
    /** Everything that it was sent. */
    text: (): string => requests.map(({ url, headers, body }) => JSON.stringify([url, headers]) + body).join("\n"),
    spans: (): Span[] =>
      requests
        .flatMap(({ body }) => (JSON.parse(body) as Sent).resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
        .map(({ attributes, status, ...span }) => ({
          ...span,
          attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)])),
          ...(status.code === 2 && { failure: status.message }),
        })),
  };
}
