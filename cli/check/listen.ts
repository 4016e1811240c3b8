import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { InvalidArgumentError } from "@commander-js/extra-typings";
import { type Result } from "../../observe/check/checks";
import { metricsOf, up } from "./metrics";

/* Prometheus asks for the results of the last check. */

export interface ListenAddress {
  host: string;
  port: number;
}

/** Parses `127.0.0.1:9464` and `[::1]:9464`. */
export function listenAddress(text: string): ListenAddress {
  const [, six, four = six, digits] = /^(?:\[([\da-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/i.exec(text) ?? [];
  const port = Number(digits);
  if (four === undefined || port > 65_535)
    throw new InvalidArgumentError("It must be a host and a port, such as 127.0.0.1:9464.");
  return { host: four, port };
}

/** Serves the results of the last check; if it failed, only that it did. @throws if the address cannot be used */
export async function serveMetrics({ host, port }: ListenAddress) {
  let text: string | undefined;
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    if (pathname !== "/metrics" || !["GET", "HEAD"].includes(request.method ?? ""))
      return void response.writeHead(404, { "content-type": "text/plain" }).end("Ask for /metrics.\n");
    if (text === undefined)
      return void response.writeHead(503, { "content-type": "text/plain" }).end("The first check is still running.\n");
    response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(text);
  });
  server.listen(port, host);
  await once(server, "listening");
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${name}:${(server.address() as AddressInfo).port}/metrics`,
    look: async (work: () => Promise<readonly Result[]>): Promise<void> => {
      const startedAt = performance.now();
      try {
        const results = await work();
        text = `${up(true).join("\n")}\n${metricsOf(results, Date.now(), performance.now() - startedAt)}`;
      } catch (error) {
        text = `${up(false).join("\n")}\n`;
        throw error;
      }
    },
    close: async (): Promise<void> => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
