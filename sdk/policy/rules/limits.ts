import { z } from "zod";
import { limits } from "../../../provider/constants";
import { groupBy } from "../../../provider/plain";
import { type ListedKind } from "../../../provider/resources/tree";
import { definePolicy, type Report } from "../define";
import {
  byOrganization,
  type Existing,
  existingBeside,
  namesOfOrganization,
  outsideStack,
  providerTitle,
} from "../live";
import { listed, type Siblings, type Stack } from "../stack";

/** Resources that share one limit: `owner` has the limit, and `urn` violates it. */
interface Counted extends Omit<Siblings, "key"> {
  /** Further checks. `others` exist outside this stack; undefined if that is not known. */
  further?: (others: Existing[] | undefined, report: Report) => void;
}

/** Counted resources, and their name in messages. */
interface Things {
  kind: ListedKind;
  things: string;
  remedy: string;
}

interface Maximum<Name extends string> extends Things {
  name: Name;
  description: string;
  /** The service's own limits: provider/constants.ts. */
  limit: number;
  /** Where they are counted, in the words of the setting: `per environment`. */
  per: string;
  counted: (stack: Stack) => Counted[];
}

const live = z
  .boolean()
  .default(false)
  .describe("Also count what the organization already has outside this stack; needs an API key.");

/** Counts what each owner would have; with the setting `live`, also outside this stack. */
async function count(
  counted: readonly Counted[],
  { max, live, kind, things, remedy }: Things & { max: number; live: boolean },
  stack: Stack,
  report: Report,
): Promise<void> {
  for (const one of counted) {
    const { owner, urn, mine, further } = one;
    const existing = live ? await existingBeside(one, kind, stack, report) : undefined;
    const others = existing && outsideStack(mine, existing, stack);
    const outside = (others ?? []).map(({ id, props }) => props.name ?? id);
    const found = mine.length + outside.length;
    if (found > max) {
      const where = outside.length === 0 ? "" : `, and outside of it ${listed(outside)}`;
      const here = `in this stack ${listed(mine.map(({ name }) => name))}${where}`;
      const deleted =
        outside.length === 0 ? "" : " Resources that this run deletes also count, because Pulumi deletes last.";
      const allowed = `${owner} would have ${found} ${things} (${here}), but at most ${max} are allowed.`;
      report.violation(`${allowed} ${remedy}${deleted}`, urn);
    }
    further?.(others, report);
  }
}

/** A policy of how many resources something may have. */
const maximumPolicy = <Name extends string>(maximum: Maximum<Name>) =>
  definePolicy({
    name: maximum.name,
    enforcementLevel: "mandatory",
    description: maximum.description,
    settings: {
      max: z.int().min(0).default(maximum.limit).describe(`Maximum number of ${maximum.things} ${maximum.per}.`),
      live,
    },
    validateStack: (stack, settings, report) =>
      count(maximum.counted(stack), { ...maximum, ...settings }, stack, report),
  });

const consortia = {
  kind: "consortium",
  things: "consortia",
  remedy: "Use fewer, or create some with a Provider of another organization.",
} as const;

const couldBeId = /^[a-z\d_-]+$/;
const findOut = "Set `organization` of its provider to the id that `consortium doctor` shows.";

export const consortiaPerOrganization = definePolicy({
  name: "consortia-per-organization",
  enforcementLevel: "mandatory",
  description: "An organization owns no more consortia than the service allows.",
  settings: {
    max: z.int().min(0).default(limits.consortia).describe("Maximum number of consortia per organization."),
    maxOf: z
      .record(z.string(), z.int().min(0))
      .default({})
      .describe(
        "Other maximums, by the id of the organization that a provider's `organization` names. With `live`, that is not needed, and the organization's name will do.",
      ),
    live,
  },
  conflict({ maxOf, live }) {
    const name = live ? undefined : Object.keys(maxOf).find((one) => !couldBeId.test(one));
    if (name === undefined) return undefined;
    return `maxOf has ${JSON.stringify(name)}, and only the service knows the names of organizations: set live, or use the id, which \`consortium doctor\` shows`;
  },
  async validateStack(stack, { maxOf, ...settings }, report) {
    for (const { organization, mine } of byOrganization(stack.of("Consortium"))) {
      const { provider } = mine[0]!;
      const titles = new Set(mine.map((one) => providerTitle(one.provider)));
      const owner = `The organization of ${[...titles].join(" and ")}`;
      const known = organization === undefined ? [] : [organization];
      if (Object.keys(maxOf).length > 0 && settings.live) known.push(...(await namesOfOrganization(provider)));
      if (Object.keys(maxOf).length > 0 && known.length === 0)
        report.advice(`${owner} is not known, so that it has no maximum of maxOf. ${findOut}`, mine[0]!.urn);
      const own = known.find((one) => Object.hasOwn(maxOf, one));
      const max = own === undefined ? settings.max : maxOf[own]!;
      await count([{ owner, mine, provider }], { ...consortia, ...settings, max }, stack, report);
    }
  },
});

export const environmentsPerConsortium = maximumPolicy({
  name: "environments-per-consortium",
  description: "A consortium holds no more environments than the service allows.",
  limit: limits.environments,
  kind: "environment",
  things: "environments",
  per: "per consortium",
  remedy: "Remove some, or put them into another consortium.",
  counted: (stack) => stack.siblings("Environment", "Consortium"),
});

export const nodesPerEnvironment = maximumPolicy({
  name: "nodes-per-environment",
  description:
    "An environment holds no more nodes than the service allows, and each membership keeps to its own minimum and maximum.",
  limit: limits.nodes,
  kind: "node",
  things: "nodes",
  per: "per environment",
  remedy: "Remove some, or put them into another environment.",
  counted(stack) {
    const someUnknown = stack.group("Node", "Environment").has(undefined);
    return stack.siblings("Node", "Environment").map((siblings) => ({
      ...siblings,
      further(others, report) {
        // There may be more nodes if another stack manages the environment, or if the environment of some is not known.
        const complete = !someUnknown && (siblings.urn !== undefined || others !== undefined);
        checkMemberships(siblings, { others, complete }, stack, report);
      },
    }));
  },
});

const most = (things: string) => z.int().min(0).optional().describe(`Maximum number of ${things}. Default: any.`);

const inEnvironments = [
  ["services", "Service", "service"],
  ["zones", "EnvironmentZone", "environmentZone"],
  ["configurations", "Configuration", "configuration"],
] as const;

export const resourcesPerEnvironment = definePolicy({
  name: "resources-per-environment",
  enforcementLevel: "mandatory",
  description: "An environment has no more services, zones and configurations than are allowed.",
  settings: { services: most("services"), zones: most("zones"), configurations: most("configurations"), live },
  async validateStack(stack, { live, ...maximums }, report) {
    for (const [things, className, kind] of inEnvironments) {
      const max = maximums[things];
      if (max === undefined) continue;
      const remedy = `Remove some, or raise the setting ${things}.`;
      await count(stack.siblings(className, "Environment"), { max, live, kind, things, remedy }, stack, report);
    }
  },
});

interface Outside {
  others: Existing[] | undefined;
  /** There can be no other nodes. */
  complete: boolean;
}

/** Holds each membership to its `minimumNodes` and `maximumNodes`. */
function checkMemberships({ owner, mine }: Siblings, { others, complete }: Outside, stack: Stack, report: Report) {
  const owned = groupBy(mine, (node) => stack.key(node, "Membership"));
  for (const [key, nodes] of owned) {
    const membership = key === undefined ? undefined : stack.find("Membership", key);
    if (!membership) continue;
    const count = nodes.length + (others?.filter(({ props }) => props.membershipId === key).length ?? 0);
    const [fewest, most] = [membership.number("minimumNodes"), membership.number("maximumNodes")];
    const found = `Membership "${membership.name}" would own ${count} of the nodes of ${owner.replace(/^E/, "e")}`;
    if (most !== undefined && count > most) {
      report.violation(
        `${found}, but may own at most ${most} (its maximumNodes). Remove some of its nodes.`,
        membership.urn,
      );
    }
    if (fewest !== undefined && count < fewest && complete && !owned.has(undefined)) {
      report.violation(
        `${found}, but must own at least ${fewest} (its minimumNodes). Add nodes of this membership.`,
        membership.urn,
      );
    }
  }
}
