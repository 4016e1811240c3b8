import { z } from "zod";
import { type PlanLimits } from "../constants";
import { text } from "../plain";
import { answerOr, isApiError } from "./api-error";
import { MembershipObject } from "./generated";
import { isNotTheApi } from "./http";
import { path, paths } from "./paths";
import { type Settings, SettingsError } from "./settings";
import { isGone } from "./states";
import { ApiKeyObject, type Identified, OrganizationObject } from "./wire";

/** Facts about the organization of an API key. */
export interface Visible {
  /** Ids of the consortia that it lists. */
  consortia: ReadonlySet<string>;
  /** The organizations that it may belong to, usually one. undefined: its lists do not tell. */
  organizations?: ReadonlySet<string>;
}

/** A list that a service may lack, which is the same as an empty one. */
export async function optional<T>(items: Promise<T[]>): Promise<T[]> {
  try {
    return await answerOr(items, [], "missing", "unsupported", "denied", "invalid", "conflict", "server");
  } catch (error) {
    if (isApiError(error) && isNotTheApi(error)) return [];
    throw error;
  }
}

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
 * Finds out which organization a key belongs to. The service may tell (`asked`). Otherwise, a key lists only consortia
 * that its organization owns or is a member of (spec, section 4.1): it is one that takes part in all of them.
 * @param list lists a collection
 */
export async function lookAround(
  list: (collection: string) => Promise<Identified[]>,
  asked: () => Promise<string | undefined>,
): Promise<Visible> {
  const all = await list(paths.consortia);
  const consortia = new Set(all.map(({ id }) => id));
  const own = await asked();
  if (own !== undefined) return { consortia, organizations: new Set([own]) };
  const there = all.filter((one) => !isGone(one));
  const listed = there.length > 0 ? there : all;
  const owners = new Set(listed.flatMap(({ owner }) => text(owner) ?? []));
  if (owners.size === 0) return { consortia };
  const taking = await Promise.all(listed.map((consortium) => participants(list, consortium)));
  const inAll = [...new Set(taking.flatMap((some) => [...some]))].filter((id) => taking.every((some) => some.has(id)));
  return { consortia, organizations: inAll.length > 0 ? new Set(inAll) : owners };
}

async function participants(
  list: (collection: string) => Promise<Identified[]>,
  consortium: Identified,
): Promise<ReadonlySet<string>> {
  const members = await answerOr(list(paths.memberships(consortium.id)), [], "missing", "unsupported", "denied");
  return new Set([consortium.owner, ...members.map(({ org_id }) => org_id)].flatMap((id) => text(id) ?? []));
}

/**
 * Whether an object in a consortium belongs to the key's organization, as far as the service tells. It owns everything
 * in its own consortium; in another organization's, only its own members and their objects. Only a member sees the
 * consortium of another organization.
 * @param own the organization of the key; owner: of the consortium; members: of the members
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

/** @throws SettingsError unless the key shows the organization that the settings require (spec, section 2.1) */
export function requireOrganization(
  settings: Settings,
  { organizations, consortia }: Visible,
  done = "Nothing was changed.",
): void {
  const { organization: required, apiKey, advice } = settings;
  if (!required || organizations?.has(required.id)) return;
  const shows = organizations
    ? `belongs to organization ${[...organizations].join(" or ")}`
    : consortia.size === 0
      ? "shows no consortium, so its organization is unknown"
      : "shows consortia without their owners, so its organization is unknown";
  throw new SettingsError(
    organizations ? "wrong-organization" : "unclear-organization",
    `${advice.useKeyOf(required.id, apiKey)} The organization must be ${required.id} (${required.source}), but the API key from ` +
      `${apiKey.source} ${shows}. ${done}`,
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

/** The limits that a plan names. */
export type ToldLimits = Partial<PlanLimits>;

/**
 * Asks for the limits of the key's organization. Not in the specification.
 * @param organizations those that the key shows
 * @param organizationOfKey asks which of several is the key's
 * @returns undefined: the service does not tell
 */
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
