import { Agent as HttpAgent, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { rootCertificates } from "node:tls";
import type { JsonRpcApiProviderOptions, JsonRpcError, JsonRpcPayload, JsonRpcResult } from "ethers";
import { WebSocket } from "ws";
import { basicAuthHeader } from "../../provider/api/secrets";
import { CredentialRefused } from "./credential-refused";
import { secondsOf } from "../../provider/profiles";
import { ethers } from "./ethers";

/* Loaded at the first `connect` or report, not before: see connect.ts and verify.ts. */

const { FetchRequest, isError, JsonRpcProvider, WebSocketProvider } = ethers();

interface HttpOptions extends JsonRpcApiProviderOptions {
  headers?: Readonly<Record<string, string>>;
  /** Certificates to trust. */
  ca?: readonly (string | Buffer)[];
  /** How long an answer may take. Default: ethers' own five minutes. */
  timeoutMs?: number;
}

/** ethers leaves abandoned connections open; this provider closes its own. */
export class HttpProvider extends JsonRpcProvider {
  readonly #agent: HttpAgent;

  constructor(url: string, { headers = {}, ca, timeoutMs, ...options }: HttpOptions = {}) {
    const agent = url.startsWith("https:")
      ? new HttpsAgent({ keepAlive: true, ...(ca && { ca: [...ca] }) })
      : new HttpAgent({ keepAlive: true });
    const request = new FetchRequest(url);
    request.getUrlFunc = FetchRequest.createGetUrlFunc({ agent });
    // Not `setCredentials`: it refuses plain http, which a service on this machine uses.
    for (const [name, value] of Object.entries(headers)) request.setHeader(name, value);
    if (timeoutMs !== undefined) request.timeout = timeoutMs;
    super(request, undefined, { staticNetwork: true, ...options });
    this.#agent = agent;
  }

  override destroy(): void {
    super.destroy();
    this.#agent.destroy();
  }
}

/**
 * A node's chain never changes, and its blocks may come every second, or at once: ethers would cache each answer for 250 ms, and reuse the
 * nonce of the previous transaction.
 */
const options = { staticNetwork: true, pollingInterval: 1_000, cacheTimeout: -1 };

type Credential = Parameters<typeof basicAuthHeader>[0];

type Answer = (JsonRpcResult | JsonRpcError)[];

/** In Node, `ca` replaces the usual certificates, so add them. */
const trusting = (ca: string | Buffer | undefined) => (ca ? [...rootCertificates, ca] : undefined);

/** The service's reason for a refusal, or the beginning of any other body. */
function messageIn(body: string): string {
  try {
    const { errorMessage } = JSON.parse(body) as { errorMessage?: unknown };
    if (typeof errorMessage === "string") return errorMessage;
  } catch {
    // not JSON: perhaps a proxy's page
  }
  return body.trim().slice(0, 200) || "no reason given";
}

/** With raft, quorum's clock counts nanoseconds, which are more than a number in ethers can be: programs get seconds. */
function inSeconds(method: string, result: unknown): unknown {
  const { timestamp } = (result ?? {}) as { timestamp?: unknown };
  if (!/^eth_getBlockBy/.test(method) || typeof timestamp !== "string") return result;
  return { ...(result as object), timestamp: `0x${Math.floor(secondsOf(timestamp)).toString(16)}` };
}

class NodeProvider extends HttpProvider {
  #met = false;

  constructor(
    private readonly address: string,
    given: HttpOptions,
  ) {
    super(address, { ...options, ...given });
  }

  /** ethers would retry an unreachable node forever; here the first failure reaches the caller. */
  override async send(method: string, params: unknown[] | Record<string, unknown>): Promise<unknown> {
    if (!this.#met) {
      await this._detectNetwork();
      this.#met = true;
    }
    return inSeconds(method, await super.send(method, params));
  }

  override async _send(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<JsonRpcResult[]> {
    try {
      return await super._send(payload);
    } catch (error) {
      if (!isError(error, "SERVER_ERROR") || error.response?.statusCode !== 401) throw error;
      throw new CredentialRefused(this.address, messageIn(error.response.hasBody() ? error.response.bodyText : ""));
    }
  }
}

/** With ethers' own provider, requests wait forever for a closed socket. Here they fail. */
class NodeSocketProvider extends WebSocketProvider {
  readonly #waiting = new Set<(reason: Error) => void>();
  #failure?: Error;

  constructor(address: string, socket: WebSocket) {
    super(socket, undefined, options);
    socket.on("unexpected-response", (request, response: IncomingMessage) => {
      void textOf(response).then((body) => {
        const { statusCode } = response;
        this.#fail(
          statusCode === 401
            ? new CredentialRefused(address, messageIn(body))
            : new Error(`${address} did not open a WebSocket: HTTP ${statusCode}: ${messageIn(body)}`),
        );
        request.destroy();
      });
    });
    socket.on("error", (error) => this.#fail(new Error(`${address}: ${reasonOf(error)}`, { cause: error })));
    socket.on("close", (code) => this.#fail(new Error(`${address}: the connection was closed (${code}).`)));
  }

  override send(method: string, params: unknown[] | Record<string, unknown>): Promise<unknown> {
    return this.#unlessItFails(async () => inSeconds(method, await super.send(method, params)));
  }

  override _send(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<Answer> {
    return this.#unlessItFails(() => super._send(payload));
  }

  #unlessItFails<T>(act: () => Promise<T>): Promise<T> {
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      act()
        .then(resolve, reject)
        .finally(() => this.#waiting.delete(reject));
    });
  }

  #fail(reason: Error): void {
    if (this.#failure) return;
    this.#failure = reason;
    for (const reject of this.#waiting) reject(reason);
    this.#waiting.clear();
    void this.destroy(); // or it would keep requesting the network
  }
}

/** A refused connection to a name with several addresses has no message of its own. */
const reasonOf = (error: Error & { code?: string }): string => error.message || (error.code ?? "no connection");

async function textOf(response: IncomingMessage): Promise<string> {
  let text = "";
  try {
    for await (const part of response.setEncoding("utf8")) if (text.length < 4_096) text += part;
  } catch {
    // use what has arrived
  }
  return text;
}

/** @param timeoutMs how long an answer may take. Default: ethers' own five minutes */
export function overHttp(
  address: string,
  credential: Credential,
  ca?: string | Buffer,
  timeoutMs?: number,
): NodeProvider {
  return new NodeProvider(address, {
    headers: { authorization: basicAuthHeader(credential) },
    ca: trusting(ca),
    timeoutMs,
  });
}

export function overWebSocket(address: string, credential: Credential, ca?: string | Buffer): NodeSocketProvider {
  return new NodeSocketProvider(
    address,
    new WebSocket(address, { headers: { authorization: basicAuthHeader(credential) }, ca: trusting(ca) }),
  );
}
