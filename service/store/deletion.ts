import type { Base, Context } from "../context";
import type { Entity } from "./entities";

/** What lives in an object and goes with it. */
function contents(base: Base, entity: Entity): Entity[] {
  const { store } = base;
  const inside = (): Entity[] => {
    switch (entity.kind) {
      case "consortium":
        return [...store.children("environment", entity.id), ...store.children("membership", entity.id)];
      case "environment":
        return [...store.children("node", entity.id), ...store.children("credential", entity.id)];
      case "membership":
        return ownedBy(base, entity);
      default:
        return [];
    }
  };
  return inside().flatMap((child) => [child, ...contents(base, child)]);
}

/** The nodes and credentials of one membership, in all environments of its consortium. */
export function ownedBy({ store }: Base, membership: Entity): Entity<"node" | "credential">[] {
  return store
    .children("environment", membership.parent)
    .flatMap(({ id }) => [...store.children("node", id), ...store.children("credential", id)])
    .filter(({ fields }) => fields.membership_id === membership.id);
}

/** Deletes an object and all that is in it; answers how it is afterwards. */
export function deleteObject(context: Context, entity: Entity): Entity {
  const withEnvironment = entity.kind === "environment";
  return replaceAll(context, entity, (one, now) => vanishing(context, one, now, withEnvironment));
}

/** Takes an object and all that is in it away at once and without a trace, as if it had never been. */
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
  context.backend.removed(gone);
  return gone[0]!;
}

/** An environment is out of reach at once but in sight for a while; the others can be watched as they go. */
function vanishing({ settings }: Base, entity: Entity, now: number, withEnvironment: boolean): Entity {
  const { deletedVisible, deleting } = settings.timing;
  const changed = { ...entity, due: undefined, changedAt: now, revision: entity.revision + 1 };
  if (entity.kind === "environment") {
    return { ...changed, state: "deleted", deletedAt: now, hiddenAt: now + deletedVisible };
  }
  const lasts = withEnvironment || entity.kind === "credential" ? 0 : deleting;
  return { ...changed, state: lasts > 0 ? "deleting" : "deleted", deletedAt: now + lasts, hiddenAt: now + lasts };
}
