import { isIP } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import type { FastifyInstance } from "fastify";
import { Refusal } from "../errors";

/** Whether a name or address always means this machine, whatever a name server says. */
export const isLoopback = (name: string) =>
  name === "localhost" || name.endsWith(".localhost") || /^127\.\d+\.\d+\.\d+$/.test(name) || name === "::1";

/** A name in lower case and without brackets: `[::1]` becomes `::1`. */
const plain = (name: string) => name.toLowerCase().replace(/^\[(.*)\]$/, "$1");

/**
 * Refuses requests from web pages in browsers on this machine or its network. They send the origin of their own server, or use a
 * name that was made to point here (DNS rebinding). Programs send no origin, and use the name or address that they were given.
 */
export function refuseStrangers(app: FastifyInstance, host: string, allowed: readonly string[]): void {
  const bound = plain(host);
  const open = !isLoopback(bound);
  const machine = open ? [hostname(), hostname().split(".")[0]!] : [];
  const names = new Set([bound, ...machine, ...allowed].map(plain));
  const own = (name: string) => isLoopback(name) || names.has(name) || (open && isInterface(name));

  app.addHook("onRequest", (request, _reply, done) => {
    const { host: asked, origin } = request.headers;
    if (asked === undefined && request.raw.httpVersion !== "1.0") throw new Refusal(400, "The Host header is missing.");
    const name = hostName(asked);
    // nobody can make an address point elsewhere, and only a router may know which ones lead here
    if (asked !== undefined && !own(name) && !(open && isIP(name) > 0)) {
      throw new Refusal(
        403,
        `The Host header names ${asked}, which is not an address of this service. If it should be one, allow it with --allow-host.`,
      );
    }
    if (origin !== undefined && !isOwnOrigin(origin, (from) => own(from) || from === name)) {
      throw new Refusal(
        403,
        `Web pages from ${origin} may not use this service. If they should, allow their host with --allow-host.`,
      );
    }
    done();
  });
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
