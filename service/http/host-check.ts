import { isIP } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Refusal } from "../errors";
import type { ResolvedOptions } from "../settings/options";

/** Whether a name or address always means this machine, whatever DNS says. */
export const isLoopback = (name: string) =>
  name === "localhost" || name.endsWith(".localhost") || /^127\.\d+\.\d+\.\d+$/.test(name) || name === "::1";

/** A name in lower case and without brackets: `[::1]` becomes `::1`. */
const plain = (name: string) => name.toLowerCase().replace(/^\[(.*)\]$/, "$1");

/**
 * Refuses requests from web pages in browsers on this machine or its network. These send the origin of their own server, or use a name
 * that points here on purpose (DNS rebinding). Programs send no origin, and use the configured name or address.
 */
export function refuseStrangers(
  app: FastifyInstance,
  { host, allowHosts: allowed, allowOrigins }: Pick<ResolvedOptions, "host" | "allowHosts" | "allowOrigins">,
): void {
  const origins = new Set(allowOrigins.map((origin) => origin.toLowerCase()));
  const bound = plain(host);
  const open = !isLoopback(bound);
  const machine = open ? [hostname(), hostname().split(".")[0]!] : [];
  const names = new Set([bound, ...machine, ...allowed].map(plain));
  const own = (name: string) => isLoopback(name) || names.has(name) || (open && isInterface(name));

  app.addHook("onRequest", (request, reply, done) => {
    const { host: asked, origin } = request.headers;
    const name = hostName(asked);
    // nobody can redirect an address, and only a router may know which ones lead here
    if (asked !== undefined && !own(name) && !(open && isIP(name) > 0)) {
      throw new Refusal(
        403,
        `The Host header names ${asked}, which is not an address of this service. If it should be one, allow it with --allow-host.`,
      );
    }
    if (origin === undefined) return done();
    if (!origins.has(origin.toLowerCase()) && !isOwnOrigin(origin, (from) => own(from) || from === name)) {
      throw new Refusal(
        403,
        `Web pages from ${origin} may not use this service. If they should, allow them with --allow-origin ${origin}.`,
      );
    }
    void reply.headers({ "access-control-allow-origin": origin, vary: "Origin", ...shown });
    if (request.method !== "OPTIONS" || !("access-control-request-method" in request.headers)) return done();
    return void reply.code(204).headers(preflight(request)).send();
  });
}

const shown = { "access-control-expose-headers": "retry-after, www-authenticate" };

function preflight({ headers }: FastifyRequest): Record<string, string> {
  const asked = headers["access-control-request-headers"];
  return {
    "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
    "access-control-allow-headers": typeof asked === "string" ? asked : "authorization, content-type",
    "access-control-max-age": "600",
    ...("access-control-request-private-network" in headers ? { "access-control-allow-private-network": "true" } : {}),
  };
}

/** The name in a Host header, without the port; empty if there is none. */
function hostName(host = ""): string {
  const [, name = ""] = /^(\[[\da-f:.]+\]|[^\s:/?#@[\]\\]+)(?::\d{1,5})?$/i.exec(host) ?? [];
  return plain(name);
}

function isOwnOrigin(origin: string, own: (name: string) => boolean): boolean {
  const [, host] = /^https?:\/\/(.+)$/i.exec(origin) ?? [];
  const name = hostName(host);
  return name !== "" && own(name);
}

const isInterface = (name: string) =>
  isIP(name) > 0 && Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === name));
