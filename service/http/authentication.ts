import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { Refusal } from "../errors";
import { type Entity, isUtility } from "../store/entities";
import { jsonText, sha256 } from "../storage/files";
import type { Organizations } from "../store/organizations";
import type { Store } from "../store/store";

declare module "fastify" {
  interface FastifyRequest {
    organization: Entity<"organization"> | undefined;
  }
}

const sentKey = ({ headers }: FastifyRequest) => /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];

/** Where callers are looked up. */
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

/** Lifetime of a token (s). */
const lifetime = 3_600;

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
/** Informational: a token needs this signature, whatever it contains. */
const header = encoded({ alg: "HS256", typ: "JWT" });
const claims = jsonText.pipe(z.object({ orgs: z.tuple([z.string()]), exp: z.number(), key: z.string() }));

/** Tokens (JWT, HS256) that stand for an API key for an hour. They end with their key, and with the service. */
export class Tokens {
  readonly #secret = randomBytes(32);

  constructor(
    private readonly organizations: Organizations,
    private readonly clock: () => number,
  ) {}

  /** @param limits the limits of the organization's plan */
  of(key: string, organization: string, limits: object): string {
    const iat = Math.floor(this.clock() / 1_000);
    const orgs = { orgs: [organization], org_plans: { [organization]: limits } };
    const body = encoded({ ...orgs, iat, exp: iat + lifetime, key: this.#mark(sha256(key)) });
    return `${header}.${body}.${this.#sign(`${header}.${body}`)}`;
  }

  /** The organization of a token that is valid now. */
  ownerOf(token: string): Entity<"organization"> | undefined {
    const [head, body = "", signature = "", ...more] = token.split(".");
    if (more.length > 0 || !isSame(signature, this.#sign(`${head}.${body}`))) return undefined;
    const { data } = claims.safeParse(Buffer.from(body, "base64url").toString());
    if (!data || this.clock() >= data.exp * 1_000) return undefined;
    const organization = this.organizations.list().find(({ id }) => id === data.orgs[0]);
    if (!organization) return undefined;
    const further = this.organizations.furtherKeys(organization.id).map(({ fields }) => fields.hash);
    const isValid = [sha256(organization.apiKey), ...further].some((hash) => this.#mark(hash) === data.key);
    return isValid ? this.organizations.find(organization.name) : undefined;
  }

  /** Identifies a key in its tokens. Nobody can guess the key from it without the secret. */
  #mark = (hash: string) => this.#sign(`key ${hash}`);
  #sign = (text: string) => createHmac("sha256", this.#secret).update(text).digest("base64url");
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}
