import { type Identified, isApiError } from "../../api";
import { briefly, limitAdvice, sentence } from "../../api/api-error";
import { paths } from "../../api/paths";
import { holdsLedger, limits, type PlanLimits } from "../../constants";
import { type Collection } from "../collection";
import { type Definition, identityOf, nameKey, nameOf, pathOf, type Props } from "../definition";
import { type Lease } from "../leases";
import { type Run } from "../run";
import { type Session } from "../session";
import { UserError } from "../../errors";
import { sameValue } from "../values";
import { adopts } from "./adopt";
import { isTwin } from "./recognize";

/*
 * A replacement makes the new object before the old one goes. Where the service refuses that, nothing was changed, and the error says how to
 * delete the old one first. What is in the old one stays until that goes, in whichever order the engine deletes.
 */

/**
 * Creates an object, perhaps beside the one that it replaces.
 * @param siblings what was there before
 */
export async function createBeside(
  collection: Collection,
  siblings: Identified[] = [],
  create: () => Promise<Identified>,
): Promise<Identified> {
  const object = await create().catch(async (error: unknown) => {
    throw await refused(collection, siblings, error);
  });
  // The old one would be deleted, and the new one with it.
  if (collection.place.idField !== undefined || !siblings.some(({ id }) => id === object.id)) return object;
  throw collection.error(
    "unclear-create",
    `the service answered the creation with ${object.id}, which was there before. Nothing was changed.`,
  );
}

/** The error for a service that rejects a second one, or one more than the plan allows. */
async function refused(collection: Collection, siblings: Identified[], error: unknown): Promise<unknown> {
  if (!isApiError(error) || !(error.kind === "conflict" || error.status === 402)) return error;
  const { inputs, definition, session } = collection;
  const now = (await collection.siblings(0).catch(() => undefined)) ?? siblings;
  const alike = definition.naming ? collection.namesakes(now) : now.filter((item) => isTwin(collection, item, inputs));
  const givenUp = now.filter(({ id }) => collection.isGivenUp(id));
  const name = nameKey(definition)!;
  // A service may also want the names of zones, which have no names of their own, to be unique.
  const replaced = givenUp.find(
    (item) => alike.includes(item) || sameValue(collection.shown(item)[name], inputs[name]),
  );
  const isNamed = alike.some((item) => !givenUp.includes(item));
  const isLimit = error.status === 402 || (!isNamed && (await isAtLimit(collection, now.length)));
  const old = isLimit ? givenUp[0] : replaced;
  const say = (next: string): UserError =>
    collection.error(isLimit ? "limit-reached" : "name-taken", `${next} ${sentence(briefly(error))}`);
  if (old) return say(oldFirst(old));
  const isOwn = (id: string): boolean =>
    collection.isMade(id) || collection.isOfStack(id) || collection.holder(id) !== undefined;
  const ids = (isLimit ? now : alike).map(({ id }) => id).filter((id) => !isOwn(id));
  if (isLimit)
    return say(ids.length === 0 ? limitAdvice : `${oneLess} If this stack made one of ${ids.join(", ")} ${renamed}`);
  if (ids.length === 0) return error;
  if (!definition.naming)
    return say(
      "Choose another name; or for `--replace`, set the resource option deleteBeforeReplace: true. The same member and name already " +
        `exist: ${ids.join(" and ")}. ${leftBehind(ids)}.`,
    );
  const next = adopts(session, inputs)
    ? "Run the command again, which adopts it"
    : "Choose another name, or set adopt: true";
  return say(`${next}: ${ids.join(" and ")} has the name since this run looked.`);
}

const oldFirst = ({ id }: Identified): string =>
  `To delete ${id} first, with everything in it, set the resource option deleteBeforeReplace: true, and run \`pulumi up\` again; in a ` +
  `network file, take its entry out for one run. It replaces ${id}, which stays as it was: the service may not accept both at once.`;

const oneLess = "Delete one, or ask whoever runs the service for a higher limit.";
const renamed =
  'under another logical name, give the new resource the option aliases: [{ name: "<its old name>" }], or in a network file its key ' +
  'formerly: "<its old key>".';

/** What to do with an object that a run left behind. */
export const leftBehind = (ids: readonly string[]): string =>
  "If a run that failed or was killed left it behind, and nothing uses it: " +
  `npx --no-install pulumi-consortium sweep --id ${ids.join(" ")}`;

/** Whether there are as many as the plan allows. */
async function isAtLimit({ path, session }: Collection, count: number): Promise<boolean> {
  const kind = path.slice(path.lastIndexOf("/") + 1) as keyof PlanLimits;
  if (!Object.hasOwn(limits, kind)) return false;
  const told = await session.client.limits().catch(() => undefined);
  return count === (told?.[kind] ?? limits[kind]);
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
 * Refuses to delete what may be needed still. With --continue-on-error, the engine deletes although something of the program failed: perhaps
 * the successor lacks just that. With deleteBeforeReplace and `--replace`, it deletes what the same resource adopts then.
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
