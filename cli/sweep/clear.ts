import { type ConsortiumClient } from "../../provider/api";
import { printable } from "../../provider/api/printable";
import { Collection } from "../../provider/core/collection";
import { messageOf } from "../../provider/core/user-error";
import { deleteObject } from "../../provider/core/lifecycle/delete";
import { definitions } from "../../provider/resources";
import { type Found, type ListedKind, plainSession } from "../../provider/resources/tree";
import { nameOf, titleOf } from "./leftovers";

export interface Failure {
  item: Found;
  error: string;
}

export interface Cleared {
  deleted: Found[];
  failed: Failure[];
}

/** Children before parents. What is in an environment goes with it (spec 4.1). */
const order: readonly ListedKind[] = ["node", "appCred", "environment", "membership", "consortium"];

/** Deletes what goes, waits until each is really gone, and goes on where one fails. */
export async function clear(
  client: ConsortiumClient,
  going: ReadonlySet<Found>,
  say: (line: string) => void,
): Promise<Cleared> {
  const session = plainSession(client, { say });
  const byParent = new Set([...going].filter(({ kind }) => kind === "environment").flatMap(({ inside }) => inside));
  const deleted: Found[] = [];
  let failed: Failure[] = [];

  const clearOne = async (item: Found): Promise<void> => {
    // A member that a service made itself may go only with its consortium: that does not keep the consortium here.
    const still = failed.filter((failure) => failure.item.kind !== "membership" && isIn(failure.item, item));
    if (still.length > 0) {
      const error = `not tried, since ${still.map((failure) => titleOf(failure.item)).join(", ")} could not be deleted.`;
      failed.push({ item, error });
      return;
    }
    try {
      const state = { ...item.place, name: nameOf(item) };
      await deleteObject(Collection.of(session, definitions[item.kind], state), item.id, state);
      const along = failed.map((failure) => failure.item).filter((one) => isIn(one, item));
      const gone = [item, ...(item.kind === "environment" ? item.inside : along)];
      failed = failed.filter((failure) => !along.includes(failure.item));
      deleted.push(...gone);
      for (const one of gone) say(`deleted ${titleOf(one)}`);
    } catch (error) {
      failed.push({ item, error: printable(messageOf(error)) });
    }
  };

  for (const kind of order) {
    const now = [...going].filter((item) => item.kind === kind && !byParent.has(item));
    await Promise.all(now.map(clearOne));
  }
  return { deleted, failed };
}

/** Whether something is in a parent, or belongs to a member, or holds what does. */
function isIn(item: Found, owner: Found): boolean {
  const here = item.props.membershipId === owner.id || Object.values(item.place).includes(owner.id);
  return here || item.inside.some((child) => child.props.membershipId === owner.id);
}
