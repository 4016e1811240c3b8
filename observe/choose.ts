import { type ConsortiumObject } from "../provider/api";
import { didYouMean } from "../provider/core/suggest";

/** The consortium of an id or a name. @throws Error that says which there are */
export function chosenConsortium(consortia: readonly ConsortiumObject[], nameOrId: string): ConsortiumObject {
  const byId = consortia.find(({ id }) => id === nameOrId);
  if (byId) return byId;
  const [found, ...others] = consortia.filter(({ name }) => name === nameOrId);
  if (found && others.length === 0) return found;
  if (found) {
    const ids = [found, ...others].map(({ id }) => id).join(", ");
    throw new Error(
      `Several consortia have the name "${nameOrId}": ${ids}. Give the id of one: --consortium ${found.id}`,
    );
  }
  if (consortia.length === 0) throw new Error("The organization of this API key has no consortium.");
  const names = consortia.flatMap(({ name, id }) => name ?? id);
  throw new Error(`There is no consortium "${nameOrId}"${didYouMean(nameOrId, names)}`);
}
