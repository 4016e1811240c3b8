import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { JsonRpcApiProviderOptions } from "ethers";
import { ethers } from "./ethers";

const { FetchRequest, JsonRpcProvider } = ethers();

export interface HttpOptions extends JsonRpcApiProviderOptions {
  headers?: Readonly<Record<string, string>>;
  /** Certificates to trust. */
  ca?: readonly (string | Buffer)[];
  /** How long an answer may take. Default: that of ethers, five minutes. */
  timeoutMs?: number;
}

/** ethers leaves a connection open whose answer it no longer waits for; this one closes all of its own with it. */
export class HttpProvider extends JsonRpcProvider {
  readonly #agent: HttpAgent;

  constructor(url: string, { headers = {}, ca, timeoutMs, ...options }: HttpOptions = {}) {
    const agent = url.startsWith("https:")
      ? new HttpsAgent({ keepAlive: true, ...(ca && { ca: [...ca] }) })
      : new HttpAgent({ keepAlive: true });
    const request = new FetchRequest(url);
    request.getUrlFunc = FetchRequest.createGetUrlFunc({ agent });
    // Not `setCredentials`: that one refuses plain http, which a service on this machine speaks.
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
