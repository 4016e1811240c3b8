import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Tracer } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import * as resources from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { version } from "../version";

/* OpenTelemetry's SDK, of which not every user has the packages: only trace.ts loads this. It registers nothing for others. */

export type Attributes = Record<string, string | number | undefined>;

/** A span that has begun. */
export interface Open {
  /** For the spans in it. */
  context: Context;
  /** @param failure why it failed, if it did */
  end(attributes: Attributes, failure: string | undefined): void;
}

const name = "pulumi-consortium";

/** What the first major version has instead: npm cannot install the second one beside a Pulumi that has the first. */
interface First {
  Resource: { default(): resources.Resource; new (attributes: Attributes): resources.Resource };
  detectResourcesSync(config: object): resources.Resource;
  envDetectorSync: object;
}

/** These attributes, unless the environment has others. */
function resourceOf(attributes: Attributes): resources.Resource {
  if ("resourceFromAttributes" in resources) {
    const { defaultResource, detectResources, envDetector, resourceFromAttributes } = resources;
    const given = detectResources({ detectors: [envDetector] });
    return defaultResource().merge(resourceFromAttributes(attributes)).merge(given);
  }
  const first = resources as unknown as First;
  const given = first.detectResourcesSync({ detectors: [first.envDetectorSync] });
  return first.Resource.default().merge(new first.Resource(attributes)).merge(given);
}

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

  /** What begins below the span that somebody else names in the form of W3C's Trace Context. */
  below(traceparent = ""): Context {
    const [, traceId, spanId, flags] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent) ?? [];
    if (!traceId || !spanId) return ROOT_CONTEXT;
    return trace.setSpanContext(ROOT_CONTEXT, {
      traceId,
      spanId,
      traceFlags: parseInt(flags!, 16),
      isRemote: true,
    });
  }

  /** Sends what has ended. */
  end(): Promise<void> {
    return this.#provider.shutdown();
  }
}
