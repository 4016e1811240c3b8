import { hash, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Store } from "../store/store";
import { Refusal } from "../errors";

export const nodePath = "/runtime/:environmentId/:nodeId";

/** What is kept of a password, which is random. */
export const passwordHash = (password: string) => hash("sha256", password, "hex");
const bytes = (hex: string) => Buffer.from(hex, "hex");

/** A stand-in for the hash of a name nobody has, so that an unknown user takes as long as a wrong password. */
const nobody = "0".repeat(64);

/**
 * The node of a request's path and the credential that was sent, which opens the nodes of its own membership, in its own
 * environment, and nothing else. Otherwise the answer asks for one.
 */
export function admitted(store: Store, request: FastifyRequest, reply: FastifyReply) {
  const { environmentId, nodeId } = request.params as { environmentId: string; nodeId: string };
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
  const [, username = "", password = ""] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, "base64").toString()) ?? [];
  const credential = store.get("credential", username);
  const known = timingSafeEqual(bytes(passwordHash(password)), bytes(credential?.fields.passwordHash ?? nobody));
  const node = store.get("node", nodeId);
  const within = node?.parent === environmentId && store.get("environment", environmentId) !== undefined;
  const own = credential?.parent === node?.parent && credential?.fields.membership_id === node?.fields.membership_id;
  if (known && credential && node && within && own) return { node, credential };
  reply.header("www-authenticate", 'Basic realm="node"');
  throw new Refusal(401, "This needs an application credential of this environment and of the node's own membership.");
}
