import type { Context } from "../context";
import type { Entity } from "./entities";

/** What lives in an object and goes with it. */
export function contents(context: Context, entity: Entity): Entity[] {
  const { store } = context;
  const inside = (): Entity[] => {
    switch (entity.kind) {
      case "consortium":
        return [...store.children("environment", entity.id), ...store.children("membership", entity.id)];
      case "environment":
        return [...store.children("node", entity.id), ...store.children("credential", entity.id)];
      case "membership":
        return owned(context, entity);
      default:
        return [];
    }
  };
  return inside().flatMap((child) => [child, ...contents(context, child)]);
}

/** The nodes and credentials of one membership, in all environments of its consortium. */
export function owned(context: Context, membership: Entity): Entity<"node" | "credential">[] {
  return context.store
    .children("environment", membership.parent)
    .flatMap(({ id }) => [...context.store.children("node", id), ...context.store.children("credential", id)])
    .filter(({ fields }) => fields.membership_id === membership.id);
}

/** Deletes an object and all that is in it; answers how it is afterwards. */
export function remove(context: Context, entity: Entity): Entity {
  const now = context.clock();
  const all = new Map([entity, ...contents(context, entity)].map((one) => [one.id, one]));
  const removed = [...all.values()].map((one) => vanishing(context, one, now, entity.kind === "environment"));
  context.store.put(removed);
  context.removed?.(removed);
  return removed[0]!;
}

/** Takes an object and all that is in it away at once and without a trace, as if it had never been. */
export function erase(context: Context, entity: Entity): void {
  const now = context.clock();
  const erased = { state: "deleted", due: undefined, changedAt: now, deletedAt: now, hiddenAt: now };
  const all = [entity, ...contents(context, entity)].map((one) => ({ ...one, ...erased }));
  context.store.put(all);
  context.removed?.(all);
}

/** An environment is out of reach at once but in sight for a while; the others can be watched as they go. */
function vanishing(context: Context, entity: Entity, now: number, withEnvironment: boolean): Entity {
  const { deletedVisible, deleting } = context.settings.timing;
  const changed = { ...entity, due: undefined, changedAt: now, revision: entity.revision + 1 };
  if (entity.kind === "environment") {
    return { ...changed, state: "deleted", deletedAt: now, hiddenAt: now + deletedVisible };
  }
  const lasts = withEnvironment || entity.kind === "credential" ? 0 : deleting;
  return { ...changed, state: lasts > 0 ? "deleting" : "deleted", deletedAt: now + lasts, hiddenAt: now + lasts };
}
