import { type Definition, type Props } from "../provider/core/definition";
import { type Session } from "../provider/core/session";
import { didYouMean } from "../provider/core/suggest";
import { UserError } from "../provider/errors";
import { isUnset } from "../provider/core/values";
import { whose } from "../provider/api/organization";
import { printable } from "../provider/api/printable";
import { isObject } from "../provider/plain";
import { kindOf } from "../provider/constants";
import { contentsOf, type Found, inside, listed, type ListedKind } from "../provider/resources/tree";
import { lookAgeMs, owners, ownerKeys, unlistedError } from "./import";

/* Lists the existing objects of a type, for `pulumi do … list` and for tools that look for objects to import. */

/** One object. */
interface Item {
  /** As an import takes it: the path of ids. */
  id: string;
  name: string;
}

export interface Page {
  items: AsyncIterable<Item>;
  /** Where the next page begins; undefined: nothing is left. To be asked for after the items. */
  next(): string | undefined;
}

interface Asked {
  query: Props;
  /** Most items in all pages; 0: all. */
  limit: number;
  /** Most items in this page; 0: all. */
  pageSize: number;
  /** Where the page begins; "": at the first item. */
  token: string;
}

/** The arguments of a list: where to look. */
export const listKeys = (definition: Definition): string[] =>
  definition.steps?.idKey ? ["consortiumId", "environmentId"] : ownerKeys(definition);

/** The kind of the lists that show these objects: a tether is a service of its environment. */
const kindIn = ({ steps, type }: Definition): ListedKind => (steps?.idKey ? "service" : (kindOf(type) as ListedKind));

/** One page of existing objects. */
export function list(session: Session, definition: Definition, { query, limit, pageSize, token }: Asked): Page {
  const unknownKey = Object.keys(query).find((key) => !listKeys(definition).includes(key) && !isUnset(query[key]));
  if (unknownKey !== undefined) {
    const hint = didYouMean(unknownKey, listKeys(definition));
    throw new UserError("unknown-argument", `A list of ${definition.type} takes no "${printable(unknownKey)}"${hint}`);
  }
  const before = positionIn(token);
  const most = Math.min(...[pageSize, limit && limit - before.count].filter((number) => number > 0), Infinity);
  let last = before;
  let isMore = false;
  async function* items(): AsyncGenerator<Item> {
    let count = 0;
    for await (const item of since(everything(session, definition, query), before)) {
      if (count === most) return void (isMore = true);
      count += 1;
      last = { count: before.count + count, id: item.id };
      yield item;
    }
  }
  const next = () => (isMore && !(limit > 0 && last.count >= limit) ? tokenOf(last) : undefined);
  return { items: items(), next };
}

/** The last item of the page before, and how many there were. */
interface Position {
  count: number;
  id: string;
}

const tokenOf = (position: Position): string => Buffer.from(JSON.stringify(position)).toString("base64url");

function positionIn(token: string): Position {
  if (token === "") return { count: 0, id: "" };
  try {
    const found: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    if (isObject(found) && Number.isSafeInteger(found.count) && typeof found.id === "string")
      return { count: Number(found.count), id: found.id };
  } catch {
    // said below
  }
  throw new UserError(
    "invalid-argument",
    "The continuation token does not belong to this plugin: list from the beginning.",
  );
}

/** What comes after an item. If that is gone meanwhile, what has its place, and what comes after it. */
async function* since(items: AsyncIterable<Item>, { count, id }: Position): AsyncGenerator<Item> {
  if (count === 0) {
    yield* items;
    return;
  }
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  const at = all.findIndex((item) => item.id === id);
  yield* all.slice(at < 0 ? count - 1 : at + 1);
}

/** Every object of the key's organization, one consortium after the other. */
async function* everything(session: Session, definition: Definition, query: Props): AsyncGenerator<Item> {
  const kind = kindIn(definition);
  const keys = listKeys(definition);
  const [all, own] = await Promise.all([
    listed(session, "consortium", {}, lookAgeMs),
    session.client.organizationOfKey(),
  ]);
  const kinds = [...keys.map((key) => kindIn(owners[key]!)), kind];
  const isMeant = (one: Found): boolean => {
    const wanted = query[`${one.kind}Id`];
    return isUnset(wanted) || [one.id, one.props.name].includes(String(wanted));
  };
  const meant = (all ?? []).filter((one) => kind === "consortium" || isMeant(one));
  const seen = { ids: new Set(meant.map((one) => `${one.kind}Id`)), items: 0, isUnlisted: false };
  for (const consortium of meant) {
    const { owner } = consortium.props;
    const isForeign = own !== undefined && owner !== undefined && owner !== own;
    const looking = {
      kinds: isForeign ? [...kinds, "membership" as const] : kinds,
      maxAgeMs: lookAgeMs,
      only: isMeant,
    };
    const isAlone = kind === "consortium" && !isForeign;
    const whole = isAlone ? consortium : await contentsOf(session, consortium, looking);
    const members = new Map(inside(whole, "membership").map(({ id, props }) => [id, props.orgId]));
    const isOwn = (one: Found): boolean => {
      const member = one.kind === "membership" ? one.id : (one.props.membershipId ?? "");
      return whose(own, owner, [...members.values()], members.get(member)) === "own";
    };
    for (const { one, path } of within(whole, [whole.id])) {
      seen.ids.add(`${one.kind}Id`);
      seen.isUnlisted ||= one.unlisted?.includes(kind) === true;
      if (one.kind !== kind || !isOwn(one) || (definition.steps?.idKey && !isTether(one))) continue;
      seen.items += 1;
      const { name = one.props.orgName ?? "" } = one.props;
      yield { id: definition.steps?.idKey ? one.id : path.map(encodeURIComponent).join("/"), name };
    }
  }
  const missing = keys.find((key) => !isUnset(query[key]) && !seen.ids.has(key));
  if (missing !== undefined)
    throw new UserError(
      "not-found",
      `The API key shows no ${owners[missing]!.title} "${printable(String(query[missing]))}": check its id or name.`,
    );
  if (seen.isUnlisted && seen.items === 0) throw unlistedError(definition);
}

const isTether = ({ props }: Found): boolean => String(props.service).toLowerCase() === "tether";

/** An object and everything in it, with the ids that lead to each. */
function* within(one: Found, path: readonly string[]): Generator<{ one: Found; path: readonly string[] }> {
  yield { one, path };
  for (const inner of one.inside) yield* within(inner, [...path, inner.id]);
}
