import { CheckRequest, type CheckResponse, DiffResponse } from "@pulumi/pulumi/proto/provider_pb";
import { version } from "../../package.json";
import { unknown } from "../../provider/core/values";
import { anyText, containing } from "../service/helpers";
import { setEnvironment, start } from "../support/service";
import { type Props, secret } from "../support/double/wire";
import { type Failed, plain, Protocol, struct } from "../support/protocol";
import { until } from "../support/until";

/* The engine's calls to the plugin, over gRPC; tests/e2e/plugin drives the real engine. */

let plugin: Protocol;
beforeEach(async () => {
  plugin = await Protocol.start();
});
afterEach(() => plugin.close());

/** The parents for a node of the plugin: a consortium with these inputs, a member and an environment. */
async function place(inputs: Props = {}) {
  await plugin.configure();
  const { id: consortiumId } = await plugin.create("Consortium", { name: "c", ...inputs });
  const { id: membershipId } = await plugin.create("Membership", { consortiumId, orgName: "m" });
  const client = { provider: "quorum", consensusType: "raft" };
  const { id: environmentId } = await plugin.create("Environment", { consortiumId, name: "e", ...client });
  return { consortiumId, membershipId, environmentId };
}

const { DIFF_SOME } = DiffResponse.DiffChanges;

test.each([
  ["a setting that does not exist", { apikey: "k" }, "", /no setting "apikey"; did you mean "apiKey"/],
  ["a region that does not exist", { region: "de" }, "region", /must be one of us, eu, ap, ko, us1, eu1, not "de"/],
  [
    "an adopt that is neither true nor false",
    { adopt: "ture" },
    "adopt",
    /argument adopt .* must be true or false\. \[invalid-setting:/,
  ],
  ["an invalid address", { baseUrl: "nonsense" }, "baseUrl", /is not an address/],
])("%s is an error when the provider is checked", async (_, news, property, reason) => {
  expect(await plugin.checkConfig(news, "acme")).toEqual([
    { property, reason: expect.stringMatching(reason) as string },
  ]);
});

test("each setting that does not exist is told, the second one, too", async () => {
  const told = await plugin.checkConfig({ apikey: "k", regoin: "eu" }, "acme");
  expect(told.map(({ reason }) => /did you mean "(\w+)"/.exec(reason)?.[1])).toEqual(["apiKey", "region"]);
});

test.each([
  ["a key with a line break", { apiKey: "canary\n" }, "", /^The setting apiKey .* no spaces, line breaks/],
  ["an address beside a key", { apiKey: "canary", baseUrl: "https://x" }, "baseUrl", /has the path/],
  ["an address with a password", { baseUrl: "https://me:canary@x/api/v1" }, "", /holds a user name or password/],
  ["a secret region", { region: secret("canary") }, "", /not "\[secret\]"/],
])("%s: the failure names no property, because the engine would print its secret value", async (...row) => {
  const [, news, property, reason] = row;
  const told = await plugin.checkConfig(news, "acme");
  expect(told).toEqual([{ property, reason: expect.stringMatching(reason) as string }]);
  expect(told[0]!.reason).not.toContain("canary");
});

test("a wrong secret input is reported without its value, and so is one that may be a misspelt secret", async () => {
  const client = { provider: "quorum", consensusType: "raft" };
  const inputs = { consortiumId: "c", name: secret(1234567), ...client, chainId: secret(-77) };
  const misspelt = { environmentId: "e", membershipId: "m", type: "node_config", detail: "canary", nam: "n" };
  const plain = { consortiumId: "c", environmentId: "e", membershipId: "m", type: "kms", details: "canary" };
  const { failures: marked } = await plugin.check("Configuration", plain);
  expect(marked).toEqual([{ property: "", reason: expect.not.stringContaining("canary") as string }]);
  const { failures } = await plugin.check("Configuration", { consortiumId: "c", ...misspelt });
  expect(failures.map(({ property }) => property)).toEqual(["", "nam"]);
  expect((await plugin.check("Environment", inputs)).failures).toEqual([
    {
      property: "",
      reason: expect.stringContaining(
        'name must be text: write "[secret]" instead of [secret] [invalid-argument:',
      ) as string,
    },
    { property: "", reason: expect.stringContaining("chainId must be at least 1 [") as string },
  ]);
});

test.each([{}, { apiKey: secret("k"), region: "eu" }, { apiKey: unknown, baseUrl: unknown }])(
  "settings that are valid, missing or unknown pass: %j",
  async (news) => {
    expect(await plugin.checkConfig(news, "acme")).toEqual([]);
  },
);

test("an explicit provider's own key wins over the environment; a key in the stack configuration does not", async () => {
  const { service } = await start();
  await plugin.configure({ apiKey: "stale" });
  expect(await plugin.create("Consortium", { name: "a" })).toMatchObject({ id: anyText });
  await plugin.configure({ apiKey: "stale" }, "acme");
  await expect(plugin.create("Consortium", { name: "b" })).rejects.toMatchObject({
    details: containing("argument apiKey of the Provider"),
  });
  await plugin.configure({ apiKey: service.apiKey, own: "region" }, "acme");
  expect(await plugin.create("Consortium", { name: "b" })).toHaveProperty("id");
});

test("a deletion that is pending after a move to the dynamic provider is done under that provider's type", async () => {
  const { service } = await start();
  await plugin.configure({});
  const { id, outs: properties } = await plugin.create("Consortium", { name: "a" });
  plugin.close();
  plugin = await Protocol.start(); // of a later command
  await plugin.configure({});
  await plugin.delete("urn:pulumi:dev::p::pulumi-nodejs:dynamic/consortium:Consortium::acme", id, properties);
  expect(service.store.consortia.list()).toEqual([]);
  await expect(plugin.delete("urn:pulumi:dev::p::aws:s3/bucket:Bucket::acme", id, properties)).rejects.toMatchObject({
    details: containing("no resource aws:s3/bucket:Bucket"),
  });
});

test("a program of another version is refused with what to do", async () => {
  const { failures } = await plugin.check("Consortium", { __program: "9.9.9" });
  expect(failures.map(({ reason }) => reason).join()).toMatch(
    `the program has pulumi-consortium 9.9.9, but the provider plugin is ${version}: install`,
  );
  expect((await plugin.check("Consortium", { __program: version })).inputs).toEqual({ name: "acme" });
});

describe("a preview of an update", () => {
  beforeEach(async () => {
    await start();
    await plugin.configure();
  });
  const preview = async (kind: string, olds: Props, news: Props): Promise<Props> =>
    (await plugin.update(kind, "id1", olds, news, { preview: true })).outs;

  test("still shows a removed secret input as a secret", async () => {
    const olds = { name: "c", description: secret("hush"), state: "setup" };
    expect(await preview("Consortium", olds, { name: "c" })).toMatchObject({ name: "c", description: secret("hush") });
  });

  test("knows no output of a tether, because any of them may change", async () => {
    const settings = { tetherId: "tether0001", network: "rinkeby", intervalHours: 2, active: true };
    const outputs = {
      account: `0x${"5b".repeat(20)}`,
      balanceWei: "7",
      state: "active",
      deployedNetworks: ["rinkeby"],
    };
    const outs = await preview("TetherService", { ...settings, ...outputs }, { ...settings, network: "mainnet" });
    expect(outs).toMatchObject({ network: "mainnet", intervalHours: 2 });
    for (const key of Object.keys(outputs)) expect([key, outs[key]]).toEqual([key, unknown]);
  });
});

test.each([
  ["keeps the code that a state of the dynamic provider has, so that moving back changes nothing", "exports.x = 1"],
  ["has no code if the state has none", undefined],
])("an update, and a refresh, %s", async (_, code) => {
  await start();
  await plugin.configure();
  const { id, outs } = await plugin.create("Consortium", { name: "c" });
  const olds = { ...outs, ...(code !== undefined && { __provider: code }) };
  const updated = await plugin.update("Consortium", id, olds, { name: "d" });
  expect(updated.outs).toMatchObject({ name: "d" });
  const read = await plugin.read("Consortium", id, updated.outs);
  expect([updated.outs.__provider, read.outs.__provider]).toEqual([code, code]);
});

test.each([
  ["fails", 6],
  ["succeeds", 1],
])("every line is shown before the answer, after which the engine may end the plugin: %s", async (ends, lost) => {
  const { service } = await start();
  await plugin.configure();
  plugin.busyMs = 400;
  service.faults.add({
    kind: "status",
    status: 500,
    method: "POST",
    route: "/consortia/:consortiumId/memberships",
    times: lost,
  });
  const { id: consortiumId } = await plugin.create("Consortium", { name: "c" });
  const created = plugin.create("Membership", { consortiumId, orgName: "m" });
  if (ends === "fails") await expect(created).rejects.toMatchObject({ details: containing("HTTP 500") });
  else await created;
  expect(plugin.shown.filter(({ text }) => text.includes("Looking"))).toHaveLength(lost);
});

test("an object that is not ready is kept with its id; secrets stay secret; the next update continues", async () => {
  const { service } = await start({ timing: { nodeStart: 60_000 } });
  const inputs = { ...(await place({ description: secret("hush") })), name: secret("n") };
  const failed = (await plugin.create("Node", inputs, { timeout: 5 }).catch((error: unknown) => error)) as Failed;
  expect(failed.details).toMatch(/still .* after 5 s, which is the limit/);
  expect(failed.kept).toMatchObject({ properties: inputs, reasons: [failed.details] });
  expect(failed.kept!.properties).not.toHaveProperty("customTimeouts");
  const { id, properties } = failed.kept!;
  expect((await plugin.diff("Node", id, properties, inputs)).getChanges()).toBe(DIFF_SOME);
  expect((await plugin.update("Node", id, properties, inputs)).outs).toMatchObject({ state: "started" });
  expect(service.calls.filter(({ method }) => method === "POST")).toHaveLength(4);
  // Progress appears in the row of the resource.
  expect(plugin.shown.filter(({ passing }) => passing).map(({ row }) => row)).toContain("acme");
});

test("Ctrl-C ends the wait, and the new object is kept", async () => {
  const { service } = await start({ clock: undefined, timing: { nodeStart: 3_600_000 } });
  const creating = plugin.create("Node", { ...(await place()), name: "n" });
  const failed = creating.catch((error: unknown) => error as Failed);
  await until(() => service.calls.some(({ method, route }) => method === "POST" && route.endsWith("/nodes")));
  await plugin.cancel();
  expect(await failed).toMatchObject({
    details: containing("interrupted while waiting"),
    kept: { id: anyText },
  });
});

test("lookups return lists under their key, and refuse wrong arguments by property", async () => {
  await start();
  await plugin.configure();
  await plugin.create("Consortium", { name: "c" });
  expect((await plugin.invoke("getConsortia", {})).result).toMatchObject({ consortia: [{ name: "c" }] });
  const { failures } = await plugin.invoke("getMemberships", {});
  expect(failures).toEqual([{ property: "consortiumId", reason: anyText }]);
});

test("a difference and a lookup with another organization's key are refused; with a rotated key they are not, even while the service is away", async () => {
  const { service } = await start();
  setEnvironment({ CONSORTIUM_API_KEY: service.addOrganization("acme").apiKey });
  await plugin.configure();
  const { id, outs } = await plugin.create("Consortium", { name: "ours" });
  setEnvironment({ CONSORTIUM_API_KEY: service.addOrganization("globex").apiKey });
  await plugin.configure();
  await plugin.create("Consortium", { name: "theirs" });
  await plugin.configure();
  expect((await plugin.invoke("getConsortia", {})).result).toMatchObject({ consortia: [{ name: "theirs" }] });
  await expect(plugin.diff("Consortium", id, outs, { name: "ours" })).rejects.toBeDefined(); // the lookup knows of it then
  await expect(plugin.invoke("getConsortia", {})).rejects.toMatchObject({
    details: expect.stringMatching(/"ours" .* was made with organization .* belongs to organization/) as string,
  });
  setEnvironment({ CONSORTIUM_API_KEY: service.rotateKey("acme") });
  await plugin.configure();
  const away = { kind: "status", status: 503, errorMessage: "maintenance", times: Infinity } as const;
  service.faults.add({ ...away, method: "GET", route: /apikeys|orgs/ });
  await plugin.diff("Consortium", id, outs, { name: "ours" });
  service.faults.clear();
  expect((await plugin.invoke("getConsortia", {})).result).toMatchObject({ consortia: [{ name: "ours" }] });
});

test.each([
  [
    "the engine made it, and adds what it knows of the plugin",
    { region: "eu", version: "0.1.0", pluginDownloadURL: "https://x", __internal: {} },
    "default_0_1_0",
    '{"region":"eu"}',
    false,
  ],
  ["a program made it: it has others", { apiKey: "k" }, "default", '{"region":"eu"}', true],
  ["an engine that does not tell the configuration", { region: "eu" }, "default_0_1_0", undefined, false],
])("a provider is the default one: %s", async (_, news, name, config, own) => {
  setEnvironment({ PULUMI_CONFIG: config });
  try {
    const request = new CheckRequest();
    request.setUrn(`urn:pulumi:dev::p::pulumi:providers:consortium::${name}`);
    request.setNews(struct(news));
    const { inputs } = { inputs: plain((await plugin.call<CheckResponse>("checkConfig", request)).getInputs()) };
    expect(inputs.own).toBe(own);
  } finally {
    setEnvironment({ PULUMI_CONFIG: undefined });
  }
});

test("an unknown key of the stack's configuration is refused, except in a project with that name", async () => {
  const reason = expect.stringMatching(/consortium:regoin is not a setting; did you mean "region"\?/) as string;
  expect(await plugin.checkConfig({ regoin: "eu" })).toEqual([{ property: "", reason }]);
  const urn = "urn:pulumi:dev::consortium::pulumi:providers:consortium::default";
  expect(await plugin.checkConfig({ regoin: "eu" }, urn)).toEqual([]);
  expect(await plugin.checkConfig({ plugin: "true", adopt: "false" })).toEqual([]);
});
