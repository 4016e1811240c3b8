import {
  ConsortiumClient,
  type ConsortiumObject,
  check,
  counted,
  isApiError,
  resolveProviderSettings,
  isGone,
  limits,
  groupBy,
  type Problem,
  readNetwork,
} from "pulumi-consortium/internal/fleet";
import { type Progress } from "./progress";
import { type FleetStack } from "./schema";
import { type StackResult } from "./results";

/* Checks that no organization gets more consortia than the service allows. */

/** The stacks of each organization. Entries with the same key and address are the same organization. */
function byOwner<T extends Pick<FleetStack, "organization">>(stacks: readonly T[]): [string, [T, ...T[]]][] {
  const ownerOf = ({ organization: { region, baseUrl, organization, apiKey } }: T): string =>
    JSON.stringify([region, baseUrl, organization ?? apiKey]);
  return [...groupBy(stacks, ownerOf)];
}

const networksOf = (stacks: readonly FleetStack[]) =>
  stacks.flatMap((stack) =>
    stack.definition === undefined ? [] : [{ stack, ...readNetwork(stack.definition, stack.network) }],
  );

const raise = "limits.consortiaPerOrganization";

/** How many consortia the network files allow; 0 if they set no limit. */
const raisedIn = (networks: ReturnType<typeof networksOf>): number =>
  Math.max(0, ...networks.map(({ definition }) => definition.limits?.consortiaPerOrganization ?? 0));

/** How many consortia the fleet file allows the organization, and the words for it in messages. */
function maximumOf(own: readonly Pick<FleetStack, "organization">[]): { most: number; title: string } | undefined {
  const given = own.flatMap(({ organization: { maxConsortia } }) => maxConsortia ?? []);
  return given.length === 0 ? undefined : { most: Math.max(...given), title: "the fleet file (maxConsortia)" };
}

/** Finds consortia that several stacks of an organization declare, and organizations with more consortia than the service allows. */
export const beyondLimits = (stacks: readonly FleetStack[]): Problem[] =>
  byOwner(stacks).flatMap(([, own]): Problem[] => {
    const networks = networksOf(own);
    const maximum = maximumOf(own);
    const most = maximum?.most ?? Math.max(limits.consortia, raisedIn(networks));
    const consortia = new Map<string, FleetStack>();
    const twice: Problem[] = [];
    for (const { stack, name, definition } of networks)
      for (const { args } of check(name, definition, undefined).plan?.consortia ?? []) {
        const which = typeof args.adopt === "string" ? args.adopt : (args.name as string);
        const first = consortia.get(which) ?? stack;
        consortia.set(which, first);
        const message = `${first.name} also has the consortium ${which}: give this stack another name, or another network file`;
        if (first !== stack) twice.push({ path: stack.place, message });
      }
    const beyond = [...consortia.values()].at(most);
    if (beyond === undefined || twice.length > 0) return twice;
    const all = [...consortia].slice(0, most + 1).map(([name, stack]) => `${name} of ${stack.name}`);
    if (consortia.size > all.length) all.push("…");
    const next = maximum
      ? "Leave one out, or raise it"
      : `If your organization allows more, set ${raise} in one of their network files`;
    const message =
      `${maximum?.title ?? "the service"} allows ${counted(most, "consortium", "consortia")} in an organization, and the stacks of ` +
      `${beyond.organization.name} would have ${consortia.size}: ${all.join(", ")}. ${next}`;
    return [{ path: beyond.place, message }];
  });

/** A stack whose preview succeeded. */
export interface Previewed extends Pick<FleetStack, "organization"> {
  result: StackResult;
  progress: Pick<Progress, "newConsortia" | "oldConsortia">;
  env: NodeJS.ProcessEnv;
}

/**
 * Fails the stacks that would create more consortia than their organization can have, including existing ones. Fails none if the
 * service does not answer, or if there is no network file that could raise the limit.
 */
export async function failBeyondLimits(all: readonly Previewed[], stacks: readonly FleetStack[]): Promise<void> {
  const owners = new Map(byOwner(stacks));
  const failing = byOwner(all).map(async ([owner, own]) => {
    const networks = networksOf(owners.get(owner) ?? []);
    const maximum = maximumOf(owners.get(owner) ?? []);
    if ((networks.length === 0 && !maximum) || own.every(({ progress }) => progress.newConsortia.length === 0)) return;
    const client = new ConsortiumClient(resolveProviderSettings({}, own[0].env));
    try {
      const [listed, plan] = await Promise.all([client.listConsortia(), client.limits().catch(() => undefined)]);
      fail(own, listed, maximum ?? { most: Math.max(plan?.consortia ?? limits.consortia, raisedIn(networks)) });
    } catch (error) {
      if (!isApiError(error)) throw error;
    } finally {
      await client.close();
    }
  });
  await Promise.all(failing);
}

function fail(
  own: readonly Previewed[],
  listed: readonly ConsortiumObject[],
  { most, title }: { most: number; title?: string },
): void {
  const deleted = new Set(own.flatMap(({ progress }) => progress.oldConsortia));
  const staying = listed.filter((one) => !isGone(one) && !deleted.has(one.id));
  const names = new Set(staying.map(({ name }) => String(name)));
  // An existing name is adopted, or fails for another reason.
  const isNew = (name: string) => !names.has(name);
  const made = own.flatMap(({ progress }) => progress.newConsortia.filter(isNew));
  const count = staying.length + made.length;
  if (made.length === 0 || count <= most) return;
  const there = staying.length === 0 ? "none exists" : `${[...names].join(", ")} exist`;
  for (const { organization, result, progress } of own) {
    if (!progress.newConsortia.some(isNew)) continue;
    result.outcome = "failed";
    result.error =
      `the organization ${organization.name} would have ${count} consortia, but ${title ?? "the service"} allows ${most}: ` +
      `${there}, and ${made.join(", ")} would be created. Delete one, or leave one out` +
      (title === undefined ? `; if your organization allows more, set ${raise} in one of its network files.` : ".");
  }
}
