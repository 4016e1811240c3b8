import { type Identified, isApiError, PartialList } from "../../api";
import { Collection } from "../collection";
import { Listed } from "../listed";
import { type Definition, inputKeys, inputMeta, type Made, type Props, type Steps } from "../definition";
import { serviceNow } from "../session";
import { fresh, type StateParts } from "../state";
import { times } from "../times";
import { adopt, findExisting } from "./adopt";
import { discardKilled } from "./continue-killed";
import { isTwin } from "./recognize";
import { createBeside, leftBehind } from "./replace";
import { sendCreate } from "./send-create";
import { settle } from "./settle";
import { restarted } from "./update";

/**
 * Wraps the call that creates an object. Adopting an existing one skips it.
 * @param send creates it, with more fields of the body, under the service's names
 */
export type Making = (collection: Collection, send: (more?: Props) => Promise<Identified>) => Promise<Identified>;

/** The creation of a resource with such an exception. */
export const creating =
  (definition: () => Definition, make: Making): Steps["create"] =>
  (session, inputs) =>
    create(Collection.of(session, definition(), inputs), make);

/** Nothing is in a new object: this process knows that these collections are empty. */
export function startEmpty(collection: Collection, { id }: Identified, ...names: readonly string[]): void {
  for (const name of names)
    new Listed(collection.session, { collection: `${collection.pathOf(id)}/${name}` }).startEmpty();
}

/** Creates or adopts the object and waits until it is ready. Never creates it twice. */
export async function create(collection: Collection, make: Making = (_, send) => send()): Promise<Made> {
  const siblings = await siblingsOf(collection);
  const there = await findExisting(collection, siblings);
  const adopted = there && (await adopt(collection, there));
  const object = there?.item ?? (await createNew(collection, siblings, make));
  const { inputs, session, definition } = collection;
  const at = there ? undefined : serviceNow(session);
  collection.recordMade(object);
  session.run.leases.take(session.resource, definition, inputs, collection.pathOf(object.id));
  const shown = { ...collection.shown(object), ...definition.steps?.shownOnce?.(object), ...adopted?.shown };
  const later = inputKeys(definition).filter((key) => inputMeta(definition, key)?.action);
  const asked = Object.fromEntries(Object.entries(inputs).filter(([key]) => !later.includes(key)));
  const parts: StateParts = { ...fresh(asked, shown), how: there?.how, at, open: adopted?.open ?? [] };
  const ready = await restarted(Collection.of(session, definition, inputs, object.id), object.id, parts, inputs);
  const isListed = adopted !== undefined && Object.keys(adopted.shown).length === 0;
  return { id: object.id, state: await settle(collection, object.id, ready, { isListed }) };
}

async function createNew(
  collection: Collection,
  siblings: Identified[] | undefined,
  make: Making,
): Promise<Identified> {
  const { session } = collection;
  const send = (more?: Props): Promise<Identified> =>
    createBeside(collection, siblings, () => sendCreate(collection, siblings, more));
  const object = await make(collection, send);
  collection.recordMade(object);
  session.run.createdAt.set(object.id, session.clock.now());
  await discardKilled(collection, siblings);
  nameLeftovers(collection, siblings);
  return object;
}

/** A partial list never proves that a name is free. To adopt by id, it is enough. */
async function siblingsOf(collection: Collection): Promise<Identified[] | undefined> {
  if (typeof collection.inputs.adopt === "string")
    return collection.there((await collection.look(times.siblingsAgeMs)).items);
  try {
    return await collection.siblings(times.siblingsAgeMs);
  } catch (error) {
    if (isApiError(error, "missing", "unsupported") && (await collection.parent(times.siblingsAgeMs)))
      throw collection.error(
        "unsupported",
        "remove it from the program, or use a service that has it. This one has no list of these " +
          `(${error.call}: HTTP ${error.status}), so it may not have this kind at all. Nothing was created.`,
      );
    if (!(error instanceof PartialList)) throw error;
    throw collection.error(
      "partial-list",
      `${error.message} Until then, nothing proves that the name is free, so nothing is created. ` +
        'To adopt an object that exists, give its id: adopt: "<id>".',
    );
  }
}

/** Objects left behind by a failed run look like anybody's: they are named, but not deleted unasked. */
function nameLeftovers(collection: Collection, siblings: Identified[] = []): void {
  const { inputs, definition } = collection;
  if (definition.naming) return;
  const others = collection.there(siblings).filter(({ id }) => !collection.isMade(id) && !collection.isOfStack(id));
  const ids = others.filter((item) => isTwin(collection, item, inputs)).map(({ id }) => id);
  if (ids.length === 0) return;
  collection.warn(
    `there is already ${ids.join(" and ")} with the same member and name, which this run does not ` +
      "recognize as this stack's. Its password cannot be read again, so a new one was made. With `--replace`, the old one is deleted next. " +
      leftBehind(ids),
  );
}
