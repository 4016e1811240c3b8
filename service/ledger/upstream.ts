import { connect, type TcpNetConnectOpts } from "node:net";
import { Agent, Pool } from "undici";
import type { Chain } from "./chains";

/** A chain on a Unix socket. A URL has no place for its path, so the host stands for it. */
export const socketUpstream = (path: string): string => `http://x${Buffer.from(path).toString("hex")}`;

/** Where the proxy finds a chain. */
export const upstreamOf = (chain: Chain): string => socketUpstream(chain.socketPath);

function socketPath(host: string): string | undefined {
  const [, hex] = /^x((?:[\da-f]{2})+)$/.exec(host) ?? [];
  return hex === undefined ? undefined : Buffer.from(hex, "hex").toString();
}

/** Connections to the chains, for calls. */
export const agent = (options: Pool.Options): Agent =>
  new Agent({
    factory(origin) {
      const path = socketPath(new URL(origin).hostname);
      return new Pool(origin, path === undefined ? options : { ...options, socketPath: path });
    },
  });

/** The same for WebSockets. */
export const connectTo = ((options: TcpNetConnectOpts) => {
  const path = socketPath(options.host ?? "");
  return connect(path === undefined ? options : { path });
}) as typeof connect;
