import { codedMessage } from "../../../provider/errors";
import { type ConsortiumClient, type Identified } from "../../../provider/api";
import { Http } from "../../../provider/api/http";
import { Collection } from "../../../provider/core/collection";
import { type Definition, type Props } from "../../../provider/core/definition";
import { findExisting } from "../../../provider/core/lifecycle/adopt";
import { newSession, type Session, within } from "../../../provider/core/session";
import { definitions } from "../../../provider/resources";
import { base, type Listed, own } from "../../support/by-kind";
import { settingsFor } from "../../support/peer";
import { VirtualTime } from "../../support/virtual-time";

/* What is there before a resource is created, for the tests of what it finds and adopts. */

const http = new Http(settingsFor("https://x/api/v1"));
const me = { key: "me", name: "me" };
const other = { key: "other", name: "other" };

export interface Case {
  kind?: Listed;
  inputs?: Props;
  /** What is there from a time on, and until when. */
  items?: [item: Identified, fromMs?: number, untilMs?: number][];
  /** Objects that are found by their id alone. */
  byId?: Identified[];
  /** undefined: the service lists none. */
  isListed?: boolean;
  adoptAll?: boolean;
  limitMs?: number;
  owner?: string;
  /** The organization of the key. */
  organization?: string;
  members?: Identified[];
  prepare?: (session: Session, collection: Collection) => void;
}

export const item = (id: string, kind: Listed = "node", more: Props = {}): Identified => ({
  id,
  ...own[kind],
  ...more,
});

function place(given: Case) {
  const { kind = "node", inputs = {}, items = [], byId = [], members = [], isListed = true } = given;
  const clock = new VirtualTime();
  const definition: Definition = definitions[kind];
  const args = { ...base[kind], ...inputs };
  const at = definition.place(args);
  const listed = (): Identified[] =>
    items.filter(([, from = 0, until = Infinity]) => from <= clock.now() && clock.now() < until).map(([one]) => one);
  const client = {
    list: (where: string) => {
      if (where === at.collection) return Promise.resolve(listed());
      if (where.endsWith("/memberships")) return Promise.resolve(members);
      return Promise.resolve([where === "/consortia" ? { id: "c", owner: given.owner } : { id: "e" }]);
    },
    find: (where: string) => Promise.resolve(byId.find(({ id }) => where.endsWith(`/${id}`))),
    organizationOfKey: () => Promise.resolve(given.organization),
    until: () => client,
    http: { settings: http.settings, serviceTime: () => undefined },
  } as unknown as ConsortiumClient;
  const whole = newSession(client, {
    clock,
    resource: me,
    adoptAll: given.adoptAll ?? false,
  });
  const session = given.limitMs === undefined ? whole : within(whole, given.limitMs);
  const collection = Collection.of(session, definition, args);
  given.prepare?.(session, collection);
  return { collection, clock, siblings: isListed ? listed() : undefined };
}

/** The id of what is found and how it comes to the stack; "new"; or an error. */
export async function found(given: Case): Promise<{ is: string; took: number }> {
  const { collection, siblings, clock } = place(given);
  const is = await findExisting(collection, siblings).then(
    (one) => (one ? `${one.item.id} ${one.how ?? "own"}` : "new"),
    codedMessage,
  );
  return { is, took: clock.now() };
}

/** Another resource of the program has the object, and asks for these inputs. */
export const holds =
  (id: string, inputs: Props, replaced = false) =>
  ({ run }: Session, collection: Collection): void => {
    const path = collection.pathOf(id);
    if ("name" in inputs) run.leases.declare(me, collection.definition, true, collection.inputs);
    run.leases.hold(other, collection.definition, { path, id }, { ...collection.inputs, ...inputs });
    if (replaced) run.leases.giveUp(path, other);
  };
export const ofStack =
  (id: string) =>
  ({ run }: Session, collection: Collection): void =>
    void run.shown.add(collection.pathOf(id));
export const newParent = ({ run }: Session, { place: { parent } }: Collection): void =>
  void run.createdAt.set(parent!.id, 0);
