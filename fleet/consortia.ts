import { check, counted, groupBy, limits, type Problem, readNetwork } from "pulumi-consortium/internal/fleet";
import { type FleetStack } from "./schema";

/* The consortia of an organization, as its network files declare them: each once, and no more than the service allows. */

const raise = "limits.consortiaPerOrganization";

/** Entries with the same key and address are the same organization. */
const ownerOf = ({ organization: { region, baseUrl, organization, apiKey } }: FleetStack): string =>
  JSON.stringify([region, baseUrl, organization ?? apiKey]);

export const beyondLimits = (stacks: readonly FleetStack[]): Problem[] =>
  [...groupBy(stacks, ownerOf).values()].flatMap(problemsOf);

function problemsOf(own: readonly FleetStack[]): Problem[] {
  const networks = own.flatMap((stack) =>
    stack.definition === undefined ? [] : [{ stack, ...readNetwork(stack.definition, stack.network) }],
  );
  const maxima = own.flatMap(({ organization: { maxConsortia } }) => maxConsortia ?? []);
  const raised = networks.map(({ definition }) => definition.limits?.consortiaPerOrganization ?? 0);
  const most = maxima.length > 0 ? Math.max(...maxima) : Math.max(limits.consortia, ...raised);
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
  const [who, next] =
    maxima.length > 0
      ? ["the fleet file (maxConsortia)", "Leave one out, or raise it"]
      : ["the service", `If your organization allows more, set ${raise} in one of their network files`];
  const message =
    `${who} allows ${counted(most, "consortium", "consortia")} in an organization, and the stacks of ` +
    `${beyond.organization.name} would have ${consortia.size}: ${all.join(", ")}. ${next}`;
  return [{ path: beyond.place, message }];
}
