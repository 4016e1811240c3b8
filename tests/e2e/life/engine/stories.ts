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
  /** Whether the credential is replaced with the node. */
  rotates?: boolean;
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
  rotates = false,
}: Shape = {}): string => `
  const { AppCred, Consortium, Environment, Membership, Node, Provider } = require("pulumi-consortium");
  const given = ${JSON.stringify({ provider, of, deletedWith, membershipFirst, rotates })};
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
  const rotating = given.rotates && { replaceWith: after };
  if (!"${without}".includes("a")) new AppCred("a", common, { dependsOn: after, ...rotating, ...options("a") });
  exports.environmentId = environment.id;
`;

/** The start and the end of a chapter. */
export interface Chapter {
  /** The program of an update. A preview, refresh or destroy has none. */
  program?: string;
  /** Default: an update, or a destroy where there is no program. */
  run?: "refresh";
  args?: "--refresh" | "--replace";
  /** A preview of this program saves a plan, which the update gets. */
  planned?: string;
  /** `--target`, by name, and whether with what depends on it. */
  targets?: string[];
  dependents?: boolean;
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

/** Targets, protected and retained resources. */
const some: Record<string, Chapter> = {
  "all is created": { program: tree() },
  "destroy of one with dependents is refused": { targets: ["n"], fails: true },
  "destroy of one deletes only that": { targets: ["a"] },
  "up of one creates that, and changes nothing else": { program: tree({ description: "second" }), targets: ["a"] },
  "up of another one changes that": { program: tree({ description: "second" }), targets: ["c"] },
  "up of one with a dependent that was removed from the program fails": {
    program: tree({ description: "third", without: "a" }),
    targets: ["c"],
    fails: true,
  },
  "up of one that was removed from the program deletes it": {
    program: tree({ description: "fourth", without: "a" }),
    targets: ["a"],
  },
  "destroy with its dependents": { targets: ["e"], dependents: true },
  "up of one with a missing dependency is refused": { program: tree(), targets: ["n"], fails: true },
  "up of some creates them": { program: tree(), targets: ["e", "m", "n"] },
  "the rest is created": { program: tree() },
  "refresh of another one does not see the missing one": {
    run: "refresh",
    targets: ["n"],
    before: gone("credentials"),
  },
  "refresh of that one does": { run: "refresh", targets: ["a"] },
  "it is created again": { program: tree() },
  "one is protected": { program: tree({ of: { n: { protect: true } } }) },
  "a protected one is not replaced": {
    program: tree({ node: { extra: { a: 1 } }, of: { n: { protect: true } } }),
    fails: true,
  },
  "a protected one is not deleted": { program: tree({ without: "an" }), fails: true },
  "a protected one is not destroyed, and neither are its dependencies": { fails: true },
  "one that is no longer protected is deleted": { program: tree({ of: { a: { retainOnDelete: true } } }) },
  "a retained one only leaves the stack": { program: tree({ without: "a" }) },
  "all else is deleted, except its parents": {},
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
  "an update continues from there": { program: tree(), before: allow },
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

/** Saved plans. */
const plans: Record<string, Chapter> = {
  "all is created as planned": { program: tree(), planned: tree() },
  "so is a change, and a delete": {
    program: tree({ description: "second", without: "a" }),
    planned: tree({ description: "second", without: "a" }),
  },
  "a value other than planned ends the run there": {
    program: tree({ description: "fourth", without: "an" }),
    planned: tree({ description: "third", without: "an" }),
    fails: true,
  },
  "so does a resource that is not in the plan": { program: tree(), planned: tree({ without: "a" }), fails: true },
  "all is deleted": {},
};

/** Imports and adoptions. */
const imports: Record<string, Chapter> = {
  "all is created": { program: tree({ of: { n: { retainOnDelete: true } } }) },
  "one leaves only the stack": { program: tree({ without: "n" }) },
  "one that does not exist is not imported": { program: tree({ of: { n: { import: "c/e/other" } } }), fails: true },
  "it is imported by its names": { program: tree({ of: { n: { import: "c/e/n" } } }) },
  "and stays with the option": { program: tree({ of: { n: { import: "c/e/n" } } }) },
  "it is one of the stack": { program: tree({ node: { extra: { a: 1 } }, of: { n: { retainOnDelete: true } } }) },
  "it leaves the stack again": { program: tree({ without: "n" }) },
  "with other arguments, it is imported, and changed": {
    program: tree({ node: { size: "large" }, of: { n: { import: "c/e/n" } } }),
  },
  "and stays without the option": { program: tree({ node: { size: "large" } }) },
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
  "destroy of one of them deletes it by itself": { targets: ["a"] },
  "destroy of the environment alone is refused": { targets: ["e"], fails: true },
  "destroy of it with its dependents": { targets: ["e"], dependents: true },
  "all is deleted": {},
};

/** Replacements of which no provider is asked. */
const replacements: Record<string, Chapter> = {
  "all is created": { program: tree({ of: { n: { replacementTrigger: 1 } } }) },
  "another trigger replaces the node, and nothing else": { program: tree({ of: { n: { replacementTrigger: 2 } } }) },
  "without one, it stays": { program: tree() },
  "and with a first one, too": { program: tree({ of: { n: { replacementTrigger: { at: [3] } } }, rotates: true }) },
  "a credential is replaced with the node, and goes before it": {
    program: tree({ of: { n: { replacementTrigger: { at: [4] } } }, rotates: true }),
  },
  "an environment gets a trigger": { program: tree({ options: { replacementTrigger: 1 } }) },
  "a second one of that name is refused": { program: tree({ options: { replacementTrigger: 2 } }), fails: true },
  "deleted first, it is replaced, with what is in it": {
    program: tree({ options: { replacementTrigger: 2, deleteBeforeReplace: true } }),
  },
  "all is deleted": {},
};

export const stories = { life, some, failures, plans, imports, together, replacements };
