import { Collection } from "../collection";
import {
  type CollectionDefinition,
  type Definition,
  type Made,
  nameOf,
  type Props,
  timeoutMs,
  type Verbs,
} from "../definition";
import { Incomplete } from "../user-error";
import { learnOrganization, originOfNew, proveBeforeCreate, proveOrganization, requireOwner } from "../organization";
import { type Origin, originKey, withProvider } from "../origins";
import { type Session, within } from "../session";
import { isRecorded } from "../state";
import { create } from "./create";
import { deleteObject } from "./delete";
import { keeper, take } from "./handover";
import { read } from "./read";
import { update } from "./update";

/** A refresh has no time-out of its own. */
const readMs = 300_000;

/** The verbs of everything that lives in a collection. */
const verbsIn = (definition: CollectionDefinition): Verbs => ({
  create: (session, inputs) => create(Collection.of(session, definition, inputs), inputs),
  read: (session, id, state) => read(Collection.of(session, definition, state), id, state),
  update: (session, id, olds, news) => update(Collection.of(session, definition, news), id, olds, news),
  delete: (session, id, state) => deleteObject(Collection.of(session, definition, state), id, state),
});

/** The resource's own verbs where it has some, else the shared ones. */
const verbsOf = (definition: Definition): Verbs => (definition.kind === "custom" ? definition : verbsIn(definition));

/**
 * The lifecycle of any resource. Each verb has one deadline, and the organization of the key is proved before anything is changed, deleted or taken for gone.
 */
export const lifecycle = {
  async create(session: Session, definition: Definition, inputs: Props): Promise<Made> {
    const timed = within(session, timeoutMs(definition, "create", inputs));
    const isProved = await proveBeforeCreate(timed, definition);
    const made = await remembering(
      timed,
      (state) => originOfNew(timed, definition, state),
      () => declaring(timed, definition, inputs),
    );
    if (!isProved) await takeBackForeign(timed, definition, made);
    return made;
  },

  /** undefined: it is gone, and that was confirmed. */
  async read(session: Session, definition: Definition, id: string, state: Props): Promise<Props | undefined> {
    const timed = within(session, readMs);
    const now = await verbsOf(definition).read(timed, id, state);
    if (now) return marked(timed, now, await learnOrganization(timed, definition, id, { ...state, ...now }));
    if (isRecorded(state)) await proveOrganization(timed, definition, id, state);
    return undefined;
  },

  async update(session: Session, definition: Definition, id: string, olds: Props, news: Props): Promise<Props> {
    const timed = within(session, timeoutMs(definition, "update", news));
    const origin = await proveOrganization(timed, definition, id, olds);
    const { state } = await remembering(
      timed,
      () => Promise.resolve(origin),
      async () => ({ id, state: await verbsOf(definition).update(timed, id, olds, news) }),
    );
    return state;
  },

  async delete(session: Session, definition: Definition, id: string, state: Props): Promise<void> {
    const timed = within(session, timeoutMs(definition, "delete", state));
    await proveOrganization(timed, definition, id, state);
    const why = await keeper(timed, definition, id, state);
    if (why !== undefined) {
      session.say(`${nameOf(definition, state)} (${id}): not deleted, since ${why}`);
      return session.holdings.leave(definition, id, state);
    }
    await verbsOf(definition).delete(timed, id, state);
    session.holdings.deleted(definition, id);
  },
};

/** Makes the object, so that whoever deletes in the same run knows what became of it. */
async function declaring(session: Session, definition: Definition, inputs: Props): Promise<Made> {
  const { holdings, owner } = session;
  try {
    if (definition.kind === "collection") return await verbsOf(definition).create(session, inputs);
    const left = await take(session, definition, inputs, String(inputs[definition.idKey]));
    return await definition.create(session, inputs, left);
  } catch (error) {
    if (!(error instanceof Incomplete)) holdings.failed(owner);
    throw error;
  }
}

/** Whatever becomes of the object, its state says whose it is. */
async function remembering(
  session: Session,
  originOf: (state: Props) => Promise<Origin>,
  run: () => Promise<Made>,
): Promise<Made> {
  const remembered = async (state: Props): Promise<Props> => marked(session, state, await originOf(state));
  try {
    const { id, state } = await run();
    return { id, state: await remembered(state) };
  } catch (error) {
    if (error instanceof Incomplete) throw new Incomplete(error.id, await remembered(error.state), error.cause);
    throw error;
  }
}

const marked = ({ provider, client }: Session, state: Props, origin: Origin): Props => ({
  ...state,
  [originKey]: withProvider(origin, provider, client.http.settings),
});

/** Nothing told before whose the key is: where the first thing that it made is in the wrong place, it goes again. */
async function takeBackForeign(session: Session, definition: Definition, made: Made): Promise<void> {
  try {
    requireOwner(session, definition, made);
  } catch (error) {
    if (definition.kind === "collection") await verbsOf(definition).delete(session, made.id, made.state);
    throw error;
  }
}
