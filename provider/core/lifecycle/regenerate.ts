import { type Identified, isApiError } from "../../api";
import { briefly } from "../../api/api-error";
import { type Collection } from "../collection";
import { type Props } from "../definition";
import { messageOf } from "../../plain";
import { madeAt, type Recorded } from "../state";
import { Unclear, UserError } from "../user-error";
import { isUnset } from "../values";

/**
 * Lets the service make a new secret of an object, which it shows only now. Not in the specification. May be repeated: what the last
 * answer shows is the secret.
 * @returns the object with what only this answer shows; undefined: the answer lacks that
 */
export async function regenerated(
  collection: Collection,
  id: string,
  known: Props = {},
): Promise<Identified | undefined> {
  const { session, definition } = collection;
  const body = await session.client.postAgain(`${collection.pathOf(id)}/regenerate`, {});
  const read = definition.wire.safeParse({ id, ...known, ...(typeof body === "object" ? body : undefined) });
  return read.success && definition.shownOnce?.(read.data) ? { ...read.data, id } : undefined;
}

/**
 * Gives the object of a resource a new secret.
 * @returns what is shown of it then
 * @throws UserError with what is possible instead
 */
export async function regenerate(
  collection: Collection,
  id: string,
  key: string,
  before: Pick<Recorded, "shown" | "at">,
): Promise<Props> {
  const { shown: state } = before;
  const { definition } = collection;
  const username = isUnset(state.username) ? {} : { username: state.username };
  let made: Identified | undefined;
  try {
    made = await regenerated(collection, id, username);
  } catch (error) {
    if (isApiError(error, "missing", "unsupported"))
      throw await impossible(collection, id, key, before, briefly(error));
    if (!isApiError(error) || !error.unclear) throw error;
    throw new Unclear(collection.error(`${messageOf(error)} ${unclear}`));
  }
  if (!made)
    throw new Unclear(collection.error(`the service regenerated its password and did not show it. ${unclear}`));
  return { ...collection.shown(made), ...definition.shownOnce!(made) };
}

const unclear = "The password in the state may no longer work: run `pulumi up` again, which regenerates it.";

async function impossible(
  collection: Collection,
  id: string,
  key: string,
  before: Pick<Recorded, "shown" | "at">,
  why: string,
): Promise<UserError> {
  if ((await collection.find(id, 0, madeAt(before))) === "gone")
    return new UserError(
      `${collection.what} no longer exists: it was deleted outside of Pulumi. \`pulumi up --refresh\` makes it again.`,
    );
  return collection.error(
    `this service cannot regenerate its password (${why}). Nothing was changed. Set the old ${key} again, and change ` +
      `keepers instead: that creates a new ${collection.definition.title} and deletes this one.`,
  );
}
