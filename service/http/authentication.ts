import { randomBytes } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Refusal } from "../errors";
import { type Entity, isUtility } from "../store/entities";
import { sha256 } from "../storage/files";
import type { Organizations } from "../store/organizations";
import type { Store } from "../store/store";

declare module "fastify" {
  interface FastifyRequest {
    organization: Entity<"organization"> | undefined;
  }
}

const sentKey = ({ headers }: FastifyRequest) => /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];

export interface Callers {
  organizations: Organizations;
  tokens: Tokens;
}

/** The organization of the key or token that was sent; undefined without a valid one. */
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
 * Requires an API key for all routes of `app`, and limits each call to the organization of its key. Without a key, it does not read the
 * body, unless a fault comes first.
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

function basicCredentials({ headers }: FastifyRequest): { username: string; password: string } {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(headers.authorization ?? "")?.[1] ?? "";
  const [, username = "", password = ""] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, "base64").toString()) ?? [];
  return { username, password };
}

/** The credential that was sent; undefined if its password is wrong. */
function credentialOf(store: Store, request: FastifyRequest): Entity<"credential"> | undefined {
  const { username, password } = basicCredentials(request);
  const credential = store.get("credential", username);
  return credential?.fields.passwordHash === sha256(password) ? credential : undefined;
}

function stranger(reply: FastifyReply, what: string): Refusal {
  reply.header("www-authenticate", `Basic realm="${what}"`);
  return new Refusal(
    401,
    `This needs an application credential of this environment and of the ${what}'s own membership.`,
  );
}

/**
 * The node or the service of a request's path, and the credential that was sent. A credential opens nodes and services of its own
 * membership and environment, and utility services, which all members share; anything
 * else is refused with 401.
 */
export function admitted<K extends "node" | "service">(
  kind: K,
  store: Store,
  request: FastifyRequest,
  reply: FastifyReply,
): { found: Entity<K>; credential: Entity<"credential"> } {
  const { environmentId = "", [`${kind}Id`]: id = "" } = request.params as Record<string, string>;
  const credential = credentialOf(store, request);
  const found = store.get(kind, id);
  const isThere = found?.parent === environmentId && store.get("environment", environmentId) !== undefined;
  const isOwn = found?.fields.membership_id === credential?.fields.membership_id;
  if (found && credential?.parent === environmentId && isThere && (isOwn || isUtility(found)))
    return { found, credential };
  throw stranger(reply, kind);
}

const lifetime = 3_600;

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
/** Nobody can check the signature: the service knows its tokens. */
const header = encoded({ alg: "HS256", typ: "JWT" });

/** Tokens, in the form of a JWT, that stand for an API key for an hour. They end with their key, and with the service. */
export class Tokens {
  readonly #made = new Map<string, { key: string; end: number }>();

  constructor(
    private readonly organizations: Organizations,
    private readonly clock: () => number,
  ) {}

  /** @param limits the limits of the organization's plan */
  of(key: string, organization: string, limits: object): string {
    for (const [token, { end }] of this.#made) if (end <= this.clock()) this.#made.delete(token);
    const iat = Math.floor(this.clock() / 1_000);
    const orgs = { orgs: [organization], org_plans: { [organization]: limits } };
    const body = encoded({ ...orgs, iat, exp: iat + lifetime });
    const token = `${header}.${body}.${randomBytes(32).toString("base64url")}`;
    this.#made.set(token, { key, end: (iat + lifetime) * 1_000 });
    return token;
  }

  /** The organization of a token that is valid now. */
  ownerOf(token: string): Entity<"organization"> | undefined {
    const { key, end } = this.#made.get(token) ?? { key: "", end: 0 };
    return this.clock() < end ? this.organizations.ofKey(key) : undefined;
  }
}
