import { z } from "zod";
import { sameName } from "../provider/core/same-value";
import { type EnvironmentModel, nameOf, type NetworkModel, type ObjectModel, objectsOf } from "./model";
import { modelOf, namedBy, type ResourceRecord } from "./records";

const props = z.record(z.string(), z.unknown()).nullish();
/** What `pulumi stack export` prints, as far as it is needed. */
const Exported = z.looseObject({
  deployment: z.looseObject({
    resources: z
      .array(
        z.looseObject({
          ...{ urn: z.string(), id: z.string().optional(), inputs: props, outputs: props },
          delete: z.boolean().optional(),
          propertyDependencies: z.record(z.string(), z.array(z.string()).nullish()).nullish(),
        }),
      )
      .nullish(),
  }),
});

/** The resources of this package in the state of a stack. What waits for its deletion after a replacement is left out. */
export function recordsIn(document: unknown, what: string): ResourceRecord[] {
  const read = Exported.safeParse(document);
  if (!read.success)
    throw new Error(`${what} is not the state of a stack. Make it with: pulumi stack export --stack STACK`);
  return (read.data.deployment.resources ?? []).flatMap((resource) => {
    const named = namedBy(resource.urn);
    if (!named || resource.delete) return [];
    const { id, inputs, outputs, propertyDependencies } = resource;
    const sources = propertyDependencies ?? {};
    return [{ ...named, id, props: { ...outputs, ...inputs }, sources: sources as ResourceRecord["sources"] }];
  });
}

/** The network as the state of a stack has it. */
export function modelOfStack(document: unknown, what = "The document"): NetworkModel {
  const records = recordsIn(document, what);
  return modelOf(records, { source: "stack", ...(records[0] && { title: records[0].stack }) });
}

/** What a stack asks for, so that another value in the service is drift. */
const asked = ["name", "orgName", "provider", "consensusType", "chainId", "membershipId", "network", "intervalHours"];

/**
 * Says of every live object which stack manages it, or that it was made by hand, and how it differs from what the stack
 * has. What the service does not show any more is added, so that it is seen.
 */
export function withStacks(live: NetworkModel, stacks: readonly NetworkModel[]): NetworkModel {
  const merged = structuredClone(live);
  const there = new Map(objectsOf(merged).map(({ kind, object }) => [`${kind} ${object.id}`, object]));
  const listing = new Set(
    environmentsOf(merged).flatMap(({ id, credentials }) => (credentials.length > 0 ? [id] : [])),
  );
  for (const { object } of objectsOf(merged)) object.managed = "by hand";
  for (const stack of stacks) {
    for (const { kind, object } of objectsOf(stack)) {
      const found = there.get(`${kind} ${object.id}`);
      if (!found || !object.managed) continue; // what a stack only names, such as the consortium of another one
      found.managed = object.managed;
      const drift = driftOf(found, object);
      if (drift.length > 0) found.drift = [...(found.drift ?? []), ...drift];
    }
    addGone(merged, stack, listing);
    bindTethers(merged, stack);
  }
  return merged;
}

function driftOf(live: ObjectModel, stack: ObjectModel): string[] {
  const [now, then] = [live, stack] as unknown as Record<string, unknown>[];
  return asked.flatMap((key) => {
    if (now![key] === undefined || then![key] === undefined || now![key] === then![key]) return [];
    if ((key === "name" || key === "orgName") && sameName(now![key], then![key])) return []; // a service may write it in its own way
    return [`${key} is ${JSON.stringify(now![key])}, and ${JSON.stringify(then![key])} in the stack`];
  });
}

const environmentsOf = ({ consortia }: NetworkModel): EnvironmentModel[] =>
  consortia.flatMap(({ environments }) => environments);

/**
 * Objects that only the stack still knows, each in what it was in.
 * @param listing environments whose credentials the service lists; it need not
 */
function addGone(live: NetworkModel, stack: NetworkModel, listing: ReadonlySet<string>): void {
  const gone = <T extends ObjectModel>(object: T): T => ({
    ...{ ...object, state: "gone", drift: [`the stack has ${nameOf(object)}, and the service does not show it`] },
  });
  const missing = <T extends ObjectModel>(now: readonly T[], then: readonly T[]): T[] =>
    then.filter(({ id, managed }) => managed && !now.some((one) => one.id === id)).map(gone);
  const all = live.consortia;
  all.push(...missing(all, stack.consortia).map((one) => ({ ...one, memberships: [], environments: [] })));
  for (const then of stack.consortia) {
    const consortium = all.find(({ id }) => id === then.id);
    if (!consortium) continue;
    consortium.memberships.push(...missing(consortium.memberships, then.memberships));
    const lost = missing(consortium.environments, then.environments);
    consortium.environments.push(...lost.map((one) => ({ ...one, nodes: [], credentials: [] })));
    for (const inner of then.environments) {
      const environment = consortium.environments.find(({ id }) => id === inner.id);
      if (!environment) continue;
      environment.nodes.push(...missing(environment.nodes, inner.nodes));
      const { credentials } = environment;
      if (listing.has(inner.id)) credentials.push(...missing(credentials, inner.credentials));
      else credentials.push(...inner.credentials.filter(({ id }) => !credentials.some((one) => one.id === id)));
    }
  }
}

/** The API does not say what a tether pins; a stack may. */
function bindTethers(live: NetworkModel, stack: NetworkModel): void {
  for (const { id, tether } of environmentsOf(stack)) {
    const environment = environmentsOf(live).find((one) => one.id === id);
    if (environment && tether !== undefined) environment.tether ??= tether;
  }
}
