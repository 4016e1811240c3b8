import { z } from "zod";
import { type PlanLimits } from "../constants";
import { path } from "./paths";
import { type OrganizationObject } from "./wire";

/* What the plan of an organization allows, where a service tells: `/orgs` names the plan, `/plans/{plan}` has its limits. */

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

/** Limits that a plan names. Others are not told. */
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
