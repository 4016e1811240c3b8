import { timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Refusal } from "../errors";
import type { Entity } from "../store/entities";
import { sha256 } from "../store/files";
import type { Organizations } from "../store/organizations";
import type { Tokens } from "./tokens";
import type { Store } from "../store/store";

declare module "fastify" {
  interface FastifyRequest {
    organization: Entity<"organization"> | undefined;
  }
}

const sentKey = ({ headers }: FastifyRequest) => /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];

/** What knows the callers. */
export interface Callers {
  organizations: Organizations;
  tokens: Tokens;
}

/** The organization whose key, or a token of it, was sent; undefined without a valid one. */
export function callerOf({ organizations, tokens }: Callers, request: FastifyRequest) {
  const key = sentKey(request);
  return key === undefined ? undefined : (organizations.ofKey(key) ?? tokens.ownerOf(key));
}

const unauthorized = (request: FastifyRequest) =>
  new Refusal(
    401,
    sentKey(request) === undefined
      ? "An API key is missing: send the header Authorization: Bearer <API key>."
      : "The API key is not valid. It may have been replaced by a new one.",
  );

/**
 * Requires an API key for all routes of `app`, and limits each call to the organization of its key. Without a key, the body is not
 * read, unless a fault comes first.
 */
export function requireKey(app: FastifyInstance, callers: Callers): void {
  app.addHook("onRequest", (request, _reply, done) => {
    request.organization = callerOf(callers, request);
    if (!request.organization && !request.fault) throw unauthorized(request);
    done();
  });
  app.addHook("preValidation", (request, _reply, done) => {
    if (!request.organization) throw unauthorized(request);
    done();
  });
}

export function organizationOf(request: FastifyRequest): Entity<"organization"> {
  if (!request.organization) throw new Error(`${request.url} is not behind a key.`);
  return request.organization;
}

export const nodePath = "/runtime/:environmentId/:nodeId";
export const servicePath = "/services/:environmentId/:serviceId";

/** The header of a login with username and password. */
export const basicHeader = (username: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`,
});

function basicCredentials({ headers }: FastifyRequest): { username: string; password: string } {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(headers.authorization ?? "")?.[1] ?? "";
  const [, username = "", password = ""] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, "base64").toString()) ?? [];
  return { username, password };
}

const bytes = (hex: string) => Buffer.from(hex, "hex");

/** Compared if there is no such user, so that the answer takes as long as for a wrong password. */
const nobody = "0".repeat(64);

/** The credential that was sent; undefined if its password is wrong. */
function credentialOf(store: Store, request: FastifyRequest): Entity<"credential"> | undefined {
  const { username, password } = basicCredentials(request);
  const credential = store.get("credential", username);
  const known = timingSafeEqual(bytes(sha256(password)), bytes(credential?.fields.passwordHash ?? nobody));
  return known ? credential : undefined;
}

function stranger(reply: FastifyReply, what: string): Refusal {
  reply.header("www-authenticate", `Basic realm="${what}"`);
  return new Refusal(
    401,
    `This needs an application credential of this environment and of the ${what}'s own membership.`,
  );
}

/**
 * The node of a request's path and the credential that was sent. A credential opens only the nodes of its own membership and
 * environment; anything else is refused with 401.
 */
export function admitted(store: Store, request: FastifyRequest, reply: FastifyReply) {
  const { environmentId, nodeId } = request.params as { environmentId: string; nodeId: string };
  const credential = credentialOf(store, request);
  const node = store.get("node", nodeId);
  const within = node?.parent === environmentId && store.get("environment", environmentId) !== undefined;
  const own = credential?.parent === node?.parent && credential?.fields.membership_id === node?.fields.membership_id;
  if (credential && node && within && own) return { node, credential };
  throw stranger(reply, "node");
}

/** The same for a service; shared ones are for all members of the environment. */
export function admittedToService(
  store: Store,
  request: FastifyRequest,
  reply: FastifyReply,
  isShared: (service: Entity<"service">) => boolean,
): Entity<"service"> {
  const { environmentId, serviceId } = request.params as { environmentId: string; serviceId: string };
  const credential = credentialOf(store, request);
  const service = store.get("service", serviceId);
  const within = service?.parent === environmentId && credential?.parent === environmentId;
  const own = service && (isShared(service) || credential?.fields.membership_id === service.fields.membership_id);
  if (within && own) return service;
  throw stranger(reply, "service");
}
