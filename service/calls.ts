import type { FastifyRequest } from "fastify";

/** One call the service got. It never holds API keys or passwords. */
export interface Call {
  method: string;
  /** Path below `/api/v1`; a node's runtime starts with `/runtime`. */
  path: string;
  /** Its pattern, such as `/consortia/:consortiumId/environments`; the path itself where nothing matches. */
  route: string;
  query: Record<string, unknown>;
  /** The JSON body, if there was a valid one. */
  body: unknown;
  /** Status of the answer; undefined while there is none. */
  status: number | undefined;
  /** Name of the organization whose key was sent; undefined without a valid one. */
  organization: string | undefined;
  /** When it came, in ms. */
  at: number;
  /** Kind of the fault that hit it. */
  fault?: string;
}

/** Old calls are dropped beyond this many, so that a service can run for weeks. */
const most = 100_000;
const base = /^\/api\/v1(?=\/|$)/;

export const routeOf = (pattern: string) => pattern.replace(base, "");

/** All calls in the order they came. */
export class CallLog {
  readonly calls: Call[] = [];

  start(request: FastifyRequest, at: number): Call {
    const path = routeOf(request.url.split("?")[0]!);
    const route = request.routeOptions.url === undefined ? path : routeOf(request.routeOptions.url);
    const query = masked(request.query) as Record<string, unknown>;
    const call: Call = {
      method: request.method,
      path,
      route,
      query,
      body: undefined,
      status: undefined,
      organization: undefined,
      at,
    };
    this.calls.push(call);
    if (this.calls.length > most) this.calls.splice(0, most / 10);
    return call;
  }
}

/** How many calls are under way. */
export class InFlight {
  /** Calls under way now. */
  now = 0;
  /** Most calls that were under way at once, since the start or the last reset. */
  max = 0;

  /** Starts counting the maximum afresh. */
  reset(): void {
    this.max = this.now;
  }

  enter(): void {
    this.max = Math.max(this.max, ++this.now);
  }

  leave(): void {
    this.now--;
  }
}

/** A copy without the values that could be secrets, whatever a client may send. */
export function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== "object" || value === null) return value;
  const secret = /passw|secret|token|api_?key/i;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, secret.test(name) ? "[hidden]" : masked(inner)]),
  );
}
