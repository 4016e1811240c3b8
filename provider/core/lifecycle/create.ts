import { type Identified } from "../../api";
import { type Collection } from "../collection";
import { type Made, type Props } from "../definition";
import { UserError } from "../user-error";
import { merge } from "../state";
import { adopt, toAdopt } from "./adopt";
import { isTwin, post } from "./post";
import { settle } from "./settle";

/** A list this old still tells whether a name is taken; what this process made is known without it. */
const siblingsAgeMs = 5_000;

/** Makes the object, or adopts one, and waits until it is ready. Never makes it twice. */
export function create(collection: Collection, inputs: Props): Promise<Made> {
  return alone(collection, inputs, async () => {
    const siblings = await collection.siblings(siblingsAgeMs);
    const existing = await toAdopt(collection, inputs, siblings);
    const changed = existing && (await adopt(collection, inputs, existing));
    if (!existing) nameLeftovers(collection, inputs, siblings);
    const object = existing ?? (await post(collection, inputs, siblings));
    collection.recordMade(object);
    if (!existing) startEmpty(collection, object);
    const once = collection.definition.shownOnce?.(object);
    const known = merge(inputs, {}, { ...collection.shown(object), ...once, ...changed });
    return { id: object.id, state: await settle(collection, object.id, known) };
  });
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
  const claimed = id === undefined ? String(inputs[naming]).trim() : `#${id}`;
  return collection.session.lists.claim(`${collection.path} ${claimed}`, busy, run);
}

function startEmpty(collection: Collection, { id }: Identified): void {
  const { session, definition } = collection;
  for (const name of definition.startsEmpty ?? []) session.lists.startEmpty(`${collection.pathOf(id)}/${name}`);
}

/** What a killed run made and did not record looks like somebody's own: it is named, and never deleted unasked. */
function nameLeftovers(collection: Collection, inputs: Props, siblings: Identified[] = []): void {
  const { session, definition } = collection;
  if (definition.naming || !session.adoptAll) return;
  const made = collection.made().map(({ id }) => id);
  const others = siblings.filter(({ id }) => !made.includes(id) && !session.origins.holds(id));
  const ids = others.filter((item) => isTwin(collection, item, inputs)).map(({ id }) => id);
  if (ids.length === 0) return;
  session.say(
    `Warning: ${collection.nameOf(inputs)}: there is already ${ids.join(" and ")} of the same member and name. Its password cannot ` +
      `be read again, so a new one is made. If a killed run left it behind: consortium sweep --id ${ids.join(" ")}`,
  );
}
