import { type Identified, type PartialList } from "../api";
import { lookAround, requireOrganization, type Visible } from "../api/organization";
import { paths } from "../api/paths";
import { pulumiAdvice } from "./advice";
import { Listed } from "./listed";
import { type Definition, pathOf, type Made, nameOf, type Props } from "./definition";
import { type ErrorCode, UserError } from "../errors";
import { text } from "../plain";
import { storedIn } from "./state";
import { isElsewhere, isKnown, isMoved, type Ownership, type StateObject, withKey } from "./ownership";
import { type Session } from "./session";
import { statesShownMs } from "./times";

/*
 * Before anything of a stack is changed, deleted, made again or taken for gone, the API key must be proved to belong to the
 * organization that the stack was made with. No call of the API tells a key's organization. A key that was proved before is
 * recognized by its fingerprint, any other by what it lists.
 */

/** Whether it has no parent: then it shows its organization. */
const isRoot = ({ outputs }: Definition): boolean => "owner" in outputs.shape;
const ownerOf = (definition: Definition, { owner }: Props): string | undefined =>
  isRoot(definition) ? text(owner) : undefined;

/** The object of a state, with what identifies its organization. */
export function stateObjectOf(definition: Definition, id: string, state: Props): StateObject {
  const { organizations, keys = [], provider } = storedIn(state);
  const { isShown } = definition.steps ?? {};
  return {
    what: `${nameOf(definition, state)} (${id})`,
    ownership: {
      ...(organizations && { organizations }),
      keys,
      ...(provider !== undefined && { provider }),
    },
    ...(isShown && { isShown: (client) => isShown(client, id) }),
    consortiumId: isRoot(definition) ? id : text(state.consortiumId),
    id,
    path: pathOf(definition, state, id),
  };
}

const consortiaOf = (session: Session): Listed => new Listed(session, { collection: paths.consortia });

/** The objects that the key can see. Requested once per run, or taken from a list of consortia that is needed anyway. */
async function visible(session: Session): Promise<Visible & { part?: PartialList }> {
  let some: PartialList | undefined;
  const list = async (collection: string): Promise<Identified[]> => {
    const listed = new Listed(session, { collection });
    const { items, part } = await listed.look(Infinity);
    some ??= part;
    return [...new Map([...listed.made(), ...items].map((item) => [item.id, item])).values()];
  };
  const seen = await lookAround(list, () => session.client.organizationOfKey());
  return { ...seen, ...(some && { part: some }) };
}

type KeyProof =
  { ownership: Ownership } | { foreign: Visible } | { unclear: Visible } | { ambiguous: ReadonlySet<string> };

async function judge(session: Session, object: StateObject): Promise<KeyProof> {
  const { ownership, consortiumId } = object;
  const { settings } = session.client.http;
  if (isKnown(ownership, settings)) return { ownership: ownership };
  // One proof per consortium is enough, even if this object is gone by now.
  if (consortiumId !== undefined && session.run.proved.has(consortiumId))
    return { ownership: withKey(ownership, settings) };
  const proof = await compared(session, object);
  if ("ownership" in proof && consortiumId !== undefined) session.run.proved.set(consortiumId, proof.ownership);
  return proof;
}

async function compared(session: Session, { ownership, isShown, consortiumId }: StateObject): Promise<KeyProof> {
  const { settings } = session.client.http;
  const seen = await visible(session);
  const isThere = (): Promise<boolean> | boolean =>
    consortiumId === undefined ? (isShown?.(session.client) ?? false) : seen.consortia.has(consortiumId);
  if (seen.part && !(await isThere())) throw seen.part; // a partial list proves nothing
  if (seen.organizations && ownership.organizations) {
    const both = ownership.organizations.filter((id) => seen.organizations!.has(id));
    if (both.length === 0) return { foreign: seen };
    // One of several may have been invited by the other, so that both list the same: then the user says which it is.
    const isOne = seen.organizations.size === 1 || both.includes(settings.organization?.id ?? "");
    if (!isOne) return { ambiguous: seen.organizations };
    // Another service, or another region of it, may have the same organization, and other objects.
    const isSure = (ownership.organizations.length === 1 && !isElsewhere(ownership, settings)) || (await isThere());
    return isSure ? { ownership: withKey({ ...ownership, organizations: both }, settings) } : { unclear: seen };
  }
  if (!(await isThere())) return { unclear: seen };
  const organizations = ownership.organizations ?? (seen.organizations && [...seen.organizations]);
  return { ownership: withKey({ ...ownership, ...(organizations && { organizations }) }, settings) };
}

/**
 * Call before anything is changed or deleted, and before an object is taken for gone.
 * @param isThere the object was just read, so that a key that is not known to be foreign may stay unproved
 * @returns what the state records from now on
 * @throws UserError that names the state's organization, what the key shows, and what to do
 */
export async function proveOrganization(session: Session, object: StateObject, isThere = false): Promise<Ownership> {
  await fitsRequired(session, object);
  const proof = await judge(session, object);
  if ("ownership" in proof) return proof.ownership;
  if ("foreign" in proof) throw foreignKey(session, object, proof.foreign.organizations!);
  if ("ambiguous" in proof) throw ambiguousKey(session, object, proof.ambiguous);
  if (isThere || session.run.isConfirmed(object)) return object.ownership;
  throw unclearKey(session, object, proof.unclear);
}

const providerCalled = (name: string): string => (name === "" ? "the default provider" : `the provider "${name}"`);

const movedBy = ({ provider: before }: Ownership, now: string): string =>
  `${providerCalled(before!)} was replaced by ${providerCalled(now)}`;

/** Checks the key against all states that the engine has shown. @throws UserError for a foreign key */
export async function proveSeen(session: Session): Promise<void> {
  for (const object of session.run.stateObjects) await proveOrganization(session, object);
}

/**
 * Call before anything is made. The key must belong to the organization of all states that the engine has shown, and to the
 * one that the settings require. @returns whether that could be told: an organization without a consortium shows nothing of
 * itself until its first create is answered
 */
export async function proveBeforeCreate(session: Session, definition: Definition): Promise<boolean> {
  const { run, clock, createLog } = session;
  // A consortium depends on nothing, so the engine may create it before it shows other states.
  if (isRoot(definition) && run.stateObjects.length === 0)
    await Promise.all([
      consortiaOf(session)
        .look(Infinity)
        .catch(() => undefined),
      createLog.isOfNewStack ? undefined : clock.sleep(statesShownMs),
    ]);
  await proveSeen(session);
  const required = session.client.http.settings.organization;
  if (!required) return true;
  const seen = await visible(session);
  if (!seen.organizations && seen.consortia.size === 0 && isRoot(definition)) return false;
  requireOrganization(session.client.http.settings, seen);
  return true;
}

/** The ownership for the state of a new object: what this run knows of the key, or else can look up. If that fails, a later read adds it. */
export async function ownershipOfNew(
  session: Session,
  definition: Definition,
  { id, state }: Made,
): Promise<Ownership> {
  const { settings } = session.client.http;
  const owner = ownerOf(definition, state);
  // An adopted consortium may be owned by an organization that has invited this one.
  if (owner !== undefined && storedIn(state).how === undefined) {
    const ownership = withKey({ organizations: [owner], keys: [] }, settings);
    session.run.proved.set(id, ownership);
    return ownership;
  }
  const known = [...session.run.proved.values(), ...session.run.stateObjects.map(({ ownership }) => ownership)];
  const relative = known.find((ownership) => ownership.organizations && isKnown(ownership, settings));
  if (relative) return relative;
  const seen = await visible(session).catch(() => undefined);
  return withKey({ ...(seen?.organizations && { organizations: [...seen.organizations] }), keys: [] }, settings);
}

/** Checks the answer to a create against the organization that the settings require. */
export function requireOwner({ client }: Session, definition: Definition, { id, state }: Made): void {
  const owner = ownerOf(definition, state);
  const seen = { consortia: new Set([id]), ...(owner !== undefined && { organizations: new Set([owner]) }) };
  requireOrganization(
    client.http.settings,
    seen,
    `The ${definition.title} ${id} that this run had made was deleted again.`,
  );
}

/** Compares the organization of a state with the one that the settings require. */
async function fitsRequired(session: Session, object: StateObject): Promise<void> {
  const { settings } = session.client.http;
  const { ownership } = object;
  if (!settings.organization) return;
  refuseUnlikeRequired(session, object);
  if (!ownership.organizations || !isKnown(ownership, settings)) requireOrganization(settings, await visible(session));
}

/** @throws UserError if the settings require another organization than the state's */
export function refuseUnlikeRequired({ client, provider }: Session, { what, ownership }: StateObject): void {
  const { organization: required } = client.http.settings;
  if (!required || !ownership.organizations || ownership.organizations.includes(required.id)) return;
  const next = isMoved(ownership, provider)
    ? backFrom(ownership, provider!)
    : `Select the stack of ${required.id}, or correct the setting.`;
  throw new UserError(
    "wrong-organization",
    `${next} ${what} was made with organization ${ownership.organizations.join(" or ")}, but the organization must be ` +
      `${required.id} (${required.source}). Nothing was changed.`,
    { brief: `the organization must be ${required.id}, and this was made with another one` },
  );
}

/** An object stays in its organization, whichever provider the program gives it. */
const backFrom = (ownership: Ownership, now: string): string =>
  `In the program, ${movedBy(ownership, now)}: give it ${providerCalled(ownership.provider!)} again, or, to make a new one in the other ` +
  "organization, another name as well.";

/** @param shows what speaks against the key @param next what to do; with another provider, that one's key may be right */
function refused(
  { client, provider }: Session,
  { what, ownership }: StateObject,
  code: ErrorCode,
  shows: string,
  next: string,
): UserError {
  const { apiKey, baseUrl } = client.http.settings;
  const own = ownership.organizations?.join(" or ");
  const whose = own === undefined ? what : `${what} was made with organization ${own}`;
  const first = isMoved(ownership, provider) ? backFrom(ownership, provider!) : next;
  return new UserError(
    code,
    `${first} ${whose}, but the API key from ${apiKey.source}${shows} (${baseUrl}). Nothing was changed.`,
    {
      brief: `the API key is not known to belong to ${own === undefined ? "its organization" : `organization ${own}`}`,
    },
  );
}

const names = (organizations: Iterable<string>): string => `organization ${[...organizations].join(" or ")}`;

function useKeyOf({ client }: Session, { ownership }: StateObject): string {
  return pulumiAdvice.useKeyOf(
    ownership.organizations?.join(" or ") ?? "its organization",
    client.http.settings.apiKey,
  );
}

const foreignKey = (session: Session, object: StateObject, organizations: Iterable<string>): UserError =>
  refused(session, object, "wrong-organization", ` belongs to ${names(organizations)}`, useKeyOf(session, object));

const unseen = ", which this stack has not seen before,";

function ambiguousKey(session: Session, object: StateObject, organizations: ReadonlySet<string>): UserError {
  const own = object.ownership.organizations!.join(" or ");
  const shows =
    `${unseen} may belong to ${names(organizations)}: the service cannot tell which, because each is a ` +
    "member of every consortium that it lists";
  const next = `If it is a key of ${own}, run \`pulumi config set consortium:organization ${own}\`.`;
  return refused(session, object, "unclear-organization", shows, next);
}

function unclearKey(session: Session, object: StateObject, { consortia, organizations }: Visible): UserError {
  const { ownership, consortiumId, id } = object;
  const shows =
    consortia.size === 0
      ? "shows no consortium at all"
      : consortiumId === undefined
        ? "does not show it"
        : `does not show consortium ${consortiumId}${organizations ? `, but some of ${names(organizations)}` : ""}`;
  const first = ownership.organizations?.[0] ?? consortiumId ?? id;
  const [cause, remedy] = isElsewhere(ownership, session.client.http.settings)
    ? ["this address, which is new to the stack, belongs to another service or region", "Set the earlier address"]
    : ["the key belongs to another organization", useKeyOf(session, object).replace(/\.$/, "")];
  const next = `${remedy}; if it was deleted, confirm that for one run with CONSORTIUM_CONFIRM_DELETED=${first}.`;
  const why = `${unseen} ${shows}: either ${cause}, or everything was deleted there`;
  return refused(session, object, "unclear-organization", why, next);
}
