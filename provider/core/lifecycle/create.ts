import { type Identified, PartialList } from "../../api";
import { type Collection, Listed } from "../collection";
import { identityOf, inputKeys, inputMeta, type Made, nameKey, type Props } from "../definition";
import { fits } from "../diff";
import { UserError } from "../user-error";
import { isRewritten, leaving, merge } from "../state";
import { toContinue } from "./continue-killed";
import { isTwin } from "./recognize";
import { sendCreate } from "./send-create";
import { settle } from "./read";
import { printable } from "../../api/printable";
import { isUnset, sameName } from "../values";
import { handover, held, isNamesake } from "../program-resources";
import { isGoing, isGone } from "../../api/states";
import { type Session } from "../session";
import { take } from "./handover";
import { change } from "./update";

/** How old a list may be to tell whether a name is taken. This process knows its own creates. */
const siblingsAgeMs = 5_000;

/** Creates or adopts the object and waits until it is ready. Never creates it twice. */
export function create(collection: Collection, inputs: Props): Promise<Made> {
  return alone(collection, inputs, async () => {
    const { definition, session } = collection;
    const siblings = await siblingsOf(collection, inputs);
    const continued = await toContinue(collection, inputs);
    const existing = continued ?? (await toAdopt(collection, inputs, siblings));
    const isOthers = existing !== undefined && !continued && !session.seenStates.has(existing.id);
    const isShared = isOthers && (definition.shared?.applies(collection.shown(existing)) ?? false);
    const changed = existing && (await adopt(collection, inputs, existing, isShared));
    if (!existing) await definition.prepare?.(session.client, inputs);
    const object = existing ?? (await logged(collection, inputs, siblings));
    collection.recordMade(object);
    if (!existing) nameLeftovers(collection, inputs, siblings);
    const { programResources, owner } = session;
    programResources.take(owner, definition, inputs, object.id);
    if (!existing) startEmpty(collection, object);
    const once = definition.shownOnce?.(object);
    const known = merge(inputs, {}, { ...collection.shown(object), ...once, ...changed });
    if (isRewritten(known)) session.seenStates.rewritesNames = true;
    const kept = existing ? leaving(definition, inputs, known, isShared) : known;
    return { id: object.id, state: await settle(collection, object.id, kept) };
  });
}

/** Logs the create before it is sent, so that a killed run leaves proof of what is its own. */
function logged(collection: Collection, inputs: Props, siblings: Identified[] | undefined): Promise<Identified> {
  const { session, definition, path } = collection;
  const name = identityOf(definition, inputs);
  const before = (siblings ?? []).map(({ id }) => id);
  const { http } = session.client;
  const begun = { path, name, before, serviceAt: http.serviceTime(session.clock.now()), settings: http.settings };
  return session.createLog.logged(begun, () => sendCreate(collection, inputs, siblings));
}

/** A partial list never proves that a name is free. To adopt by id, it is enough. */
async function siblingsOf(collection: Collection, inputs: Props): Promise<Identified[] | undefined> {
  if (typeof inputs.adopt === "string") return collection.there((await collection.look(siblingsAgeMs)).items);
  try {
    return await collection.siblings(siblingsAgeMs);
  } catch (error) {
    if (!(error instanceof PartialList)) throw error;
    throw new UserError(
      `${collection.nameOf(inputs)}: ${error.message} Until then, nothing proves that the name is free, so nothing is created. ` +
        'To adopt an object that exists, give its id: adopt: "<id>".',
    );
  }
}

/** Keeps two resources of one program from racing for a name. */
function alone<T>(collection: Collection, inputs: Props, run: () => Promise<T>): Promise<T> {
  const identity = identityOf(collection.definition, inputs);
  if (identity === undefined) return run();
  const id = typeof inputs.adopt === "string" ? inputs.adopt : undefined;
  const busy = (): Error =>
    new UserError(
      id === undefined
        ? `${collection.nameOf(inputs)}: another resource of this program is being created under the same name in the same place. Give each its own name.`
        : `${collection.nameOf(inputs)}: another resource of this program adopts ${id}, too. One object cannot be managed twice.`,
    );
  // An object that is adopted by id may have any name in the service.
  return collection.claim(id === undefined ? identity : `#${id}`, busy, run);
}

function startEmpty(collection: Collection, { id }: Identified): void {
  const { session, definition } = collection;
  for (const name of definition.emptyWhenMade ?? [])
    new Listed(session, { collection: `${collection.pathOf(id)}/${name}` }).startEmpty();
}

/** A failed run's leftovers look like anybody's objects: they are named, but not deleted unasked. */
function nameLeftovers(collection: Collection, inputs: Props, siblings: Identified[] = []): void {
  const { session, definition } = collection;
  if (definition.naming) return;
  const made = collection.made().map(({ id }) => id);
  const others = siblings.filter(({ id }) => !made.includes(id) && !session.seenStates.has(id));
  const ids = others.filter((item) => isTwin(collection, item, inputs)).map(({ id }) => id);
  if (ids.length === 0) return;
  session.say(
    `Warning: ${collection.nameOf(inputs)}: there is already ${ids.join(" and ")} with the same member and name, which this stack does not ` +
      "know as its own. Its password cannot be read again, so a new one was made. If a run that failed or was killed left it behind, and " +
      `nothing uses it: consortium sweep --id ${ids.join(" ")}`,
  );
}

/** Lists may lag by a moment. */
const lagMs = 1_000;
/** How long to wait for a name that is about to become free. */
const freeMs = 60_000;
const lookEveryMs = 1_000;

/** The object to adopt (contract, "adopt"). undefined: create one. */
export async function toAdopt(
  collection: Collection,
  inputs: Props,
  siblings: Identified[] | undefined,
): Promise<Identified | undefined> {
  const { session, definition } = collection;
  if (!definition.naming || !siblings) return undefined;
  const what = collection.nameOf(inputs);
  if (typeof inputs.adopt === "string") {
    const item = siblings.find(({ id }) => id === inputs.adopt) ?? (await collection.get(inputs.adopt));
    const adoptName = "or use adopt: true to adopt by name";
    if (item && isGoing(item))
      throw new UserError(`${what}: ${item.id} is being deleted. Wait, and use another id, ${adoptName}.`);
    if (item && !isGone(item)) return own(collection, inputs, item);
    const missing = `there is no ${definition.title} ${inputs.adopt} under ${collection.path}`;
    throw new UserError(`${what}: ${missing} to adopt. Check the id, ${adoptName}.`);
  }
  const taken = await lasting(collection, inputs, namesakes(collection, inputs, siblings));
  if (taken.length === 0) return undefined;
  const [first] = taken;
  const left = taken.some(({ id }) => session.programResources.released(definition, id));
  if (!(adopts(session, inputs) || left)) throw new UserError(`${what}: ${takenBy(collection, taken)}`);
  if (taken.length === 1) return own(collection, inputs, first!);
  const ids = taken.map(({ id }) => id).join(", ");
  throw new UserError(`${what}: several have this name (${ids}). Specify which one to adopt: adopt: "${first!.id}".`);
}

/**
 * The siblings with this name. If the service is known to write names in its own way, similar names count, too.
 * @throws if the name is to be adopted and only a similar one exists: nothing tells whether that one is meant
 */
function namesakes(collection: Collection, inputs: Props, siblings: Identified[]): Identified[] {
  const { session, definition } = collection;
  const { seenStates, programResources, owner } = session;
  const exact = collection.namesakes(inputs, siblings);
  if (exact.length > 0 || !(seenStates.rewritesNames || adopts(session, inputs))) return exact;
  const known = new Set(collection.made().map(({ id }) => id));
  const isFree = ({ id }: Identified): boolean => !known.has(id) && !programResources.holder(definition, id, owner);
  const like = collection.namedLike(inputs, siblings.filter(isFree));
  if (like.length === 0 || seenStates.rewritesNames) return like;
  const names = like.map((item) => `${item.id} is called "${printable(collection.nameIn(item))}"`).join(", ");
  throw new UserError(
    `${collection.nameOf(inputs)}: nothing has exactly this name, but ${names}, and a service may write names in its own way. ` +
      `Nothing was created. If that is the one to adopt, set adopt: "${like[0]!.id}"; otherwise choose a name that differs more.`,
  );
}

const adopts = (session: Session, inputs: Props): boolean => inputs.adopt === true || session.adoptAll;

/** The namesakes that keep the name: not those being deleted, nor those that another resource of the program renames. */
async function lasting(collection: Collection, inputs: Props, found: Identified[]): Promise<Identified[]> {
  const { session, definition } = collection;
  const { clock, deadline, programResources } = session;
  const end = Math.min(clock.now() + freeMs, deadline.at);
  const frees = (item: Identified): boolean => {
    const holder = programResources.holder(definition, item.id, session.owner);
    return isGoing(item) || (holder !== undefined && !isNamesake(definition, holder.inputs, inputs));
  };
  const again = async (ms: number): Promise<Identified[]> => {
    await clock.sleep(ms);
    return namesakes(collection, inputs, (await collection.siblings(0)) ?? []);
  };
  // It may have just been deleted, and the list may lag: look again before refusing.
  let taken = found.length > 0 && !adopts(session, inputs) ? await again(lagMs) : found;
  while (taken.some(frees) && clock.now() < end) taken = await again(lookEveryMs);
  const [going] = taken.filter(isGoing);
  if (!going) return taken;
  const next = "Run the command again when it is gone, or choose another name.";
  throw new UserError(`${collection.nameOf(inputs)}: ${going.id} has this name and is still being deleted. ${next}`);
}

/** Why the name is taken, and what to do. */
function takenBy(collection: Collection, taken: Identified[]): string {
  const { session, definition } = collection;
  const [first] = taken;
  const ids = taken.map(({ id }) => id).join(", ");
  const holder = taken.map(({ id }) => session.programResources.holder(definition, id, session.owner)).find(Boolean);
  if (holder) return `the name is already taken: ${held(definition, first!.id, holder.owner, session.owner)}`;
  const adopting = `adopt: true (or adopt: "${first!.id}")`;
  if (definition.shared?.applies(collection.shown(first!)))
    return `there is one already, which others may share: ${ids}. To use it as it is, set ${adopting}.`;
  const known = taken.some(({ id }) => session.seenStates.has(id));
  const ours = known ? "It is this stack's own." : "If this stack has made it under another logical name:";
  const interrupted = session.createLog.isKept
    ? ""
    : "after an interrupted run, use `CONSORTIUM_ADOPT=true pulumi up`; ";
  return (
    `the name is already taken by ${ids}. To adopt it, set ${adopting}; ${interrupted}` +
    "for `--replace`, set the resource option " +
    "deleteBeforeReplace: true, so that the old one goes first; otherwise choose another name. " +
    `${ours} ${handover(undefined, session.owner)}`
  );
}

/** Returns the object, unless another resource of the program has it. */
async function own(collection: Collection, inputs: Props, item: Identified): Promise<Identified> {
  const { session, definition } = collection;
  const left = await take(session, definition, inputs, item.id);
  const made = collection.made().some(({ id }) => id === item.id);
  if (!made || left) return item;
  throw new UserError(
    `${collection.nameOf(inputs)}: another resource of this program is ${item.id} already. Give each its own; one object cannot be managed twice.`,
  );
}

/**
 * Adopts an existing object. Properties that can change in place are updated; all others must fit. A shared object stays as
 * it is. @returns the properties that changed
 */
export async function adopt(collection: Collection, inputs: Props, item: Identified, isShared = false): Promise<Props> {
  const { session, definition } = collection;
  const what = collection.nameOf(inputs);
  const shown = collection.shown(item);
  const differing = inputKeys(definition).filter((key) => {
    const meta = inputMeta(definition, key)!;
    if (meta.programOnly || meta.parent === "path" || (meta.computed && isUnset(inputs[key]))) return false;
    if (inputs[key] === undefined) return false; // properties that the program does not set stay
    // What the service does not show may be unset: set it if possible, otherwise trust it.
    if (!(key in shown)) return meta.replace !== true && !isUnset(inputs[key]);
    const isRenamed = key === nameKey(definition) && session.seenStates.rewritesNames;
    return !(isRenamed && sameName(shown[key], inputs[key])) && !fits(definition, key, shown[key], inputs[key]);
  });
  const fixed = differing.filter((key) =>
    isShared ? definition.shared!.fits.includes(key) : inputMeta(definition, key)?.replace === true,
  );
  if (fixed.length > 0) {
    const facts = fixed.map((key) => `${key} is ${String(shown[key])}, not ${String(inputs[key])}`).join("; ");
    throw new UserError(
      `${what}: ${item.id} cannot be adopted, since ${facts}. Change the program to match it, or choose another name.`,
    );
  }
  const kept = differing.map((key) => (key in shown ? `${key} is ${JSON.stringify(shown[key])}` : key));
  if (isShared) {
    const stays = kept.length > 0 ? `, and stays as it is: ${kept.join(", ")}` : "";
    session.say(`${what}: adopts ${item.id} (exists already; nothing is created; others share it${stays})`);
    return {};
  }
  const changes = differing.length > 0 ? `; changes ${differing.join(", ")}` : "";
  session.say(`${what}: adopts ${item.id} (exists already; nothing is created${changes})`);
  if (differing.length === 0) return {};
  const given = Object.fromEntries(differing.map((key) => [key, inputs[key]]));
  return { ...given, ...(await change(collection, item.id, inputs, differing)) };
}
