import { type PolicyProviderResource } from "@pulumi/policy";
import {
  isDefaultProvider,
  ownKey,
  type ProviderSettings,
  readOwn,
  resolveProviderSettings,
  settingsIn,
} from "../../provider/pulumi/settings";
import { isGoing } from "../../provider/api/states";
import { pluginProvider } from "../../provider/constants";
import { type Props } from "../../provider/core/definition";
import { type Session } from "../../provider/core/session";
import { sameName } from "../../provider/core/values";
import { groupBy, messageOf } from "../../provider/plain";
import type * as Tree from "../../provider/resources/tree";
import { type Report } from "./define";
import { type Member, propertyOf, read, type Siblings, type Stack, unknown } from "./stack";

/** Prefix of settings on the dynamic provider, which also serves other packages. */
const dynamicPrefix = "consortium:";

/** The settings of a provider instance, as the provider process gets them; `unknown` if one of them is not known yet. */
export function settingsOf(provider: PolicyProviderResource | undefined): ProviderSettings | typeof unknown {
  const { props, type, name } = provider ?? { props: {}, type: "", name: "" };
  const onPlugin = type === pluginProvider;
  const prefix = onPlugin ? "" : dynamicPrefix;
  const keys = Object.keys(props).filter((key) => key.startsWith(prefix));
  const given = Object.fromEntries(keys.map((key) => [key.slice(prefix.length), read(props, key)]));
  if (Object.values(given).includes(unknown)) return unknown;
  return settingsIn(given, onPlugin ? name : "default"); // on the dynamic provider, the class `Provider` always sets `own`
}

/** Which of its settings a provider instance was given itself. */
function given({ props, type }: PolicyProviderResource): Props {
  const own = read(props, type === pluginProvider ? ownKey : dynamicPrefix + ownKey);
  return readOwn(own) === false ? {} : { [ownKey]: own };
}

/** A provider instance in messages. */
export const providerTitle = (provider: PolicyProviderResource | undefined): string =>
  provider && !isDefaultProvider(provider.name, given(provider))
    ? `provider "${provider.name}"`
    : "the default provider";

/** The organization of a provider instance, as configured. */
interface Identity {
  /** Equal for instances with the same key. */
  key: string;
  /** Id of the organization that its settings require. */
  organization?: string;
}

function identityOf(provider: PolicyProviderResource | undefined): Identity {
  const alone = { key: provider?.urn ?? "" };
  const given = settingsOf(provider);
  if (given === unknown) return alone;
  try {
    const { apiKey, baseUrl, organization } = resolveProviderSettings(given);
    const key = JSON.stringify([baseUrl, apiKey.reveal()]);
    return { key, ...(organization && { organization: organization.id }) };
  } catch {
    return alone; // without a key, nothing tells
  }
}

/** Resources by organization, as far as the settings of their provider instances tell which these belong to. */
export function byOrganization(members: readonly Member[]): { organization?: string; mine: Member[] }[] {
  const known = members.map((member) => ({ member, ...identityOf(member.provider) }));
  const required = new Map(known.flatMap(({ key, organization }) => (organization ? [[key, organization]] : [])));
  return [...groupBy(known, ({ key, organization }) => organization ?? required.get(key) ?? key)].map(([id, own]) => ({
    ...([...required.values()].includes(id) && { organization: id }),
    mine: own.map(({ member }) => member),
  }));
}

/** An object that the organization has. */
export type Existing = Pick<Tree.Found, "id" | "props">;

/** Lists the objects of a kind in a place of the organization: none if a parent does not exist yet. */
type List = (kind: Tree.ListedKind, place: Record<string, string | undefined>) => Promise<Existing[]>;

/** An organization, as the service shows it. */
interface Live {
  list: List;
  /** Its id and its name, as far as the service tells. */
  names: () => Promise<string[]>;
}

/** Each list is requested at most once a run. */
function liveIn(session: Session, tree: typeof Tree): Live {
  let failure: Error | undefined;
  const asked = async <T>(ask: () => Promise<T>): Promise<T> => {
    // Do not wait again in this run for a service that could not be reached.
    if (failure) throw failure;
    try {
      return await ask();
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      throw failure;
    }
  };
  const { client } = session;
  return {
    list: async (kind, place) => {
      if (Object.values(place).includes(undefined)) return [];
      const found = await asked(() => tree.listed(session, kind, place));
      return found?.filter(({ props }) => !isGoing(props)) ?? [];
    },
    names: () =>
      asked(async () =>
        [await client.organizationOfKey(), await client.nameOfOrganization()].filter((one) => one !== undefined),
      ),
  };
}

/** One per organization and run, because each run has its own policy process. */
const organizations = new Map<string, Live>();

/** Maximum duration of a request in seconds, and of the wait before a retry in milliseconds. */
const patience = { request: 10, retry: 1_500 };

async function organizationOf(provider: PolicyProviderResource | undefined): Promise<Live> {
  const given = settingsOf(provider);
  if (given === unknown) throw new Error(`The settings of ${providerTitle(provider)} are not known before the run.`);
  // Only a live pack needs the client and what it loads.
  const { ConsortiumClient } = await import("../../provider/api/index.js");
  const tree = await import("../../provider/resources/tree.js");
  const settings = resolveProviderSettings(given);
  const key = JSON.stringify([settings.apiKey.reveal(), settings.baseUrl]);
  const known = organizations.get(key);
  if (known) return known;
  const client = new ConsortiumClient(
    { ...settings, requestTimeout: Math.min(settings.requestTimeout, patience.request) },
    {
      onRetry: (error, delayMs) => {
        if (delayMs > patience.retry) throw error;
      },
    },
  );
  await client.requireOrganization();
  const { newSession } = await import("../../provider/core/session.js");
  const live = liveIn(newSession(client), tree);
  organizations.set(key, live);
  return live;
}

/** The id and the name of a provider's organization. Empty: the service cannot be asked, or does not tell. */
export const namesOfOrganization = (provider: PolicyProviderResource | undefined): Promise<string[]> =>
  organizationOf(provider).then(({ names }) => names()).catch(() => []); // prettier-ignore

/** All objects of a kind where these are. If that is not known, reports advice: a limit that cannot be checked is not violated. */
export async function existingBeside(
  { mine, provider }: Pick<Siblings, "mine" | "provider">,
  kind: Tree.ListedKind,
  stack: Stack,
  report: Report,
): Promise<Existing[] | undefined> {
  try {
    return await beside(mine[0]!, kind, stack, (await organizationOf(provider)).list);
  } catch (error) {
    report.advice(`Only this stack was counted. ${messageOf(error)}`);
    return undefined;
  }
}

/** Whether every service writes the name like this: lower-case letters, digits, and single hyphens between them. */
export const isPlainName = (name: unknown): boolean => /^[a-z0-9]+(-[a-z0-9]+)*$/.test(String(name));

/** Whether a service may show the name like this. */
const mayShow = (shown: unknown, name: string | undefined): boolean =>
  shown !== undefined && name !== undefined && !isPlainName(name) && sameName(shown, name);

const givenName = (member: Member): string | undefined => member.text("name");
const adoptedId = (member: Member): string | undefined => member.text("adopt");

/** Whether an object is one that a resource adopts and shares: the zone of its region, or the utility service of its type. */
function isShared(member: Member, { props }: Existing): boolean {
  const same = (...keys: string[]): boolean =>
    keys.every((key) => props[key] !== undefined && sameName(props[key], member.text(key)));
  if (member.get("adopt") !== true) return false;
  return member.className === "EnvironmentZone"
    ? same("region", "cloud")
    : props.serviceType === "utility" && same("service");
}

/**
 * The existing objects that are not resources of this stack. The policy host passes no ids, so a resource is recognized by the id
 * that its children have, by the one that it adopts or shares, by its name (unique among siblings), or by its logical name, which
 * an earlier run may have used. A resource whose name is not known yet may be any of them.
 */
export function outsideStack(mine: readonly Member[], existing: readonly Existing[], stack: Stack): Existing[] {
  const isSame: ((member: Member, item: Existing) => boolean)[] = [
    (member, { id }) => id === (stack.idOf(member.urn) ?? adoptedId(member)),
    isShared,
    (member, { props }) => props.name !== undefined && props.name === givenName(member),
    (member, { props }) => givenName(member) !== undefined && props.name === member.name,
    (member, { props }) => mayShow(props.name, givenName(member)),
    (member) => givenName(member) === undefined && member.get("name") === unknown,
  ];
  const rest = [...existing];
  let unmatched = mine;
  for (const matches of isSame)
    unmatched = unmatched.filter((member) => {
      const index = rest.findIndex((item) => matches(member, item));
      if (index >= 0) rest.splice(index, 1);
      return index < 0;
    });
  return rest;
}

/** The owners that a list of each kind is in. */
const ownersOf = (kind: Tree.ListedKind): ("Consortium" | "Environment")[] =>
  kind === "consortium" ? [] : kind === "environment" ? ["Consortium"] : ["Consortium", "Environment"];

async function beside(member: Member, kind: Tree.ListedKind, stack: Stack, list: List): Promise<Existing[]> {
  const place: Parameters<List>[1] = {};
  for (const owner of ownersOf(kind))
    place[propertyOf[owner]] = await idOf(owner, stack.key(member, owner), stack, list);
  return list(kind, place);
}

/** The id of the parent with this key; undefined if this run creates it, so that there is nothing in it yet. */
async function idOf(
  className: "Consortium" | "Environment",
  key: string | undefined,
  stack: Stack,
  list: List,
): Promise<string | undefined> {
  if (key === undefined) return undefined;
  const member = stack.find(className, key);
  if (!member || stack.idOf(member.urn)) return key.startsWith("urn:") ? undefined : key;
  if (adoptedId(member)) return adoptedId(member);
  if (member.get("adopt") !== true) return undefined;
  const siblings = await beside(member, className === "Consortium" ? "consortium" : "environment", stack, list);
  const name = givenName(member);
  return (siblings.find(({ props }) => props.name === name) ?? siblings.find(({ props }) => mayShow(props.name, name)))
    ?.id;
}
