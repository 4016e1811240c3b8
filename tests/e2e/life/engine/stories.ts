import { type Service } from "../../../../service/index";
import { send } from "../../../support/network";

interface Shape {
  description?: string;
  consensusType?: string;
  without?: string;
  /** Of the environment. */
  name?: string;
  /** The provider of the consortium, where that is one of its own. */
  provider?: string;
  /** Of the environment. */
  options?: object;
  /** Arguments of the node. */
  node?: object;
  /** Options of the resource with that name. */
  of?: Partial<Record<Named, object>>;
  /** What is deleted with the environment. */
  deletedWith?: readonly Named[];
  /** Whether the environment, and not the membership, depends on the other. */
  membershipFirst?: boolean;
}

type Named = "c" | "m" | "n" | "a";

/** Pulumi ignores `replaceOnChanges` for dynamic resources, as docs/operations.md says: a description still changes in place. */
const tree = ({
  description = "first",
  consensusType = "raft",
  without = "",
  name,
  provider,
  options = {},
  node = {},
  of = {},
  deletedWith = [],
  membershipFirst = false,
}: Shape = {}): string => `
  const { AppCred, Consortium, Environment, Membership, Node, Provider } = require("pulumi-consortium");
  const given = ${JSON.stringify({ provider, of, deletedWith, membershipFirst })};
  const provider = given.provider && new Provider(given.provider, { apiKey: process.env.CONSORTIUM_API_KEY });
  const consortium = new Consortium("c", { description: "${description}" }, { provider, ...OPTIONS, ...given.of.c });
  const ledger = { consortium, provider: "quorum", consensusType: "${consensusType}", ...${JSON.stringify({ name })} };
  const member = (dependsOn) => new Membership("m", { consortium }, { dependsOn, ...given.of.m });
  const first = given.membershipFirst && member([]);
  const environment = new Environment("e", ledger, { ...(first && { dependsOn: first }), ...${JSON.stringify(options)} });
  const membership = first || member(environment);
  const common = { environment, membership };
  const options = (name) => ({ ...(given.deletedWith.includes(name) && { deletedWith: environment }), ...given.of[name] });
  const node = "${without}".includes("n") || new Node("n", { ...common, ...${JSON.stringify(node)} }, options("n"));
  const after = node === true ? [] : [node];
  if (!"${without}".includes("a")) new AppCred("a", common, { dependsOn: after, ...options("a") });
  exports.environmentId = environment.id;
`;

/** The start and the end of a chapter. */
export interface Chapter {
  /** The program of an update. A preview, refresh or destroy has none. */
  program?: string;
  /** Default: an update, or a destroy where there is no program. */
  run?: "refresh";
  args?: "--refresh" | "--replace";
  /** Somebody else changes something first. */
  before?: (service: Service) => unknown;
  fails?: true;
}

const environments = "/consortia/:consortiumId/environments";
const refuse =
  (method: "POST" | "DELETE", route: string): Chapter["before"] =>
  (service) =>
    service.faults.add({ kind: "status", status: 403, errorMessage: "no", method, route, times: Infinity });
const refused = refuse("POST", environments);
const allow: Chapter["before"] = (service) => service.faults.clear();
/** Somebody deletes an object of this kind, without this stack. */
const gone =
  (kind: "credentials" | "nodes" | "environments"): Chapter["before"] =>
  async (service) => {
    const [environment] = service.store.environments.list();
    const within = `/consortia/${environment!.parent}/environments/${environment!.id}`;
    const inside = { credentials: "/appcreds", nodes: "/nodes", environments: "" }[kind];
    const [object] = service.store[kind].list();
    await send(service, "DELETE", within + (inside && `${inside}/${object!.id}`));
    service.clearCalls();
  };

const renamed = { description: "second", consensusType: "ibft", name: "next" };
const last = { ...renamed, name: "last", consensusType: "raft", options: { deleteBeforeReplace: true } };

const life: Record<string, Chapter> = {
  "all is created": { program: tree() },
  "one changes in place, one is deleted": { program: tree({ description: "second", without: "a" }) },
  "a replacement takes its children with it": { program: tree({ description: "second", consensusType: "ibft" }) },
  "a missing one is created again": {
    program: tree({ description: "second", consensusType: "ibft" }),
    args: "--refresh",
    before: gone("credentials"),
  },
  "one is replaced with --replace": {
    program: tree({ description: "second", consensusType: "ibft" }),
    args: "--replace",
  },
  "a create is refused, and new objects stay": {
    program: tree({ description: "second", consensusType: "raft" }),
    before: refused,
    fails: true,
  },
  "the next run continues": { program: tree({ description: "second", consensusType: "raft" }), before: allow },
  "with another name, the new one is created first: if it is refused, the old one stays": {
    program: tree(renamed),
    before: refused,
    fails: true,
  },
  "and is deleted once there is a new one": { program: tree(renamed), before: allow },
  "the resource option deletes it first": { program: tree(last) },
  "another provider of the same organization changes nothing": { program: tree({ ...last, provider: "own" }) },
  "a third provider changes nothing, either": { program: tree({ ...last, provider: "other" }) },
  "all is deleted": {},
};

/** Failures and missing objects, and the next run. */
const failures: Record<string, Chapter> = {
  "all is created": { program: tree() },
  "a refresh drops a missing parent, and everything in it": { run: "refresh", before: gone("environments") },
  "they are created again": { program: tree() },
  "a destroy accepts a missing parent": { before: gone("environments") },
  "all is created once more": { program: tree() },
  "a refused delete keeps it, and its dependencies": {
    program: tree({ without: "na" }),
    before: refuse("DELETE", `${environments}/:environmentId/nodes/:nodeId`),
    fails: true,
  },
  "the next run deletes it": { program: tree({ without: "na" }), before: allow },
  "and the next one creates it again": { program: tree() },
  "a destroy ends at a refused delete": {
    before: refuse("DELETE", `${environments}/:environmentId/appcreds/:credentialId`),
    fails: true,
  },
  "an update continues from there": { program: tree({ of: { a: { retainOnDelete: true } } }), before: allow },
  "a retained one only leaves the stack": { program: tree({ without: "a" }) },
  "a replacement that does not get ready is kept": {
    program: tree({ node: { name: "next", extra: { a: 1 } }, of: { n: { customTimeouts: { create: "2s" } } } }),
    before: (service) => service.setTiming({ nodeStart: 1e9 }),
    fails: true,
  },
  "the next run waits for it": {
    program: tree({ node: { name: "next", extra: { a: 1 } } }),
    before: (service) => {
      for (const { id } of service.store.nodes.list()) service.store.nodes.setState(id, "started");
    },
  },
  "all is deleted": {},
};

/** A node and a credential that are deleted with their environment, and a membership that outlives it. */
const inIt = { deletedWith: ["n", "a"], membershipFirst: true } as const;
const only = `
  const { Consortium } = require("pulumi-consortium");
  new Consortium("c", { description: "first" }, OPTIONS);
`;
const together: Record<string, Chapter> = {
  "all is created": { program: tree(inIt) },
  "an environment that is replaced takes them with it": { program: tree({ ...inIt, consensusType: "ibft" }) },
  "a refused create leaves nothing of them": {
    program: tree({ ...inIt, consensusType: "raft" }),
    before: refused,
    fails: true,
  },
  "the next run creates them": { program: tree({ ...inIt, consensusType: "raft" }), before: allow },
  "with another name, the old ones go with the old one": {
    program: tree({ ...inIt, consensusType: "ibft", name: "next" }),
  },
  "a refused delete of the environment leaves it in the state without them": {
    program: only,
    before: refuse("DELETE", `${environments}/:environmentId`),
    fails: true,
  },
  "the next run deletes it with them": { program: only, before: allow },
  "all is created again": { program: tree(inIt) },
  "all is deleted": {},
};

/** For a service whose environments wait for a node. */
const waiting: Record<string, Chapter> = {
  "all is created": { program: tree() },
  "one changes in place, one is deleted": { program: tree({ description: "second", without: "a" }) },
  "all is deleted": {},
};

export const stories = { life, failures, together, waiting };
