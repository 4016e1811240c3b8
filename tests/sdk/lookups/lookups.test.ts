import { output, type Output } from "@pulumi/pulumi";
import * as sdk from "../../../sdk";
import { type Service } from "../../../service";
import { network, type Network, send } from "../../support/network";
import { program, valueOf } from "../../support/program";
import { start } from "../../support/service";

/* Each lookup against the service, plain and as an Output. */

const tetherId = "tether0001";
const text = expect.any(String) as string;
const number = expect.any(Number) as number;
const hex = expect.stringMatching(/^0x[0-9a-f]+$/i) as string;
const found = { id: text, state: text, revision: text, createdAt: text };

interface Lookup {
  args: (net: Network) => object;
  result: object;
}
type Name = Exclude<Extract<keyof typeof sdk, `get${string}`>, `${string}Output`>;

const inNode = ({ consortiumId, environmentId, nodeId }: Network): object => ({ consortiumId, environmentId, nodeId });
const lookups: Record<Name, Lookup[]> = {
  getConsortia: [
    {
      args: () => ({}),
      result: [{ ...found, name: "fixture", owner: text }],
    },
    { args: () => ({ name: "other" }), result: [] },
  ],
  getMemberships: [
    {
      args: ({ consortiumId }) => ({ consortiumId }),
      result: [{ orgName: "first" }, { orgName: "second" }],
    },
    {
      args: ({ consortiumId }) => ({ consortiumId, orgName: "second" }),
      result: [{ ...found, orgName: "second", orgId: text, minimumNodes: number, maximumNodes: number }],
    },
  ],
  getEnvironments: [
    {
      args: ({ consortiumId }) => ({ consortiumId }),
      result: [{ name: "main" }, { name: "spare" }],
    },
    {
      args: ({ consortiumId }) => ({ consortiumId, name: "main" }),
      result: [
        {
          ...found,
          name: "main",
          provider: "quorum",
          consensusType: "ibft",
          chainId: number,
          blockPeriod: number,
          enableTether: false,
          releaseId: text,
        },
      ],
    },
  ],
  getNodes: [
    {
      args: ({ consortiumId, environmentId }) => ({ consortiumId, environmentId, name: "node-0" }),
      result: [
        { ...found, name: "node-0", membershipId: text, role: "validator", provider: "quorum", consensusType: "ibft" },
      ],
    },
  ],
  getNodeStatus: [
    {
      args: inNode,
      result: {
        nodeKey: text,
        publicAddress: hex,
        validators: [hex],
        userAccounts: [hex],
        blockHeight: number,
        urls: { rpc: text, wss: text },
      },
    },
  ],
  getNodeLogs: [
    {
      args: (net) => ({ ...inNode(net), maxLines: 1 }),
      result: [expect.stringContaining("[geth]")],
    },
    {
      args: (net) => ({ ...inNode(net), client: "constellation", maxLines: 2 }),
      result: [text, expect.stringContaining("[constellation]")],
    },
  ],
  getReleases: [
    {
      args: () => ({ provider: "quorum" }),
      result: [
        { id: text, provider: "quorum", version: text, releaseStatus: text },
        { id: text, provider: "quorum" },
      ],
    },
    { args: () => ({ provider: "geth", version: "0" }), result: [] },
  ],
  getTetherAccount: [
    {
      args: () => ({ tetherId }),
      result: { account: hex, balanceWei: "994600000000000000" },
    },
  ],
  getTetherBalance: [
    {
      args: () => ({ tetherId, network: "mainnet" }),
      result: { network: "mainnet", balanceWei: "0" },
    },
  ],
  getTetherReports: [
    {
      args: () => ({ tetherId }),
      result: [0, 1, 2, 3].map((index) => ({ index, report: [{ node_name: "node-0" }] })),
    },
    {
      args: () => ({ tetherId, count: 2 }),
      result: [{ index: 2 }, { index: 3 }],
    },
    {
      args: () => ({ tetherId, from: 1, count: 2 }),
      result: [{ index: 1 }, { index: 2 }],
    },
    {
      args: () => ({ tetherId, from: 9 }),
      result: [],
    },
  ],
};

/** A network, and a tether service that has pinned it four times. */
async function world(): Promise<{ service: Service; net: Network }> {
  await program();
  const { service, time } = await start({ tethers: [{ id: tetherId }], timing: { tetherHour: 1_000 } });
  const net = await network(service, time);
  for (const [action, body] of [
    ["targetNetwork", { network: "rinkeby" }],
    ["interval", { interval: 1 }],
    ["deploy", {}],
  ] as const) {
    await send(service, "POST", `/tether/${tetherId}/${action}`, body);
  }
  const activated = await fetch(`${service.baseUrl}/tether/${tetherId}/activate`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.apiKey}` },
  });
  expect(activated.status).toBe(200);
  time.pass(3_000);
  return { service, net };
}

const table = Object.entries(lookups).flatMap(([name, all]) => all.map((one) => [name as Name, one] as const));

test.each(table)("%s %#", async (name, { args, result }) => {
  const { net } = await world();
  const get = sdk[name] as (args: object) => Promise<unknown>;
  const getOutput = sdk[`${name}Output`] as unknown as (args: Output<object>) => Output<unknown>;
  const plain = await get(args(net));
  const asOutput = await valueOf(getOutput(output(args(net))));
  for (const answer of [plain, asOutput]) {
    expect(answer).toMatchObject(result);
    if (Array.isArray(result)) expect(answer).toHaveLength(result.length);
  }
});

test("a service that knows no more than the specification: the error says so", async () => {
  const { service } = await world();
  service.setAnswers({ extended: false });
  await expect(sdk.getReleases({})).rejects.toThrow(/GET \/releases: HTTP 404.*This service does not list releases\.$/);
});

test("an environment that was just deleted is not found any more", async () => {
  const { service, net } = await world();
  service.setTiming({ deletedVisible: 600_000 });
  await send(service, "DELETE", `/consortia/${net.consortiumId}/environments/${net.otherEnvironmentId}`);
  expect((await sdk.getEnvironments({ consortiumId: net.consortiumId })).map(({ name }) => name)).toEqual(["main"]);
});

test("a service that does not filter: the lookup does", async () => {
  const { service, net } = await world();
  service.faults.add({
    kind: "status",
    status: 200,
    body: [
      { _id: "1", name: "a" },
      { _id: "2", name: "b" },
    ],
    route: "/nodes$",
  });
  const { consortiumId, environmentId } = net;
  expect(await sdk.getNodes({ consortiumId, environmentId, name: "b" })).toEqual([{ id: "2", name: "b" }]);
});

test.each<[Name, object, string]>([
  [
    "getNodes",
    {},
    "getNodes: consortiumId is required: give the id of the consortium\ngetNodes: environmentId is required: give the id of the environment",
  ],
  [
    "getNodes",
    { consortiumId: "", environmentId: "e" },
    "getNodes: consortiumId must not be empty: give the id of the consortium",
  ],
  [
    "getNodeLogs",
    { consortiumId: "c", environmentId: "e", nodeId: "n", client: "gett" },
    'getNodeLogs: client must be one of geth, constellation, not "gett"; did you mean "geth"?',
  ],
  ["getConsortia", { nam: "a" }, 'getConsortia has no argument "nam"; did you mean "name"?'],
  ["getConsortia", { owner: "a" }, 'getConsortia has no argument "owner". Its arguments are name.'],
  [
    "getTetherReports",
    { tetherId, count: -1, from: 0.5 },
    "getTetherReports: from must be a whole number\ngetTetherReports: count must be at least 0",
  ],
  [
    "getTetherAccount",
    { tetherId: "short" },
    "getTetherAccount: tetherId has 10 characters: the last 10 of the tether service's console address",
  ],
])("%s refuses %j before it calls anybody", async (name, args, message) => {
  const { service } = await start();
  await program();
  const get = sdk[name] as (args: object) => Promise<unknown>;
  await expect(get(args)).rejects.toMatchObject({
    __pulumiRunError: true,
    message,
  });
  expect(service.calls).toEqual([]);
});
