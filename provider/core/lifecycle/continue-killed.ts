import { type Identified } from "../../api";
import { type Collection } from "../collection";
import { isSentWith, type LoggedCreate } from "../create-log";
import { identityOf } from "../definition";
import { type Appeared, appeared } from "./recognize";

const lookEveryMs = 2_000;

/**
 * What a killed run of this stack created for these inputs. Its logged id proves it. Without an answer, everything that the
 * service shows has to agree. undefined: it created nothing, or nothing came of it.
 * @throws UserError if an object may just as well be somebody else's: the error names it, and it is left as it is
 */
export async function toContinue(collection: Collection): Promise<Identified | undefined> {
  const { inputs, session, definition, path } = collection;
  const { createLog } = session;
  const identity = identityOf(definition, inputs);
  if (identity === undefined || inputs.adopt || session.adoptAll) return undefined;
  const interrupted = createLog.interrupted(path, identity);
  for (const { id, at, serviceAt = at } of interrupted) {
    if (id === undefined || createLog.isHeld(collection.pathOf(id)) || isTaken(collection, id)) continue;
    const found = await collection.find(id, 0, serviceAt);
    if (typeof found === "object") return found.item;
  }
  const { settings } = session.client.http;
  const open = interrupted.filter((one) => one.id === undefined && isSentWith(one, settings));
  if (open.length === 0) return undefined;
  const seen = await lookFor(collection, open);
  const found = [...seen.ours, ...seen.others.map(({ item }) => item)];
  if (found.length === 0) return undefined;
  const doubts = doubtsOf(collection, open, seen);
  if (doubts.length === 0) return found[0];
  const ids = found.map(({ id }) => id).join(", ");
  throw collection.error(
    `a run of this stack was killed while it created this, and ${ids} has its name. Nothing proves ` +
      `that it is this stack's own: ${doubts.join("; ")}. It was left as it is. If it is this stack's, set adopt: ` +
      `"${found[0]!.id}"; otherwise choose another name.`,
  );
}

/** Whether it already belongs to another resource of the stack. */
const isTaken = (collection: Collection, id: string): boolean => collection.isOfStack(id) || collection.isMade(id);

/** What is new under that name. Waits as long as a request may take: the killed run's request may still be in progress. */
async function lookFor(collection: Collection, open: readonly LoggedCreate[]): Promise<Appeared> {
  const { inputs, session } = collection;
  const { clock, client, deadline } = session;
  const longestMs = client.http.settings.requestTimeout * 1000;
  const sinceMs = Date.now() - Math.max(...open.map(({ at }) => at));
  const starts = open.map(({ serviceAt }) => serviceAt);
  const since = (): number | undefined => (starts.includes(undefined) ? undefined : Math.min(...(starts as number[])));
  const create = { collection, inputs, since, before: new Set(open.flatMap((one) => one.before)) };
  const end = Math.min(clock.now() + Math.min(longestMs, longestMs - sinceMs), deadline.at - lookEveryMs);
  for (let looks = 1; ; looks++) {
    const seen = (await appeared(create)) ?? { ours: [], others: [] };
    if (seen.ours.length + seen.others.length > 0 || clock.now() >= end) return seen;
    if (looks === 1) collection.say(`looking for what a killed run of this stack may have created.`);
    await clock.sleep(lookEveryMs);
  }
}

/** Reasons why it may not be ours. */
function doubtsOf(collection: Collection, open: readonly LoggedCreate[], { ours, others }: Appeared): string[] {
  const { session, path } = collection;
  const found = [...ours, ...others.map(({ item }) => item)];
  if (found.length > open.length) return ["there are more than that run can have created"];
  const elsewhere = session.createLog.ofOtherStacks(path);
  const { settings } = session.client.http;
  const isRival = (create: LoggedCreate): boolean =>
    create.id === undefined && create.name === open[0]!.name && isSentWith(create, settings);
  const rival = elsewhere.find(({ create }) => isRival(create))?.stack;
  const held = found.flatMap(({ id }): string[] => {
    const owner = elsewhere.find(({ create }) => create.id === id)?.stack;
    return [
      ...(session.createLog.isHeld(collection.pathOf(id)) ? [`a stack holds ${id} already`] : []),
      ...(owner === undefined ? [] : [`the stack ${owner} created ${id}`]),
      ...(rival === undefined ? [] : [`the stack ${rival} was also creating one of this name`]),
    ];
  });
  return [...held, ...others.map(({ item, why }) => `of ${item.id}, ${why}`)];
}
