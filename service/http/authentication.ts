import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Entity } from "../store/entities";
import type { Organizations } from "../store/organizations";
import { Refusal } from "../errors";

declare module "fastify" {
  interface FastifyRequest {
    organization: Entity<"organization"> | undefined;
  }
}

const keyOf = ({ headers }: FastifyRequest) => /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];

/** The organization whose key was sent, if it was a valid one. */
export function callerOf(organizations: Organizations, request: FastifyRequest): Entity<"organization"> | undefined {
  const key = keyOf(request);
  return key === undefined ? undefined : organizations.ofKey(key);
}

function authenticate(organizations: Organizations, request: FastifyRequest): Entity<"organization"> {
  const key = keyOf(request);
  if (key === undefined)
    throw new Refusal(401, "An API key is missing: send the header Authorization: Bearer <API key>.");
  const organization = organizations.ofKey(key);
  if (!organization) throw new Refusal(401, "The API key is not valid. It may have been replaced by a new one.");
  return organization;
}

/**
 * Every call below here needs an API key, which scopes it to one organization. Without one its body is not read, unless a fault comes
 * first.
 */
export function requireKey(app: FastifyInstance, organizations: Organizations): void {
  app.addHook("onRequest", (request, _reply, done) => {
    try {
      request.organization = authenticate(organizations, request);
    } catch (refusal) {
      if (!request.fault) throw refusal;
    }
    done();
  });
  app.addHook("preValidation", (request, _reply, done) => {
    request.organization ??= authenticate(organizations, request);
    done();
  });
}

export function organizationOf(request: FastifyRequest): Entity<"organization"> {
  if (!request.organization) throw new Error(`${request.url} is not behind a key.`);
  return request.organization;
}
