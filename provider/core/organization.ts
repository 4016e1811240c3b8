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

/** What the key shows. Requested once per run, or taken from a list of consortia that is needed anyway. */
async function visible(session: Session): Promise<Visible & { part?: PartialList }> {
  let some: PartialList | undefined;
  const list = async (collection: string): Promise<Identified[]> => {
    const listed = new Listed(session, { collection });
    const { items, part } = await listed.look(Infinity);
    if (collection === paths.consortia) some = part;
    else if (part) throw part;
    return [...new Map([...listed.made(), ...items].map((item) => [item.id, item])).values()];
  };
  const seen = await lookAround(list, () => session.client.organizationOfKey());
  session.run.organization ??= seen.organization;
  return { ...seen, ...(some && { part: some }) };
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
    throw foreignKey(session, object, organization);
  const isThere =
    consortiumId === undefined ? ((await object.isShown?.(client)) ?? false) : seen.consortia.has(consortiumId);
  if (isThere && (organization !== undefined || !organizations)) return proved(organization);
  if (seen.part && !isThere) throw seen.part; // a partial list proves nothing
  // At an address that the stack has not seen, the same organization may have other objects.
  if (run.organization !== undefined && organizations && !isElsewhere(ownership, settings)) return proved(organization);
  if (!isThere && (wasRead || run.isConfirmed(object))) return ownership;
  throw unclearKey(session, object, seen, isThere);
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
 * one that the settings require.
 */
export async function proveBeforeCreate(session: Session, definition: Definition): Promise<void> {
  const { run, clock } = session;
  // A consortium depends on nothing, so the engine may create it before it shows other states.
  if (isRoot(definition) && run.stateObjects.length === 0)
    await Promise.all([
      new Listed(session, { collection: paths.consortia }).look(Infinity).catch(() => undefined),
      clock.sleep(statesShownMs),
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

function useKeyOf({ client }: Session, { ownership }: StateObject): string {
  return pulumiAdvice.useKeyOf(
    ownership.organizations?.join(" or ") ?? "its organization",
    client.http.settings.apiKey,
  );
}

const foreignKey = (session: Session, object: StateObject, organization: string): UserError =>
  refused(session, object, "wrong-organization", ` belongs to organization ${organization}`, useKeyOf(session, object));

function unclearKey(session: Session, object: StateObject, { consortia }: Visible, isThere: boolean): UserError {
  const { ownership, consortiumId, id } = object;
  const first = ownership.organizations?.[0] ?? consortiumId ?? id;
  const unseen = ", which this stack has not seen before,";
  if (isThere) {
    const shows = `${unseen} lists only consortia that several organizations share: the service does not tell which is the key's`;
    const next = `If it is a key of ${first}, run \`pulumi config set consortium:organization ${first}\`.`;
    return refused(session, object, "unclear-organization", shows, next);
  }
  const owners = [...new Set(consortia.values())].filter((owner) => owner !== undefined).join(" and ");
  const shows =
    consortia.size === 0
      ? "shows no consortium at all"
      : consortiumId === undefined
        ? "does not show it"
        : `does not show consortium ${consortiumId}${owners && `, but some of organization ${owners}`}`;
  const [cause, remedy] = isElsewhere(ownership, session.client.http.settings)
    ? ["this address, which is new to the stack, belongs to another service or region", "Set the earlier address"]
    : ["the key belongs to another organization", useKeyOf(session, object).replace(/\.$/, "")];
  const next = `${remedy}; if it was deleted, confirm that for one run with CONSORTIUM_CONFIRM_DELETED=${first}.`;
  const why = `${unseen} ${shows}: either ${cause}, or everything was deleted there`;
  return refused(session, object, "unclear-organization", why, next);
}
