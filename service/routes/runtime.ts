import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Context } from "../context";
import type { Entity } from "../store/entities";
import { Refusal } from "../http/errors";
import { hashed, sameHash } from "../store/api-keys";

/** A stand-in for the hash of a name nobody has, so that an unknown user takes as long as a wrong password. */
const nobody = "0".repeat(64);

/** Who calls a node: a user name, and the hash of a password. */
interface Login {
  username: string;
  passwordHash: string;
}

function loginOf(header: string | undefined): Login {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(header ?? "")?.[1] ?? "";
  const [, username = "", password = ""] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, "base64").toString()) ?? [];
  return { username, passwordHash: hashed(password) };
}

/** A credential opens the nodes of its own membership, in its own environment, and nothing else. */
function admit(
  context: Context,
  { username, passwordHash }: Login,
  environmentId: string,
  nodeId: string,
): { node: Entity<"node">; credential: Entity<"credential"> } {
  const found = context.store.get("credential", username);
  const known = sameHash(passwordHash, found?.fields.passwordHash ?? nobody);
  const node = context.store.get("node", nodeId);
  const within = node?.parent === environmentId && context.store.get("environment", environmentId) !== undefined;
  const own = found?.parent === node?.parent && found?.fields.membership_id === node?.fields.membership_id;
  if (!known || !found || !node || !within || !own) {
    throw new Refusal(
      401,
      "This needs an application credential of this environment and of the node's own membership.",
    );
  }
  return { node, credential: found };
}

export const nodePath = "/runtime/:environmentId/:nodeId";

/** The node of a request's path, if its sender may use it; otherwise the answer asks for a credential. */
export function admitted(context: Context, request: FastifyRequest, reply: FastifyReply) {
  const { environmentId, nodeId } = request.params as { environmentId: string; nodeId: string };
  reply.header("www-authenticate", 'Basic realm="node"');
  const found = admit(context, loginOf(request.headers.authorization), environmentId, nodeId);
  reply.removeHeader("www-authenticate");
  return found;
}

/** The address that a node's status shows as its runtime, where there is no ledger behind it; else see ledger/proxy.ts. */
export function runtimeRoutes(app: FastifyInstance, context: Context): void {
  app.all(nodePath, (request, reply) => {
    const { node } = admitted(context, request, reply);
    throw new Refusal(501, `No ledger is attached to the node ${node.id}: ${context.noLedger}.`);
  });
}
