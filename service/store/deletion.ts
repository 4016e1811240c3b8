import type { Base, Context } from "../context";
import { type Entity, isUtility, type Kind } from "./entities";

/** The hierarchy of kinds. */
const inside: Partial<Record<Kind, readonly Kind[]>> = {
  consortium: ["environment", "membership", "zone", "invitation"],
  environment: ["node", "credential", "zone", "configuration", "service"],
  service: ["destination", "identity"],
};

const owned = ["node", "credential", "configuration", "service"] as const;
type Owned = Entity<(typeof owned)[number]>;

/** All objects that are deleted with an object: its contents, or a membership's objects. */
function contents(base: Base, entity: Entity): Entity[] {
  const { store } = base;
  const children = (inside[entity.kind] ?? []).flatMap((kind) => store.children<Kind>(kind, entity.id));
  const its = entity.kind === "membership" ? [...ownedBy(base, entity), ...identitiesOf(base, entity)] : children;
  return its.flatMap((child) => [child, ...contents(base, child)]);
}

/** The objects of a membership, in all environments of its consortium. Utility services stay for the other members. */
export function ownedBy({ store }: Base, membership: Entity): Owned[] {
  return store
    .children("environment", membership.parent)
    .flatMap(({ id }) => owned.flatMap((kind) => store.children(kind, id) as Owned[]))
    .filter((one) => one.fields.membership_id === membership.id && !isUtility(one));
}

const identitiesOf = (base: Base, { id, parent }: Entity) =>
  base.store.children("environment", parent).flatMap((environment) => identitiesIn(base, environment.id, id));

export const identitiesIn = ({ store }: Base, environment: string, membership: string): Entity<"identity">[] =>
  store
    .children("service", environment)
    .flatMap(({ id }) => store.children("identity", id))
    .filter(({ fields }) => fields.membership_id === membership);

/** Deletes an object with its contents. Returns its new version. */
export function deleteObject(context: Context, entity: Entity): Entity {
  const withEnvironment = entity.kind === "environment";
  return replaceAll(context, entity, (one, now) => vanishing(context, one, now, withEnvironment));
}

/** Removes an object with its contents, at once and without a trace. */
export function eraseObject(context: Context, entity: Entity): void {
  replaceAll(context, entity, (one, now) => {
    return { ...one, state: "deleted", due: undefined, changedAt: now, deletedAt: now, hiddenAt: now };
  });
}

function replaceAll(context: Context, entity: Entity, change: (one: Entity, now: number) => Entity): Entity {
  const now = context.clock();
  const all = new Map([entity, ...contents(context, entity)].map((one) => [one.id, one]));
  const gone = [...all.values()].map((one) => change(one, now));
  context.store.put(gone);
  context.backend.removed?.(gone);
  return gone[0]!;
}

/** Kinds that may be `deleting` for a while. */
const slow = new Set<Kind>(["consortium", "membership", "node", "service"]);
/** Kinds that the hosted service lists as `deleted` for a while. */
const visible = new Set<Kind>(["consortium", "membership", "environment", "node"]);

/** Marks an object as deleted. An environment can no longer be reached, but is listed for a while. */
function vanishing({ settings }: Base, entity: Entity, now: number, withEnvironment: boolean): Entity {
  const { deletedVisible, deleting } = settings.timing;
  const changed = { ...entity, due: undefined, changedAt: now, revision: entity.revision + 1 };
  if (settings.quirks.deletion === "delete_pending") {
    const deletedAt = now + (slow.has(entity.kind) || visible.has(entity.kind) ? deleting : 0);
    const hiddenAt = deletedAt + (visible.has(entity.kind) ? deletedVisible : 0);
    return { ...changed, state: deletedAt > now ? "delete_pending" : "deleted", deletedAt, hiddenAt };
  }
  if (entity.kind === "environment") {
    return { ...changed, state: "deleted", deletedAt: now, hiddenAt: now + deletedVisible };
  }
  const lasts = withEnvironment || !slow.has(entity.kind) ? 0 : deleting;
  return { ...changed, state: lasts > 0 ? "deleting" : "deleted", deletedAt: now + lasts, hiddenAt: now + lasts };
}
