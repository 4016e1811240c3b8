import { create } from "./create";
import { type Definition, type Made, type Props } from "./definition";
import { remove } from "./delete";
import { read } from "./read";
import { type Session } from "./session";
import { update } from "./update";

/** The lifecycle of any resource: its own verbs where it has some, the shared ones for everything in a collection. */
export const lifecycle = {
  create: (session: Session, definition: Definition, inputs: Props): Promise<Made> =>
    definition.kind === "custom" ? definition.create(session, inputs) : create(session, definition, inputs),

  read: (session: Session, definition: Definition, id: string, state: Props): Promise<Props | undefined> =>
    definition.kind === "custom" ? definition.read(session, id, state) : read(session, definition, id, state),

  update: (session: Session, definition: Definition, id: string, olds: Props, news: Props): Promise<Props> =>
    definition.kind === "custom"
      ? definition.update(session, id, olds, news)
      : update(session, definition, id, olds, news),

  delete: (session: Session, definition: Definition, id: string, state: Props): Promise<void> =>
    definition.kind === "custom" ? definition.delete(session, id, state) : remove(session, definition, id, state),
};
