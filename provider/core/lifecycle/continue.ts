import { type Identified } from "../../api";
import { type Collection } from "../collection";
import { type Begun, isSentWith } from "../creates";
import { type Props } from "../definition";
import { UserError } from "../user-error";
import { type Appeared, appeared } from "./ours";

const lookEveryMs = 2_000;

/**
 * What a killed run of this stack created for these inputs: certain by the id that the service answered; where it was killed before
 * the answer, by all that the service shows. undefined: it created nothing, or nothing came of it.
 * @throws UserError where an object may as well be somebody else's: it is left as it is, and named.
 */
export async function toContinue(collection: Collection, inputs: Props): Promise<Identified | undefined> {
  const { session, definition, path } = collection;
  const { creates } = session;
  if (!definition.naming || inputs.adopt || session.adoptAll) return undefined;
  const left = creates.left(path, String(inputs[definition.naming]));
  for (const { id } of left) {
    if (id === undefined || creates.isHeld(id) || isTaken(collection, id)) continue;
    const found = await collection.find(id, 0);
    if (typeof found === "object") return found.item;
  }
  const { settings } = session.client.http;
  const open = left.filter((one) => one.id === undefined && isSentWith(one, settings));
  if (open.length === 0) return undefined;
  const seen = await lookFor(collection, inputs, open);
  const found = [...seen.ours, ...seen.others.map(({ item }) => item)];
  if (found.length === 0) return undefined;
  const doubts = doubtsOf(collection, open, seen);
  if (doubts.length === 0) return found[0];
  const ids = found.map(({ id }) => id).join(", ");
  throw new UserError(
    `${collection.nameOf(inputs)}: a run of this stack was killed while it created this, and ${ids} has its name. That it is ` +
      `this stack's own cannot be proved: ${doubts.join("; ")}. It was left as it is. If it is this stack's, set adopt: ` +
      `"${found[0]!.id}"; else choose another name.`,
  );
}

/** Another resource of the stack is it already. */
const isTaken = (collection: Collection, id: string): boolean =>
  collection.session.origins.holds(id) || collection.made().some((one) => one.id === id);

/** What has the name and was not there before; waits as long as a request may take, since the killed run's may still be at work. */
async function lookFor(collection: Collection, inputs: Props, open: readonly Begun[]): Promise<Appeared> {
  const { session } = collection;
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
    if (looks === 1)
      session.say(`${collection.nameOf(inputs)}: looking for what a killed run of this stack may have created.`);
    await clock.sleep(lookEveryMs);
  }
}

/** Why it may be somebody else's. */
function doubtsOf({ session, path }: Collection, open: readonly Begun[], { ours, others }: Appeared): string[] {
  const found = [...ours, ...others.map(({ item }) => item)];
  if (found.length > open.length) return ["they are more than that run can have created"];
  const elsewhere = session.creates.ofOthers(path);
  const { settings } = session.client.http;
  const isRival = (begun: Begun): boolean =>
    begun.id === undefined && begun.name === open[0]!.name && isSentWith(begun, settings);
  const rival = elsewhere.find(({ begun }) => isRival(begun))?.stack;
  const held = found.flatMap(({ id }): string[] => {
    const owner = elsewhere.find(({ begun }) => begun.id === id)?.stack;
    return [
      ...(session.creates.isHeld(id) ? [`a stack holds ${id} already`] : []),
      ...(owner === undefined ? [] : [`the stack ${owner} created ${id}`]),
      ...(rival === undefined ? [] : [`the stack ${rival} was creating one of this name, too`]),
    ];
  });
  return [...held, ...others.map(({ item, why }) => `of ${item.id}, ${why}`)];
}
