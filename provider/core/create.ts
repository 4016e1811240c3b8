import { type Identified } from "../api";
import { adopt, toAdopt } from "./adopt";
import { type CollectionDefinition, type Made, nameOf, type Place, type Props } from "./definition";
import { UserError } from "./errors";
import { isTwin, post } from "./post";
import { type Session } from "./session";
import { settle } from "./settle";
import { siblingsOf } from "./siblings";
import { fromWire, merge } from "./state";

/** A list this old still tells whether a name is taken; what this process made is known without it. */
const siblingsAgeMs = 5_000;

/** Makes the object, or adopts one, and waits until it is ready. Never makes it twice. */
export async function create(session: Session, definition: CollectionDefinition, inputs: Props): Promise<Made> {
  const place = definition.place(inputs);
  const make = async (): Promise<Made> => {
    const siblings = await siblingsOf(session, definition, place, siblingsAgeMs);
    const existing = definition.naming && siblings && (await toAdopt(session, definition, place, inputs, siblings));
    if (!definition.naming && session.adoptAll) nameLeftovers(session, definition, place, inputs, siblings);
    const changed = existing && (await adopt(session, definition, place, inputs, existing));
    const object = existing ?? (await post(session, definition, place, inputs, siblings));
    session.lists.recordMade(place.collection, object);
    if (!existing)
      for (const child of definition.startsEmpty?.(place, object.id) ?? []) session.lists.startEmpty(child);
    return finish(session, definition, place, inputs, object, changed);
  };
  if (!definition.naming) return make();
  const { adopt: adopted } = inputs;
  const what = nameOf(definition, inputs);
  const busy = (): Error =>
    new UserError(
      typeof adopted === "string"
        ? `${what}: another resource of this program adopts ${adopted}, too. One object cannot be managed twice.`
        : `${what}: another resource of this program is being created under the same name in the same place. Give each its own name.`,
    );
  // What is adopted by its id may have the name of another, as it has in the service.
  const claimed = typeof adopted === "string" ? `#${adopted}` : String(inputs[definition.naming]).trim();
  return session.lists.claim(`${place.collection} ${claimed}`, busy, make);
}

async function finish(
  session: Session,
  definition: CollectionDefinition,
  place: Place,
  inputs: Props,
  object: Identified,
  changed: Props = {},
): Promise<Made> {
  const known = merge(inputs, {}, { ...fromWire(definition, object), ...definition.once?.(object), ...changed });
  const state = await settle(session, definition, place, object.id, known);
  return { id: object.id, state };
}

/** What a killed run made and did not record looks like somebody's own: it is named, and never deleted unasked. */
function nameLeftovers(
  session: Session,
  definition: CollectionDefinition,
  place: Place,
  inputs: Props,
  siblings: Identified[] = [],
): void {
  const made = session.lists.made(place.collection).map(({ id }) => id);
  const others = siblings.filter(({ id }) => !made.includes(id) && !session.origins.holds(id));
  const ids = others.filter((item) => isTwin(definition, item, inputs)).map(({ id }) => id);
  if (ids.length === 0) return;
  session.say(
    `Warning: ${nameOf(definition, inputs)}: there is already ${ids.join(" and ")} of the same member and name. Its password cannot ` +
      `be read again, so a new one is made. If a killed run left it behind: consortium sweep --id ${ids.join(" ")}`,
  );
}
