import { conditionOf } from "../../provider/api/states";
import {
  type ConsortiumModel,
  type EnvironmentModel,
  type MembershipModel,
  nameOf,
  type NodeModel,
  type ObjectKind,
  type ObjectModel,
  objectsOf,
} from "../../inventory/model";
import { toneOf } from "../map/marks";
import { type Facts } from "./facts";
import { newPair } from "./probe-nodes";
import { type Check, failed, ok, skipped, type Subject, unseen, type Verdict } from "./results";

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

const nodeStarted = ofNodes("node started", ({ id, state }, _environment, { nodes }) => {
  if (state === undefined) return ok("the service shows no state of it");
  if (conditionOf(state) === "ready") return ok(`it is ${state}`);
  if (nodes.get(id)?.kind === "answered") return ok(`its state is ${state}, but it answers`);
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

const growing = ofNodes("new blocks", ({ id }, _environment, { nodes }) => {
  const probe = nodes.get(id);
  if (probe?.kind !== "answered") return undefined;
  const { first, last, period, waiting } = probe;
  const stands = `it stands at block ${last} for ${Math.round(probe.seconds)} s`;
  if (last <= first && waiting > 0) return failed(`${stands}, and ${transactions(waiting)} for one`, quorum, last);
  if (period === undefined) return ok(`block ${last}; none is due without a transaction`, last);
  if (last > first) return ok(`block ${last}, one every ${period} s`, last);
  return failed(`${stands}, and one is due every ${period} s`, quorum, last);
});

const transactions = (count: number): string => (count === 1 ? "a transaction waits" : `${count} transactions wait`);

const quorum =
  "See whether enough validators are started: ibft needs more than two thirds of them, raft and poa more than half.";

const written = ofNodes("transaction", ({ id }, _environment, { nodes }) => {
  const probe = nodes.get(id);
  const became = probe?.kind === "answered" ? probe.written : undefined;
  if (became?.kind === "mined")
    return ok(`in block ${became.block} after ${became.seconds.toFixed(1)} s`, became.seconds);
  return became && (became.kind === "failed" ? failed(became.why, quorum) : skipped(became.why));
});

/** Of every pair that is held, whichever of them opens a node. */
const credentials: Check = {
  name: "credential",
  look: ({ model, pairs, allListed }) =>
    pairs.flatMap(({ pair: { username, environmentId }, nodes, opened, refused, why }) => {
      const environments = model.consortia.flatMap((one) => one.environments);
      const within = environments.find(({ id, credentials: some }) => {
        return id === environmentId || some.some((one) => one.id === username);
      });
      const listed = within?.credentials.find(({ id }) => id === username);
      const subject = { kind: "credential" as const, id: username, name: (listed && nameOf(listed)) ?? username };
      const isListed = listed !== undefined && conditionOf((listed as { state?: string }).state) !== "gone";
      const verdict = (): Verdict | undefined => {
        if (opened.length > 0) return ok(`it opens ${opened.join(", ")}`, opened.length);
        if (refused.length > 0) return failed(`it opens nothing: ${refused.join(", ")} refused it: ${why}`, newPair);
        if (!isListed && allListed)
          return failed("it opens nothing: the service has no credential of this user name", newPair);
        return nodes === 0 ? skipped("its member has no nodes") : undefined; // the nodes say why they could not be asked
      };
      const became = verdict();
      const place = within && { within: nameOf(within) };
      return became ? [{ check: "credential", subject: { ...subject, ...place }, ...became }] : [];
    }),
};

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

/** Of every object, with the name of what it is in. */
function ofAll(name: string, look: (kind: ObjectKind, object: ObjectModel) => Verdict | undefined): Check {
  const withinOf = (model: Facts["model"], { id }: ObjectModel): string | undefined => {
    for (const consortium of model.consortia) {
      const { environments, memberships } = consortium;
      if ([...memberships, ...environments].some((one) => one.id === id)) return nameOf(consortium);
      const around = environments.find(({ nodes, credentials: some }) => [...nodes, ...some].some((o) => o.id === id));
      if (around) return nameOf(around);
    }
    return undefined;
  };
  return {
    name,
    look: ({ model }) =>
      objectsOf(model).flatMap(({ kind, object }) => {
        const verdict = look(kind, object);
        const within = withinOf(model, object);
        const subject = { kind, id: object.id, name: nameOf(object), ...(within !== undefined && { within }) };
        return verdict ? [{ check: name, subject, ...verdict }] : [];
      }),
  };
}

const drift = ofAll("as the stack says", (_kind, { drift: differences = [] }) =>
  differences.length > 0 ? failed(differences.join("; "), upOf("it")) : undefined,
);

const answers = ofAll("service answers", (_kind, { unseen: why }) =>
  why === undefined ? undefined : unseen(why, "Check again. If it stays so, ask those who run the service."),
);

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
  ...[answers, environmentLive, nodeStarted, nodeReachable, credentials, chainId, heights, growing, written],
  ...[minimumNodes, drift, limitsUsed],
];
