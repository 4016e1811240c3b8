import { create } from "./create";
import { type Definition, type Made, type Props, timeoutMs } from "./definition";
import { remove } from "./delete";
import { Incomplete } from "./errors";
import { learnOrganization, originOfNew, proveBeforeCreate, proveOrganization, requireOwner } from "./organization";
import { type Origin, originKey } from "./origins";
import { read } from "./read";
import { type Session, within } from "./session";
import { isRecorded } from "./state";
import { update } from "./update";

/** A refresh has no time-out of its own. */
const readMs = 300_000;

/**
 * The lifecycle of any resource: its own verbs where it has some, the shared ones for everything in a collection.
 * Each has one deadline, and the organization of the key is proved before anything is changed, deleted or taken for gone.
 */
export const lifecycle = {
  async create(session: Session, definition: Definition, inputs: Props): Promise<Made> {
    const timed = within(session, timeoutMs(definition, "create", inputs));
    const isProved = await proveBeforeCreate(timed, definition);
    const made = await remembering(
      (state) => originOfNew(timed, definition, state),
      () => (definition.kind === "custom" ? definition.create(timed, inputs) : create(timed, definition, inputs)),
    );
    if (!isProved) await takeBackForeign(timed, definition, made);
    return made;
  },

  /** undefined: it is gone, and that was confirmed. */
  async read(session: Session, definition: Definition, id: string, state: Props): Promise<Props | undefined> {
    const timed = within(session, readMs);
    const now = await (definition.kind === "custom"
      ? definition.read(timed, id, state)
      : read(timed, definition, id, state));
    if (now) return { ...now, [originKey]: await learnOrganization(timed, definition, id, { ...state, ...now }) };
    if (isRecorded(state)) await proveOrganization(timed, definition, id, state);
    return undefined;
  },

  async update(session: Session, definition: Definition, id: string, olds: Props, news: Props): Promise<Props> {
    const timed = within(session, timeoutMs(definition, "update", news));
    const origin = await proveOrganization(timed, definition, id, olds);
    const { state } = await remembering(
      () => Promise.resolve(origin),
      async () => ({
        id,
        state: await (definition.kind === "custom"
          ? definition.update(timed, id, olds, news)
          : update(timed, definition, id, olds, news)),
      }),
    );
    return state;
  },

  async delete(session: Session, definition: Definition, id: string, state: Props): Promise<void> {
    const timed = within(session, timeoutMs(definition, "delete", state));
    await proveOrganization(timed, definition, id, state);
    await (definition.kind === "custom" ? definition.delete(timed, id, state) : remove(timed, definition, id, state));
  },
};

/** Whatever becomes of the object, its state says whose it is. */
async function remembering(originOf: (state: Props) => Promise<Origin>, run: () => Promise<Made>): Promise<Made> {
  const marked = async (state: Props): Promise<Props> => ({ ...state, [originKey]: await originOf(state) });
  try {
    const { id, state } = await run();
    return { id, state: await marked(state) };
  } catch (error) {
    if (error instanceof Incomplete) throw new Incomplete(error.id, await marked(error.state), error.cause);
    throw error;
  }
}

/** Nothing told before whose the key is: where the first thing that it made is in the wrong place, it goes again. */
async function takeBackForeign(session: Session, definition: Definition, made: Made): Promise<void> {
  try {
    requireOwner(session, definition, made);
  } catch (error) {
    if (definition.kind === "collection") await remove(session, definition, made.id, made.state);
    throw error;
  }
}
