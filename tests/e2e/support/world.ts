import { type Call, type Service, type ServiceOptions, startService } from "../../../service/index";
import { send } from "../../support/network";
import { atTheEnd } from "./ending";
import { Stack, type StackOptions } from "./stack";

/** An API key that must not turn up anywhere. */
export const canaryKey = "canary-key-5c1f0e";

/** Quick enough for tests, and still with something to wait for. */
const timing = { environmentStart: 100, nodeStart: 300 };

export interface World {
  service: Service;
  stack: Stack;
  /** What the service has, asked through its API, deleted environments left out. */
  network: () => Promise<Network>;
}

type Item = Record<string, unknown>;
export type Network = Record<"consortia" | "memberships" | "environments" | "nodes" | "appcreds", Item[]>;

/** Walks the API of a service, with calls that its log does not keep apart from others: clear the log before counting. */
export async function networkOf(baseUrl: string, apiKey: string): Promise<Network> {
  const list = async (path: string): Promise<Item[]> =>
    (await send<Item[]>({ baseUrl, apiKey }, "GET", path)).filter(({ state }) => state !== "deleted");
  const id = (item: Item): string => String(item._id ?? item.id);
  const found: Network = {
    consortia: await list("/consortia"),
    memberships: [],
    environments: [],
    nodes: [],
    appcreds: [],
  };
  for (const consortium of found.consortia) {
    const within = `/consortia/${id(consortium)}`;
    found.memberships.push(...(await list(`${within}/memberships`)));
    for (const environment of await list(`${within}/environments`)) {
      found.environments.push(environment);
      found.nodes.push(...(await list(`${within}/environments/${id(environment)}/nodes`)));
      found.appcreds.push(...(await list(`${within}/environments/${id(environment)}/appcreds`)));
    }
  }
  return found;
}

/** How many there are of each kind. */
export const countsOf = (network: Network): Record<string, number> =>
  Object.fromEntries(Object.entries(network).map(([kind, items]) => [kind, items.length]));

/** An embedded service, and a stack that is pointed at it through the environment. Both end with the tests of the file. */
export async function world(
  program: StackOptions["program"],
  options: ServiceOptions & Partial<StackOptions> = {},
): Promise<World> {
  const { env, config, secrets, plugin, inline, language, schema, release, ...rest } = options;
  const service = await startService({
    organizations: [{ name: "local", apiKey: canaryKey }],
    tethers: [{ id: tetherId }],
    ...rest,
    timing: { ...timing, ...rest.timing },
  });
  atTheEnd(() => service.close());
  const how = { program, config, secrets, plugin, inline, language, schema, release };
  const connection = { CONSORTIUM_API_KEY: canaryKey, CONSORTIUM_BASE_URL: service.baseUrl };
  const stack = await Stack.create({ ...how, env: { ...connection, ...env } });
  return { service, stack, network: () => networkOf(service.baseUrl, service.apiKey) };
}

/** What was called besides the question whose a key is that a state does not know. */
export const callsBesidesKey = ({ calls }: Pick<Service, "calls">): Call[] =>
  calls.filter(
    ({ method, path }) => !(method === "GET" && /^\/(consortia|apikeys|orgs|tether\/\w+\/account)$/.test(path)),
  );

/** The calls that change something. */
export const writesOf = ({ calls }: Service): string[] =>
  calls.filter(({ method }) => method !== "GET").map(({ method, route }) => `${method} ${route}`);

export const tetherId = "t0e2etests";

/** The whole tree of resources, as small as it can be: one of each. */
export const wholeTree = `
  const { AppCred, Consortium, Environment, Membership, Node, TetherService } = require("pulumi-consortium");
  const consortium = new Consortium("c", { description: "first" });
  const membership = new Membership("m", { consortium });
  const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "raft" });
  const node = new Node("n", { environment, membership });
  const cred = new AppCred("a", { environment, membership });
  const tether = new TetherService("t", { tetherId: "${tetherId}", network: "rinkeby", intervalHours: 1 }, { dependsOn: node });
  exports.consortiumId = consortium.id;
  exports.environmentId = environment.id;
  exports.chainId = environment.chainId;
  exports.rpc = node.urls.rpc;
  exports.username = cred.username;
  exports.password = cred.password;
  exports.header = cred.basicAuthHeader;
  exports.account = tether.account;
`;
