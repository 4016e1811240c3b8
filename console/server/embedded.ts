import { z } from "zod";
import { ConsortiumClient, isApiError, path, type Settings, UndiciTransport } from "pulumi-consortium/internal/console";
import type { CallView, KeyView, TestingView } from "../protocol";

const About = z.looseObject({
  organization: z.looseObject({ name: z.string() }),
  ledger: z.enum(["on", "off", "missing"]),
  limits: z.object({ consortia: z.number(), environments: z.number(), nodes: z.number() }),
  tether_hour: z.number(),
});
export type About = z.infer<typeof About>;

const mostCalls = 200;

/** What only the embedded service has: what people do in the hosted console, and tools for tests. */
export class Embedded {
  #calls: CallView[] = [];
  #seen = 0;

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

  tethers = async (): Promise<string[]> => (await this.#get<{ id: string }[]>("/tethers")).map(({ id }) => id);
  keys = (): Promise<KeyView[]> => this.#get("/api-keys");
  makeKey = (name: string) => this.#post<{ key: string }>("/api-keys", { name });
  revokeKey = (id: string) => this.#delete(path`/api-keys/${id}`);
  orderTether = (environment?: string) => this.#post<{ id: string }>("/tethers", { environment });
  addFault = (rule: object) => this.#post<object>("/faults", rule);
  removeFault = (id: string) => this.#delete(path`/faults/${id}`);
  fund = (tether: string, network: string, wei: string) =>
    this.#post<{ balance?: string }>(path`/tether/${tether}/fund`, { network, wei });

  /** Faults in force and the last calls, newest first. */
  async testing(): Promise<TestingView> {
    const [{ routes, faults }, { count, calls }] = await Promise.all([
      this.#get<Omit<TestingView, "calls">>("/faults"),
      this.#get<{ count: number; calls: CallView[] }>("/calls", { after: this.#seen }),
    ]);
    this.#seen = count;
    const fresh = calls.map(({ method, path, status, at, fault }) => ({ method, path, status, at, fault }));
    this.#calls = [...fresh.reverse(), ...this.#calls].slice(0, mostCalls);
    return { routes, faults, calls: this.#calls };
  }

  /** Calls an environment's chain, which needs no credential here. */
  async rpc(consortium: string, environment: string, method: string, params: unknown[]): Promise<unknown> {
    const where = path`/consortia/${consortium}/environments/${environment}/rpc`;
    const call = { jsonrpc: "2.0", id: 1, method, params };
    const { result, error } = await this.#post<{ result?: unknown; error?: { message?: string } }>(where, call);
    if (error) throw new Error(error.message ?? `${method} failed`);
    return result;
  }

  async #get<T>(where: string, query?: Record<string, number>): Promise<T> {
    return (await this.client.http.request("GET", `/embedded${where}`, { query })).body as T;
  }

  async #post<T>(where: string, body: unknown): Promise<T> {
    return (await this.client.http.request("POST", `/embedded${where}`, { body })).body as T;
  }

  async #delete(where: string): Promise<void> {
    await this.client.http.request("DELETE", `/embedded${where}`);
  }
}

/** A client whose calls the embedded service neither logs nor hits with faults, which are for the program under test. */
export function observingClient(settings: Settings): ConsortiumClient {
  const inner = new UndiciTransport(settings);
  return new ConsortiumClient(settings, {
    transport: {
      send: (request) => inner.send({ ...request, headers: { ...request.headers, "consortium-observer": "1" } }),
      close: () => inner.close(),
    },
    // No retries: the page shows the failure, and the next look comes soon.
    onRetry: (error) => {
      throw error;
    },
  });
}
