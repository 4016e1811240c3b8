import { type Identified } from "../../api";
import { printable } from "../../api/printable";
import { answerOr } from "../../api/api-error";
import { whose } from "../../api/organization";
import { paths } from "../../api/paths";
import { isGoing, isGone } from "../../api/states";
import { autonamingSetting, holdsLedger } from "../../constants";
import { text } from "../../plain";
import { Collection, Listed } from "../collection";
import { type LoggedCreate } from "../create-log";
import { inputKeys, inputMeta, nameKey, type Props } from "../definition";
import { type Session } from "../session";
import { fresh, readyStep, stateOf, type StateParts } from "../state";
import { times } from "../times";
import { Incomplete, isUnclear } from "../../errors";
import { isUnset, normalOf, sameValue } from "../values";
import { lookFor } from "../wait";
import { agrees, factOf, similarIn, toContinue } from "./recognize";
import { type Change, sendChange, warnOfIgnored } from "./change";

/** An object to adopt, and how it comes to the stack. `how` is undefined for the stack's own. */
interface Adoption {
  item: Identified;
  how?: StateParts["how"];
  /** A killed run of this stack made it. */
  isContinued?: true;
}

/** Whether what is to be adopted may be there: a list may be empty for a moment, and a second ledger beside the first would stay. */
function isDoubtful({ session, definition, inputs, place }: Collection, siblings: Identified[]): boolean {
  const isOfThisRun = place.parent !== undefined && session.run.createdAt.has(place.parent.id);
  return holdsLedger(definition.type) && adopts(session, inputs) && siblings.length === 0 && !isOfThisRun;
}

/** What a preview says of an adoption: it looks as the create will, but waits for nothing. undefined: it cannot tell. */
export async function foreseen(collection: Collection): Promise<{ line: string; id?: string } | undefined> {
  const { adopt } = collection.inputs;
  const siblings = await collection.siblings(times.steadyAgeMs);
  const isMeant = ({ id }: Identified): boolean => id === adopt;
  const found = siblings && (typeof adopt === "string" ? siblings.filter(isMeant) : collection.namesakes(siblings));
  const [item, ...more] = (found ?? []).filter((sibling) => !isGoing(sibling));
  const line = (text: string): string => `${collection.what}: ${text}`;
  if (more.length > 0) return { line: line(`fails: ${severalHave(found!)}`) };
  if (item) return { line: line(`adopts ${item.id} (exists already; nothing is created)`), id: item.id };
  if (!siblings || typeof adopt === "string") return undefined;
  return { line: line("finds nothing to adopt, and creates a new one") };
}

const severalHave = (taken: readonly Identified[]): string =>
  `set the id of the one to adopt, such as adopt: "${taken[0]!.id}": several have this name (${taken.map(({ id }) => id).join(", ")}).`;

/** The existing object: created by a killed run of the stack, or to be adopted (contract, "adopt"). undefined: create one. */
export async function findExisting(
  collection: Collection,
  siblings: Identified[] | undefined,
  interrupted: readonly LoggedCreate[] = [],
): Promise<Adoption | undefined> {
  if (!collection.definition.naming || !siblings) return undefined;
  const isAsked = Boolean(collection.inputs.adopt) || collection.session.adoptAll;
  const item = isAsked ? undefined : await toContinue(collection, interrupted);
  if (item) return { item, isContinued: true };
  const found = await adoptable(collection, siblings);
  if (found || !isDoubtful(collection, siblings)) return found;
  await collection.session.clock.sleep(times.goneMs);
  return adoptable(collection, (await collection.siblings(0)) ?? []);
}

async function adoptable(collection: Collection, siblings: Identified[]): Promise<Adoption | undefined> {
  const item =
    typeof collection.inputs.adopt === "string"
      ? await chosen(collection, collection.inputs.adopt, siblings)
      : await namedAlike(collection, siblings);
  if (!item) return undefined;
  const { session, definition, inputs } = collection;
  session.run.leases.take(session.resource, definition, inputs, collection.pathOf(item.id));
  return { item, how: await howOf(collection, item) };
}

/**
 * How the object comes to the stack. A run that recovers an earlier one takes over its objects as the stack's own, if everything that the
 * service shows agrees. Otherwise, an object that several may use, or that another organization has, is shared.
 */
async function howOf(collection: Collection, item: Identified): Promise<StateParts["how"]> {
  const { inputs, definition, session } = collection;
  if (collection.isOfStack(item.id)) return undefined;
  const shown = collection.shown(item);
  const is = await whoseIs(collection, item);
  if (is === "others") return "shared";
  if (is === "own" && !definition.shared?.applies(shown)) return "adopted";
  const isRecovered = session.adoptAll && !inputs.adopt;
  // Each create sends a name: one that shows none was not made by a run of this stack.
  const isNamed = shown[nameKey(definition)!] !== undefined;
  const fits = isNamed && inputKeys(definition).every((key) => agrees(collection, shown, inputs, key));
  return isRecovered && fits ? undefined : "shared";
}

/** See `whose`. */
async function whoseIs({ session, place }: Collection, item: Identified): Promise<ReturnType<typeof whose>> {
  let { parent } = place;
  while (parent?.place.parent) ({ parent } = parent.place);
  const consortium = parent ? await new Listed(session, parent.place).listed(parent.id, times.steadyAgeMs) : item;
  const owner = text(consortium?.owner);
  const own = owner === undefined ? undefined : await session.client.organizationOfKey();
  if (!consortium || own === undefined || own === owner) return "own";
  const list = new Listed(session, { collection: paths.memberships(consortium.id) }).look(times.steadyAgeMs);
  const { items } = await answerOr(list, { items: [] }, "missing", "unsupported", "denied");
  const owning = item.membership_id === undefined ? item : items.find(({ id }) => id === item.membership_id);
  const members = items.map(({ org_id }) => org_id);
  return whose(own, owner, members, parent ? text(owning?.org_id) : owner);
}

/** The object with the id that the program gives. */
async function chosen(collection: Collection, id: string, siblings: Identified[]): Promise<Identified> {
  const item = siblings.find((sibling) => sibling.id === id) ?? (await collection.get(id));
  const adoptName = "or use adopt: true to adopt by name";
  if (item && isGoing(item))
    throw collection.error("cannot-adopt", `use another id, ${adoptName}: ${item.id} is being deleted.`);
  if (item && !isGone(item)) return item;
  const missing = `There is no ${collection.definition.title} ${id} under ${collection.path} to adopt.`;
  throw collection.error("not-found", `check the id, ${adoptName}. ${missing}`);
}

/** The object with the name that the program gives. @throws UserError if it has to be free */
async function namedAlike(collection: Collection, siblings: Identified[]): Promise<Identified | undefined> {
  const { inputs, session } = collection;
  const taken = await lasting(collection, namesakes(collection, siblings));
  const [first, ...more] = taken;
  if (!first) {
    const isFree = ({ id }: Identified): boolean =>
      !collection.isMade(id) && !collection.isGivenUp(id) && collection.refusal(id) === undefined;
    // A namesake that goes is none to adopt, and none that is meant.
    const isAlone = adopts(session, inputs) && collection.namesakes(siblings).length === 0;
    const [like] = isAlone ? similarIn(collection, siblings.filter(isFree)) : [];
    if (!like) return undefined;
    const name = printable(String(collection.shown(like)[nameKey(collection.definition)!]));
    throw collection.error(
      "cannot-adopt",
      `set adopt: "${like.id}" if that is the one; otherwise choose another name. There is no exact match, but ${like.id} is called ` +
        `"${name}". Nothing was created.`,
    );
  }
  if (!adopts(session, inputs)) throw collection.error("name-taken", takenBy(collection, taken));
  if (more.length === 0) return first;
  throw collection.error("cannot-adopt", severalHave(taken));
}

/** The siblings with this name, except those that this one replaces. */
const namesakes = (collection: Collection, siblings: Identified[]): Identified[] =>
  collection.namesakes(siblings).filter(({ id }) => !collection.isGivenUp(id));

const adopts = (session: Session, inputs: Props): boolean => inputs.adopt === true || session.adoptAll;

/** The namesakes that keep the name: not those that are being deleted, or renamed by another resource of the program. */
async function lasting(collection: Collection, found: Identified[]): Promise<Identified[]> {
  const { inputs, session } = collection;
  const again = async (): Promise<Identified[]> => namesakes(collection, (await collection.siblings(0)) ?? []);
  let taken = found;
  if (found.length > 0 && !adopts(session, inputs)) {
    await session.clock.sleep(times.takenLagMs);
    taken = await again();
  }
  const frees = (item: Identified): boolean =>
    isGoing(item) || session.run.leases.freesName(collection.pathOf(item.id), session.resource);
  const stay = (items: Identified[]): boolean => !items.some(frees);
  if (!stay(taken))
    taken = await lookFor(session, again, stay, { forMs: times.nameFreedMs, everyMs: times.lookEveryMs });
  const [going] = taken.filter(isGoing);
  if (!going) return taken;
  throw collection.error(
    "name-taken",
    `run the command again when ${going.id} is gone, or choose another name: it has this name and is still being deleted.`,
  );
}

/** Why the name is taken, and what to do. */
function takenBy(collection: Collection, taken: Identified[]): string {
  const { definition } = collection;
  const [first] = taken as [Identified];
  const ids = taken.map(({ id }) => id).join(", ");
  const refusal = taken.map(({ id }) => collection.refusal(id)).find(Boolean);
  if (refusal)
    return (
      `${refusal} If this update gives ${first.id} another name, use two runs: the first without this ` +
      "resource, the second with it."
    );
  const adopting = `set adopt: true (or adopt: "${first.id}")`;
  const more =
    "After an interrupted run: `CONSORTIUM_ADOPT=true pulumi up`. For stacks side by side: " +
    `${autonamingSetting}, on the provider plugin.`;
  if (definition.shared?.applies(collection.shown(first)))
    return `${adopting} to use it as it is. There is one already, which others may share: ${ids}. ${more}`;
  if (taken.some(({ id }) => collection.isOfStack(id)))
    return (
      "for `--replace`, set the resource option deleteBeforeReplace: true; for a resource that was only renamed, set aliases: " +
      `[{ name: "<its old name>" }]; after retainOnDelete, choose another name or set adopt: true. The name is already taken by ${ids}, ` +
      "which is this stack's own."
    );
  return `${adopting} to manage it here, or choose another name. The name is already taken by ${ids}. ${more}`;
}

/**
 * Adopts an existing object. Properties that can change in place are updated; all others must fit. A shared object stays as
 * it is. @returns what the service shows after a change, and the steps that follow
 */
export async function adopt(
  collection: Collection,
  { item, how, isContinued }: Adoption,
): Promise<{ shown: Props; open: readonly string[] }> {
  const { inputs, session, definition } = collection;
  const shown = collection.shown(item);
  const differing = differingIn(collection, shown);
  const isFixed = (key: string): boolean =>
    how === "shared" && definition.shared
      ? definition.shared.fits.includes(key)
      : inputMeta(definition, key)?.onChange === "replace";
  const fixed = differing.filter((key) => isFixed(key) && !agrees(collection, shown, inputs, key));
  if (fixed.length > 0) {
    const facts = fixed.map((key) => `${key} is ${String(shown[key])}, not ${String(inputs[key])}`).join("; ");
    throw collection.error(
      "cannot-adopt",
      `change the program to match ${item.id}, or choose another name. It cannot be adopted, because ${facts}.`,
    );
  }
  const changing = how === "shared" ? [] : differing.filter((key) => !isFixed(key));
  const kept = differing.map((key) => (key in shown ? factOf(shown, key) : key));
  const stays = kept.length > 0 ? `, so it stays as it is: ${kept.join(", ")}` : "";
  const others = how === "shared" ? `; others share it${stays}` : "";
  const changes = changing.length > 0 ? `; changes ${changing.join(", ")}` : "";
  collection.say(
    isContinued
      ? `goes on with ${item.id}, which an earlier run of this stack created${changes}`
      : `adopts ${item.id} (exists already; nothing is created${others}${changes})`,
  );
  if (changing.length === 0) return { shown: {}, open: [] };
  const before = { asked: {}, shown };
  const named = Collection.of(session, definition, inputs, item.id);
  const change: Change = { collection: named, id: item.id, inputs, keys: changing, before };
  const { shown: after, ignored, open } = await changeOf(change, { item, how, isContinued });
  warnOfIgnored(change, ignored);
  return { shown: after, open };
}

/**
 * Changes what is adopted.
 * @throws Incomplete for what may have changed, and for what this stack made: the log of the killed run ends with this one
 */
async function changeOf(change: Change, { item, how, isContinued }: Adoption): ReturnType<typeof sendChange> {
  try {
    return await sendChange(change);
  } catch (error) {
    const isDoubtful = isUnclear(error);
    if (!isContinued && !isDoubtful) throw error;
    const { collection, inputs, keys, before } = change;
    const parts = { ...fresh(inputs, before.shown), how, open: [readyStep], unclear: keys };
    const state = stateOf(collection.definition, parts, inputs);
    throw new Incomplete(item.id, state, isDoubtful ? error.cause : error);
  }
}

/** Desired values that the object lacks. */
function differingIn(collection: Collection, shown: Props): string[] {
  const { inputs, definition } = collection;
  const [wanted, there] = [normalOf(definition, inputs), normalOf(definition, shown)];
  return inputKeys(definition).filter((key) => {
    const meta = inputMeta(definition, key)!;
    if (meta.visibility === "program" || meta.parent === "path" || inputs[key] === undefined) return false;
    if (meta.computed && isUnset(inputs[key])) return false;
    // A value that the service does not show may be unset: set it if possible, otherwise trust it.
    if (!(key in shown)) return meta.onChange !== "replace" && !isUnset(inputs[key]);
    return !sameValue(there[key], wanted[key]);
  });
}
