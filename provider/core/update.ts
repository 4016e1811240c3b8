import { type CollectionDefinition, inputMeta, type Props } from "./definition";
import { changedKeys } from "./diff";
import { patch } from "./patch";
import { type Session } from "./session";
import { settle } from "./settle";
import { merge, outputsOf } from "./state";

/** Changes in place what differs; with nothing to change it goes on waiting for what an earlier run left unfinished. */
export async function update(
  session: Session,
  definition: CollectionDefinition,
  id: string,
  olds: Props,
  news: Props,
): Promise<Props> {
  const place = definition.place(news);
  const changed = changedKeys(definition, olds, news).filter((key) => !inputMeta(definition, key)?.local);
  const shown = changed.length > 0 ? await patch(session, definition, place, id, news, changed) : {};
  // What the service chose itself (a chain id, say) is an output too, and stays.
  const chosen = Object.entries(olds).filter(([key]) => inputMeta(definition, key)?.computed);
  const before = { ...outputsOf(definition, olds), ...Object.fromEntries(chosen) };
  const known = merge(news, before, shown);
  return settle(session, definition, place, id, known);
}
