import { isApiError, PartialList } from "../api";
import { paths } from "../api/paths";
import { printable } from "../api/printable";
import { isGoing, isGone } from "../api/states";
import { Listed } from "../core/collection";
import { type Inside } from "../core/lifecycle/delete";
import { type Place, type Props } from "../core/definition";
import { type Session } from "../core/session";
import { times } from "../core/times";
import { type Identified } from "../api";
import { environments, memberships, nodes } from "./fields";

/* Objects that would be lost with a consortium or an environment: ledgers, and the nodes of any member. */

/**
 * The objects that stay in a place. If the list is known to be incomplete, those that it shows. Empty if this key may not read the list.
 */
async function stayingIn(session: Session, place: Place): Promise<Identified[]> {
  const list = new Listed(session, place);
  return list.staying(times.insideAgeMs).catch((error: unknown) => {
    if (isApiError(error, "denied") && error.status !== 401) return [];
    if (!(error instanceof PartialList)) throw error;
    return list.there([...error.items] as Identified[]).filter((item) => !isGone(item) && !isGoing(item));
  });
}

const called = (title: string, { name, id }: Identified): string => `${title} "${printable(String(name))}" (${id})`;

const found = (place: Place, item: Identified, what: string, within: readonly Identified[]): Inside => ({
  path: paths.item(place.collection, item.id),
  collection: place.collection,
  name: String(item.name),
  id: item.id,
  what,
  membershipIds: within.map(({ membership_id: member }) => member),
});

/** The nodes of members. A service may run nodes of its own there, which belong to no membership. */
async function membersNodes(session: Session, props: Props): Promise<Identified[]> {
  const all = await stayingIn(session, nodes(props));
  if (all.length === 0) return [];
  const { items } = await new Listed(session, memberships(props))
    .look(times.insideAgeMs)
    .catch(() => ({ items: undefined }));
  const members = items && new Set<unknown>(items.map(({ id }) => id));
  return all.filter(({ membership_id: member }) => members === undefined || members.has(member));
}

export async function nodesIn(session: Session, environmentId: string, state: Props): Promise<Inside[]> {
  const place = nodes({ ...state, environmentId });
  const all = await membersNodes(session, { ...state, environmentId });
  return all.map((one) => found(place, one, called("node", one), [one]));
}

export async function environmentsIn(session: Session, consortiumId: string): Promise<Inside[]> {
  const place = environments({ consortiumId });
  const all = await stayingIn(session, place);
  return Promise.all(
    all.map(async (one) => {
      const inside = await membersNodes(session, { consortiumId, environmentId: one.id });
      const within = inside.map((node) => called("node", node)).join(" and ");
      return found(place, one, called("environment", one) + (within && ` with ${within}`), [one, ...inside]);
    }),
  );
}
