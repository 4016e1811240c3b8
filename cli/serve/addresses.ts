import { networkInterfaces } from "node:os";
import type { Service } from "../../service";

interface Listening {
  host: string;
  tlsCert?: string;
}

/** What should be known where other machines can reach the service. */
export function exposed({ host, tlsCert }: Listening): string {
  const where = isEverywhere(host) ? "on all addresses of this machine" : `on ${host}`;
  const reach = `consortium: warning: the service listens ${where}, so other machines can reach it.`;
  if (tlsCert !== undefined) return reach;
  return `${reach} API keys, credentials and all data cross the network unencrypted: use TLS (--tls-cert and --tls-key), or --host 127.0.0.1 for this machine alone.`;
}

/** Where other machines find it, if it listens on all addresses. */
export function addresses({ host }: Listening, { baseUrl, port }: Service): string[] {
  if (!isEverywhere(host)) return [];
  const all = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  const found = all.filter(
    ({ internal, family, scopeid }) => !internal && (family === "IPv4" || (host === "::" && !scopeid)),
  );
  return found.map(({ address, family }) =>
    baseUrl.replace(/\/\/.*?\/api/, `//${family === "IPv4" ? address : `[${address}]`}:${port}/api`),
  );
}

const isEverywhere = (host: string) => host === "0.0.0.0" || host === "::";
