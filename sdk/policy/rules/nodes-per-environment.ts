import { limits } from "../../../provider/facts";
import { definePolicy, type Report } from "../define";
import { type Existing, idOf, type Organization } from "../live";
import { checkMaximum, maximumSettings } from "../maximum";
import { groupBy, Parents, type Siblings } from "../parents";

export const nodesPerEnvironment = definePolicy({
  name: "nodes-per-environment",
  level: "mandatory",
  rule: "An environment holds no more nodes than the service allows, and each membership owns as many as it has to and may.",
  settings: maximumSettings(limits.nodes, "nodes of one environment"),
  async stack(stack, settings, report) {
    const parents = new Parents(stack);
    const someUnknown = parents.group("Node", "Environment").has(undefined);
    for (const siblings of parents.siblings("Node", "Environment")) {
      const consortium = parents.key(siblings.mine[0]!, "Consortium");
      const counted = {
        ...siblings,
        things: "nodes",
        remedy: "Remove some, or put them into another environment.",
        list: async (organization: Organization) =>
          organization.nodes(
            await idOf(organization, parents, "Consortium", consortium),
            await idOf(organization, parents, "Environment", siblings.key),
          ),
      };
      const others = await checkMaximum(counted, settings, parents, report);
      // Nodes of an environment that another stack manages, and those whose environment is not known, may count as well.
      const complete = !someUnknown && (siblings.urn !== undefined || others !== undefined);
      checkMemberships(siblings, { others, complete }, parents, report);
    }
  },
});

interface Outside {
  others: Existing[] | undefined;
  /** No other node can count. */
  complete: boolean;
}

/** Holds each membership to its `minimumNodes` and `maximumNodes`. */
function checkMemberships({ owner, mine }: Siblings, { others, complete }: Outside, parents: Parents, report: Report) {
  const owned = groupBy(mine, (node) => parents.key(node, "Membership"));
  for (const [key, nodes] of owned) {
    const membership = key === undefined ? undefined : parents.find("Membership", key);
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
