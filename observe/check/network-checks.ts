import { type ConsortiumModel, type EnvironmentModel, type MembershipModel, nameOf, type NodeModel } from "../model";
import { conditionOf } from "../../provider/api/states";
import { toneOf } from "../map/marks";
import { type Facts } from "./facts";
import { blocksEvery } from "./probe-nodes";
import { type Result, type Subject } from "./results";

/** One thing that a usable network has. Each looks at the facts alone, and asks nobody. */
export interface Check {
  name: string;
  look: (facts: Facts) => Result[];
}

type Verdict = Pick<Result, "outcome" | "text"> & Partial<Pick<Result, "next" | "value">>;

const ok = (text: string, value?: number): Verdict => ({ outcome: "ok", text, ...(value !== undefined && { value }) });
const failed = (text: string, next: string, value?: number): Verdict => ({
  ...ok(text, value),
  outcome: "failed",
  next,
});
const skipped = (text: string, next?: string): Verdict => ({ outcome: "skipped", text, ...(next && { next }) });

const subjectOf = (kind: Subject["kind"], object: EnvironmentModel | NodeModel | MembershipModel, within: string) => ({
  ...{ kind, id: object.id, name: nameOf(object), within },
});

function ofEnvironments(
  name: string,
  look: (environment: EnvironmentModel, facts: Facts, consortium: ConsortiumModel) => Verdict | undefined,
): Check {
  return {
    name,
    look: (facts) =>
      facts.model.consortia.flatMap((consortium) =>
        consortium.environments.flatMap((environment) => {
          const verdict = look(environment, facts, consortium);
          const subject = subjectOf("environment", environment, nameOf(consortium));
          return verdict ? [{ check: name, subject, ...verdict }] : [];
        }),
      ),
  };
}

function ofNodes(
  name: string,
  look: (node: NodeModel, environment: EnvironmentModel, facts: Facts) => Verdict | undefined,
): Check {
  return {
    name,
    look: (facts) =>
      facts.model.consortia.flatMap(({ environments }) =>
        environments.flatMap((environment) =>
          environment.nodes.flatMap((node) => {
            const verdict = look(node, environment, facts);
            const subject = subjectOf("node", node, nameOf(environment));
            return verdict ? [{ check: name, subject, ...verdict }] : [];
          }),
        ),
      ),
  };
}

const upOf = (what: string): string => `Run \`pulumi refresh\`, then \`pulumi up\`, or look at ${what} in the console.`;

const environmentLive = ofEnvironments("environment", (environment) => {
  const { state = "unknown" } = environment;
  if (environment.drift?.length && conditionOf(state) === "gone")
    return failed("it is gone from the service", upOf("it"));
  if (toneOf("environment", environment) === "bad") return failed(`its state is ${state}`, upOf("it"));
  if (toneOf("environment", environment) === "waiting")
    return failed(`it is still ${state}`, "Wait, then check again.");
  if (environment.nodes.length === 0) return skipped("it has no nodes");
  return ok(`it is ${state}`);
});

const nodeStarted = ofNodes("node started", ({ state }) => {
  if (state === undefined) return ok("the service shows no state of it");
  if (conditionOf(state) === "ready") return ok(`it is ${state}`);
  if (conditionOf(state) === "gone") return failed("it is gone from the service", upOf("it"));
  return failed(
    `its state is ${state}`,
    "Start it in the console. A node that has just been made takes about a minute.",
  );
});

const nodeReachable = ofNodes("node reachable", ({ id }, _environment, { nodes }) => {
  const probe = nodes.get(id);
  if (!probe) return undefined;
  if (probe.kind === "answered") return ok("it answers with the credential of its member");
  return probe.kind === "failed" ? failed(probe.why, probe.next) : skipped(probe.why, probe.next);
});

const chainId = ofNodes("chain id", ({ id }, environment, { nodes, stack }) => {
  const probe = nodes.get(id);
  if (probe?.kind !== "answered") return undefined;
  const asked = stack?.consortia
    .flatMap(({ environments }) => environments)
    .find((one) => one.id === environment.id)?.chainId;
  const wanted = asked ?? environment.chainId;
  if (wanted === undefined) return skipped("the service shows no chain id");
  if (probe.chainId === wanted && (environment.chainId ?? wanted) === wanted) return ok(`it is ${wanted}`);
  const differs =
    probe.chainId === wanted ? `the service shows ${environment.chainId}` : `the node is on ${probe.chainId}`;
  return failed(
    `${asked === undefined ? "the service shows" : "the stack has"} ${wanted}, but ${differs}`,
    "Transactions signed for one chain are worth nothing on another: find out who changed it before you send any.",
  );
});

/** Nodes are not asked in the same instant. */
const mostApart = 3;

const heights = ofEnvironments("block heights", ({ nodes }, facts) => {
  const answers = nodes.flatMap((node) => {
    const probe = facts.nodes.get(node.id);
    return probe?.kind === "answered" ? [{ node, height: probe.last }] : [];
  });
  if (answers.length < 2) return undefined;
  const sorted = answers.sort((a, b) => a.height - b.height);
  const [lowest, highest] = [sorted[0]!, sorted.at(-1)!];
  const apart = highest.height - lowest.height;
  if (apart <= mostApart) return ok(`${answers.length} nodes at block ${highest.height}`, apart);
  return failed(
    `${nameOf(lowest.node)} is at block ${lowest.height}, ${apart} behind ${nameOf(highest.node)}`,
    "Wait while it catches up. If it does not, read its logs in the console.",
    apart,
  );
});

const growing = ofNodes("new blocks", ({ id }, environment, { nodes }) => {
  const probe = nodes.get(id);
  if (probe?.kind !== "answered") return undefined;
  const period = blocksEvery(environment);
  if (period === undefined) return ok(`block ${probe.last}; none is due without a transaction`, probe.last);
  if (probe.last > probe.first) return ok(`block ${probe.last}, one every ${period} s`, probe.last);
  return failed(
    `it stands at block ${probe.last} for ${Math.round(probe.seconds)} s, and one is due every ${period} s`,
    "See whether enough validators are started: ibft needs more than two thirds of them, poa more than half.",
    probe.last,
  );
});

const minimumNodes: Check = {
  name: "minimum of nodes",
  look: ({ model }) =>
    model.consortia.flatMap((consortium) =>
      consortium.memberships.flatMap((member) => {
        const { minimumNodes: least = 0, maximumNodes: most = Infinity } = member;
        const own = consortium.environments
          .flatMap(({ nodes }) => nodes)
          .filter((one) => one.membershipId === member.id);
        if (least === 0 && own.length <= most) return [];
        const text = `${own.length} of at least ${least} nodes`;
        const next = `Add a node for ${member.orgName}, or agree on another minimum.`;
        const verdict = own.length >= least ? ok(text, own.length) : failed(text, next, own.length);
        return [
          { check: "minimum of nodes", subject: subjectOf("membership", member, nameOf(consortium)), ...verdict },
        ];
      }),
    ),
};

const drift: Check = {
  name: "as the stack says",
  look: ({ model, stack }) =>
    !stack
      ? []
      : model.consortia.flatMap((consortium) =>
          consortium.environments.flatMap((environment) => {
            const parts: [Subject, EnvironmentModel | NodeModel][] = [
              [subjectOf("environment", environment, nameOf(consortium)), environment],
              ...environment.nodes.map((node): [Subject, NodeModel] => [
                subjectOf("node", node, nameOf(environment)),
                node,
              ]),
            ];
            return parts.flatMap(([subject, one]) =>
              one.drift?.length
                ? [
                    {
                      ...{ check: "as the stack says", subject },
                      ...failed(one.drift.join("; "), upOf("it")),
                    },
                  ]
                : [],
            );
          }),
        ),
};

const limitsUsed: Check = {
  name: "limits",
  look: ({ model }) =>
    model.limits.flatMap(({ kind, of, used, most }) => {
      if (kind === "nodes" && used < most) return [];
      const owner = model.consortia.flatMap((one) => [one, ...one.environments]).find(({ id }) => id === of);
      const subject: Subject = owner
        ? { kind: kind === "nodes" ? "environment" : "consortium", id: owner.id, name: nameOf(owner) }
        : { kind: "organization", id: model.organization ?? "", name: model.organization ?? "organization" };
      return [{ check: "limits", subject, ...ok(`${used} of ${most} ${kind}`, used) }];
    }),
};

export const networkChecks: readonly Check[] = [
  ...[environmentLive, nodeStarted, nodeReachable, chainId, heights, growing, minimumNodes, drift, limitsUsed],
];
