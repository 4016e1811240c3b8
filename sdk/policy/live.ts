import { type PolicyProviderResource } from "@pulumi/policy";
import { isApiError } from "../../provider/api/api-error";
import { type Given, isDefaultProvider, noneOwn, ownSettings, sourcesOf } from "../../provider/api/settings";
import { isGoing } from "../../provider/api/states";
import { pluginProvider } from "../../provider/constants";
import { type Props } from "../../provider/core/definition";
import { type Session } from "../../provider/core/session";
import type * as Tree from "../../provider/resources/tree";
import { type Report } from "./define";
import { type Member, read, type Stack, unknown } from "./stack";

/** Before the names of settings on the dynamic provider, which serves other packages, too. */
const dynamicPrefix = "consortium:";

/** The settings of a provider instance, as the provider process gets them. `unknown` when one of them is not known yet. */
export function settingsOf(provider: PolicyProviderResource | undefined): Given | typeof unknown {
  const { props, type, name } = provider ?? { props: {}, type: "", name: "" };
  const onPlugin = type === pluginProvider;
  const prefix = onPlugin ? "" : dynamicPrefix;
  const keys = Object.keys(props).filter((key) => key.startsWith(prefix));
  const given = Object.fromEntries(keys.map((key) => [key.slice(prefix.length), read(props, key)]));
  if (Object.values(given).includes(unknown)) return unknown;
  return sourcesOf(given, onPlugin ? name : "default"); // on the dynamic provider, the class `Provider` always says which
}

/** What it says of its settings, where it has some of its own. */
function given({ props, type }: PolicyProviderResource): Props {
  const own = read(props, type === pluginProvider ? ownSettings : dynamicPrefix + ownSettings);
  return own === noneOwn ? {} : { [ownSettings]: own };
}

/** How messages call a provider instance. */
export const providerTitle = (provider: PolicyProviderResource | undefined): string =>
  provider && !isDefaultProvider(provider.name, given(provider))
    ? `provider "${provider.name}"`
    : "the default provider";

/** An object that the organization has. */
export type Existing = Pick<Tree.Found, "id" | "props">;

/** What an organization has, each list asked for at most once a run. */
export class Organization {
  #failure?: Error;

  constructor(
    private readonly session: Session,
    private readonly tree: typeof Tree,
  ) {}

  consortia = (): Promise<Existing[]> => this.#list("consortium", {});
  environments = (consortiumId: string | undefined): Promise<Existing[]> => this.#list("environment", { consortiumId });
  /** What an environment has of a kind. */
  within = (kind: Tree.ListedKind, consortiumId: string | undefined, environmentId: string | undefined) =>
    this.#list(kind, { consortiumId, environmentId });

  /** Those of a parent that does not exist yet are none. */
  async #list(kind: Tree.ListedKind, place: Record<string, string | undefined>): Promise<Existing[]> {
    if (Object.values(place).includes(undefined)) return [];
    // A service that could not be reached once is not waited for again in this run.
    if (this.#failure) throw this.#failure;
    try {
      const found = await this.tree.listed(this.session, kind, place);
      return found?.filter(({ props }) => !isGoing(props)) ?? [];
    } catch (error) {
      if (isApiError(error, "missing")) return [];
      this.#failure = error instanceof Error ? error : new Error(String(error));
      throw this.#failure;
    }
  }
}

/** One for each organization and run: a run has a policy process of its own. */
const organizations = new Map<string, Organization>();

/** The longest that one request may take, in seconds, and that its retry is waited for, in milliseconds. */
const patience = { request: 10, retry: 1_500 };

async function organizationOf(provider: PolicyProviderResource | undefined): Promise<Organization> {
  const given = settingsOf(provider);
  if (given === unknown) throw new Error(`The settings of ${providerTitle(provider)} are not known before the run.`);
  // Loaded only here: a pack that is not live needs neither the client nor what it is made of.
  const { ConsortiumClient, resolveSettings } = await import("../../provider/api/index.js");
  const tree = await import("../../provider/resources/tree.js");
  const settings = resolveSettings(given);
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
  const organization = new Organization(tree.plainSession(client), tree);
  organizations.set(key, organization);
  return organization;
}

/** Asks the organization; where that cannot be done, says so as advice: a limit that cannot be checked is no violation. */
export async function ask<T>(
  provider: PolicyProviderResource | undefined,
  report: Report,
  question: (organization: Organization) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await question(await organizationOf(provider));
  } catch (error) {
    report.advice(`Only this stack was counted. ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

const givenName = (member: Member): string | undefined => member.text("name");
/** The id in the argument `adopt`. */
const adopted = (member: Member): string | undefined => member.text("adopt");

/** Whether it is what a resource shares with others, whatever its name: a zone of one region, or a utility service of one type. */
function isShared(member: Member, { props }: Existing): boolean {
  const same = (...keys: string[]): boolean =>
    keys.every((key) => props[key] !== undefined && props[key] === member.text(key));
  if (member.get("adopt") !== true) return false;
  return member.kind === "EnvironmentZone"
    ? same("region", "cloud")
    : props.serviceType === "utility" && same("service");
}

/**
 * What exists besides the resources of this stack. The policy host passes no ids, so a resource is recognized by the id that
 * its children know, by the one it adopts or shares, by its name (unique among siblings), or by its name in the program, which an
 * earlier run may have used. One whose name is not known yet may be any of them.
 */
export function outsideStack(mine: readonly Member[], existing: readonly Existing[], stack: Stack): Existing[] {
  const rest = [...existing];
  const take = (members: readonly Member[], same: (member: Member, item: Existing) => boolean): Member[] =>
    members.filter((member) => {
      const index = rest.findIndex((item) => same(member, item));
      if (index >= 0) rest.splice(index, 1);
      return index < 0;
    });
  const withoutId = take(mine, (member, { id }) => id === (stack.idOf(member.urn) ?? adopted(member)));
  const unshared = take(withoutId, isShared);
  const withoutName = take(
    unshared,
    (member, { props }) => props.name !== undefined && props.name === givenName(member),
  );
  const renamed = take(
    withoutName,
    (member, { props }) => givenName(member) !== undefined && props.name === member.name,
  );
  take(renamed, (member) => givenName(member) === undefined && member.get("name") === unknown);
  return rest;
}

/** The id of a parent that a key stands for; undefined: it is made in this run, and there is nothing in it yet. */
export async function idOf(
  organization: Organization,
  stack: Stack,
  kind: "Consortium" | "Environment",
  key: string | undefined,
): Promise<string | undefined> {
  if (key === undefined) return undefined;
  const member = stack.find(kind, key);
  if (!member || stack.idOf(member.urn)) return key.startsWith("urn:") ? undefined : key;
  if (adopted(member)) return adopted(member);
  if (member.get("adopt") !== true) return undefined;
  const siblings =
    kind === "Consortium"
      ? await organization.consortia()
      : await organization.environments(await idOf(organization, stack, "Consortium", stack.key(member, "Consortium")));
  return siblings.find(({ props }) => props.name === givenName(member))?.id;
}
