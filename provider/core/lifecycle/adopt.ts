import { type Identified } from "../../api";
import { type Collection } from "../collection";
import { inputKeys, inputMeta, type Props } from "../definition";
import { isUnset, sameValue } from "../diff";
import { UserError } from "../user-error";
import { isGone } from "../lists";
import { patch } from "./update";

/** Lists may lag by a moment. */
const lagMs = 1_000;

/** The object to adopt instead of making one (contract, "adopt"), or undefined to make one. */
export async function toAdopt(
  collection: Collection,
  inputs: Props,
  siblings: Identified[] | undefined,
): Promise<Identified | undefined> {
  const { session, definition } = collection;
  if (!definition.naming || !siblings) return undefined;
  const what = collection.nameOf(inputs);
  if (typeof inputs.adopt === "string") {
    const item = siblings.find(({ id }) => id === inputs.adopt) ?? (await collection.get(inputs.adopt));
    if (item && !isGone(item)) return unmanaged(collection, what, [item])[0];
    const missing = `there is no ${definition.title} ${inputs.adopt} under ${collection.path}`;
    throw new UserError(`${what}: ${missing} to adopt. Check the id, or use adopt: true to adopt by name.`);
  }
  const adopting = inputs.adopt === true || session.adoptAll;
  let taken = collection.namesakes(inputs, siblings);
  if (taken.length > 0 && !adopting) {
    // It may have been deleted a moment ago, with the list behind: be sure before refusing.
    await session.clock.sleep(lagMs);
    taken = collection.namesakes(inputs, (await collection.siblings(0)) ?? []);
  }
  if (taken.length === 0) return undefined;
  const ids = taken.map(({ id }) => id).join(", ");
  if (!adopting) {
    throw new UserError(
      `${what}: the name is already taken by ${ids}. To adopt it, set adopt: true (or adopt: "${taken[0]!.id}"); ` +
        "after an interrupted run, use `CONSORTIUM_ADOPT=true pulumi up`; for `--replace`, set the resource option " +
        "deleteBeforeReplace: true, so that the old one goes first; else choose another name.",
    );
  }
  unmanaged(collection, what, taken);
  if (taken.length === 1) return taken[0];
  throw new UserError(
    `${what}: several have this name (${ids}). Specify which one to adopt: adopt: "${taken[0]!.id}".`,
  );
}

/** What no other resource of this program is already. */
function unmanaged(collection: Collection, what: string, items: Identified[]): Identified[] {
  const made = collection.made().map(({ id }) => id);
  const ours = items.find(({ id }) => made.includes(id));
  if (!ours) return items;
  throw new UserError(
    `${what}: another resource of this program is ${ours.id} already. Give each its own; one object cannot be managed twice.`,
  );
}

/**
 * Adopts an existing object: what can change in place is put right, everything else has to fit.
 * Gives what is different afterwards from what was found.
 */
export async function adopt(collection: Collection, inputs: Props, item: Identified): Promise<Props> {
  const { session, definition } = collection;
  const what = collection.nameOf(inputs);
  const shown = collection.shown(item);
  const differing = inputKeys(definition).filter((key) => {
    const meta = inputMeta(definition, key)!;
    if (meta.local || meta.parent === "path" || (meta.computed && isUnset(inputs[key]))) return false;
    // What the service does not show may be missing there: it is set where that can be done, and else taken on trust.
    if (!(key in shown)) return !meta.replace && !isUnset(inputs[key]);
    return !sameValue(shown[key], inputs[key]);
  });
  const fixed = differing.filter((key) => inputMeta(definition, key)?.replace);
  if (fixed.length > 0) {
    const facts = fixed.map((key) => `${key} is ${String(shown[key])}, not ${String(inputs[key])}`).join("; ");
    throw new UserError(
      `${what}: ${item.id} cannot be adopted, since ${facts}. Change the program to what exists, or choose another name.`,
    );
  }
  const changes = differing.length > 0 ? `; changes ${differing.join(", ")}` : "";
  session.say(`${what}: adopts ${item.id} (exists already; nothing is created${changes})`);
  if (differing.length === 0) return {};
  const given = Object.fromEntries(differing.map((key) => [key, inputs[key]]));
  return { ...given, ...(await patch(collection, item.id, inputs, differing)) };
}
