import { type Identified, isApiError } from "../../api";
import { briefly, limitAdvice, sentence } from "../../api/api-error";
import { paths } from "../../api/paths";
import { holdsLedger, limits, type PlanLimits } from "../../constants";
import { type Collection } from "../collection";
import { type Definition, identityOf, nameKey, nameOf, pathOf, type Props } from "../definition";
import { type Run, type Session } from "../session";
import { UserError } from "../../errors";
import { sameValue } from "../values";
import { isTwin } from "./recognize";

/*
 * A replacement makes the new object before the old one goes. Where the service refuses that, nothing was changed, and the error says how to
 * delete the old one first. What is in the old one stays until that goes, in whichever order the engine deletes.
 */

/** The error for a service that rejects a second one, or one more than the plan allows. */
export async function refusedBeside(
  collection: Collection,
  siblings: Identified[] = [],
  error: unknown,
): Promise<unknown> {
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
    collection.isMade(id) || collection.isOfStack(id) || collection.refusal(id) !== undefined;
  const ids = (isLimit ? now : alike).map(({ id }) => id).filter((id) => !isOwn(id));
  if (isLimit)
    return say(ids.length === 0 ? limitAdvice : `${oneLess} If this stack made one of ${ids.join(", ")} ${renamed}`);
  if (ids.length === 0) return error;
  if (!definition.naming)
    return say(
      "Choose another name; or for `--replace`, set the resource option deleteBeforeReplace: true. The same member and name already " +
        `exist: ${ids.join(" and ")}. ${leftBehind(ids)}.`,
    );
  const next =
    inputs.adopt === true || session.adoptAll
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
  `npx --no-install consortium sweep --id ${ids.join(" ")}`;

/** Whether there are as many as the plan allows. */
async function isAtLimit({ path, session }: Collection, count: number): Promise<boolean> {
  const kind = path.slice(path.lastIndexOf("/") + 1) as keyof PlanLimits;
  if (!Object.hasOwn(limits, kind)) return false;
  const planned = await session.client.limits().catch(() => undefined);
  return count === (planned?.[kind] ?? limits[kind]);
}

type Remove = (session: Session) => Promise<unknown>;

/** Deletions of objects, by their paths, that wait for the deletion of what they are in, by its path. */
const waiting = new WeakMap<Run, Map<string, Map<string, Remove>>>();

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
 * is a new one. What is beside one that stays may be used by it, as a zone by a node: it stays, too.
 */
async function waits(
  session: Session,
  definition: Definition,
  id: string,
  state: Props,
  remove: Remove,
): Promise<boolean> {
  const { run, createLog, resource } = session;
  const path = pathOf(definition, state, id);
  const parent = around(definition, state).find((owner) => run.leases.isGivenUp(owner));
  if (parent === undefined) return false;
  const inRun = waiting.get(run) ?? new Map<string, Map<string, Remove>>();
  const beside = inRun.get(parent) ?? new Map<string, Remove>();
  const successor = run.leases.successor(path, resource);
  if (successor?.made !== undefined && beside.size === 0) return false;
  waiting.set(run, inRun.set(parent, beside.set(path, remove)));
  session.say(`${nameOf(definition, state)} (${id}): stays until what it is in is replaced, and is deleted with that`);
  // The state loses it now, so that the log has to prove to a later run that it is this stack's.
  const name = identityOf(definition, state);
  await createLog.left({ path: definition.place(state).collection, name, id, resource: resource?.name });
  return true;
}

/** Deletes an object, and first what waited for that. @returns whether it is deleted now */
export async function deleteInTurn(
  session: Session,
  definition: Definition,
  id: string,
  state: Props,
  remove: Remove,
): Promise<boolean> {
  if (await waits(session, definition, id, state, remove)) return false;
  refuseEarly(session, definition, id, state);
  const path = pathOf(definition, state, id);
  for (const removeInside of waiting.get(session.run)?.get(path)?.values() ?? []) await removeInside(session);
  waiting.get(session.run)?.delete(path);
  await remove(session);
  return true;
}

/**
 * Refuses to delete what may be needed still. With --continue-on-error, the engine deletes although something of the program failed: perhaps
 * the successor lacks just that. With deleteBeforeReplace and `--replace`, it deletes what the same resource adopts then.
 */
function refuseEarly(session: Session, definition: Definition, id: string, state: Props): void {
  const { leases } = session.run;
  const what = `${nameOf(definition, state)} (${id})`;
  const isLedger = holdsLedger(definition.type) || definition.type === "Node";
  const failed = leases.unmade(isLedger ? undefined : definition.type);
  if (failed)
    throw new UserError(
      "step-failed",
      `Fix "${failed.resource.name}", then run the command again. It failed, and may need ${what}, so that is not deleted.`,
    );
  const lost = [pathOf(definition, state, id), ...around(definition, state)];
  const next = lost.map((path) => leases.adopting(path, session.adoptAll)).find(Boolean);
  if (next)
    throw new UserError(
      "managed-twice",
      `For a new one, take adopt out of the program first; to keep it, run the command without --replace. ${what} is not deleted, because ` +
        `"${next.resource.name}" of the program may adopt it, or what it is in.`,
    );
}
