import { type Identified, PartialList } from "../../api";
import { type Collection } from "../collection";
import { type Made, type Props } from "../definition";
import { UserError } from "../user-error";
import { isRewritten, leaving, merge } from "../state";
import { adopt, toAdopt } from "./adopt";
import { toContinue } from "./continue";
import { isTwin } from "./ours";
import { post } from "./post";
import { settle } from "./settle";

/** A list this old still tells whether a name is taken; what this process made is known without it. */
const siblingsAgeMs = 5_000;

/** Makes the object, or adopts one, and waits until it is ready. Never makes it twice. */
export function create(collection: Collection, inputs: Props): Promise<Made> {
  return alone(collection, inputs, async () => {
    const siblings = await siblingsOf(collection, inputs);
    const existing = (await toContinue(collection, inputs)) ?? (await toAdopt(collection, inputs, siblings));
    const changed = existing && (await adopt(collection, inputs, existing));
    const object = existing ?? (await recorded(collection, inputs, siblings));
    collection.recordMade(object);
    if (!existing) nameLeftovers(collection, inputs, siblings);
    const { holdings, owner } = collection.session;
    holdings.take(owner, collection.definition, inputs, object.id);
    if (!existing) startEmpty(collection, object);
    const once = collection.definition.shownOnce?.(object);
    const known = merge(inputs, {}, { ...collection.shown(object), ...once, ...changed });
    if (isRewritten(known)) collection.session.origins.rewritesNames = true;
    const kept = existing ? leaving(collection.definition, inputs, known) : known;
    return { id: object.id, state: await settle(collection, object.id, kept) };
  });
}

/** Written down before it is sent: a run that is killed leaves what proves its objects to be its own. */
function recorded(collection: Collection, inputs: Props, siblings: Identified[] | undefined): Promise<Identified> {
  const { session, definition, path } = collection;
  const name = definition.naming && String(inputs[definition.naming]);
  const before = (siblings ?? []).map(({ id }) => id);
  const { http } = session.client;
  const begun = { path, name, before, serviceAt: http.serviceTime(session.clock.now()), settings: http.settings };
  return session.creates.recorded(begun, () => post(collection, inputs, siblings));
}

/** No name is free because it is not in a part of a list; to adopt by id, a part is enough. */
async function siblingsOf(collection: Collection, inputs: Props): Promise<Identified[] | undefined> {
  if (typeof inputs.adopt === "string") return collection.there((await collection.look(siblingsAgeMs)).items);
  try {
    return await collection.siblings(siblingsAgeMs);
  } catch (error) {
    if (!(error instanceof PartialList)) throw error;
    throw new UserError(
      `${collection.nameOf(inputs)}: ${error.message} Until then nothing tells whether the name is free, and nothing is created. ` +
        'To adopt an object that exists, give its id: adopt: "<id>".',
    );
  }
}

/** Two resources of one program cannot race for a name. */
function alone<T>(collection: Collection, inputs: Props, run: () => Promise<T>): Promise<T> {
  const { naming } = collection.definition;
  if (!naming) return run();
  const id = typeof inputs.adopt === "string" ? inputs.adopt : undefined;
  const busy = (): Error =>
    new UserError(
      id === undefined
        ? `${collection.nameOf(inputs)}: another resource of this program is being created under the same name in the same place. Give each its own name.`
        : `${collection.nameOf(inputs)}: another resource of this program adopts ${id}, too. One object cannot be managed twice.`,
    );
  // What is adopted by its id may have the name of another, as it has in the service.
  const claimed = collection.claimOf(id === undefined ? inputs[naming] : `#${id}`);
  return collection.session.lists.claim(claimed, busy, run);
}

function startEmpty(collection: Collection, { id }: Identified): void {
  const { session, definition } = collection;
  for (const name of definition.startsEmpty ?? []) session.lists.startEmpty(`${collection.pathOf(id)}/${name}`);
}

/** What a run that failed or was killed left behind looks like somebody's own: it is named, and never deleted unasked. */
function nameLeftovers(collection: Collection, inputs: Props, siblings: Identified[] = []): void {
  const { session, definition } = collection;
  if (definition.naming) return;
  const made = collection.made().map(({ id }) => id);
  const others = siblings.filter(({ id }) => !made.includes(id) && !session.origins.holds(id));
  const ids = others.filter((item) => isTwin(collection, item, inputs)).map(({ id }) => id);
  if (ids.length === 0) return;
  session.say(
    `Warning: ${collection.nameOf(inputs)}: there is already ${ids.join(" and ")} of the same member and name, which this stack has not shown ` +
      "to be its own. Its password cannot be read again, so a new one was made. If a run that failed or was killed left it behind, and " +
      `nothing uses it: consortium sweep --id ${ids.join(" ")}`,
  );
}
