import { type Identified, isApiError } from "../api";
import { whose } from "../api/organization";
import { isGone } from "../api/states";
import { type Kind } from "../constants";
import { Collection, Listed } from "../core/collection";
import { type Props } from "../core/definition";
import { type Session } from "../core/session";
import { lackedIn } from "../core/state";
import { didYouMean } from "../core/suggest";
import { times } from "../core/times";
import { UserError } from "../errors";
import { definitions } from "./index";

/** Kinds of objects that a service lists. */
export type ListedKind = Exclude<Kind, "tetherService">;

/** Properties of an object that the service shows. Each may be missing. */
export interface Shown extends Props {
  name?: string;
  orgName?: string;
  description?: string;
  owner?: string;
  state?: string;
  createdAt?: string;
  /** The member that a node or a credential belongs to. */
  membershipId?: string;
  provider?: string;
  consensusType?: string;
  chainId?: number;
  enableTether?: boolean;
  /** The type of a service, such as `ipfs`. */
  service?: string;
}

/** An object of the service, with those of its contents that were read. */
export interface Found {
  kind: ListedKind;
  id: string;
  /** Ids of its owners, by property. */
  place: Props;
  props: Shown;
  /** Inputs of which the service shows no value. */
  lacked?: readonly string[];
  inside: Found[];
  /** Kinds in it that the service does not list: there may be some. */
  unlisted?: ListedKind[];
  /** The organization that it belongs to, if not the key's. Only `readOwn` tells. */
  ofOthers?: string;
}

/** Identifies an object in the whole organization: some ids are names, which another service may also have. */
export const fullIdOf = ({ kind, id, place }: Pick<Found, "kind" | "id" | "place">): string =>
  kind !== "destination" ? id : `${String(place.serviceId)}/${id}`;

type Owner = Pick<Found, "kind" | "id" | "props">;

/** The kinds inside each kind, in the order of deletion, and the properties that place an object there. */
const contents: Partial<Record<ListedKind, { kinds: readonly ListedKind[]; place: (owner: Owner) => Props }>> = {
  consortium: {
    kinds: ["environment", "invitation", "membership", "consortiumZone"],
    place: ({ id }) => ({ consortiumId: id }),
  },
  environment: {
    kinds: ["node", "appCred", "service", "configuration", "environmentZone"],
    place: ({ id }) => ({ environmentId: id }),
  },
  service: {
    kinds: ["destination"],
    place: ({ id, props }) => ({ serviceId: id, serviceType: props.service }),
  },
};

/** The kinds directly inside a kind, in the order of deletion. */
export const kindsWithin = (kind: ListedKind): readonly ListedKind[] => contents[kind]?.kinds ?? [];

/** All kinds: children before parents, and objects that others refer to after those. */
export const deletionOrder = (function within(kind: ListedKind): ListedKind[] {
  return [...kindsWithin(kind).flatMap(within), kind];
})("consortium");

/** The properties that place an object directly inside this one. */
export const placeWithin = (owner: Owner): Props => contents[owner.kind]?.place(owner) ?? {};

/** Only services of these types have destinations, according to other clients of the API. */
const withDestinations: readonly unknown[] = ["documentstore", "dataexchange"];

/** The objects of one kind directly inside it. */
export const inside = (owner: Found, kind: ListedKind): Found[] =>
  owner.inside.filter((object) => object.kind === kind);

/** The service may list them in any order. */
function byAge(one: Found, other: Found): number {
  const keys = ({ id, props }: Found): string[] => [props.createdAt ?? "", props.name ?? props.orgName ?? "", id];
  const others = keys(other);
  return keys(one).reduce((order, key, at) => order || (key < others[at]! ? -1 : Number(key > others[at]!)), 0);
}

/**
 * The existing objects of a kind, oldest first. Empty if their owner has gone meanwhile. undefined: the service does not list
 * them.
 */
export async function listed(
  session: Session,
  kind: ListedKind,
  place: Props = {},
  maxAgeMs = Infinity,
): Promise<Found[] | undefined> {
  try {
    return await asked(session, kind, place, maxAgeMs);
  } catch (error) {
    if (kind !== "consortium" && isApiError(error, "missing")) return [];
    throw error;
  }
}

async function asked(session: Session, kind: ListedKind, place: Props, maxAgeMs: number): Promise<Found[] | undefined> {
  const collection = Collection.of(session, definitions[kind], place);
  const items = await collection.siblings(maxAgeMs);
  const found = (item: Identified): Found => {
    const lacked = lackedIn(collection.definition, item);
    return { kind, id: item.id, place, props: collection.shown(item), lacked, inside: [] };
  };
  return items?.map(found).sort(byAge);
}

/** Kinds of the specification. A service may lack the others. */
const inSpec: readonly ListedKind[] = ["consortium", "membership", "environment", "node", "appCred"];

/** What the lists of a kind have told so far. */
interface Known {
  has?: boolean;
  /** When the service last said that it lacks it. */
  lackingSince?: number;
  /** The list that will show it. */
  asking?: Promise<unknown> | undefined;
}

const knownByRun = new WeakMap<object, Partial<Record<ListedKind, Known>>>();

/** As `listed`, but asks only once for a kind that the service lacks, rather than in every place. */
async function listedIfKnown(session: Session, kind: ListedKind, place: Props, maxAgeMs = Infinity) {
  if (inSpec.includes(kind)) return listed(session, kind, place, maxAgeMs);
  const kinds = knownByRun.get(session.run) ?? {};
  knownByRun.set(session.run, kinds);
  const known = (kinds[kind] ??= {});
  while (known.asking) await known.asking;
  if (session.clock.now() - (known.lackingSince ?? -Infinity) < times.lackingMs) return undefined;
  const list = judged(session, kind, place, maxAgeMs, known);
  if (!known.has) known.asking = list.catch(() => undefined).finally(() => (known.asking = undefined));
  return list;
}

/** Lists a kind, and notes whether that shows that the service has it. */
async function judged(session: Session, kind: ListedKind, place: Props, maxAgeMs: number, known: Known) {
  const at = session.clock.now();
  try {
    const found = await asked(session, kind, place, maxAgeMs);
    if (found) known.has = true;
    return found;
  } catch (error) {
    // Not for this key, or not now: a service that is not running shows no destinations.
    if (isApiError(error, "denied", "conflict")) return undefined;
    if (!isApiError(error, "missing", "unsupported")) throw error;
    const lacks = isApiError(error, "unsupported") || (!known.has && (await isThere(session, kind, place)));
    if (!lacks) return [];
    Object.assign(known, { has: false, lackingSince: at });
    return undefined;
  }
}

/** Whether the owner of that place exists, as the service shows it now. */
async function isThere(session: Session, kind: ListedKind, place: Props): Promise<boolean> {
  const { parent } = definitions[kind].place(place);
  if (!parent) return true;
  const { items } = await new Listed(session, parent.place).look(0);
  return items.some((item) => item.id === parent.id && !isGone(item));
}

export interface Looking {
  /** Kinds to read. What is inside other kinds is not read. Default: all. */
  kinds?: readonly ListedKind[];
  /** How old a list may be, in ms. Default: as old as the session. */
  maxAgeMs?: number;
  /** Which objects to read the contents of; the others are left out. Default: all. */
  only?: (found: Found) => boolean;
  /** Called with a list that cannot be read, instead of failing. */
  failed?: (owner: Found, error: unknown) => void;
}

/** The objects, filled with their contents. */
const withContents = (session: Session, found: readonly Found[], looking: Looking = {}): Promise<Found[]> =>
  Promise.all(found.filter(looking.only ?? (() => true)).map((object) => contentsOf(session, object, looking)));

/** The object, filled with its contents. */
export async function contentsOf(session: Session, owner: Found, looking: Looking): Promise<Found> {
  const isEmpty = owner.kind === "service" && !withDestinations.includes(owner.props.service);
  const wanted = isEmpty ? [] : kindsWithin(owner.kind).filter((kind) => looking.kinds?.includes(kind) ?? true);
  const place = { ...owner.place, ...placeWithin(owner) };
  const lists = await Promise.all(
    wanted.map(async (kind) => {
      try {
        const found = await listedIfKnown(session, kind, place, looking.maxAgeMs);
        return found ? withContents(session, found, looking) : kind;
      } catch (error) {
        if (!looking.failed) throw error;
        looking.failed(owner, error);
        return [];
      }
    }),
  );
  const unlisted = lists.filter((list) => typeof list === "string");
  const inside = lists.flatMap((list) => (typeof list === "string" ? [] : list));
  return { ...owner, inside, ...(unlisted.length > 0 && { unlisted }) };
}

/**
 * Everything that the organization of the key has, as a tree of consortia.
 * @param nameOrId the only consortium to read. Default: all
 */
export async function readOrganization(session: Session, looking: Looking = {}, nameOrId?: string): Promise<Found[]> {
  const all = (await listed(session, "consortium", {}, looking.maxAgeMs)) ?? [];
  return withContents(session, nameOrId === undefined ? all : [chosen(all, nameOrId)], looking);
}

/** The objects that the organization of the key may take into its stacks, or delete: see `whose`. */
export async function readOwn(session: Session, nameOrId?: string): Promise<Found[]> {
  const [found, own] = await Promise.all([readOrganization(session, {}, nameOrId), session.client.organizationOfKey()]);
  return found.map((consortium) => {
    const { owner } = consortium.props;
    const members = new Map(inside(consortium, "membership").map(({ id, props }) => [id, props.orgId]));
    const is = (organization: unknown) => whose(own, owner, [...members.values()], organization);
    if (is(owner) === "own") return consortium;
    // In another organization's consortium: its own objects, and the environments that hold them.
    const isOwn = ({ kind, id, props }: Found): boolean =>
      is(members.get(kind === "membership" ? id : (props.membershipId ?? ""))) === "own";
    const environments = inside(consortium, "environment").map((environment) => ({
      ...environment,
      ofOthers: owner,
      inside: environment.inside.filter(isOwn),
    }));
    return { ...consortium, ofOthers: owner, inside: [...environments, ...consortium.inside.filter(isOwn)] };
  });
}

/** The consortium with this id or name. @throws Error that names the existing ones */
function chosen(consortia: readonly Found[], nameOrId: string): Found {
  const byId = consortia.find(({ id }) => id === nameOrId);
  if (byId) return byId;
  const [found, ...others] = consortia.filter(({ props }) => props.name === nameOrId);
  if (found && others.length === 0) return found;
  if (found) {
    const ids = [found, ...others].map(({ id }) => id).join(", ");
    throw new UserError(
      "not-found",
      `Several consortia have the name "${nameOrId}": ${ids}. Give the id of one: --consortium ${found.id}`,
    );
  }
  if (consortia.length === 0) throw new UserError("not-found", "The organization of this API key has no consortium.");
  const names = consortia.map(({ props, id }) => props.name ?? id);
  throw new UserError("not-found", `There is no consortium "${nameOrId}"${didYouMean(nameOrId, names)}`);
}
