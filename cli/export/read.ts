import {
  AppCredObject,
  type ConsortiumClient,
  type ConsortiumObject,
  type EnvironmentObject,
  isApiError,
  type MembershipObject,
  type NodeObject,
} from "../../provider/api";
import { isGone } from "../../provider/api/states";
import { chosenConsortium } from "../../observe/choose";
import { appcreds } from "../../provider/resources/places";

/** An environment as the service shows it, with what is in it. */
export interface FoundEnvironment {
  environment: EnvironmentObject;
  nodes: NodeObject[];
  /** Empty where the service does not list credentials, too. */
  credentials: AppCredObject[];
}

/** A consortium as the service shows it, with what is in it. */
export interface FoundNetwork {
  consortium: ConsortiumObject;
  members: MembershipObject[];
  environments: FoundEnvironment[];
}

/** In an order of their own: that of the lists may be another one tomorrow. */
const inOrder = <T extends { id: string; created_at?: string }>(items: readonly T[]): T[] =>
  items
    .filter((item) => !isGone(item))
    .sort((one, other) => order(one.created_at ?? "", other.created_at ?? "") || order(one.id, other.id));

const order = (one: string, other: string): number => (one < other ? -1 : Number(one > other));

/** Reads one consortium, which is named by its id or its name, and everything in it. */
export async function readConsortium(client: ConsortiumClient, nameOrId: string): Promise<FoundNetwork> {
  return readInside(client, chosenConsortium(inOrder(await client.listConsortia()), nameOrId));
}

/** Reads all consortia of the organization, and everything in them. */
export async function readOrganization(client: ConsortiumClient): Promise<FoundNetwork[]> {
  const consortia = inOrder(await client.listConsortia());
  if (consortia.length === 0) throw new Error("The organization of this API key has no consortium.");
  return Promise.all(consortia.map((consortium) => readInside(client, consortium)));
}

async function readInside(client: ConsortiumClient, consortium: ConsortiumObject): Promise<FoundNetwork> {
  const [members, environments] = await Promise.all([
    client.listMemberships(consortium.id).then(inOrder),
    client.listEnvironments(consortium.id).then(inOrder),
  ]);
  const inside = environments.map(async (environment) => {
    const [nodes, credentials] = await Promise.all([
      client.listNodes(consortium.id, environment.id).then(inOrder),
      readCredentials(client, consortium.id, environment.id),
    ]);
    return { environment, nodes, credentials };
  });
  return { consortium, members, environments: await Promise.all(inside) };
}

/** A service need not list credentials (spec, section 4.1). */
async function readCredentials(
  client: ConsortiumClient,
  consortiumId: string,
  environmentId: string,
): Promise<AppCredObject[]> {
  try {
    return inOrder(await client.list(appcreds({ consortiumId, environmentId }).collection, AppCredObject));
  } catch (error) {
    if (isApiError(error, "missing", "unsupported")) return [];
    throw error;
  }
}
