import { type Input, type Output, output, secret } from "@pulumi/pulumi";
// eslint-disable-next-line @typescript-eslint/ban-ts-comment -- where ethers is installed there is no error to expect
/** @ts-ignore without ethers these are `any`, so that a program which only manages a network compiles */
import type { JsonRpcProvider, WebSocketProvider } from "ethers";
import { UserError } from "../../provider/errors";
import { isLater } from "../aliases";
import type * as Loaded from "./node-connections";

/** How a node is reached: JSON-RPC over HTTP(S), or a WebSocket. */
export type Via = "rpc" | "wss";

/** A node with known addresses: the address itself, or the result of `getNodeStatus`. */
export type KnownNode = string | { urls?: { rpc?: string; wss?: string } };

/** A user name and its password, both known. */
export interface KnownCredential {
  username: string;
  password: string;
}

/** A node of the program, or anything with addresses that become known later. */
export type AnyNode = Input<KnownNode> | { urls: Input<{ rpc?: string; wss?: string } | undefined> };

/** A credential of the program, or a user name and a password that become known later. */
export interface AnyCredential {
  username: Input<string>;
  password: Input<string>;
}

export interface ConnectOptions<V extends Via = Via> {
  /** HTTP (`rpc`, the default) or a WebSocket (`wss`). */
  via?: V;
  /** Certificates to trust besides the usual ones, as PEM text: for a service with a certificate of its own. */
  ca?: string | Buffer;
}

/** The ethers provider for each way to reach a node. */
export type ProviderOf<V extends Via> = V extends "wss" ? WebSocketProvider : JsonRpcProvider;

function addressOf(node: KnownNode, via: Via): string {
  const address = typeof node === "string" ? node : node.urls?.[via];
  if (!address) throw new UserError("not-ready", `The node shows no ${via} address (yet): wait until it is started.`);
  const scheme = via === "rpc" ? /^https?:/i : /^wss?:/i;
  if (scheme.test(address)) return address;
  throw new UserError(
    "invalid-argument",
    `${address} cannot be used as the ${via} address: it must begin with ${via === "rpc" ? "https: or http:" : "wss: or ws:"}.`,
  );
}

/** Calls `make` at once if everything is known; otherwise later, and the result is as secret as the password. */
function withAddress<T>(
  node: AnyNode,
  { username, password }: AnyCredential,
  via: Via,
  make: (address: string, credential: KnownCredential) => T,
): T | Output<T> {
  const hasUrls = typeof node === "object" && !isLater(node) && "urls" in node;
  const given = [hasUrls ? node.urls : node, username, password];
  const run = ([where, username, password]: unknown[]): T => {
    const address = addressOf((hasUrls ? { urls: where } : where) as KnownNode, via);
    return make(address, { username, password } as KnownCredential);
  };
  return given.some(isLater) ? secret(output(given)).apply<T>(run) : run(given);
}

/**
 * The address of a node including user name and password, for tools that accept nothing else. For a node and a
 * credential of the program it is a secret Output; for values that are already known (in a script) it is text: keep it to yourself.
 */
export function runtimeUrl(node: KnownNode, credential: KnownCredential, via?: Via): string;
export function runtimeUrl(node: AnyNode, credential: AnyCredential, via?: Via): Output<string>;
export function runtimeUrl(node: AnyNode, credential: AnyCredential, via: Via = "rpc"): string | Output<string> {
  return withAddress(node, credential, via, (address, { username, password }) => {
    const url = new URL(address);
    url.username = encodeURIComponent(username);
    url.password = encodeURIComponent(password);
    return url.href;
  });
}

/**
 * An ethers (v6) provider that authenticates to a node with the Basic header: over HTTP, or with `"wss"` over a WebSocket.
 * If the node refuses the credential, the first request fails with a `CredentialRefused`; it is not retried forever.
 *
 * For values that are already known it is the provider itself. For a node and a credential of the program it is an Output:
 * use it in `apply` (a preview may not know it yet) and never export it. Close what you open (`destroy()`).
 */
export function connect<V extends Via = "rpc">(
  node: KnownNode,
  credential: KnownCredential,
  via?: V | ConnectOptions<V>,
): ProviderOf<V>;
export function connect<V extends Via = "rpc">(
  node: AnyNode,
  credential: AnyCredential,
  via?: V | ConnectOptions<V>,
): Output<ProviderOf<V>>;
export function connect(node: AnyNode, credential: AnyCredential, via: Via | ConnectOptions = {}): unknown {
  const options = typeof via === "string" ? { via } : via;
  return withAddress(node, credential, options.via ?? "rpc", (address, known) => {
    // ethers takes longer to load than this whole package: only programs that connect pay for it.
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- synchronous, so that `connect` is too
    const { overHttp, overWebSocket } = require("./node-connections") as typeof Loaded;
    return (options.via === "wss" ? overWebSocket : overHttp)(address, known, options.ca);
  });
}
