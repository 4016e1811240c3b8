import { z } from "zod";
import {
  ConsortiumClient,
  isApiError,
  path,
  type Settings,
  UndiciTransport,
  UserError,
} from "pulumi-consortium/internal/console";
import type { CallView, KeyView, TestingView } from "../protocol";

const About = z.looseObject({
  organization: z.looseObject({ name: z.string() }),
  ledger: z.enum(["on", "off", "missing"]),
  tether_hour: z.number(),
});
export type About = z.infer<typeof About>;

const mostCalls = 500;

/** Features of the embedded service only: tasks of the hosted console, and tools for tests. */
export class Embedded {
  #calls: CallView[] = [];
  #seen = 0;
  #numbered = 0;

  private constructor(
    readonly about: About,
    private readonly client: ConsortiumClient,
  ) {}

  /** Undefined if the service is another one. */
  static async find(client: ConsortiumClient): Promise<Embedded | undefined> {
    try {
      const { data } = About.safeParse((await client.http.request("GET", "/embedded")).body);
      return data && new Embedded(data, client);
    } catch (error) {
      if (isApiError(error, "missing", "unsupported", "invalid", "denied")) return undefined;
      throw error;
    }
  }

  tethers = async (): Promise<string[]> => (await this.#ask<{ id: string }[]>("GET", "/tethers")).map(({ id }) => id);
  keys = () => this.#ask<KeyView[]>("GET", "/api-keys");
  makeKey = (name: string) => this.#ask<{ key: string }>("POST", "/api-keys", { body: { name } });
  revokeKey = (id: string) => this.#ask("DELETE", path`/api-keys/${id}`);
  orderTether = (environment?: string) => this.#ask<{ id: string }>("POST", "/tethers", { body: { environment } });
  addFault = (rule: object) => this.#ask<object>("POST", "/faults", { body: rule });
  removeFault = (id: string) => this.#ask("DELETE", path`/faults/${id}`);
  fund = (tether: string, network: string, wei: string) =>
    this.#ask<{ balance?: string }>("POST", path`/tether/${tether}/fund`, { body: { network, wei } });

  /** Faults in force and the last calls, newest first. */
  async testing(): Promise<TestingView> {
    const [{ routes, faults }, { count, calls }] = await Promise.all([
      this.#ask<Omit<TestingView, "calls">>("GET", "/faults"),
      this.#ask<{ count: number; calls: CallView[] }>("GET", "/calls", { query: { after: this.#seen } }),
    ]);
    this.#seen = count;
    const fresh = calls.map(({ method, path, status, at, fault }) => {
      return { number: ++this.#numbered, method, path, status, at, fault };
    });
    this.#calls = [...fresh.reverse(), ...this.#calls].slice(0, mostCalls);
    return { routes, faults, calls: this.#calls };
  }

  /** Calls an environment's chain, which needs no credential here. */
  async rpc(consortium: string, environment: string, method: string, params: unknown[]): Promise<unknown> {
    const where = path`/consortia/${consortium}/environments/${environment}/rpc`;
    const body = { jsonrpc: "2.0", id: 1, method, params };
    type Said = { result?: unknown; error?: { message?: string } };
    const { result, error } = await this.#ask<Said>("POST", where, { body });
    if (error) throw new UserError("request-refused", error.message ?? `${method} failed`);
    return result;
  }

  async #ask<T = object>(
    method: "GET" | "POST" | "DELETE",
    where: string,
    sent?: { query?: Record<string, number>; body?: unknown },
  ): Promise<T> {
    return (await this.client.http.request(method, `/embedded${where}`, sent)).body as T;
  }
}

/** A client for calls that the embedded service does not log or hit with faults, which are for the program under test. */
export function observingClient(settings: Settings): ConsortiumClient {
  const inner = new UndiciTransport(settings);
  return new ConsortiumClient(settings, {
    transport: {
      send: (request) => inner.send({ ...request, headers: { ...request.headers, "consortium-observer": "1" } }),
      close: () => inner.close(),
    },
    // No retries: the page shows the failure, and the next poll comes soon.
    onRetry: (error) => {
      throw error;
    },
  });
}
