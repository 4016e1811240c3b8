import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import type { Entity } from "../store/entities";
import { jsonText, sha256 } from "../store/files";
import type { Organizations } from "../store/organizations";

/** How long a token is good for (s). */
const lifetime = 3_600;

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
/** It is only shown: whatever a token says of itself, it needs this signature. */
const header = encoded({ alg: "HS256", typ: "JWT" });
const claims = jsonText.pipe(z.object({ orgs: z.tuple([z.string()]), exp: z.number(), key: z.string() }));

/** Tokens (JWT, HS256) that stand for an API key for an hour. They end with their key, and with the service. */
export class Tokens {
  readonly #secret = randomBytes(32);

  constructor(
    private readonly organizations: Organizations,
    private readonly clock: () => number,
  ) {}

  /** @param limits what the organization's plan allows */
  of(key: string, organization: string, limits: object): string {
    const iat = Math.floor(this.clock() / 1_000);
    const orgs = { orgs: [organization], org_plans: { [organization]: limits } };
    const body = encoded({ ...orgs, iat, exp: iat + lifetime, key: this.#mark(sha256(key)) });
    return `${header}.${body}.${this.#sign(`${header}.${body}`)}`;
  }

  /** The organization of a token that is good now. */
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

  /** Names a key in its tokens. Without the secret, no key can be guessed from it. */
  #mark = (hash: string) => this.#sign(`key ${hash}`);
  #sign = (text: string) => createHmac("sha256", this.#secret).update(text).digest("base64url");
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}
