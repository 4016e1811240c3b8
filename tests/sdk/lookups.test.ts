import { output, type InvokeOptions, type Output } from "@pulumi/pulumi";
import * as sdk from "../../sdk";
import { type Service } from "../../service";
import { network, type Network, send } from "../support/network";
import { program, valueOf } from "../support/program";
import { setEnvironment, start } from "../support/service";

/* Each lookup against the service, plain and as an Output. */

const tetherId = "tether0001";
const text = expect.any(String) as string;
const number = expect.any(Number) as number;
const hex = expect.stringMatching(/^0x[0-9a-f]+$/i) as string;
const found = { id: text, state: text, revision: text, createdAt: text };

interface Lookup {
  get: (args: never, opts?: InvokeOptions) => Promise<unknown>;
  getOutput: (args: never, opts?: InvokeOptions) => Output<unknown>;
  args: (net: Network) => object;
  result: object;
}

const inNode = ({ consortiumId, environmentId, nodeId }: Network): object => ({ consortiumId, environmentId, nodeId });
const lookups: Record<string, Lookup[]> = {
  getConsortia: [
    {
      get: sdk.getConsortia,
      getOutput: sdk.getConsortiaOutput,
      args: () => ({}),
      result: [{ ...found, name: "fixture", owner: text }],
    },
    { get: sdk.getConsortia, getOutput: sdk.getConsortiaOutput, args: () => ({ name: "other" }), result: [] },
  ],
  getMemberships: [
    {
      get: sdk.getMemberships,
      getOutput: sdk.getMembershipsOutput,
      args: ({ consortiumId }) => ({ consortiumId }),
      result: [{ orgName: "first" }, { orgName: "second" }],
    },
    {
      ...{ get: sdk.getMemberships, getOutput: sdk.getMembershipsOutput },
      args: ({ consortiumId }) => ({ consortiumId, orgName: "second" }),
      result: [{ ...found, orgName: "second", orgId: text, minimumNodes: number, maximumNodes: number }],
    },
  ],
  getEnvironments: [
    {
      get: sdk.getEnvironments,
      getOutput: sdk.getEnvironmentsOutput,
      args: ({ consortiumId }) => ({ consortiumId }),
      result: [{ name: "main" }, { name: "spare" }],
    },
    {
      ...{ get: sdk.getEnvironments, getOutput: sdk.getEnvironmentsOutput },
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
      ...{ get: sdk.getNodes, getOutput: sdk.getNodesOutput },
      args: ({ consortiumId, environmentId }) => ({ consortiumId, environmentId, name: "node-0" }),
      result: [
        { ...found, name: "node-0", membershipId: text, role: "validator", provider: "quorum", consensusType: "ibft" },
      ],
    },
  ],
  getNodeStatus: [
    {
      ...{ get: sdk.getNodeStatus, getOutput: sdk.getNodeStatusOutput, args: inNode },
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
      get: sdk.getNodeLogs,
      getOutput: sdk.getNodeLogsOutput,
      args: (net) => ({ ...inNode(net), maxLines: 1 }),
      result: [expect.stringContaining("[geth]")],
    },
    {
      get: sdk.getNodeLogs,
      getOutput: sdk.getNodeLogsOutput,
      args: (net) => ({ ...inNode(net), client: "constellation", maxLines: 2 }),
      result: [text, expect.stringContaining("[constellation]")],
    },
  ],
  getTetherAccount: [
    {
      get: sdk.getTetherAccount,
      getOutput: sdk.getTetherAccountOutput,
      args: () => ({ tetherId }),
      result: { account: hex, balanceWei: "994600000000000000" },
    },
  ],
  getTetherBalance: [
    {
      get: sdk.getTetherBalance,
      getOutput: sdk.getTetherBalanceOutput,
      args: () => ({ tetherId, network: "mainnet" }),
      result: { network: "mainnet", balanceWei: "0" },
    },
  ],
  getTetherReports: [
    {
      get: sdk.getTetherReports,
      getOutput: sdk.getTetherReportsOutput,
      args: () => ({ tetherId }),
      result: [0, 1, 2, 3].map((index) => ({ index, report: [{ node_name: "node-0" }] })),
    },
    {
      get: sdk.getTetherReports,
      getOutput: sdk.getTetherReportsOutput,
      args: () => ({ tetherId, count: 2 }),
      result: [{ index: 2 }, { index: 3 }],
    },
    {
      get: sdk.getTetherReports,
      getOutput: sdk.getTetherReportsOutput,
      args: () => ({ tetherId, from: 1, count: 2 }),
      result: [{ index: 1 }, { index: 2 }],
    },
    {
      get: sdk.getTetherReports,
      getOutput: sdk.getTetherReportsOutput,
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

const table = Object.entries(lookups).flatMap(([name, all]) =>
  all.map((one, index) => [`${name} ${index}`, one] as const),
);

test.each(table)("%s", async (_name, { get, getOutput, args, result }) => {
  const { net } = await world();
  const plain = await get(args(net) as never);
  const asOutput = await valueOf(getOutput(output(args(net)) as never));
  for (const answer of [plain, asOutput]) {
    expect(answer).toMatchObject(result);
    if (Array.isArray(result)) expect(answer).toHaveLength(result.length);
  }
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

describe("settings", () => {
  test("of an explicit Provider win over the environment, given directly or through a parent", async () => {
    const { service } = await world();
    const theirs = service.addOrganization("theirs");
    const provider = new sdk.Provider("theirs", { apiKey: theirs.apiKey, baseUrl: service.baseUrl });
    const parent = new sdk.Consortium("c", {}, { provider });
    for (const opts of [{ provider }, { parent }]) {
      service.clearCalls();
      expect(await sdk.getConsortia({}, opts)).toEqual([]);
      expect(service.calls.map(({ organization }) => organization)).toEqual(["theirs"]);
    }
    expect(await valueOf(sdk.getConsortiaOutput({}, { provider }))).toEqual([]);
    expect(await sdk.getConsortia({})).toHaveLength(1);
  });

  test("of the stack serve where the environment has none, and are looked up each time", async () => {
    const { service } = await world();
    setEnvironment({ CONSORTIUM_API_KEY: undefined, CONSORTIUM_BASE_URL: undefined });
    await program({}, { "consortium:apiKey": service.apiKey, "consortium:baseUrl": service.baseUrl });
    expect(await sdk.getConsortia({})).toHaveLength(1);
    setEnvironment({ CONSORTIUM_API_KEY: "rotated" });
    await expect(sdk.getConsortia({})).rejects.toThrow(/HTTP 401.*CONSORTIUM_API_KEY/);
  });

  test("no key, or a refused one, ends the program with a message and no stack, and the cause for programs", async () => {
    await program();
    setEnvironment({ CONSORTIUM_API_KEY: undefined });
    await expect(sdk.getConsortia({})).rejects.toMatchObject({
      __pulumiRunError: true,
      message: expect.stringMatching(/No API key is set/) as string,
      cause: { name: "SettingsError" },
    });
  });
});
