import { type Identified, isApiError, PartialList } from "../../api";
import { Collection } from "../collection";
import { type LoggedCreate } from "../create-log";
import { inputKeys, inputMeta, type Definition, type Made, type Props, type Steps } from "../definition";
import { fresh, type StateParts } from "../state";
import { times } from "../times";
import { settle } from "../wait";
import { adopt, findExisting } from "./adopt";
import { restarted } from "./change";
import { discardKilled, interruptedFor, isTwin } from "./recognize";
import { leftBehind, refusedBeside } from "./replace";
import { sendCreate } from "./send-create";

/**
 * Wraps the call that creates an object. Adopting an existing one skips it.
 * @param send creates it, with more fields of the body, under the service's names
 */
type Making = (collection: Collection, send: (more?: Props) => Promise<Identified>) => Promise<Identified>;

export const creating =
  (definition: () => Definition, make: Making): Steps["create"] =>
  (session, inputs) =>
    create(Collection.of(session, definition(), inputs), make);

/** Creates or adopts the object and waits until it is ready. Never creates it twice. */
export async function create(collection: Collection, make: Making = (_, send) => send()): Promise<Made> {
  const { inputs, session, definition } = collection;
  const siblings = await siblingsOf(collection);
  const isTaken = siblings !== undefined && collection.namesakes(siblings).length > 0;
  const interrupted = interruptedFor(collection);
  const mayExist = isTaken || interrupted.length > 0 || Boolean(inputs.adopt) || session.adoptAll;
  const found = mayExist ? await findExisting(collection, siblings, interrupted) : undefined;
  const adopted = found && (await adopt(collection, found));
  const object = found?.item ?? (await createNew(collection, siblings, interrupted, make));
  const { id } = object;
  const at = found ? undefined : collection.serviceNow;
  if (found) collection.recordMade(object);
  const shown = { ...collection.shown(object), ...definition.steps?.shownOnce?.(object), ...adopted?.shown };
  const later = inputKeys(definition).filter((key) => inputMeta(definition, key)?.action);
  const asked = Object.fromEntries(Object.entries(inputs).filter(([key]) => !later.includes(key)));
  let parts: StateParts = { ...fresh(asked, shown), how: found?.how, at, open: adopted?.open ?? [] };
  if (adopted) parts = await restarted(Collection.of(session, definition, inputs, id), id, parts, inputs);
  const isListed = adopted !== undefined && Object.keys(adopted.shown).length === 0;
  return { id, state: await settle(collection, id, parts, { isListed }) };
}

async function createNew(
  collection: Collection,
  siblings: Identified[] | undefined,
  interrupted: readonly LoggedCreate[],
  make: Making,
): Promise<Identified> {
  const { session, definition, place } = collection;
  const send = async (more?: Props): Promise<Identified> => {
    const object = await sendCreate(collection, siblings, more).catch(async (error: unknown) => {
      throw await refusedBeside(collection, siblings, error);
    });
    // The old one would be deleted, and the new one with it.
    if (place.idField !== undefined || siblings?.every(({ id }) => id !== object.id) !== false) return object;
    throw collection.error(
      "unclear-create",
      `the service answered the creation with ${object.id}, which was there before. Nothing was changed.`,
    );
  };
  const object = await make(collection, send);
  session.run.createdAt.set(object.id, session.clock.now());
  if (interrupted.length > 0) await discardKilled(collection, interrupted, siblings);
  if (!definition.naming) nameLeftovers(collection, siblings);
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
  const { inputs } = collection;
  const others = collection.there(siblings).filter(({ id }) => !collection.isMade(id) && !collection.isOfStack(id));
  const ids = others.filter((item) => isTwin(collection, item, inputs)).map(({ id }) => id);
  if (ids.length === 0) return;
  collection.warn(
    `there is already ${ids.join(" and ")} with the same member and name, which this run does not ` +
      "recognize as this stack's. Its password cannot be read again, so a new one was made. With `--replace`, the old one is deleted next. " +
      leftBehind(ids),
  );
}
