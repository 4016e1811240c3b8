import { type Identified } from "../../api";
import { type Collection } from "../collection";
import { type Begun, isSentWith } from "../creates";
import { inputKeys, inputMeta, type Props } from "../definition";
import { isUnset, sameValue } from "../same-value";
import { UserError } from "../user-error";

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
  const found = await appeared(collection, inputs, open);
  if (found.length === 0) return undefined;
  const doubts = doubtsOf(collection, inputs, open, found);
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
async function appeared(collection: Collection, inputs: Props, open: readonly Begun[]): Promise<Identified[]> {
  const { session } = collection;
  const { clock, client, deadline } = session;
  const before = new Set(open.flatMap((one) => one.before));
  const longestMs = client.http.settings.requestTimeout * 1000;
  const sinceMs = Date.now() - Math.max(...open.map(({ at }) => at));
  const end = Math.min(clock.now() + Math.min(longestMs, longestMs - sinceMs), deadline.at - lookEveryMs);
  for (let looks = 1; ; looks++) {
    const found = collection
      .namesakes(inputs, (await collection.siblings(0)) ?? [])
      .filter(({ id }) => !before.has(id) && !isTaken(collection, id));
    if (found.length > 0 || clock.now() >= end) return found;
    if (looks === 1)
      session.say(`${collection.nameOf(inputs)}: looking for what a killed run of this stack may have created.`);
    await clock.sleep(lookEveryMs);
  }
}

/** Why it may be somebody else's. */
function doubtsOf(collection: Collection, inputs: Props, open: readonly Begun[], found: Identified[]): string[] {
  const { session, path } = collection;
  if (found.length > open.length) return ["they are more than that run can have created"];
  const others = session.creates.ofOthers(path);
  const { settings } = session.client.http;
  const isRival = (begun: Begun): boolean =>
    begun.id === undefined && begun.name === open[0]!.name && isSentWith(begun, settings);
  return found.flatMap((item): string[] => {
    const { id } = item;
    const owner = others.find(({ begun }) => begun.id === id)?.stack;
    const rival = others.find(({ begun }) => isRival(begun))?.stack;
    const differing = differences(collection, inputs, item);
    return [
      ...(session.creates.isHeld(id) ? [`a stack holds ${id} already`] : []),
      ...(owner === undefined ? [] : [`the stack ${owner} created ${id}`]),
      ...(rival === undefined ? [] : [`the stack ${rival} was creating one of this name, too`]),
      ...(differing.length > 0 ? [`${id} differs in ${differing.join(", ")}`] : []),
    ];
  });
}

/** Properties that the service shows otherwise than the create that would be sent. */
function differences(collection: Collection, inputs: Props, item: Identified): string[] {
  const { definition } = collection;
  const shown = collection.shown(item);
  return inputKeys(definition).filter((key) => {
    const meta = inputMeta(definition, key)!;
    if (meta.local || meta.parent === "path" || (meta.computed && isUnset(inputs[key]))) return false;
    return key in shown && !sameValue(shown[key], inputs[key]);
  });
}
