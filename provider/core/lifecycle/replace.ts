import { type ApiError, type Identified, isApiError } from "../../api";
import { briefly, limitAdvice, sentence } from "../../api/api-error";
import { paths } from "../../api/paths";
import { holdsLedger, limits, type PlanLimits } from "../../constants";
import { messageOf } from "../../plain";
import { Collection } from "../collection";
import { type Definition, identityOf, nameKey, nameOf, pathOf, type Props } from "../definition";
import { type Lease } from "../leases";
import { type Run } from "../run";
import { type Session } from "../session";
import { codeOf, UserError } from "../../errors";
import { sameValue } from "../values";
import { adopts } from "./adopt";
import { change } from "./change";
import { isTwin } from "./recognize";

/*
 * A replacement makes the new object before the old one goes. If the service wants each name once, the old one has another name
 * meanwhile. If the new one is refused, the old one gets its name back, and nothing was changed. What is in the old one stays until
 * that goes, in whichever order the engine deletes.
 */

/** The name of an object while its successor needs its own, in a form that every service accepts. */
const nameMeanwhile = (id: string): string => `replaced-${id}`;

/**
 * Creates an object, perhaps beside the one that it replaces.
 * @param siblings what was there before
 */
export async function createBeside(
  collection: Collection,
  siblings: Identified[] | undefined,
  create: () => Promise<Identified>,
): Promise<Identified> {
  const send = async (): Promise<Identified> => {
    const object = await create();
    // The old one would be deleted, and the new one with it.
    if (collection.place.idField !== undefined || !siblings?.some(({ id }) => id === object.id)) return object;
    throw collection.error(
      "unclear-create",
      `the service answered the creation with ${object.id}, which was there before. ${unchanged}`,
    );
  };
  try {
    return await send();
  } catch (error) {
    const isAboutName = isApiError(error, "conflict") && !(await isAtLimit(collection, error));
    const old = isAboutName ? namesakesOf(collection, siblings).find(isReplaced(collection)) : undefined;
    if (!old || !(await freeName(collection, old))) throw await refused(collection, siblings, error);
  }
  return send().catch(async (error: unknown) => {
    throw await refused(collection, siblings, error);
  });
}

const unchanged = "Nothing was changed.";

const isReplaced =
  (collection: Collection) =>
  ({ id }: Identified): boolean =>
    collection.isGivenUp(id);

/** The siblings that a service may not want beside the new object. It may also want the names of zones to be unique. */
function namesakesOf(collection: Collection, siblings: Identified[] = []): Identified[] {
  const { inputs, definition } = collection;
  const name = nameKey(definition)!;
  const isAlike = (item: Identified): boolean =>
    sameValue(collection.shown(item)[name], inputs[name]) || (!definition.naming && isTwin(collection, item, inputs));
  return [...new Set([...collection.namesakes(siblings), ...siblings.filter(isAlike)])];
}

/** Gives another name to an object that is replaced. @returns whether the service can do that */
async function freeName(collection: Collection, old: Identified): Promise<boolean> {
  const name = nameMeanwhile(old.id);
  const why = await rename(collection, old, name);
  if (why === undefined)
    collection.say(`${old.id}, which it replaces, is called "${name}" from now on, until it is deleted`);
  return why === undefined;
}

/** @returns why not */
async function rename(successor: Collection, item: Identified, name: unknown): Promise<string | undefined> {
  const { session, definition, inputs, place } = successor;
  const key = nameKey(definition);
  if (key === undefined || place.idField !== undefined) return "its name is its id";
  const collection = Collection.of(session, definition, inputs, item.id);
  const before = { asked: {}, shown: collection.shown(item) };
  const one = { collection, id: item.id, inputs: { ...inputs, [key]: name }, keys: [key], before };
  return change(one).then(() => undefined, briefly);
}

/** The error for a create that was refused. An object that it was to replace has its name back, also if a killed run took it. */
async function refused(collection: Collection, siblings: Identified[] = [], error: unknown): Promise<unknown> {
  const { session, inputs, definition } = collection;
  const old = siblings.filter(isReplaced(collection));
  const named = (name: unknown): boolean => sameValue(name, inputs[nameKey(definition) ?? ""]);
  const mine = old.filter(({ id }) => named(session.run.leases.givenUpName(collection.pathOf(id))));
  const now = mine.length === 0 ? [] : ((await collection.siblings(0).catch(() => undefined)) ?? siblings);
  const left: string[] = [];
  for (const { id } of mine) {
    const item = now.find((one) => one.id === id);
    if (!item || collection.shown(item)[nameKey(definition)!] !== nameMeanwhile(id)) continue;
    const name = session.run.leases.givenUpName(collection.pathOf(id));
    const why = await rename(collection, item, name);
    if (why !== undefined) left.push(`${id} is still called "${nameMeanwhile(id)}", not "${String(name)}" (${why}).`);
  }
  const known = (await taken(collection, siblings, error)) ?? (await atLimit(collection, error)) ?? error;
  if (left.length > 0)
    return collection.error(
      codeOf(known) ?? "name-taken",
      `${messageOf(known)} ${left.join(" ")} \`pulumi up --refresh\` renames it.`,
    );
  if (known === error && mine.length > 0)
    collection.say(`${mine.map(({ id }) => id).join(" and ")}, which it was to replace, stays as it was.`);
  return known;
}

/** The error for a service that rejects a second one: a replacement comes before the old one goes, or a run left one behind. */
async function taken(
  collection: Collection,
  siblings: Identified[] = [],
  error: unknown,
): Promise<UserError | undefined> {
  if (!isApiError(error, "conflict")) return undefined;
  const { inputs, definition, session } = collection;
  const refused = (next: string): UserError => collection.error("name-taken", `${next} ${sentence(briefly(error))}`);
  const old = namesakesOf(collection, siblings).find(isReplaced(collection));
  if (old) return refused(oldFirst(old));
  const now = (await collection.siblings(0).catch(() => undefined)) ?? siblings;
  const alike = definition.naming
    ? collection.namesakes(now)
    : siblings.filter((item) => isTwin(collection, item, inputs));
  const ids = alike.filter(({ id }) => !collection.isMade(id) && !collection.isOfStack(id)).map(({ id }) => id);
  if (ids.length === 0) return undefined;
  if (definition.naming && adopts(session, inputs))
    return refused("Run the command again, which adopts it: it has appeared since this run looked.");
  if (definition.naming)
    return refused(`Choose another name, or set adopt: true: ${ids.join(" and ")} has it since this run looked.`);
  return refused(
    `Choose another name; or for \`--replace\`, set the resource option deleteBeforeReplace: true. The same member and name already ` +
      `exist: ${ids.join(" and ")}. ${leftBehind(ids)}.`,
  );
}

const oldFirst = ({ id }: Identified): string =>
  `To delete ${id} first, with everything in it, set the resource option deleteBeforeReplace: true, and run \`pulumi up\` again; in a ` +
  `network file, take its entry out for one run. It replaces ${id}, which stays as it was: the service may not accept both at once.`;

/** What to do with an object that a run left behind. */
export const leftBehind = (ids: readonly string[]): string =>
  "If a run that failed or was killed left it behind, and nothing uses it: " +
  `npx --no-install pulumi-consortium sweep --id ${ids.join(" ")}`;

/** Whether the service refuses one more than the plan allows: it says so by its status, or shows as many as that. */
async function isAtLimit(collection: Collection, error: ApiError): Promise<boolean> {
  if (error.status === 402) return true;
  const kind = collection.path.slice(collection.path.lastIndexOf("/") + 1);
  if (!isApiError(error, "conflict") || !Object.hasOwn(limits, kind)) return false;
  const told = await collection.session.client.limits().catch(() => undefined);
  const there = await collection.siblings(0).catch(() => undefined);
  return there?.length === (told?.[kind as keyof PlanLimits] ?? limits[kind as keyof PlanLimits]);
}

/** A limit may be reached because resources got new logical names: their old objects go only after the new ones came. */
async function atLimit(collection: Collection, error: unknown): Promise<UserError | undefined> {
  if (!isApiError(error) || !(await isAtLimit(collection, error))) return undefined;
  const siblings = (await collection.siblings(0).catch(() => undefined)) ?? [];
  const refused = (next: string): UserError => collection.error("limit-reached", `${next} ${sentence(briefly(error))}`);
  const old = siblings.find(isReplaced(collection));
  if (old) return refused(oldFirst(old));
  const others = siblings.filter(({ id }) => !collection.holder(id) && !collection.isMade(id));
  if (others.length === 0) return refused(limitAdvice);
  const ids = others.map(({ id }) => id).join(", ");
  return refused(
    `Delete one, or ask whoever runs the service for a higher limit. If this stack made one of ${ids} under another logical name, give the ` +
      'new resource the option aliases: [{ name: "<its old name>" }], or in a network file its key formerly: "<its old key>".',
  );
}

type Remove = (session: Session) => Promise<unknown>;

interface Waiting {
  remove: Remove;
  /** Whether the program has no successor of it, or that is there. */
  isSucceeded: () => boolean;
}

/** Deletions of objects, by their paths, that wait for the deletion of what they are in, by its path. */
const waiting = new WeakMap<Run, Map<string, Map<string, Waiting>>>();

/** The paths of everything that an object is in, the innermost first. */
function around(definition: Definition, state: Props): string[] {
  const found: string[] = [];
  for (let { parent } = definition.place(state); parent; { parent } = parent.place)
    found.push(paths.item(parent.place.collection, parent.id));
  return found;
}

/**
 * Whether an object stays until what it is in is deleted: that is replaced, and the object's own successor is not known to be made. The
 * engine deletes a node first where its option says so, with `deletedWith` even unasked, and that would take the old ledger before there
 * is a new one.
 */
export async function waits(
  session: Session,
  definition: Definition,
  id: string,
  state: Props,
  remove: Remove,
): Promise<boolean> {
  const { run, createLog, client, resource } = session;
  const path = pathOf(definition, state, id);
  const parent = around(definition, state).find((one) => run.leases.isGivenUp(one));
  const successor = (): Lease | undefined => run.leases.replacing(path) ?? (resource && run.leases.of(resource));
  if (parent === undefined || successor()?.made !== undefined) return false;
  const isSucceeded = (): boolean => successor() === undefined || successor()!.made !== undefined;
  const all = waiting.get(run) ?? new Map<string, Map<string, Waiting>>();
  waiting.set(run, all.set(parent, (all.get(parent) ?? new Map<string, Waiting>()).set(path, { remove, isSucceeded })));
  session.say(`${nameOf(definition, state)} (${id}): stays until what it is in is replaced, and is deleted with that`);
  // The state loses it now, so that the log has to prove to a later run that it is this stack's.
  const name = identityOf(definition, state);
  await createLog.left(
    { path: definition.place(state).collection, name, id, resource: resource?.name },
    client.http.settings,
  );
  return true;
}

/** Deletes what waited for the deletion of the object with this path. */
export async function removeWaiting(session: Session, path: string): Promise<void> {
  for (const { remove } of waiting.get(session.run)?.get(path)?.values() ?? []) await remove(session);
  waiting.get(session.run)?.delete(path);
}

/**
 * Deletes what waits beside an object that is deleted, and may use it, as a node uses a zone. Only if its successor is there, and nothing
 * of the program failed.
 */
export async function removeWaitingBeside(session: Session, definition: Definition, state: Props): Promise<void> {
  if (session.run.leases.unmade()) return;
  for (const parent of around(definition, state)) {
    const beside = waiting.get(session.run)?.get(parent);
    for (const [path, { remove, isSucceeded }] of [...(beside ?? [])]) {
      if (!isSucceeded()) continue;
      beside!.delete(path);
      await remove(session);
    }
  }
}

/**
 * Refuses to delete what may be needed still. With --continue-on-error, the engine deletes although something of the program failed, also
 * what an earlier run has replaced: perhaps the successor lacks just that, or was to adopt it. With deleteBeforeReplace and `--replace`, it
 * deletes what the same resource adopts then, and what is in that even before.
 */
export function refuseEarly(session: Session, definition: Definition, id: string, state: Props): void {
  const { leases } = session.run;
  const what = `${nameOf(definition, state)} (${id})`;
  const isLedger = holdsLedger(definition.type) || definition.type === "Node";
  const failed = leases.unmade(isLedger ? undefined : definition.type);
  if (failed)
    throw new UserError(
      "step-failed",
      `Fix "${failed.resource.name}", then run the command again. It failed, and may need ${what}, so that is not deleted.`,
    );
  const all = [pathOf(definition, state, id), ...around(definition, state)];
  const next = all.map((path) => leases.adopting(path, session.adoptAll)).find(Boolean);
  if (next)
    throw new UserError(
      "managed-twice",
      `For a new one, take adopt out of the program first; to keep it, run the command without --replace. ${what} is not deleted, because ` +
        `"${next.resource.name}" of the program may adopt it, or what it is in.`,
    );
}
