import { type Input, Output, output, secret } from "@pulumi/pulumi";
// eslint-disable-next-line @typescript-eslint/ban-ts-comment -- where ethers is installed there is no error to expect
/** @ts-ignore for who has not installed ethers these are `any`, so a program that only manages a network compiles */
import type { JsonRpcProvider, WebSocketProvider } from "ethers";
import type * as Loaded from "./providers";

/** How a node is reached: JSON-RPC over HTTP(S), or a WebSocket. */
export type Via = "rpc" | "wss";

/** A node whose addresses are known: the address itself, or what `getNodeStatus` shows. */
export type KnownNode = string | { urls?: { rpc?: string; wss?: string } };

/** A user name and its password, known. */
export interface KnownLogin {
  username: string;
  password: string;
}

/** A node of the program, or anything that shows its addresses later. */
export type AnyNode = Input<KnownNode> | { urls: Input<{ rpc?: string; wss?: string } | undefined> };

/** A credential of the program, or a pair that is known later. */
export interface AnyLogin {
  username: Input<string>;
  password: Input<string>;
}

export interface ConnectOptions<V extends Via = Via> {
  /** HTTP (`rpc`, the default) or a WebSocket (`wss`). */
  via?: V;
  /** Certificates to trust besides the usual ones, as PEM text: for a service with a certificate of its own. */
  ca?: string | Buffer;
}

const isKnown = (value: unknown): boolean => !Output.isInstance(value) && !(value instanceof Promise);

function known(node: AnyNode, credential: AnyLogin): node is KnownNode {
  const address = typeof node === "object" && isKnown(node) && "urls" in node ? node.urls : node;
  return [node, address, credential.username, credential.password].every(isKnown);
}

function addressOf(node: KnownNode, via: Via): string {
  const address = typeof node === "string" ? node : node.urls?.[via];
  if (!address) throw new Error(`The node shows no ${via} address (yet): wait until it is started.`);
  const scheme = via === "rpc" ? /^https?:/i : /^wss?:/i;
  if (scheme.test(address)) return address;
  throw new Error(
    `${address} cannot be used as the ${via} address: it must begin with ${via === "rpc" ? "https: or http:" : "wss: or ws:"}.`,
  );
}

function withPair(address: string, { username, password }: KnownLogin): string {
  const url = new URL(address);
  url.username = encodeURIComponent(username);
  url.password = encodeURIComponent(password);
  return url.href;
}

/** Runs once everything is known. What follows is secret, as the password is; it is not looked into, as `output` would. */
function later<T>(node: AnyNode, credential: AnyLogin, run: (node: KnownNode, credential: KnownLogin) => T): Output<T> {
  const shown =
    typeof node === "object" && isKnown(node) && "urls" in node ? output(node.urls).apply((urls) => ({ urls })) : node;
  const parts = output([shown as Input<KnownNode>, credential.username, secret(credential.password)] as const);
  return parts.apply<T>((values) => {
    const [where, username, password] = values as [KnownNode, string, string];
    return run(where, { username, password });
  });
}

/**
 * The address of a node with user name and password in it, for tools that take nothing else. For a node and a
 * credential of the program a secret Output; for values that are known already (in a script), text: keep it to yourself.
 */
export function runtimeUrl(node: KnownNode, credential: KnownLogin, via?: Via): string;
export function runtimeUrl(node: AnyNode, credential: AnyLogin, via?: Via): Output<string>;
export function runtimeUrl(node: AnyNode, credential: AnyLogin, via: Via = "rpc"): string | Output<string> {
  const make = (where: KnownNode, pair: KnownLogin): string => withPair(addressOf(where, via), pair);
  return known(node, credential) ? make(node, credential as KnownLogin) : later(node, credential, make);
}

/**
 * An ethers (v6) provider that logs in to a node with the Basic header: over HTTP, or with `"wss"` over a WebSocket.
 * A refused credential is a `CredentialRefused` at the first request, not an endless attempt.
 *
 * For values that are known already it is the provider itself. For a node and a credential of the program it is an Output:
 * use it in `apply`, where a preview does not know them yet, and never export it. Close what you open (`destroy()`).
 */
export function connect(node: KnownNode, credential: KnownLogin, via?: "rpc" | ConnectOptions<"rpc">): JsonRpcProvider;
export function connect(node: KnownNode, credential: KnownLogin, via: "wss" | ConnectOptions<"wss">): WebSocketProvider;
export function connect(
  node: AnyNode,
  credential: AnyLogin,
  via?: "rpc" | ConnectOptions<"rpc">,
): Output<JsonRpcProvider>;
export function connect(
  node: AnyNode,
  credential: AnyLogin,
  via: "wss" | ConnectOptions<"wss">,
): Output<WebSocketProvider>;
export function connect(
  node: AnyNode,
  credential: AnyLogin,
  via: Via | ConnectOptions = {},
): JsonRpcProvider | WebSocketProvider | Output<JsonRpcProvider | WebSocketProvider> {
  const options = typeof via === "string" ? { via } : via;
  const make = (where: KnownNode, pair: KnownLogin): JsonRpcProvider | WebSocketProvider => {
    const address = addressOf(where, options.via ?? "rpc");
    const { overHttp, overWebSocket } = providers();
    return (options.via === "wss" ? overWebSocket : overHttp)(address, pair, options.ca);
  };
  return known(node, credential) ? make(node, credential as KnownLogin) : later(node, credential, make);
}

type Providers = typeof Loaded;

/** ethers takes longer to load than this whole package: only programs that connect pay for it. */
// eslint-disable-next-line @typescript-eslint/no-require-imports -- synchronous, so that `connect` is too
const providers = (): Providers => require("./providers") as Providers;
