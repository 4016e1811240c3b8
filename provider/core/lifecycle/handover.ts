import { Collection } from "../collection";
import { type Definition, nameOf, pathOf, type Props } from "../definition";
import { diff } from "../diff";
import { type Lease, held, isNamesake, namedId } from "../leases";
import { type Session } from "../session";
import { steadyAgeMs } from "../times";
import { UserError } from "../../errors";

/*
 * One object, several resources: after a new logical name, after `--replace`, or when a resource adopts an object of the stack.
 * An object that another resource has or will take is handed over, not adopted or deleted.
 *
 * The engine creates first and deletes last, so `Leases` knows who has an object when it is to be deleted. Two runs are different:
 * with `deleteBeforeReplace`, it deletes an object, and before that what is in it, and then creates the resource that adopts it; with
 * --continue-on-error, it deletes although the one that was to adopt it has failed. `heirOf` is for these two.
 */

/**
 * Gives the object to this resource.
 * @returns its state, if another resource of this run released it
 * @throws if another resource of the program has it and keeps it
 */
export function take(session: Session, definition: Definition, inputs: Props, id: string): Props | undefined {
  const { run, resource } = session;
  const { leases } = run;
  const path = pathOf(definition, inputs, id);
  const holder = leases.holder(path, resource);
  if (holder)
    throw new UserError(
      "managed-twice",
      `${nameOf(definition, inputs)}: ${held(definition, id, holder.resource, resource)}`,
    );
  leases.take(resource, definition, inputs, path);
  return leases.released(path);
}

/**
 * Why the object stays although its resource is deleted. undefined: no other resource takes it.
 * @throws if a resource that asks for it, or for its parent, has failed: then the old resource has to stay, too
 */
export async function keeper(
  session: Session,
  definition: Definition,
  id: string,
  state: Props,
): Promise<string | undefined> {
  const holder = session.run.leases.holder(pathOf(definition, state, id));
  // This may be the same resource: after an import or an adoption of its own object, an old state with that object is deleted.
  if (holder) return `it is "${holder.resource.name}" of the program now`;
  const place = definition.place(state);
  let heir = await heirOf(session, place.collection, id, state);
  let what = "it";
  // An object without a name, such as a credential, cannot be found again, so it is deleted.
  for (let { parent } = place; definition.naming && parent && !heir; { parent } = parent.place) {
    heir = await heirOf(session, parent.place.collection, parent.id);
    what = "its parent";
  }
  if (heir?.create === "failed")
    throw new UserError(
      "step-failed",
      `Fix "${heir.resource.name}", then run the command again. ${nameOf(definition, state)} (${id}) is not deleted, ` +
        `because that asks for ${what} and failed.`,
    );
  return heir && `"${heir.resource.name}" of the program adopts ${what}`;
}

/** The resource without an object that will adopt this one, or was to and failed. */
async function heirOf(session: Session, collection: string, id: string, state?: Props): Promise<Lease | undefined> {
  for (const lease of session.run.leases.withoutObject(collection)) {
    const isMissed = lease.create === "failed" && state !== undefined && asksFor(lease, id, state);
    if (isMissed || (await takes(session, lease, id, state))) return lease;
  }
  return undefined;
}

/** Whether it asks for this object, by its id or its name. */
const asksFor = ({ definition, inputs }: Lease, id: string, state: Props): boolean =>
  namedId(definition, inputs) === id || isNamesake(definition, inputs, state);

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
