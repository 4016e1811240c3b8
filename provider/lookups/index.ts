import { z } from "zod";
import { type ConsortiumClient, isApiError } from "../api";
import { printable } from "../api/printable";
import { isGone } from "../api/states";
import { paths } from "../api/paths";
import { Anything } from "../api/wire";
import { check } from "../core/check";
import { field, type Props } from "../core/field";
import { didYouMean } from "../core/suggest";
import { UserError } from "../errors";
import { tetherNetworks } from "../constants";
import { isObject } from "../plain";
import { definitions } from "../resources";
import { listed, tetherIdLength, tetherIdText } from "../resources/fields";
import {
  itemOf,
  nodeStatusResult,
  releaseResult,
  tetherAccountResult,
  tetherBalanceResult,
  tetherReportResult,
} from "./results";

/** A read-only query, such as `getNodes`. */
export interface Lookup {
  name: string;
  doc: string;
  /** A strict zod object whose fields have docs. */
  args: z.ZodObject;
  /** One result, or for a list one of its items. */
  result: z.ZodType;
  /** The key of the list in the plugin's answer, because functions of a plugin return objects. undefined: there is one result. */
  list?: string;
  /** Runs with checked arguments. Returns one result, or a list. */
  run(client: ConsortiumClient, args: Props): Promise<unknown>;
}

/** Checks arguments like those of resources. */
export const checkArguments = ({ name, args }: Lookup, given: Props): ReturnType<typeof check> =>
  check({ type: name, inputs: args }, given);

type LookupOf<Args extends z.ZodObject> = Omit<Lookup, "args" | "run" | "name"> & {
  args: Args;
  run(client: ConsortiumClient, args: z.output<Args>): Promise<unknown>;
};

/** Types the arguments of `run` by `args`. */
const lookup = <Args extends z.ZodObject>(one: LookupOf<Args>): Omit<Lookup, "name"> => ({
  ...one,
  run: (client, args) => one.run(client, args as z.output<Args>),
});

const camel = (key: string): string =>
  key.replace(/^_/, "").replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Fields by the names of the resources' properties. Unknown fields are kept. */
const shown = (item: object): Props =>
  Object.fromEntries(Object.entries(item).map(([key, value]: [string, unknown]) => [camel(key), value]));

type Owners = { consortiumId?: string; environmentId?: string };

type ListingOf<Args extends z.ZodObject> = Omit<LookupOf<Args>, "run" | "list"> & {
  list: string;
  items: (client: ConsortiumClient, args: z.output<Args>) => Promise<readonly object[]>;
  /** Whether the specification lacks this list. */
  isUndocumented?: boolean;
};

/** A list of existing objects. Arguments other than owners filter it by value, because a service may not filter. */
const listing = <Args extends z.ZodObject>({ items, isUndocumented, ...one }: ListingOf<Args>): Omit<Lookup, "name"> =>
  lookup({
    ...one,
    async run(client, args) {
      const { consortiumId, environmentId, ...wanted } = args as Owners & Props;
      const list = items(client, args);
      const found = await (isUndocumented ? explained(client, one.list, list, { consortiumId, environmentId }) : list);
      return found
        .filter((item) => !isGone(item))
        .map(shown)
        .filter((item) => Object.entries(wanted).every(([key, value]) => value === undefined || item[key] === value));
    },
  });

/**
 * The only object of a list with a name. All objects are listed, so that an error can say what there is.
 * @throws UserError if there is none, or more than one
 */
function only(list: Omit<Lookup, "name">, what: string, key: "name" | "orgName"): Omit<Lookup, "name"> {
  const required = z.string({ error: `${key} is required: give the name of the ${what}` });
  return {
    doc: `The ${what} with a name. It fails if there is none, or more than one.`,
    args: list.args.extend({ [key]: field(required.min(1, `${key} must not be empty`), `Name of the ${what}.`) }),
    result: list.result,
    async run(client, { [key]: wanted, ...within }) {
      const all = (await list.run(client, within)) as Props[];
      const found = all.filter((one) => one[key] === wanted);
      if (found.length === 1) return found[0];
      const ids = found.map(({ id }) => String(id)).join(", ");
      const names = all.flatMap((one) => (typeof one[key] === "string" ? [one[key]] : []));
      const name = printable(String(wanted));
      if (found.length > 1)
        throw new UserError(
          "not-found",
          `Use the id of one instead: ${found.length} ${list.list} have the ${key} "${name}": ${ids}.`,
        );
      throw new UserError(
        "not-found",
        `Check the ${key}: there is no ${what} "${name}"${didYouMean(String(wanted), names)}`,
      );
    },
  };
}

/** @throws ApiError that says that the service has no such list, if the owner of the list exists */
async function explained<T>(
  client: ConsortiumClient,
  what: string,
  list: Promise<T>,
  { consortiumId, environmentId }: Owners,
): Promise<T> {
  try {
    return await list;
  } catch (error) {
    if (!isApiError(error, "missing", "unsupported")) throw error;
    const { kind, call, status, errorMessage } = error;
    if (kind === "missing" && consortiumId !== undefined) {
      const place = environmentId === undefined ? paths.consortia : paths.environments(consortiumId);
      const owners = await client.list(place, Anything);
      if (!owners.some((one) => one.id === (environmentId ?? consortiumId) && !isGone(one))) throw error;
    }
    const next = `This service does not list ${what}.`;
    throw client.http.error({ kind, call, status, errorMessage, next, cause: error });
  }
}

const id = (key: string, what: string) =>
  field(
    z
      .string({ error: `${key} is required: give the id of the ${what}` })
      .min(1, `${key} must not be empty: give the id of the ${what}`),
    `Id of the ${what}.`,
  );

const filter = (key: string, doc: string) =>
  field(z.string({ error: `${key} must be text` }).optional(), doc, { default: "all" });

const inConsortium = () => ({ consortiumId: id("consortiumId", "consortium") });
const inEnvironment = () => ({ ...inConsortium(), environmentId: id("environmentId", "environment") });
const ofNode = () => ({ ...inEnvironment(), nodeId: id("nodeId", "node") });

const ofTether = () => ({
  tetherId: field(
    tetherIdText("tetherId is required: give the id of the tether service"),
    `Id of the tether service: the last ${tetherIdLength} characters of its console address.`,
  ),
});

const atLeast = (key: string, least: number) =>
  z
    .int({ error: `${key} must be a whole number` })
    .min(least, `${key} must be at least ${least}`)
    .optional();

/** A service shows the nodes' reports alone, or within an object that says where they are pinned. */
function reportResult(index: number, report: unknown): object {
  const whole = isObject(report) ? shown(report) : {};
  const inner = isObject(report) ? whole.reports : report;
  const nodes: unknown[] = Array.isArray(inner) ? inner : [];
  const reports = nodes.filter((node) => typeof node === "object" && node !== null).map((node) => shown(node));
  return { ...whole, index, reports, report };
}

const processes = ["geth", "constellation"] as const;

const lists = {
  getConsortia: listing({
    doc: "Consortia of the organization, optionally filtered by name.",
    args: z.strictObject({ name: filter("name", "Name of the consortia.") }),
    result: itemOf(definitions.consortium),
    list: "consortia",
    items: (client, { name }) => client.listConsortia({ name }),
  }),
  getMemberships: listing({
    doc: "Memberships of a consortium, optionally filtered by business.",
    args: z.strictObject({ ...inConsortium(), orgName: filter("orgName", "Name of the business.") }),
    result: itemOf(definitions.membership),
    list: "memberships",
    items: (client, { consortiumId, orgName }) => client.listMemberships(consortiumId, { org_name: orgName }),
  }),
  getEnvironments: listing({
    doc: "Environments of a consortium, optionally filtered by name. Deleted ones, which the service may still list, are left out.",
    args: z.strictObject({ ...inConsortium(), name: filter("name", "Name of the environments.") }),
    result: itemOf(definitions.environment),
    list: "environments",
    items: (client, { consortiumId }) => client.listEnvironments(consortiumId),
  }),
  getNodes: listing({
    doc: "Nodes of an environment, optionally filtered by name.",
    args: z.strictObject({ ...inEnvironment(), name: filter("name", "Name of the nodes.") }),
    result: itemOf(definitions.node),
    list: "nodes",
    items: (client, { consortiumId, environmentId, name }) => client.listNodes(consortiumId, environmentId, { name }),
  }),
};

const all = {
  ...lists,
  getConsortium: only(lists.getConsortia, "consortium", "name"),
  getMembership: only(lists.getMemberships, "membership", "orgName"),
  getEnvironment: only(lists.getEnvironments, "environment", "name"),
  getNode: only(lists.getNodes, "node", "name"),
  getNodeStatus: lookup({
    doc: "Endpoints, accounts and block height of a node.",
    args: z.strictObject(ofNode()),
    result: nodeStatusResult,
    async run(client, { consortiumId, environmentId, nodeId }) {
      const { id: key, geth, quorum, ...rest } = await client.getNodeStatus(consortiumId, environmentId, nodeId);
      const status = shown({ ...rest, ...quorum, ...geth, node_key: key });
      return Object.fromEntries(Object.keys(nodeStatusResult.shape).map((name) => [name, status[name]]));
    },
  }),
  getNodeLogs: lookup({
    doc: "The last lines of a node's log, of `geth` (the default) or `constellation`.",
    args: z.strictObject({
      ...ofNode(),
      client: field(
        z.enum(processes, { error: `client must be one of ${processes.join(", ")}` }).optional(),
        "Process that writes the log: `geth`, or `constellation` in a quorum environment.",
        { default: "`geth`" },
      ),
      maxLines: field(atLeast("maxLines", 1), "Maximum number of lines.", { default: "as many as the service gives" }),
    }),
    result: z.string(),
    list: "lines",
    run: (client, { consortiumId, environmentId, nodeId, client: process, maxLines }) =>
      client.getNodeLogs(consortiumId, environmentId, nodeId, process, maxLines),
  }),
  getZones: listing({
    doc: "Zones of a consortium or of one of its environments, optionally filtered by region or cloud.",
    args: z.strictObject({
      ...inConsortium(),
      environmentId: field(id("environmentId", "environment").optional(), "Id of the environment.", {
        default: "the zones of the consortium itself",
      }),
      region: filter("region", "Region of the cloud, such as `us-east-2`."),
      cloud: filter("cloud", "Cloud, such as `aws`."),
    }),
    result: itemOf(definitions.environmentZone, "Zone"),
    list: "zones",
    isUndocumented: true,
    items: (client, { consortiumId, environmentId }) => client.listZones(consortiumId, environmentId),
  }),
  getConfigurations: listing({
    doc: "Configurations of an environment, optionally filtered by name or type. Their secret `details` are left out.",
    args: z.strictObject({
      ...inEnvironment(),
      name: filter("name", "Name of the configurations."),
      type: filter("type", "Type of the configurations, such as `node_config`."),
    }),
    result: itemOf(definitions.configuration),
    list: "configurations",
    isUndocumented: true,
    async items(client, { consortiumId, environmentId }) {
      const all = await client.listConfigurations(consortiumId, environmentId);
      return all.map(({ details: _, ...one }) => one);
    },
  }),
  getServices: listing({
    doc: "Services of an environment, optionally filtered by name or type.",
    args: z.strictObject({
      ...inEnvironment(),
      name: filter("name", "Name of the services."),
      service: filter("service", "Type of the services, such as `ipfs`."),
    }),
    result: itemOf(definitions.service),
    list: "services",
    isUndocumented: true,
    items: (client, { consortiumId, environmentId }) => client.listServices(consortiumId, environmentId),
  }),
  getInvitations: listing({
    doc: "Invitations to a consortium, optionally filtered by business.",
    args: z.strictObject({ ...inConsortium(), orgName: filter("orgName", "Name of the business.") }),
    result: itemOf(definitions.invitation),
    list: "invitations",
    isUndocumented: true,
    items: (client, { consortiumId, orgName }) => client.listInvitations(consortiumId, { org_name: orgName }),
  }),
  getReleases: listing({
    doc: "Releases of the software that environments run, optionally filtered by client or version.",
    args: z.strictObject({
      provider: filter("provider", "Client that the releases are for, such as `quorum`."),
      version: filter("version", "Version of the releases."),
    }),
    result: releaseResult,
    list: "releases",
    isUndocumented: true,
    items: (client, wanted) => client.listReleases(wanted),
  }),
  getTetherAccount: lookup({
    doc: "Address and balance of a tether service on the network it is set to.",
    args: z.strictObject(ofTether()),
    result: tetherAccountResult,
    run: (client, { tetherId }) => client.getTetherAccount(tetherId),
  }),
  getTetherBalance: lookup({
    doc: "Balance of a tether service on a network, in wei, as decimal text.",
    args: z.strictObject({
      ...ofTether(),
      network: field(
        listed("network", tetherNetworks),
        "Public chain: `mainnet`, `rinkeby`, or `local` on the embedded service.",
        { known: tetherNetworks },
      ),
    }),
    result: tetherBalanceResult,
    async run(client, { tetherId, network }) {
      return { network, balanceWei: await client.getTetherBalance(tetherId, network) };
    },
  }),
  getTetherReports: lookup({
    doc: "Reports of a tether service: `count` (10) of them from index `from`; without `from`, the latest.",
    args: z.strictObject({
      ...ofTether(),
      from: field(atLeast("from", 0), "Index of the first report.", { default: "the latest ones" }),
      count: field(atLeast("count", 0), "Maximum number of reports.", { default: "10" }),
    }),
    result: tetherReportResult,
    list: "reports",
    async run(client, { tetherId, from, count = 10 }) {
      const total = await client.getTetherReportCount(tetherId);
      const first = Math.max(0, from ?? total - count);
      const length = Math.max(0, Math.min(count, total - first));
      const indexes = Array.from({ length }, (_, offset) => first + offset);
      return Promise.all(
        indexes.map(async (index) => reportResult(index, await client.getTetherReport(tetherId, index))),
      );
    },
  }),
};

export type LookupName = keyof typeof all;

/** All lookups by name. */
export const lookups = Object.fromEntries(Object.entries(all).map(([name, one]) => [name, { name, ...one }])) as Record<
  LookupName,
  Lookup
>;
