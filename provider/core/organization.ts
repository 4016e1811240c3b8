import { createHmac, randomBytes } from "node:crypto";
import { type Identified, type PartialList, type Settings } from "../api";
import { lookAround, requireOrganization, type Visible } from "../api/organization";
import { paths } from "../api/paths";
import { Listed } from "./collection";
import { type Definition, pathOf, type Made, nameOf, type Props } from "./definition";
import { type ErrorCode, UserError } from "../errors";
import { text } from "../plain";
import { storedIn } from "./state";
import { type Ownership, type Session, type StateObject } from "./session";
import { times } from "./times";

/*
 * Before anything of a stack is changed, deleted, made again or taken for gone, the API key must be proved to belong to the
 * organization that the stack was made with. A key that was proved before is recognized by its fingerprint, without a call: where a
 * service tells nothing (the specification has no such call), it is the only proof in a consortium that is shared. Any other key
 * belongs to the organization that the service tells (api/organization.ts). Where that is unclear, the user says it: `organization`.
 */

/** Whether it has no parent: then it shows its organization. */
const isRoot = ({ outputs }: Definition): boolean => "owner" in outputs.shape;
const ownerOf = (definition: Definition, { owner }: Props): string | undefined =>
  isRoot(definition) ? text(owner) : undefined;

/** The object of a state, with what identifies its organization. */
export function stateObjectOf(definition: Definition, id: string, state: Props): StateObject {
  const { organizations, keys = [] } = storedIn(state);
  const { isShown } = definition.steps ?? {};
  return {
    what: `${nameOf(definition, state)} (${id})`,
    ownership: { ...(organizations && { organizations }), keys },
    ...(isShown && { isShown: (client) => isShown(client, id) }),
    consortiumId: isRoot(definition) ? id : text(state.consortiumId),
    id,
    path: pathOf(definition, state, id),
  };
}

/** What the key shows. Requested once per run, or taken from a list of consortia that is needed anyway. */
async function visible(session: Session): Promise<Visible & { part?: PartialList }> {
  let partial: PartialList | undefined;
  const list = async (collection: string): Promise<Identified[]> => {
    const listed = new Listed(session, { collection });
    const { items, part } = await listed.look(Infinity);
    if (collection === paths.consortia) partial = part;
    else if (part) throw part;
    return [...new Map([...listed.made(), ...items].map((item) => [item.id, item])).values()];
  };
  const found = await lookAround(list, () => session.client.organizationOfKey());
  session.run.organization ??= found.organization;
  return { ...found, ...(partial && { part: partial }) };
}

/**
 * Call before anything is changed or deleted, and before an object is taken for gone.
 * @param wasRead the object was just read, so that a key that is not known to be foreign may stay unproved
 * @returns what the state records from now on
 * @throws UserError that names the state's organization, what the key shows, and what to do
 */
export async function proveOrganization(session: Session, object: StateObject, wasRead = false): Promise<Ownership> {
  const { client, run } = session;
  const { settings } = client.http;
  const { ownership, consortiumId } = object;
  const { organizations } = ownership;
  refuseUnlikeRequired(session, object);
  const isProved = isKnown(ownership, settings);
  if (isProved && (organizations || !settings.organization)) return ownership;
  const proved = (organization?: string): Ownership =>
    withKey({ ...ownership, ...(organization !== undefined && { organizations: [organization] }) }, settings);
  const seen = await visible(session);
  requireOrganization(settings, seen);
  if (isProved) return ownership;
  const organization = run.organization ?? settings.organization?.id;
  if (organization !== undefined && organizations?.includes(organization) === false)
    throw keyError(session, object, seen, false, organization);
  const isThere =
    consortiumId === undefined ? ((await object.isShown?.(client)) ?? false) : seen.consortia.has(consortiumId);
  if (isThere && (organization !== undefined || !organizations)) return proved(organization);
  if (seen.part && !isThere) throw seen.part; // a partial list proves nothing
  // At an address that the stack has not seen, the same organization may have other objects.
  if (run.organization !== undefined && organizations && !isElsewhere(ownership, settings)) return proved(organization);
  if (!isThere && (wasRead || run.isConfirmed(object))) return ownership;
  throw keyError(session, object, seen, isThere);
}

/** Checks the key against all states that the engine has shown. @throws UserError for a foreign key */
export async function proveSeen(session: Session): Promise<void> {
  for (const object of session.run.stateObjects) await proveOrganization(session, object);
}

/**
 * Call before anything is made. The key must belong to the organization of all states that the engine has shown, and to the
 * one that the settings require.
 */
export async function proveBeforeCreate(session: Session, definition: Definition): Promise<void> {
  const { run, clock } = session;
  // A consortium depends on nothing, so the engine may create it before it shows other states.
  if (isRoot(definition) && run.stateObjects.length === 0)
    await Promise.all([
      new Listed(session, { collection: paths.consortia }).look(Infinity).catch(() => undefined),
      clock.sleep(times.statesShownMs),
    ]);
  await proveSeen(session);
  const { settings } = session.client.http;
  if (settings.organization && settings.organization.id !== run.organization)
    requireOrganization(settings, await visible(session));
}

/** The ownership for the state of a new object: what this run knows of the key, or else can look up. If that fails, a later read adds it. */
export async function ownershipOfNew(session: Session, definition: Definition, { state }: Made): Promise<Ownership> {
  const { client, run } = session;
  const { settings } = client.http;
  // An adopted consortium may be owned by an organization that has invited this one.
  if (storedIn(state).how === undefined) run.organization ??= ownerOf(definition, state);
  const known = run.stateObjects.map(({ ownership }) => ownership);
  const relative = known.find((ownership) => ownership.organizations && isKnown(ownership, settings));
  if (relative) return relative;
  if (run.organization === undefined) await visible(session).catch(() => undefined);
  const { organization } = run;
  return withKey({ ...(organization !== undefined && { organizations: [organization] }), keys: [] }, settings);
}

/** @throws UserError if the settings require another organization than the state's */
export function refuseUnlikeRequired({ client }: Session, { what, ownership }: StateObject): void {
  const { organization: required } = client.http.settings;
  if (!required || !ownership.organizations || ownership.organizations.includes(required.id)) return;
  throw new UserError(
    "wrong-organization",
    `Select the stack of ${required.id}, or correct the setting. ${what} was made with organization ` +
      `${ownership.organizations.join(" or ")}, but the organization must be ${required.id} (${required.source}). Nothing was changed.`,
    { brief: `the organization must be ${required.id}, and this was made with another one` },
  );
}

/** @param organization of the key, if it is known @param isThere whether the key shows the object's consortium */
function keyError(
  { client }: Session,
  { what, ownership, consortiumId, id }: StateObject,
  { consortia }: Visible,
  isThere: boolean,
  organization?: string,
): UserError {
  const { settings } = client.http;
  const { apiKey, baseUrl, advice } = settings;
  const made = ownership.organizations?.join(" or ");
  const useKey = advice.useKeyOf(made ?? "its organization", apiKey);
  const error = (code: ErrorCode, next: string, shows: string): UserError =>
    new UserError(
      code,
      `${next} ${what}${made ? ` was made with organization ${made}` : ""}, but the API key from ${apiKey.source}${shows} (${baseUrl}). ` +
        "Nothing was changed.",
      { brief: `the API key is not known to belong to ${made ? `organization ${made}` : "its organization"}` },
    );
  if (organization !== undefined)
    return error("wrong-organization", useKey, ` belongs to organization ${organization}`);
  const first = ownership.organizations?.[0] ?? consortiumId ?? id;
  const unseen = ", which this stack has not seen before,";
  if (isThere)
    return error(
      "unclear-organization",
      `If it is a key of ${first}, run \`pulumi config set consortium:organization ${first}\`.`,
      `${unseen} lists only consortia that several organizations share: the service does not tell which is the key's`,
    );
  const owners = [...new Set(consortia.values())].filter((owner) => owner !== undefined).join(" and ");
  const shows = consortia.size === 0 ? "shows no consortium at all" : `does not show ${consortiumId ?? id}`;
  const isNew = isElsewhere(ownership, settings);
  return error(
    "unclear-organization",
    `${isNew ? "Set the earlier address" : useKey.replace(/\.$/, "")}; if it was deleted, confirm that for one run with ` +
      `CONSORTIUM_CONFIRM_DELETED=${first}.`,
    `${unseen} ${shows}${owners && `, but consortia of organization ${owners}`}: either ` +
      `${isNew ? "this address, which is new to the stack," : "the key"} belongs to another organization, or everything was deleted there`,
  );
}

/* The fingerprints of keys, which states and logs of creates record. */

const mostKeys = 8;

const hash = (salt: string, ...texts: string[]): string =>
  createHmac("sha256", salt).update(texts.join("\n")).digest("hex");

/** Made fingerprints of settings, by salt: the states of a stack share a few salts. */
const fingerprints = new WeakMap<Settings, Map<string, string>>();

function fingerprint(salt: string, settings: Settings): string {
  const made = fingerprints.get(settings) ?? new Map<string, string>();
  fingerprints.set(settings, made);
  const found = made.get(salt) ?? `${salt}:${hash(salt, settings.apiKey.reveal(), settings.baseUrl).slice(0, 32)}`;
  made.set(salt, found);
  return found;
}

const addressMark = (salt: string, { baseUrl }: Settings): string => hash(salt, baseUrl).slice(0, 8);

/** One salt per process, so that all states of a run get the same fingerprint. */
const ownSalt = randomBytes(16).toString("hex");

/** Whether this key was proved before. */
export const isKnown = ({ keys }: Ownership, settings: Settings): boolean =>
  keys.some((key) => key.startsWith(fingerprint(key.split(":")[0]!, settings)));

export function withKey(origin: Ownership, settings: Settings): Ownership {
  if (isKnown(origin, settings)) return origin;
  const key = `${fingerprint(ownSalt, settings)}:${addressMark(ownSalt, settings)}`;
  return { ...origin, keys: [...origin.keys, key].slice(-mostKeys) };
}

/** Whether all its keys were proved at other addresses. Some states do not tell. */
export const isElsewhere = ({ keys }: Ownership, settings: Settings): boolean =>
  keys.length > 0 &&
  keys.every((key) => {
    const [salt = "", , address = addressMark(salt, settings)] = key.split(":");
    return address !== addressMark(salt, settings);
  });
