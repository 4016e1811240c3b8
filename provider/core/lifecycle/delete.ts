import { type ApiError, type Identified, isApiError, MembershipObject } from "../../api";
import { briefly, sentence } from "../../api/api-error";
import { environmentName } from "../../api/environment";
import { paths } from "../../api/paths";
import { conditionOf, isGone } from "../../api/states";
import { text } from "../../plain";
import { Collection, Listed } from "../collection";
import { type Definition, identityOf, isOver, type Props, type Steps } from "../definition";
import { type Session } from "../session";
import { isAdoptedShared, storedIn, madeAt, partsOf } from "../state";
import { times } from "../times";
import { UserError } from "../../errors";
import { reasonIn } from "../../api/refusal";
import { type Look, lookFor, waitFor } from "../wait";

/** A user of a shared object. */
interface User {
  /** In words that can follow "because". */
  what: string;
  /** The membership that it belongs to, if it shows one. */
  membershipId?: string;
}

/** Something that would be lost with what it is in. */
export interface Inside {
  path: string;
  /** Its collection and name, by which a log of creates knows it. */
  collection: string;
  name: string;
  id: string;
  /** In words, with what is in it. */
  what: string;
  /** The memberships that it belongs to, or what is in it. */
  membershipIds: readonly unknown[];
}

/** Exceptions for deleting one kind of object. */
export interface Deleting {
  /** Objects that would be lost with it: everything in it that is neither deleted by this run nor being deleted. */
  inside?: (session: Session, id: string, state: Props) => Promise<Inside[]>;
  /** A warning before the deletion, because a preview does not ask providers about deletions. */
  warning?: (inside: readonly Inside[]) => string | undefined;
  /** Who uses a shared object, as far as the service shows. */
  users?: (session: Session, id: string, state: Props) => Promise<User[]>;
  /** The parent that it is deleted with, if a service cannot delete it alone. */
  goesWith?: string;
  /** Whether it was created with its parent and goes with it: a service may not delete it alone. */
  foundedWith?: (object: Identified, parent: Identified) => boolean;
  /** How long after this run's last deletion a service may still find something in it. */
  emptiedMs?: number;
}

/** The answer to the DELETE: gone, going, unknown to the service, or refused for now. */
type Answer = "gone" | "going" | "unknown" | { stays: string } | { refused: ApiError };

/**
 * Deletes the object and waits until it is really gone. Succeeds if it already is.
 * @returns why it stays; undefined: it is gone
 */
async function deleteObject(
  collection: Collection,
  id: string,
  state: Props,
  how: Deleting = {},
): Promise<string | undefined> {
  const { session } = collection;
  const others = isAdoptedShared(state)
    ? "it was adopted, and others may share it"
    : await unused(collection, id, state, how);
  if (others !== undefined) {
    collection.say(`is left as it is, because ${others}`);
    return others;
  }
  await sparing(collection, id, state, how);
  const deletion = new Deletion(collection, id, state, how);
  try {
    await waitFor(session, collection.what, () => deletion.look(), `DELETE ${collection.path}`);
  } catch (error) {
    if (!(error instanceof UserError) || error.message.startsWith(`${collection.what}: `)) throw error;
    throw collection.error(error.code, error.message);
  } finally {
    deletion.end();
  }
  collection.recordRemoved(id);
  if (deletion.left !== undefined) {
    const begun = { path: collection.path, name: identityOf(collection.definition, state), id };
    await session.createLog.left({ ...begun, resource: session.resource?.name });
  }
  return deletion.left;
}

/** The deletion of a resource with such exceptions. */
export const deleting =
  (definition: () => Definition, how: Deleting): Steps["delete"] =>
  (session, id, state) =>
    deleteObject(Collection.of(session, definition(), state, id), id, state, how);

/**
 * Warns about the objects that are lost with it. This stack's own were deleted first, so the rest is not this stack's, unless the program
 * uses `deletedWith`.
 * @throws UserError if something in it is not this stack's, and the user has not confirmed that it may go
 */
async function sparing(collection: Collection, id: string, state: Props, how: Deleting): Promise<void> {
  const { session, definition } = collection;
  const isConfirmed = session.isAsked === true || session.run.isNamed([id, text(state.consortiumId)]);
  const takesItsOwn = storedIn(state).takesItsOwn === true;
  const inside = await strangers(collection, id, state, how, isConfirmed || takesItsOwn ? 0 : times.deletedLagMs);
  const warning = how.warning?.(inside);
  if (warning !== undefined) collection.say(warning, "WARNING: ");
  if (isConfirmed) return;
  const kept = takesItsOwn ? await ofOthers(collection, id, state, inside) : inside;
  if (kept.length === 0) return;
  throw collection.error(
    "not-empty",
    `leave the ${definition.title} to others with \`pulumi state delete\` and its URN, if what is in it is theirs; if it may be lost, or is ` +
      `this stack's own with deletedWith or retainOnDelete, confirm that for one run with ${environmentName("confirmDeleted")}=${id}. It ` +
      "is not deleted, because it contains objects that this stack does not manage and that would be lost: " +
      `${kept.map(({ what }) => what).join(", ")}.`,
  );
}

/** Those with something of another organization, which `deletedWith` of this stack's program cannot mean. */
async function ofOthers(
  collection: Collection,
  id: string,
  { consortiumId = id, ...state }: Props,
  inside: readonly Inside[],
): Promise<Inside[]> {
  const kept = await Promise.all(
    inside.map(async ({ membershipIds }) => {
      const all = membershipIds.map((membershipId) => isOthers(collection, { consortiumId, ...state }, membershipId));
      return (await Promise.all(all)).includes(true);
    }),
  );
  return inside.filter((_, at) => kept[at]);
}

/** Objects in it that neither a state nor a log shows to be this stack's. Deleted ones may still be listed for a moment. */
function strangers({ session }: Collection, id: string, state: Props, how: Deleting, forMs: number): Promise<Inside[]> {
  const look = async (): Promise<Inside[]> =>
    ((await how.inside?.(session, id, state)) ?? []).filter((inside) => !isOwn(session, inside));
  return lookFor(session, look, ({ length }) => length === 0, { forMs, everyMs: times.lookEveryMs });
}

/** Whether a state of this stack has it, or a killed run of this stack has created it. */
const isOwn = ({ run, createLog }: Session, { path, collection, name, id }: Inside): boolean =>
  run.shown.has(path) ||
  createLog.interrupted({ path: collection, name }).some((create) => create.id === undefined || create.id === id);

/**
 * Waits until nobody uses a shared object that this stack made. What this run deletes may be on its way out.
 * @returns who uses it, if that is certainly somebody else @throws UserError if it may be this stack's
 */
async function unused(
  collection: Collection,
  id: string,
  state: Props,
  { users }: Deleting,
): Promise<string | undefined> {
  const { session, definition } = collection;
  if (!users) return undefined;
  const { clock } = session;
  const start = clock.now();
  for (;;) {
    const [user] = await users(session, id, state);
    if (!user) return undefined;
    if (await isOthers(collection, state, user.membershipId))
      return `${user.what}, and it belongs to another organization`;
    const waited = clock.now() - start;
    const isDeleting = Math.min(waited, session.run.sinceDeletionMs(session.clock)) < times.emptiedLagMs;
    if (!isDeleting || clock.now() >= session.deadline.at)
      throw collection.error(
        "not-empty",
        `delete first what uses it, if that is this stack's; otherwise leave the ${definition.title} to others with \`pulumi state delete\` ` +
          `and its URN. It is not deleted: ${user.what}.`,
        { why: user.what },
      );
    await clock.sleep(times.lookEveryMs);
  }
}

/** Whether what has this membership belongs to another organization. */
async function isOthers({ session }: Collection, state: Props, membershipId: unknown): Promise<boolean> {
  const { organizations = [] } = storedIn(state);
  if (membershipId === undefined || organizations.length === 0) return false;
  const list = new Listed(session, { collection: paths.memberships(String(state.consortiumId)) });
  const found = (await list.look(times.steadyAgeMs)).items.find((member) => member.id === membershipId);
  const organization = MembershipObject.safeParse(found).data?.org_id;
  return organization !== undefined && !organizations.includes(organization);
}

/** One deletion, from the first DELETE until the object is gone. */
class Deletion {
  /** Why it stays. */
  left: string | undefined;
  readonly #start: number;
  readonly #madeAt: number | undefined;
  #answer: Answer | undefined;
  #over: (() => void) | undefined;

  constructor(
    private readonly collection: Collection,
    private readonly id: string,
    state: Props,
    private readonly how: Deleting,
  ) {
    this.#start = collection.session.clock.now();
    this.#madeAt = madeAt(partsOf(collection.definition, state));
  }

  /** Call when the deletion is over, however it ended. */
  end(): void {
    this.#over?.();
  }

  async look(): Promise<Look<undefined>> {
    const { collection, id } = this;
    if (this.#answer === undefined || typeof this.#answer === "object")
      this.#answer = await send(collection, id, this.#madeAt, this.how);
    const answer = this.#answer;
    if (typeof answer === "object" && "refused" in answer) return this.#refused(answer.refused);
    this.#over ??= collection.session.run.deleting(collection.session.clock);
    collection.recordChange();
    if (typeof answer === "object") this.left = answer.stays;
    if (typeof answer === "object" || answer === "gone") return { done: undefined };
    if (answer === "unknown") return this.#unknown();
    await collection.session.clock.sleep(times.deletingAgeMs);
    return (await isListed(collection, id)) ? { waiting: "being deleted" } : { done: undefined };
  }

  /** A refusal may pass. @throws UserError if it does not */
  async #refused(refused: ApiError): Promise<Look<undefined>> {
    const { session } = this.collection;
    const { goesWith, emptiedMs = times.emptiedLagMs, users } = this.how;
    if (goesWith !== undefined && conditionOf((await this.collection.parent(times.steadyAgeMs))?.state) === "failed") {
      this.left = stays(this.collection, `with ${goesWith}`, refused.errorMessage).stays;
      return { done: undefined };
    }
    const waited = session.clock.now() - this.#start;
    const why = reasonIn(refused);
    const sinceDeletion = session.run.sinceDeletionMs(session.clock);
    const goes = why === undefined && (await isFounded(this.collection, this.id, this.how));
    const isPatient =
      why === "content"
        ? waited < times.emptiedLagMs || sinceDeletion < emptiedMs
        : goes
          ? sinceDeletion < times.emptiedLagMs
          : waited < times.refusedMs[refused.kind as keyof typeof times.refusedMs];
    if (isPatient) return { waiting: `kept by the service (${refused.errorMessage})` };
    if (goes) {
      this.left = stays(this.collection, withConsortium, refused.errorMessage).stays;
      return { done: undefined };
    }
    // No visible object uses it, so the service means one of another organization.
    if (users && why !== "early") {
      this.left = `others may share it: ${refused.message}`;
      this.collection.say(`is left as it is, because ${this.left}`);
      return { done: undefined };
    }
    throw this.collection.error(
      "not-empty",
      "delete in the console what is in it, and run the command again: something that this stack does not manage, or leaves to another " +
        `deletion (deletedWith). It could not be deleted: ${sentence(briefly(refused))}`,
    );
  }

  /** A service that does not know the object is believed only if the lists agree: a wrong address answers the same. */
  async #unknown(): Promise<Look<undefined>> {
    const { collection, id } = this;
    if (typeof (await collection.find(id, 0, this.#madeAt)) === "string") return { done: undefined };
    this.#answer = undefined; // it may have been too new for the service to know it
    const { goesWith } = this.how;
    if (goesWith !== undefined) {
      this.left = stays(collection, `with ${goesWith}`, "it reports it missing, but still lists it").stays;
      return { done: undefined };
    }
    if (collection.session.clock.now() - this.#start < times.stillListedMs) return { waiting: "being deleted" };
    throw collection.error("not-deleted", `${inConsole} The service reports it missing, but still lists it.`);
  }
}

async function send(collection: Collection, id: string, at: number | undefined, how: Deleting): Promise<Answer> {
  try {
    const body = await collection.session.client.delete(collection.pathOf(id));
    if (Array.isArray(body)) return "unknown"; // something that answers everything with a list
    return typeof body === "object" && body !== null && isGone(body) ? "gone" : "going";
  } catch (error) {
    if (isApiError(error) && (await isOverNow(collection, id))) return "gone";
    if (isApiError(error, "missing")) return "unknown";
    if (isApiError(error, "conflict", "invalid")) return { refused: error };
    if (isApiError(error, "unsupported")) {
      if (how.goesWith !== undefined) return stays(collection, `with ${how.goesWith}`, error.errorMessage);
      if (await isFounded(collection, id, how)) return stays(collection, withConsortium, error.errorMessage);
      throw collection.error("not-deleted", `${inConsole} This service cannot delete it (${briefly(error)}).`);
    }
    if (!isApiError(error, "denied") || error.status === 401) throw error;
    return refusedKey(collection, id, at, how, error);
  }
}

/** Whether it is listed in a final state: whatever the refusal says, nothing is left to delete. */
async function isOverNow(collection: Collection, id: string): Promise<boolean> {
  const item = await collection.listed(id, times.deletingAgeMs).catch(() => undefined);
  return item !== undefined && (isGone(item) || isOver(collection.definition, item));
}

/** It stays until its parent is deleted. */
function stays(collection: Collection, goes: string, answer: string): { stays: string } {
  const why = `the service does not delete it alone (${answer})`;
  collection.warn(`stays for now, and is deleted ${goes}: ${why}`);
  return { stays: why };
}

const inConsole = "delete it in the console, then run `pulumi refresh`.";

const withConsortium = "together with its consortium";

/** Whether it was created with its parent, and is deleted with it. */
async function isFounded(collection: Collection, id: string, { foundedWith }: Deleting): Promise<boolean> {
  if (!foundedWith) return false;
  const [item, owner] = [await collection.listed(id, times.steadyAgeMs), await collection.parent(times.steadyAgeMs)];
  return item !== undefined && owner !== undefined && foundedWith(item, owner);
}

/** A 403 may not be about the key: the object may be gone already, or go with its parent. */
async function refusedKey(
  collection: Collection,
  id: string,
  at: number | undefined,
  how: Deleting,
  error: ApiError,
): Promise<Answer> {
  let presence = await collection.find(id, 0, at);
  // An earlier DELETE, without an answer, may have done it: then the list may lag.
  if (typeof presence === "object") {
    await collection.session.clock.sleep(times.goneMs);
    presence = await collection.find(id, 0, at);
  }
  if (presence === "gone") return "gone";
  if (typeof presence === "string") throw error;
  if (await isFounded(collection, id, how)) return stays(collection, withConsortium, error.errorMessage);
  throw collection.error(
    "not-allowed",
    "use a key that may delete it, or delete it in the console and run `pulumi refresh`. It is not deleted: this API key may read it, " +
      `but not delete it (${briefly(error)}).`,
  );
}

async function isListed(collection: Collection, id: string): Promise<boolean> {
  try {
    const { items, part } = await collection.look(times.deletingAgeMs);
    const item = items.find((listed) => listed.id === id);
    if (item || !part) return item !== undefined && !isGone(item) && !isOver(collection.definition, item);
  } catch (error) {
    if (!isApiError(error)) throw error;
  }
  return typeof (await collection.find(id, times.deletingAgeMs)) === "object";
}
