import {
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { version } from "../version";

/*
 * OpenTelemetry's SDK: only trace.ts loads this. It registers nothing for others. The build puts its packages into this one file,
 * because Pulumi's SDK brings some of them in other versions, and they do not work with those.
 */

export type Attributes = Record<string, string | number | undefined>;

/** A span that has begun. */
export interface Open {
  /** For the spans in it. */
  context: Context;
  /** @param failure why it failed, if it did */
  end(attributes: Attributes, failure: string | undefined): void;
}

const name = "pulumi-consortium";

/** These attributes, unless the environment has others. */
const resourceOf = (attributes: Attributes): Resource =>
  defaultResource()
    .merge(resourceFromAttributes(attributes))
    .merge(detectResources({ detectors: [envDetector] }));

export class Tracing {
  readonly #provider: BasicTracerProvider;
  readonly #tracer: Tracer;

  /** @param url where the receiver takes spans */
  constructor(url: string) {
    this.#provider = new BasicTracerProvider({
      resource: resourceOf({ "service.name": name, "service.version": version }),
      spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url }))],
    });
    this.#tracer = this.#provider.getTracer(name, version);
  }

  start(named: string, isCall: boolean, context: Context): Open {
    const kind = isCall ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const span = this.#tracer.startSpan(named, { kind }, context);
    return {
      context: trace.setSpan(context, span),
      end: (attributes, failure) => {
        span.setAttributes(attributes);
        if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
        span.end();
      },
    };
  }

  /** The context below another process's span, which is named in the form of W3C's Trace Context. */
  below(traceparent = ""): Context {
    return new W3CTraceContextPropagator().extract(ROOT_CONTEXT, { traceparent }, defaultTextMapGetter);
  }

  /** Sends the spans that have ended. */
  end(): Promise<void> {
    return this.#provider.shutdown();
  }
}
