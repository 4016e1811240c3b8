import { definePolicy, type Report } from "./define";
import { limitSettings, type LimitSettings, overLimit } from "./limits";
import { ask, type Existing, idOf, others } from "./live";
import { Families, groupBy } from "./parents";
import { type Member } from "./resources";

/** The nodes of one environment: those of this stack, and, where the organization was asked, the rest. */
interface Crowd {
  owner: string;
  mine: readonly Member[];
  others?: readonly Existing[];
  /** There is no other node that may count: neither one whose environment is not known, nor one of another stack. */
  complete: boolean;
}

export const nodesPerEnvironment = definePolicy<"nodes-per-environment", LimitSettings>({
  name: "nodes-per-environment",
  level: "mandatory",
  rule: "An environment holds no more nodes than the service allows, and each membership owns as many as it has to and may.",
  settings: limitSettings(4, "nodes of one environment"),
  async stack(stack, { max, live }, report) {
    const families = new Families(stack);
    const groups = families.group("Node", "Environment");
    for (const [key, mine] of groups) {
      if (key === undefined) continue;
      const environment = families.find("Environment", key);
      const existing = live
        ? await ask((environment ?? mine[0])?.provider, report, async (organization) => {
            const id = await idOf(organization, families, "Environment", key);
            const consortium = families.key(mine[0]!, "Consortium");
            const within = consortium && (await idOf(organization, families, "Consortium", consortium));
            return id === undefined || within === undefined ? [] : organization.nodes(within, id);
          })
        : undefined;
      const crowd: Crowd = {
        ...{ owner: `Environment "${environment?.name ?? key}"`, mine },
        others: existing && others(mine, existing, families),
        complete: !groups.has(undefined) && (environment !== undefined || existing !== undefined),
      };
      const mend = "Remove some, or put them into another environment.";
      const problem = overLimit({ ...crowd, things: "nodes", max, mend });
      if (problem) report.violation(problem, environment?.urn);
      checkMemberships(crowd, families, report);
    }
  },
});

function checkMemberships({ owner, mine, others, complete }: Crowd, families: Families, report: Report): void {
  const owned = groupBy(mine, (node) => families.key(node, "Membership"));
  for (const [key, nodes] of owned) {
    const membership = key === undefined ? undefined : families.find("Membership", key);
    if (!membership) continue;
    const count = nodes.length + (others?.filter(({ membershipId }) => membershipId === key).length ?? 0);
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
        `${found}, but has to own at least ${fewest} (its minimumNodes). Add nodes of it.`,
        membership.urn,
      );
    }
  }
}
