import type { FastifyRequest } from "fastify";

/** One call the service got. It never holds API keys or passwords. */
export interface Call {
  method: string;
  /** Path below `/api/v1`; a node's runtime starts with `/runtime`. */
  path: string;
  /** Its pattern, such as `/consortia/:consortiumId/environments`; the path itself where nothing matches. */
  route: string;
  query: Record<string, unknown>;
  /** The JSON body, if there was a valid one and a valid key. */
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

/** Old calls are dropped beyond this many, or when they take more than this, so that a service can run for weeks. */
const most = { calls: 100_000, bytes: 32 * 1_048_576 };
/** What a call takes besides its path and its body. */
const frame = 256;
const base = /^\/api\/v1(?=\/|$)/;

export const routeOf = (pattern: string) => pattern.replace(base, "");

export class CallLog {
  readonly calls: Call[] = [];
  readonly #sizes = new Map<Call, number>();
  #dropped = 0;
  #bytes = 0;

  /** @param withBodies whether bodies are kept, of calls with a valid key */
  constructor(private readonly withBodies: boolean) {}

  start(request: FastifyRequest, at: number): Call {
    const path = routeOf(request.url.split("?")[0]!);
    const route = request.routeOptions.url === undefined ? path : routeOf(request.routeOptions.url);
    const query = masked(request.query) as Record<string, unknown>;
    const unknown = { body: undefined, status: undefined, organization: undefined };
    const call: Call = { method: request.method, path, route, query, ...unknown, at };
    this.calls.push(call);
    this.#grow(call, frame + request.url.length);
    return call;
  }

  keepBody(call: Call, body: unknown): void {
    if (!this.withBodies || body === undefined || !this.#sizes.has(call)) return;
    call.body = masked(body);
    this.#grow(call, JSON.stringify(call.body).length);
  }

  /** The calls that came after so many, and how many there have been. */
  after(count: number): { calls: readonly Call[]; count: number } {
    return { calls: this.calls.slice(Math.max(0, count - this.#dropped)), count: this.#dropped + this.calls.length };
  }

  clear(): void {
    this.#dropped += this.calls.length;
    this.calls.length = 0;
    this.#sizes.clear();
    this.#bytes = 0;
  }

  #grow(call: Call, bytes: number): void {
    this.#sizes.set(call, (this.#sizes.get(call) ?? 0) + bytes);
    this.#bytes += bytes;
    while (this.calls.length > most.calls || this.#bytes > most.bytes) {
      // a tenth at a time, since taking from the front of an array costs its whole length
      for (const oldest of this.calls.splice(0, Math.ceil(this.calls.length / 10))) {
        this.#dropped++;
        this.#bytes -= this.#sizes.get(oldest)!;
        this.#sizes.delete(oldest);
      }
    }
  }
}

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

/** Names of fields that may hold a secret. */
export const soundsSecret = /passw|secret|token|credential|private|api_?key/i;

/** What a configuration or a service is told: nobody knows what of it is secret. */
const hidden = (name: string) => name === "details" || soundsSecret.test(name);

/** No body of the API nests this deep. */
const deepest = 32;

/** A copy without the values that could be secrets, whatever a client may send. */
function masked(value: unknown, depth = 0): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth === deepest) return "[nested]";
  if (Array.isArray(value)) return value.map((inner) => masked(inner, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, hidden(name) ? "[hidden]" : masked(inner, depth + 1)]),
  );
}
