import { z } from "zod";
import { type PlanLimits } from "../constants";
import { text } from "../plain";
import { answerOr, isApiError } from "./api-error";
import { MembershipObject } from "./generated";
import { isNotTheApi } from "./http";
import { path, paths } from "./paths";
import { type Settings, SettingsError } from "./settings";
import { ApiKeyObject, type Identified, OrganizationObject } from "./wire";

/** What an API key shows of its organization. */
export interface Visible {
  /** The consortia that it lists, each with the organization that owns it. */
  consortia: ReadonlyMap<string, string | undefined>;
  /** The organization that it belongs to. undefined: nothing tells. */
  organization?: string;
}

/** A list that a service may lack, which is the same as an empty one. */
export const optional = <T>(items: Promise<T[]>): Promise<T[]> =>
  answerOr(items, [], "missing", "unsupported", "denied", "invalid", "conflict", "server").catch((error: unknown) => {
    if (isApiError(error) && isNotTheApi(error)) return [];
    throw error;
  });

/** The organization that a key acts for, if the service tells. None of these lists is in the specification. */
export async function askForOrganization(
  apiKey: string,
  list: <T>(collection: string, schema: z.ZodType<T>) => Promise<T[]>,
): Promise<string | undefined> {
  const id = apiKey.slice(0, Math.max(0, apiKey.indexOf("-")));
  const own = (await optional(list(paths.apiKeys, ApiKeyObject))).find((key) => key.id === id)?.org_id;
  if (own !== undefined) return own;
  const only = (ids: (string | undefined)[]): string | undefined => (new Set(ids).size === 1 ? ids[0] : undefined);
  // A user may have several organizations, and a key acts for one of them.
  const organization = only((await optional(list(paths.organizations, OrganizationObject))).map((one) => one.id));
  if (organization !== undefined) return organization;
  return only((await optional(list(paths.ownMemberships, MembershipObject))).map((one) => one.org_id));
}

/**
 * The organization of a key: what the service tells (`asked`), or else the owner of a consortium that no other organization takes part
 * in, because nobody else lists that (spec, section 4.1). A shared one tells nothing.
 * @param list lists a collection, whole or not at all
 */
export async function lookAround(
  list: (collection: string) => Promise<Identified[]>,
  asked: () => Promise<string | undefined>,
): Promise<Visible> {
  const consortia = new Map((await list(paths.consortia)).map(({ id, owner }) => [id, text(owner)]));
  const organization = (await asked()) ?? (await ownerOfUnshared(list, consortia));
  return { consortia, ...(organization !== undefined && { organization }) };
}

async function ownerOfUnshared(
  list: (collection: string) => Promise<Identified[]>,
  consortia: Visible["consortia"],
): Promise<string | undefined> {
  for (const [id, owner] of consortia) {
    if (owner === undefined) continue;
    const members = list(paths.memberships(id));
    const known = await answerOr(members, undefined, "missing", "unsupported", "denied", "partial");
    if (known?.every(({ org_id }) => org_id === owner)) return owner;
  }
  return undefined;
}

/**
 * Whether an object in a consortium belongs to the key's organization (`own`), as far as the service tells. It owns everything in its own
 * consortium; in another organization's, which only members see, its own members and their objects.
 * @param member the organization of the member that it is, or belongs to
 */
export function whose(
  own: unknown,
  owner: unknown,
  members: readonly unknown[],
  member: unknown,
): "own" | "others" | "unknown" {
  if (own === undefined || owner === undefined || own === owner || !members.includes(own)) return "own";
  return member === undefined ? "unknown" : member === own ? "own" : "others";
}

/**
 * Where nothing tells whose the key is, it must at least list a consortium of the required organization.
 * @throws SettingsError unless the key belongs to the organization that the settings require (spec, section 2.1)
 */
export function requireOrganization(settings: Settings, { organization, consortia }: Visible): void {
  const { organization: required, apiKey, advice } = settings;
  if (!required || required.id === organization) return;
  const owners = [...new Set(consortia.values())].filter((owner) => owner !== undefined);
  if (organization === undefined && owners.includes(required.id)) return;
  const shows =
    organization !== undefined
      ? `belongs to organization ${organization}`
      : owners.length > 0
        ? `shows only consortia of organization ${owners.join(" and ")}`
        : "shows no consortium with its owner, so its organization is unknown";
  const first =
    organization === undefined && consortia.size === 0
      ? "Create the first consortium without this setting: its output owner is the id to set."
      : advice.useKeyOf(required.id, apiKey);
  throw new SettingsError(
    organization === undefined ? "unclear-organization" : "wrong-organization",
    `${first} The organization must be ${required.id} (${required.source}), but the API key from ${apiKey.source} ${shows}. ` +
      "Nothing was changed.",
    undefined,
    "the API key is not known to belong to the organization that the settings require",
  );
}

/* Limits of an organization's plan, if the service reports them: `/orgs` names the plan, `/plans/{plan}` has its limits. */

const most = z.number().int().min(1).optional().catch(undefined);
const perOf = <S extends string>(scope: S) =>
  z
    .object({ per: z.object({ [scope]: most }).transform((per) => (per as Record<S, number | undefined>)[scope]) })
    .transform(({ per }) => per)
    .optional()
    .catch(undefined);

const Plan = z.object({
  limits: z.object({ consortia: perOf("org"), environments: perOf("consortium"), nodes: perOf("environment") }),
});

export type ToldLimits = Partial<PlanLimits>;

/** Asks for the limits of the key's organization, of those that the key shows. undefined: the service does not tell. */
export async function askForLimits(
  organizations: readonly OrganizationObject[],
  organizationOfKey: () => Promise<string | undefined>,
  find: (where: string) => Promise<object | undefined>,
): Promise<ToldLimits | undefined> {
  const own = organizations.length > 1 ? await organizationOfKey() : organizations[0]?.id;
  const plan = organizations.find(({ id }) => id === own)?.plan;
  const read = plan === undefined ? undefined : Plan.safeParse(await find(path`/plans/${plan}`));
  if (!read?.success) return undefined;
  const told = Object.entries(read.data.limits).filter(([, value]) => value !== undefined);
  return Object.fromEntries(told);
}
