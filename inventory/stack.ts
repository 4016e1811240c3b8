import { z } from "zod";
import { type ConsortiumClient } from "../provider/api";
import { environmentName, processEnvironment } from "../provider/api/environment";
import { proveSeen, stateObjectOf } from "../provider/core/organization";
import { newSession, Run } from "../provider/core/session";
import { UserError } from "../provider/errors";
import { definitions } from "../provider/resources";
import { credentialIn, withSecrets } from "./credentials";
import {
  displayName,
  emptyLists,
  listIn,
  type NetworkModel,
  type ObjectModel,
  objectsOf,
  type OtherModel,
  type Placed,
  type Remarks,
  type TetherModel,
} from "./model";
import { modelOf, namedBy, type StackRow } from "./rows";

const props = z.record(z.string(), z.unknown()).nullish();
/** The relevant part of what `pulumi stack export` prints. */
const Exported = z.looseObject({
  deployment: z.looseObject({
    resources: z
      .array(
        z.looseObject({
          urn: z.string(),
          id: z.string().optional(),
          inputs: props,
          outputs: props,
          delete: z.boolean().optional(),
          created: z.string().optional(),
          modified: z.string().optional(),
          propertyDependencies: z.record(z.string(), z.array(z.string()).nullish()).nullish(),
        }),
      )
      .nullish(),
  }),
});

/** The resources of this package in a stack's state, without those pending deletion after a replacement. */
function rowsIn(document: unknown, what: string): StackRow[] {
  const read = Exported.safeParse(document);
  if (!read.success)
    throw new UserError(
      "invalid-file",
      `${what} is not the state of a stack. Create it with: pulumi stack export --stack STACK`,
    );
  return (read.data.deployment.resources ?? []).flatMap((resource) => {
    const named = namedBy(resource.urn);
    if (!named || resource.delete) return [];
    const { id, inputs, outputs, propertyDependencies, created, modified } = resource;
    const sources = (propertyDependencies ?? {}) as StackRow["sources"];
    const known = { ...named, id, props: { ...outputs, ...inputs, changedAt: modified ?? created }, sources };
    return [{ ...known, ...(outputs && { state: withSecrets(outputs) as StackRow["props"] }) }];
  });
}

/** A stack that was read. */
export type StackRead = ReturnType<typeof readStack>;

/** Reads the state of a stack. @param what how errors call the document */
export function readStack(document: unknown, what = "The document") {
  const rows = rowsIn(document, what);
  return {
    model: modelOf(rows, { source: "stack", ...(rows[0] && { title: rows[0].managed.stack }) }),
    rows,
    /** Those in clear text: the state was exported with --show-secrets. */
    credentials: rows.flatMap(({ kind, props }) => (kind === "appCred" ? credentialIn(props) : [])),
    /**
     * Proves that the key belongs to the stack's organization: an object that another organization's key does not show is not gone.
     * @throws UserError that names both organizations
     */
    prove: async (client: ConsortiumClient): Promise<void> => {
      const confirmed = (processEnvironment()[environmentName("confirmDeleted")] ?? "").split(/[\s,]+/);
      const run = new Run(new Set(confirmed));
      for (const { kind, id, props } of rows)
        if (id !== undefined) run.remember(stateObjectOf(definitions[kind], id, props));
      await proveSeen(newSession(client, { run }));
    },
  };
}

/**
 * Adds to every live object which stack manages it, or that none does. Objects that the service no longer shows are added as
 * gone. `LiveNetwork` adds how the others differ.
 */
export function withStacks(live: NetworkModel, stacks: readonly NetworkModel[]): NetworkModel {
  const merged = structuredClone(live);
  const there = new Map(objectsOf(merged).map(({ kind, object }) => [`${kind} ${object.id}`, object]));
  for (const object of there.values()) object.managed = "not in stacks";
  for (const stack of stacks) {
    for (const placed of objectsOf(stack)) {
      const { kind, object } = placed;
      if (!object.managed) continue; // only referenced, such as another stack's consortium
      const found = there.get(`${kind} ${object.id}`) ?? added(merged, there, placed);
      if (!found) continue;
      there.set(`${kind} ${object.id}`, found);
      found.managed = object.managed;
      if (kind === "tetherService") {
        const [tether, { changedAt, environmentId = "" }] = [found as TetherModel, object as TetherModel];
        Object.assign(tether, { changedAt });
        // The API does not say what a tether pins, but a stack may.
        if (there.has(`environment ${environmentId}`)) tether.environmentId ??= environmentId;
      }
    }
  }
  return merged;
}

/** The consortia of a network that another one has as well: a check of a stack ignores others' consortia, and the other way round. */
export function onlyOf(network: NetworkModel, other: NetworkModel): NetworkModel {
  const ids = new Set(other.consortia.map(({ id }) => id));
  return { ...network, consortia: network.consortia.filter(({ id }) => ids.has(id)) };
}

/**
 * Adds an object that only a stack still has to its owner. It is gone if the service showed everything in the owner. Objects that the
 * service does not list are copied from the stack.
 */
function added(
  live: NetworkModel,
  there: ReadonlyMap<string, ObjectModel>,
  { kind, object, within }: Placed,
): ObjectModel | undefined {
  const isInConsortium = within && "environments" in within;
  const owner = within && there.get(`${isInConsortium ? "consortium" : "environment"} ${within.id}`);
  const list = kind === "consortium" ? live.consortia : owner && listIn(owner, kind);
  if (!list) return undefined;
  const service = kind === "destination" && there.get(`service ${(object as OtherModel).facts.serviceId}`);
  const { unseen, unlisted } = service || owner || {};
  const isShown = unseen === undefined && !unlisted?.includes(kind);
  if (!isShown && ["membership", "environment", "node"].includes(kind)) return undefined;
  const gone: Remarks & { state: string } = {
    state: "gone",
    drift: [`the stack has ${displayName(object)}, but the service does not show it`],
  };
  const one = { ...object, ...emptyLists(kind), ...(isShown && gone) };
  list.push(one);
  return one;
}
