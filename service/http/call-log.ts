import type { FastifyRequest } from "fastify";

/** One call to the service. It never contains API keys or passwords. */
export interface Call {
  method: string;
  /** Path below `/api/v1`; a node's runtime starts with `/runtime`. */
  path: string;
  /** The pattern of its route, such as `/consortia/:consortiumId/environments`; for an unknown route, the path. */
  route: string;
  query: Record<string, unknown>;
  /** The JSON body, if it and the key were valid. */
  body: unknown;
  /** The status of the answer; undefined before the answer. */
  status: number | undefined;
  /** The name of the organization of the key; undefined without a valid key. */
  organization: string | undefined;
  /** When it arrived, in ms since 1970. */
  at: number;
  /** The kind of the fault that hit it. */
  fault?: string;
}

/** Calls to keep; older ones are dropped, so that a service can run for weeks. */
const most = 100_000;
const base = /^\/api\/v1(?=\/|$)/;

export const routeOf = (pattern: string) => pattern.replace(base, "");

export class CallLog {
  readonly calls: Call[] = [];
  #dropped = 0;

  /** @param withBodies whether to keep the bodies of calls with a valid key */
  constructor(private readonly withBodies: boolean) {}

  start(request: FastifyRequest, at: number): Call {
    const path = routeOf(request.url.split("?")[0]!);
    const route = request.routeOptions.url === undefined ? path : routeOf(request.routeOptions.url);
    const query = masked(request.query) as Record<string, unknown>;
    const unknown = { body: undefined, status: undefined, organization: undefined };
    const call: Call = { method: request.method, path, route, query, ...unknown, at };
    this.calls.push(call);
    // a tenth at a time: removing from the front moves the whole array
    if (this.calls.length > most) this.#dropped += this.calls.splice(0, most / 10).length;
    return call;
  }

  keepBody(call: Call, body: unknown): void {
    if (this.withBodies && body !== undefined) call.body = masked(body);
  }

  /** The calls after the first `count`, and how many there have been. */
  after(count: number): { calls: readonly Call[]; count: number } {
    return { calls: this.calls.slice(Math.max(0, count - this.#dropped)), count: this.#dropped + this.calls.length };
  }

  clear(): void {
    this.#dropped += this.calls.length;
    this.calls.length = 0;
  }
}

export class InFlight {
  now = 0;
  /** Maximum number of concurrent calls, since the start or the last reset. */
  max = 0;

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

/** Names of fields that may hold a secret. */
export const soundsSecret = /passw|secret|token|credential|private|api_?key/i;

/** `details` of configurations and services are also hidden: any of them may be secret. */
const hidden = (name: string) => name === "details" || soundsSecret.test(name);

/** A copy without values that may be secrets, whatever the client sent. */
function masked(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(masked);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, hidden(name) ? "[hidden]" : masked(inner)]),
  );
}
