import { limits } from "../../../provider/facts";
import { type Report } from "../define";
import { type Existing, idOf } from "../live";
import { maximumPolicy } from "../maximum";
import { groupBy, type Parents, type Siblings } from "../parents";

export const nodesPerEnvironment = maximumPolicy({
  name: "nodes-per-environment",
  rule: "An environment holds no more nodes than the service allows, and each membership owns no fewer and no more than it may.",
  limit: limits.nodes,
  things: "nodes",
  per: "per environment",
  remedy: "Remove some, or put them into another environment.",
  counted(parents) {
    const someUnknown = parents.group("Node", "Environment").has(undefined);
    return parents.siblings("Node", "Environment").map((siblings) => ({
      ...siblings,
      async list(organization) {
        const consortium = parents.key(siblings.mine[0]!, "Consortium");
        return organization.nodes(
          await idOf(organization, parents, "Consortium", consortium),
          await idOf(organization, parents, "Environment", siblings.key),
        );
      },
      further(others, report) {
        // Nodes of an environment that another stack manages, and those whose environment is not known, may count as well.
        const complete = !someUnknown && (siblings.urn !== undefined || others !== undefined);
        checkMemberships(siblings, { others, complete }, parents, report);
      },
    }));
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
