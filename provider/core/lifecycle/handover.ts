import { Collection } from "../collection";
import { type Definition, nameOf, pathOf, type Place, type Props } from "../definition";
import { diff } from "../diff";
import { type Lease, held, isNamesake, namedId } from "../leases";
import { type Session } from "../session";
import { steadyAgeMs } from "../times";
import { UserError } from "../user-error";

/*
 * One object, several resources: after a new logical name, after `--replace`, or when a resource adopts an object of the stack.
 * An object that another resource has or will take is handed over, not adopted or deleted.
 */

/**
 * Gives the object to this resource.
 * @returns its state, if another resource of this run released it
 * @throws if another resource of the program has it and keeps it
 */
export async function take(
  session: Session,
  definition: Definition,
  inputs: Props,
  id: string,
): Promise<Props | undefined> {
  const { run, resource, clock } = session;
  const { leases } = run;
  const path = pathOf(definition, inputs, id);
  await leases.allDeclared(clock);
  const holder = leases.holder(path, resource);
  if (holder) throw new UserError(`${nameOf(definition, inputs)}: ${held(definition, id, holder.resource, resource)}`);
  leases.take(resource, definition, inputs, path);
  return leases.released(path);
}

/**
 * Why the object stays although its resource goes. undefined: no other resource takes it.
 * @throws if a resource was to take it and failed: then the old resource has to stay, too
 */
export async function keeper(
  session: Session,
  definition: Definition,
  id: string,
  state: Props,
): Promise<string | undefined> {
  const { leases } = session.run;
  const holder = leases.holder(pathOf(definition, state, id));
  // The same resource, too: an old state of it goes that has the same object, because it was imported again or has adopted itself.
  if (holder) return `it is "${holder.resource.name}" of the program now`;
  for (const lease of leases.withoutObject()) {
    if (lease.definition.type !== definition.type) continue;
    if (definition.place(lease.inputs).collection !== definition.place(state).collection) continue;
    const { create } = lease;
    if (create !== "failed") {
      if (await takes(session, lease, id, state)) return `"${lease.resource.name}" of the program takes it over`;
    } else if (namedId(definition, lease.inputs) === id || isNamesake(definition, lease.inputs, state)) {
      throw new UserError(
        `${nameOf(definition, state)} (${id}) is not deleted, because "${lease.resource.name}" of the program was to take it over, and failed. ` +
          "Correct that, and run the command again.",
      );
    }
  }
  if (!definition.naming) return undefined;
  // With `--replace` and deleteBeforeReplace, dependents go first.
  const above = await takenOver(session, definition.place(state).parent);
  return above && `"${above.resource.name}" of the program takes over what it is in`;
}

/** Whether a resource without an object will adopt this one. It does not if it would replace it. */
async function takes(session: Session, lease: Lease, id: string, state?: Props): Promise<boolean> {
  const { inputs } = lease;
  const definition = lease.definition as Definition; // `Lease` types only a part of it
  const named = namedId(definition, inputs);
  if (named !== undefined) return named === id;
  if (!(inputs.adopt === true || session.adoptAll)) return false;
  if (state && diff(definition, id, state, inputs).replaces.length > 0) return false;
  if (state && isNamesake(definition, state, inputs)) return true;
  const collection = Collection.of(session, definition, inputs);
  return collection.namesakes((await collection.siblings(steadyAgeMs)) ?? []).some((item) => item.id === id);
}

/** The resource that will adopt the object's parent, or the parent of that. */
async function takenOver(session: Session, parent: Place["parent"]): Promise<Lease | undefined> {
  if (!parent) return undefined;
  const { place, id } = parent;
  for (const lease of session.run.leases.withoutObject()) {
    const { definition, inputs, create } = lease;
    if (definition.place(inputs).collection !== place.collection) continue;
    if (create === undefined && (await takes(session, lease, id))) return lease;
  }
  return takenOver(session, place.parent);
}
