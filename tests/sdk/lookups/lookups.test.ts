import * as sdk from "../../../sdk";
import { output, type Output, ComponentResource, runtime, secret, isSecret } from "@pulumi/pulumi";
import { type Service } from "../../../service/index";
import { network, type Network, others, send, startPinning } from "../../support/network";
import { program, valueOf } from "../../support/program";
import { start, setEnvironment } from "../../support/service";

describe("lookups", () => {
  /* Each lookup against the service, plain and as an Output. */

  const tetherId = "tether0001";
  const text = expect.any(String) as string;
  const number = expect.any(Number) as number;
  const hex = expect.stringMatching(/^0x[0-9a-f]+$/i) as string;
  const found = { id: text, state: text, revision: text, createdAt: text };

  type Lookup = [args: (net: Network) => object, result: object];
  type Name = Exclude<Extract<keyof typeof sdk, `get${string}`>, `${string}Output`>;

  const inConsortium = ({ consortiumId }: Network): object => ({ consortiumId });
  const inEnvironment = ({ consortiumId, environmentId }: Network) => ({ consortiumId, environmentId });
  const inNode = (net: Network): object => ({ ...inEnvironment(net), nodeId: net.nodeId });
  const named = (name: string): object => ({ ...found, name });
  const lookups: Record<Name, Lookup[]> = {
    getConsortia: [
      [() => ({}), [{ ...named("fixture"), owner: text }]],
      [() => ({ name: "other" }), []],
    ],
    getMemberships: [
      [inConsortium, [{ orgName: "first" }, { orgName: "second" }]],
      [(net) => ({ ...inConsortium(net), orgName: "second" }), [{ ...found, orgName: "second", minimumNodes: number }]],
    ],
    getEnvironments: [
      [inConsortium, [{ name: "main" }, { name: "spare" }]],
      [(net) => ({ ...inConsortium(net), name: "main" }), [{ ...named("main"), chainId: number, enableTether: false }]],
    ],
    getNodes: [[(net) => ({ ...inEnvironment(net), name: "node-0" }), [{ ...named("node-0"), membershipId: text }]]],
    getConsortium: [[() => ({ name: "fixture" }), named("fixture")]],
    getMembership: [[(net) => ({ ...inConsortium(net), orgName: "second" }), { ...found, orgName: "second" }]],
    getEnvironment: [[(net) => ({ ...inConsortium(net), name: "spare" }), named("spare")]],
    getNode: [[(net) => ({ ...inEnvironment(net), name: "node-0" }), named("node-0")]],
    getNodeStatus: [
      [
        inNode,
        {
          nodeKey: text,
          publicAddress: hex,
          validators: [hex],
          userAccounts: [hex],
          blockHeight: number,
          urls: { rpc: text, wss: text },
        },
      ],
    ],
    getNodeLogs: [
      [(net) => ({ ...inNode(net), maxLines: 1 }), [expect.stringContaining("[geth]")]],
      [
        (net) => ({ ...inNode(net), client: "constellation", maxLines: 2 }),
        [text, expect.stringContaining("[constellation]")],
      ],
    ],
    getZones: [
      [inConsortium, [{ ...named("ohio"), region: "us-east-2" }]],
      [(net) => ({ ...inEnvironment(net), cloud: "azure" }), [{ ...named("of one"), bridgeId: "b1" }]],
      [(net) => ({ ...inConsortium(net), region: "eu-central-1" }), []],
    ],
    getConfigurations: [
      [inEnvironment, [{ ...named("gas"), type: "node_config" }]],
      [(net) => ({ ...inEnvironment(net), type: "kms" }), []],
    ],
    getServices: [
      [(net) => ({ ...inEnvironment(net), service: "idregistry" }), [{ ...named("registry"), urls: { http: text } }]],
      [(net) => ({ ...inEnvironment(net), name: "other" }), []],
    ],
    getInvitations: [
      [inConsortium, [{ ...found, orgName: "third", email: "ops@third.example" }]],
      [(net) => ({ ...inConsortium(net), orgName: "other" }), []],
    ],
    getReleases: [
      [() => ({ provider: "quorum" }), [{ id: text, version: text, releaseStatus: text }, { provider: "quorum" }]],
      [() => ({ provider: "geth", version: "0" }), []],
    ],
    getTetherAccount: [[() => ({ tetherId }), { account: hex, balanceWei: "994600000000000000" }]],
    getTetherBalance: [[() => ({ tetherId, network: "mainnet" }), { network: "mainnet", balanceWei: "0" }]],
    getTetherReports: [
      [() => ({ tetherId }), [0, 1, 2, 3].map((index) => ({ index, report: [{ node_name: "node-0" }] }))],
      [() => ({ tetherId, count: 2 }), [{ index: 2 }, { index: 3 }]],
      [() => ({ tetherId, from: 1, count: 2 }), [{ index: 1 }, { index: 2 }]],
      [() => ({ tetherId, from: 0, count: 1 }), [{ index: 0 }]],
      [() => ({ tetherId, from: 9 }), []],
    ],
  };

  /** A network, and a tether service that has pinned it four times. */
  async function world(): Promise<{ service: Service; net: Network }> {
    await program();
    const { service, time } = await start({ tethers: [{ id: tetherId }], timing: { tetherHour: 1_000 } });
    const net = await network(service, time);
    await others(service, time, net);
    const azure = { name: "of one", region: "westus2", cloud: "azure", bridge_id: "b1" };
    await send(service, "POST", `/consortia/${net.consortiumId}/environments/${net.environmentId}/zones`, azure);
    await startPinning((path, body) => send(service, "POST", path, body), tetherId);
    time.pass(3_000);
    return { service, net };
  }

  const table = Object.entries(lookups).flatMap(([name, all]) => all.map((one) => [name as Name, one] as const));

  test.each(table)("%s %#", async (name, [args, result]) => {
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

  describe("a service with only the specification", () => {
    const of = (net: Network): Record<string, [get: () => Promise<unknown>, call: string]> => ({
      releases: [() => sdk.getReleases({}), "/releases"],
      invitations: [() => sdk.getInvitations({ consortiumId: net.consortiumId }), "/consortia/.*/invitations"],
      zones: [() => sdk.getZones(inEnvironment(net)), "/consortia/.*/environments/.*/zones"],
      configurations: [() => sdk.getConfigurations(inEnvironment(net)), "/configurations"],
      services: [() => sdk.getServices(inEnvironment(net)), "/services"],
    });

    test("the error says so", async () => {
      const { service, net } = await world();
      service.setAnswers({ extended: false });
      for (const [what, [get, call]] of Object.entries(of(net)))
        await expect(get()).rejects.toThrow(
          new RegExp(`^This service does not list ${what}\\. GET .*${call}: HTTP 404`),
        );
    });

    test("but not for a parent that does not exist", async () => {
      const { service, net } = await world();
      const all = of({ ...net, consortiumId: "c-of-nobody", environmentId: "e-of-nobody" });
      for (const extended of [true, false]) {
        service.setAnswers({ extended });
        for (const [what, [get]] of Object.entries(all)) {
          if (what === "releases") continue; // they are in nothing
          await expect(get()).rejects.toThrow(/^Check the key first.*HTTP 404.*\[not-found:/);
        }
      }
    });
  });

  test("configurations are shown without their details", async () => {
    const { service, net } = await world();
    const path = `/consortia/${net.consortiumId}/environments/${net.environmentId}/configurations`;
    expect(await send(service, "GET", path)).toMatchObject([{ details: { gas_price: "hush" } }]);
    expect(JSON.stringify(await sdk.getConfigurations(inEnvironment(net)))).not.toContain("hush");
  });

  test("the lookup filters if the service does not", async () => {
    const { service, net } = await world();
    const body = ["a", "b"].map((name) => ({ _id: name, name }));
    service.faults.add({ kind: "status", status: 200, body, route: "/nodes$" });
    expect(await sdk.getNodes({ ...inEnvironment(net), name: "b" })).toEqual([{ id: "b", name: "b" }]);
  });

  test("one of none, or of two, is an error that names what there is; a deleted one is none", async () => {
    const { service, net } = await world();
    await expect(sdk.getMembership({ consortiumId: net.consortiumId, orgName: "secund" })).rejects.toMatchObject({
      __pulumiRunError: true,
      message: expect.stringMatching(
        /^getMembership: Check the orgName: there is no membership "secund"; did you mean "second"\? \[not-found:/,
      ) as string,
    });
    const { _id: id } = await send(service, "POST", `/consortia/${net.consortiumId}/memberships`, {
      org_name: "second",
    });
    await expect(sdk.getMembership({ consortiumId: net.consortiumId, orgName: "second" })).rejects.toThrow(
      new RegExp(
        `^getMembership: Use the id of one .*: 2 memberships have the orgName "second": \\w+, ${String(id)}\\. \\[not-found:`,
      ),
    );
    expect(await sdk.getMembership({ consortiumId: net.consortiumId, orgName: "first" })).toMatchObject(found);
    service.setTiming({ deletedVisible: 600_000 });
    await send(service, "DELETE", `/consortia/${net.consortiumId}/environments/${net.otherEnvironmentId}`);
    await expect(sdk.getEnvironment({ consortiumId: net.consortiumId, name: "spare" })).rejects.toThrow(
      'there is no environment "spare"; there is only main',
    );
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
    ["getConsortia", { nam: "a" }, 'getConsortia has no argument "nam"; did you mean "name"?'],
    [
      "getTetherReports",
      { tetherId, count: -1, from: 0.5 },
      "getTetherReports: from must be a whole number\ngetTetherReports: count must be at least 0",
    ],
    [
      "getTetherAccount",
      { tetherId: "short" },
      "getTetherAccount: tetherId must be the last 10 characters of the tether service's console address, without blanks and / ? # % & = :",
    ],
  ])("%s refuses %j before any call", async (name, args, message) => {
    const { service } = await start();
    await program();
    const get = sdk[name] as (args: object) => Promise<unknown>;
    const error = (await get(args).catch((thrown: unknown) => thrown)) as { __pulumiRunError: true; message: string };
    expect(error.__pulumiRunError).toBe(true);
    expect(error.message.replaceAll(/ \[[a-z]+-argument: [^\]]+\]/g, "")).toBe(message);
    expect(error.message.match(/-argument: /g)).toHaveLength(message.split("\n").length);
    expect(service.calls).toEqual([]);
  });
});

describe("their settings", () => {
  /* The key that a lookup uses. */

  async function world(): Promise<{ service: Service }> {
    await program();
    const { service, time } = await start();
    await network(service, time);
    return { service };
  }

  test.each(["dynamic provider", "plugin"])(
    "on the %s, settings of an explicit Provider win, given or by a parent",
    async (on) => {
      const { service } = await world();
      setEnvironment({ CONSORTIUM_PLUGIN: String(on === "plugin") });
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
    },
  );

  test("settings of the stack count if the environment has none, and are looked up each time", async () => {
    const { service } = await world();
    setEnvironment({ CONSORTIUM_API_KEY: undefined, CONSORTIUM_BASE_URL: undefined });
    await program({}, { "consortium:apiKey": service.apiKey, "consortium:baseUrl": service.baseUrl });
    expect(await sdk.getConsortia({})).toHaveLength(1);
    setEnvironment({ CONSORTIUM_API_KEY: "rotated" });
    await expect(sdk.getConsortia({})).rejects.toThrow(/CONSORTIUM_API_KEY.*HTTP 401/);
  });

  test("providers with one key at two addresses ask their own, each time", async () => {
    const { service } = await world();
    const [here, elsewhere] = [service.baseUrl, `${service.url}/elsewhere/api/v1`].map(
      (baseUrl, at) => new sdk.Provider(`at ${at}`, { apiKey: service.apiKey, baseUrl }),
    );
    for (let times = 0; times < 2; times++) {
      expect(await sdk.getConsortia({}, { provider: here! })).toHaveLength(1);
      await expect(sdk.getConsortia({}, { provider: elsewhere! })).rejects.toThrow(/elsewhere.*HTTP 404/);
    }
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

describe("under mocks", () => {
  /* Lookups in unit tests of programs call the mocks, never the service, although there is a key. */

  type Name = Extract<keyof typeof sdk, `get${string}`>;
  const names = (Object.keys(sdk) as (keyof typeof sdk)[]).filter((name): name is Name => name.startsWith("get"));

  let calls: { token: string; inputs: unknown; provider: string }[] = [];
  const mock = (answer: unknown, preview = false): Promise<void> =>
    runtime.setMocks(
      {
        call: ({ token, inputs, provider }) => {
          calls.push({ token, inputs, provider: provider ?? "" });
          if (answer instanceof Error) throw answer;
          return answer as Record<string, unknown>;
        },
        newResource: ({ name, inputs, id }) => ({ id: preview ? "" : id || `${name}-id`, state: inputs as object }),
      },
      "project",
      "stack",
      preview,
    );

  afterEach(() => {
    calls = [];
  });

  test.each(names)("%s is a call of the mocks", async (name) => {
    const { service } = await start();
    await mock({ balanceWei: "7" });
    const run = sdk[name] as (args: object) => Promise<unknown> | Output<unknown>;
    const args = { consortiumId: "c", environmentId: "e" };
    const answer = name.endsWith("Output") ? await valueOf(run(args) as Output<unknown>) : await run(args);
    expect(calls).toEqual([{ token: `consortium:index:${name.replace(/Output$/, "")}`, inputs: args, provider: "" }]);
    expect(answer).toEqual({ balanceWei: "7" });
    expect(service.calls).toEqual([]);
  });

  test.each<[string, unknown, unknown]>([
    ["a list", [{ id: "c1" }, { id: "c2" }], [{ id: "c1" }, { id: "c2" }]],
    ["an empty list", [], []],
    ["an object with the list, as functions of plugins answer", { consortia: [{ id: "c1" }] }, [{ id: "c1" }]],
  ])("a mock answers %s", async (_, answer, expected) => {
    await mock(answer);
    expect(await sdk.getConsortia({})).toEqual(expected);
    expect(await valueOf(sdk.getConsortiaOutput({}))).toEqual(expected);
  });

  test("the call names the provider, given directly or through a parent", async () => {
    await mock([]);
    const provider = new sdk.Provider("acme", { apiKey: "k" });
    await sdk.getConsortia({}, { provider });
    await sdk.getConsortia({}, { parent: new sdk.Consortium("c", {}, { provider }) });
    const reference = `${await valueOf(provider.urn)}::acme-id`;
    expect(calls.map((call) => call.provider)).toEqual([reference, reference]);
  });

  describe("the Output forms", () => {
    const isKnown = (value: Output<unknown>): Promise<boolean> =>
      (value as unknown as { isKnown: Promise<boolean> }).isKnown;

    test("keep a secret argument secret", async () => {
      await mock([]);
      expect(await isSecret(sdk.getConsortiaOutput({ name: secret("n") }))).toBe(true);
      expect(await isSecret(sdk.getConsortiaOutput({ name: output("n") }))).toBe(false);
    });

    test("wait for their dependencies, and are unknown in the preview that creates these", async () => {
      for (const preview of [false, true]) {
        calls = [];
        await mock([], preview);
        const group = new ComponentResource("test:index:Group", "group");
        const inner = new sdk.Consortium("inner", {}, { parent: group });
        const plain = new ComponentResource("test:index:Group", "empty");
        for (const dependsOn of [inner, [inner], output([inner]), Promise.resolve(inner), group, [plain, group]])
          expect(await isKnown(sdk.getConsortiaOutput({}, { dependsOn }))).toBe(!preview);
        for (const dependsOn of [undefined, [], plain])
          expect(await isKnown(sdk.getConsortiaOutput({}, { dependsOn }))).toBe(true);
        expect(calls).toHaveLength(preview ? 3 : 9);
      }
    });

    test("are unknown while a setting of their provider is unknown; the plain form is an error then", async () => {
      await mock([], true);
      const { id } = new sdk.Consortium("vault");
      const provider = new sdk.Provider("acme", { apiKey: id });
      expect(await isKnown(sdk.getConsortiaOutput({}, { provider }))).toBe(false);
      expect(calls).toEqual([]);
    });
  });
});
