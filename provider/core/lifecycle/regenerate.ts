import { type Identified, isApiError } from "../../api";
import { briefly } from "../../api/api-error";
import { type Collection } from "../collection";
import { isForbidden } from "../listed";
import { type Props } from "../definition";
import { messageOf } from "../../plain";
import { codeOf, unclear, type UserError } from "../../errors";
import { isUnset } from "../values";
import { type Change, goneOutside } from "./change";

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
  return read.success && definition.steps?.shownOnce?.(read.data) ? { ...read.data, id } : undefined;
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
  before: Change["before"],
): Promise<Props> {
  const { definition } = collection;
  const username = isUnset(before.shown.username) ? {} : { username: before.shown.username };
  let made: Identified | undefined;
  try {
    made = await regenerated(collection, id, username);
  } catch (error) {
    if (isApiError(error, "missing", "unsupported"))
      throw (await goneOutside({ collection, id, before })) ?? impossible(collection, key, briefly(error));
    if (isForbidden(error)) throw (await goneOutside({ collection, id, before })) ?? error;
    if (!isApiError(error) || !error.unclear) throw error;
    throw unclear(collection.error(codeOf(error)!, `${again} ${messageOf(error)}`));
  }
  if (!made)
    throw unclear(
      collection.error("unclear-change", `${again} The service regenerated the password and did not show it.`),
    );
  return { ...collection.shown(made), ...definition.steps?.shownOnce?.(made) };
}

const again = "run `pulumi up` again, which regenerates the password. That in the state may no longer work.";

const impossible = (collection: Collection, key: string, why: string): UserError =>
  collection.error(
    "cannot-change",
    `set the old ${key} again, and change keepers instead: that creates a new ${collection.definition.title} and deletes this one. ` +
      `This service cannot regenerate its password (${why}). Nothing was changed.`,
  );
