import { z } from "zod";
import { type TetherNetwork } from "../constants";
import { type Deadline } from "./clock";
import { answerOr, isApiError } from "./api-error";
import { environmentName, processEnvironment } from "./environment";
import { type Answer, Http, type HttpOptions } from "./http";
import {
  askForLimits,
  askForOrganization,
  lookAround,
  optional,
  requireOrganization,
  type ToldLimits,
} from "./organization";
import { readPages } from "./pages";
import { silent } from "./refusal";
import { paths } from "./paths";
import { resolveSettings, type Settings } from "./settings";
import { counted, fieldsOf } from "../plain";
import {
  ConfigurationObject,
  ConsortiumObject,
  CreatedAppCredObject,
  EnvironmentObject,
  EnvironmentZoneObject,
  InvitationObject,
  MembershipObject,
  NodeObject,
  ServiceObject,
} from "./generated";
import {
  Anything,
  type Identified,
  NodeStatusObject,
  OrganizationObject,
  ReleaseObject,
  type TetherReport,
} from "./wire";
import { accountIn, countIn, type TetherAccount } from "./tether";

type Body<T> = T & Record<string, unknown>;

export type EnvironmentRequest = Body<{ provider: string; consensus_type: string; name?: string; chain_id?: number }>;

/** A service may take a filter that begins like this for an operation, so it is compared here. */
const isOperation = (value: string | undefined): boolean => /^[!<>^$~]/.test(value ?? "");

/**
 * Every endpoint of the service, typed. Needs no Pulumi.
 * All methods throw `ApiError`, encode ids into paths, and keep unknown fields of answers.
 */
export class ConsortiumClient {
  readonly http: Http;
  /** Answers about the key, for all clients of these connections. */
  #asked = new Map<string, Promise<unknown>>();

  /** Settings default to those in the environment (`CONSORTIUM_API_KEY`, …). */
  constructor(settings: Settings | Http = resolveSettings(), options: HttpOptions = {}) {
    this.http = settings instanceof Http ? settings : new Http(settings, options);
  }

  /** The same client for calls that end at the deadline. */
  until(deadline: Deadline): ConsortiumClient {
    const client = new ConsortiumClient(this.http.until(deadline));
    client.#asked = this.#asked;
    return client;
  }

  listConsortia(filter: { name?: string } = {}): Promise<ConsortiumObject[]> {
    return this.list(paths.consortia, ConsortiumObject, filter);
  }
  createConsortium(body: Body<{ name: string; description?: string }>): Promise<ConsortiumObject> {
    return this.post(paths.consortia, ConsortiumObject, body);
  }

  listInvitations(consortiumId: string, filter: { org_name?: string } = {}): Promise<InvitationObject[]> {
    return this.list(paths.invitations(consortiumId), InvitationObject, filter);
  }
  listZones(consortiumId: string, environmentId?: string): Promise<EnvironmentZoneObject[]> {
    return this.list(paths.zones(consortiumId, environmentId), EnvironmentZoneObject);
  }
  listConfigurations(consortiumId: string, environmentId: string): Promise<ConfigurationObject[]> {
    return this.list(paths.configurations(consortiumId, environmentId), ConfigurationObject);
  }
  listServices(consortiumId: string, environmentId: string): Promise<ServiceObject[]> {
    return this.list(paths.services(consortiumId, environmentId), ServiceObject);
  }

  listMemberships(consortiumId: string, filter: { org_name?: string } = {}): Promise<MembershipObject[]> {
    return this.list(paths.memberships(consortiumId), MembershipObject, filter);
  }
  createMembership(consortiumId: string, body: Body<{ org_name: string }>): Promise<MembershipObject> {
    return this.post(paths.memberships(consortiumId), MembershipObject, body);
  }

  listEnvironments(consortiumId: string): Promise<EnvironmentObject[]> {
    return this.list(paths.environments(consortiumId), EnvironmentObject);
  }
  createEnvironment(consortiumId: string, body: EnvironmentRequest): Promise<EnvironmentObject> {
    return this.post(paths.environments(consortiumId), EnvironmentObject, body);
  }

  listNodes(consortiumId: string, environmentId: string, filter: { name?: string } = {}): Promise<NodeObject[]> {
    return this.list(paths.nodes(consortiumId, environmentId), NodeObject, filter);
  }
  createNode(
    consortiumId: string,
    environmentId: string,
    body: Body<{ membership_id: string; name?: string }>,
  ): Promise<NodeObject> {
    return this.post(paths.nodes(consortiumId, environmentId), NodeObject, body);
  }
  getNode(consortiumId: string, environmentId: string, nodeId: string): Promise<NodeObject> {
    return this.get(paths.item(paths.nodes(consortiumId, environmentId), nodeId), NodeObject);
  }
  getNodeStatus(consortiumId: string, environmentId: string, nodeId: string): Promise<NodeStatusObject> {
    const node = paths.item(paths.nodes(consortiumId, environmentId), nodeId);
    return this.get(`${node}/status`, NodeStatusObject);
  }
  /** The most recent log lines of `geth`, or of `constellation` in a quorum environment. */
  getNodeLogs(
    consortiumId: string,
    environmentId: string,
    nodeId: string,
    client: "geth" | "constellation" = "geth",
    maxLines?: number,
  ): Promise<string[]> {
    const node = paths.item(paths.nodes(consortiumId, environmentId), nodeId);
    return this.get(paths.item(`${node}/logs`, client), z.array(z.coerce.string()), { maxlines: maxLines });
  }

  createAppCred(
    consortiumId: string,
    environmentId: string,
    body: Body<{ membership_id: string }>,
  ): Promise<CreatedAppCredObject> {
    return this.post(paths.appcreds(consortiumId, environmentId), CreatedAppCredObject, body);
  }

  /** Releases of the service's software. Not in the specification. */
  listReleases(filter: { provider?: string; version?: string } = {}): Promise<ReleaseObject[]> {
    return this.list(paths.releases, ReleaseObject, filter);
  }

  /** A tether service, as the service shows it. Not in the specification. */
  async getTether(tetherId: string): Promise<unknown> {
    return (await this.http.request("GET", paths.tether(tetherId))).body;
  }
  async getTetherReportCount(tetherId: string): Promise<number> {
    const where = `${paths.tether(tetherId)}/reportCount`;
    const { body } = await this.http.request("GET", where);
    return this.read(z.number(), countIn(body), `GET ${where}`);
  }
  async getTetherLastReport(tetherId: string): Promise<TetherReport> {
    return (await this.http.request("GET", `${paths.tether(tetherId)}/lastReport`)).body;
  }
  /** The report at an index from 0; with N reports the latest is N-1. */
  async getTetherReport(tetherId: string, index: number): Promise<TetherReport> {
    return (await this.http.request("GET", `${paths.tether(tetherId)}/reports/${index}`)).body;
  }
  /** Address and balance on the current target network. */
  getTetherAccount(tetherId: string): Promise<TetherAccount> {
    const at = async (name: string): Promise<TetherAccount> =>
      accountIn((await this.http.request("GET", `${paths.tether(tetherId)}/${name}`)).body);
    return at("account").catch((error: unknown) => {
      if (!isApiError(error, "missing", "unsupported")) throw error;
      return at("accounts").catch(() => Promise.reject(error)); // the specification has both names
    });
  }
  /** Makes the account of a tether service that has none yet. Not in the specification. */
  async makeTetherAccount(tetherId: string): Promise<unknown> {
    return (await this.http.request("POST", `${paths.tether(tetherId)}/account`, { body: {} })).body;
  }
  /** Balance in wei, decimal text. */
  async getTetherBalance(tetherId: string, network: TetherNetwork): Promise<string | undefined> {
    const { body } = await this.http.request("GET", paths.item(`${paths.tether(tetherId)}/balance`, network));
    return accountIn(body, network).balanceWei;
  }
  setTetherNetwork(tetherId: string, network: TetherNetwork): Promise<unknown> {
    return this.postAgain(`${paths.tether(tetherId)}/targetNetwork`, { network });
  }
  setTetherInterval(tetherId: string, intervalHours: number): Promise<unknown> {
    return this.postAgain(`${paths.tether(tetherId)}/interval`, { interval: intervalHours });
  }
  /** Spends money: never repeated if the service may have accepted it. */
  async deployTether(tetherId: string, body: Record<string, unknown> = {}): Promise<unknown> {
    return (await this.http.request("POST", `${paths.tether(tetherId)}/deploy`, { body })).body;
  }
  activateTether(tetherId: string): Promise<unknown> {
    return this.#runTether(tetherId, "activate", true);
  }
  deactivateTether(tetherId: string): Promise<unknown> {
    return this.#runTether(tetherId, "deactivate", false);
  }

  /**
   * A list with all its pages. Elements without an id are skipped.
   * @param optional whether the service may lack the list. Then a web page in place of an answer means so, too
   * @throws PartialList if the list is incomplete
   */
  async list<T>(
    where: string,
    schema: z.ZodType<T>,
    query?: Record<string, string | undefined>,
    optional = false,
  ): Promise<T[]> {
    const given = Object.entries(query ?? {});
    const sent = Object.fromEntries(given.filter(([, value]) => !isOperation(value)));
    const compared = given.filter(([, value]) => isOperation(value));
    const { items, part, isCounted } = await readPages(
      (page) => this.http.request("GET", where, { optional, ...(page ? { page } : { query: sent }) }),
      ({ body }) => this.read(z.array(z.unknown()), body, `GET ${where}`),
      Object.values(sent).every((value) => value === undefined),
    );
    const read = items.flatMap((item) => {
      const isMeant = compared.every(([key, value]) => (item as Record<string, unknown> | null)?.[key] === value);
      const result = schema.safeParse(item);
      return result.success && isMeant ? [result.data] : [];
    });
    const confirmation = environmentName("confirmLists");
    if (part === undefined || (isCounted && processEnvironment()[confirmation] === "true")) return read;
    const errorMessage = `the list is incomplete: it has ${counted(items.length, "element")}, and ${part}`;
    const next =
      `Ask whoever runs the service to show the whole list, or to name the next page in a Link header (RFC 8288). ` +
      `If these are all, and the total is wrong, confirm that with ${confirmation}=true.`;
    const facts = { kind: "partial", call: `GET ${where}`, errorMessage, items: read } as const;
    throw this.http.error(isCounted ? { ...facts, next } : facts);
  }

  async get<T>(where: string, schema: z.ZodType<T>, query?: Record<string, string | number | undefined>): Promise<T> {
    const { body } = await this.http.request("GET", where, { query });
    return this.read(schema, body, `GET ${where}`);
  }

  async post<T>(where: string, schema: z.ZodType<T>, body: unknown): Promise<T> {
    const answer = await this.create(where, body);
    return this.read(schema, answer.body, `POST ${where}`);
  }

  /** Sends a create, once. Returns the raw answer: even an answer without the object may mean success. */
  create(collection: string, body: unknown): Promise<Answer> {
    return this.http.request("POST", collection, { body });
  }

  /** The raw answer at a path such as `/consortia/c1/environments/e1`. undefined: no such object or call. */
  async find(where: string): Promise<object | undefined> {
    const answer = this.http.request("GET", where);
    const body = (await answerOr(answer, undefined, "missing", "unsupported", "invalid"))?.body;
    return typeof body === "object" && body !== null ? body : undefined;
  }

  /** Changes fields of the object and returns the answer, which may be empty. Not in the specification. */
  async patch(where: string, body: Record<string, unknown>): Promise<unknown> {
    return (await this.http.request("PATCH", where, { body })).body;
  }

  /** Sends a PUT, which may be repeated. Not in the specification. */
  async put(where: string, body: Record<string, unknown>): Promise<unknown> {
    return (await this.http.request("PUT", where, { body })).body;
  }

  /** Creates or replaces an object under its name. May be repeated. Returns the raw answer, as `create` does. */
  putObject(where: string, body: unknown): Promise<Answer> {
    return this.http.request("PUT", where, { body });
  }

  /** Deletes the object and returns the answer's body, if there is one. */
  async delete(where: string): Promise<unknown> {
    return (await this.http.request("DELETE", where)).body;
  }

  /** The organization that the key acts for. undefined: the service does not tell. Asked once. Not in the specification. */
  organizationOfKey(): Promise<string | undefined> {
    return this.#once("organization", () =>
      askForOrganization(this.http.settings.apiKey.reveal(), (where, schema) =>
        this.list(where, schema, undefined, true),
      ),
    );
  }

  /** What the service calls the organization that the key acts for. undefined: it does not tell. Not in the specification. */
  async nameOfOrganization(): Promise<string | undefined> {
    const id = await this.organizationOfKey();
    return id === undefined ? undefined : (await this.#organizations()).find((one) => one.id === id)?.name;
  }

  /** Limits of the organization's plan, if the service reports them. Asked once. Not in the specification. */
  limits(): Promise<ToldLimits | undefined> {
    return this.#once("limits", async () =>
      askForLimits(
        await this.#organizations(),
        () => this.organizationOfKey(),
        (where) => answerOr(this.find(where), undefined, "denied", "server", "lost"),
      ),
    );
  }

  #organizations(): Promise<OrganizationObject[]> {
    return optional(this.list(paths.organizations, OrganizationObject, undefined, true));
  }

  /**
   * Checks the key of a command or a lookup, which have no state to compare it with.
   * @throws SettingsError unless the key belongs to the organization that the settings require
   */
  async requireOrganization(): Promise<void> {
    const { settings } = this.http;
    if (!settings.organization) return;
    const list = (where: string): Promise<Identified[]> => this.list(where, Anything);
    const seen = await this.#once("visible", () => lookAround(list, () => this.organizationOfKey()));
    if (seen.consortia.size > 0) requireOrganization(settings, seen); // an empty one has nothing to sweep
  }

  /**
   * Checks with one short call whether the service accepts the key, and whether it belongs to the required organization.
   * @returns the consortia that the key lists @throws ApiError, or SettingsError
   */
  async proveKey(): Promise<Identified[]> {
    const all = await this.list(paths.consortia, Anything);
    if (this.http.settings.organization) await this.requireOrganization();
    return all;
  }

  close(): Promise<void> {
    return this.http.close();
  }

  /** Sends nothing from now on, as if the process had ended. */
  end(): Promise<void> {
    return this.http.close("at once");
  }

  /** Sends a POST that creates nothing and may be repeated. */
  async postAgain(where: string, body: unknown): Promise<unknown> {
    return (await this.http.request("POST", where, { body, repeatable: "freely" })).body;
  }

  /** Starts or stops a tether. @throws ApiError also if the answer shows that it is not so */
  async #runTether(tetherId: string, action: string, started: boolean): Promise<unknown> {
    const answer = await this.postAgain(`${paths.tether(tetherId)}/${action}`, {});
    const { config, started: shown = fieldsOf(config).started } = fieldsOf(answer);
    if (shown !== !started) return answer;
    const errorMessage = silent(`started: ${String(shown)}`);
    throw this.http.error({ kind: "invalid", call: `POST ${paths.tether(tetherId)}/${action}`, errorMessage });
  }

  /** Asks once for all clients of these connections. A failed request is made again. */
  #once<T>(what: string, ask: () => Promise<T>): Promise<T> {
    const again = (error: unknown): never => {
      this.#asked.delete(what);
      throw error;
    };
    const answer = this.#asked.get(what) ?? ask().catch(again);
    this.#asked.set(what, answer);
    return answer as Promise<T>;
  }

  private read<T>(schema: z.ZodType<T>, body: unknown, call: string): T {
    const result = schema.safeParse(body);
    if (result.success) return result.data;
    const found = body === undefined ? "the answer is empty" : "the answer does not have the form of the API";
    throw this.http.error({ kind: "lost", call, errorMessage: found, isForeign: body !== undefined });
  }
}
