import { type handleUnaryCall, Metadata, type ServerUnaryCall } from "@grpc/grpc-js";
import { DiffResponse, PropertyDiff } from "@pulumi/pulumi/proto/provider_pb";
import * as proto from "@pulumi/pulumi/proto/provider_pb";
import { ProviderService } from "../../plugin/service";
import { unknown } from "../../provider/core/values";
import { containing } from "../service/helpers";
import { type Props, secret } from "../support/double/wire";
import { network } from "../support/network";
import { type Failed, Protocol, struct, urnOf } from "../support/protocol";
import { newProcess, start } from "../support/service";
import { until } from "../support/until";

/* The answers of the plugin for one resource: what a preview knows, what a difference is, and in which weight lines are shown. */

let plugin: Protocol;
beforeEach(async () => {
  plugin = await Protocol.start();
});
afterEach(() => plugin.close());

async function world() {
  const started = await start();
  const net = await network(started.service, started.time);
  await plugin.configure();
  return { ...started, net };
}

describe("a check", () => {
  test.each<[string, Props, string[]]>([
    ["of a preview: asks whether the key is valid", { __preview: true }, ["GET /consortia"]],
    ["of an update: the calls will tell", {}, []],
    ["of a preview with a wrong argument: that is enough", { __preview: true, description: 7 }, []],
  ])("%s", async (_, inputs, asked) => {
    const { calls } = await start();
    await plugin.configure();
    expect((await plugin.check("Consortium", { name: "c", ...inputs })).inputs).not.toHaveProperty("__preview");
    expect(calls()).toEqual(asked);
  });

  test.each<[string, unknown, unknown]>([
    ["given in plain", { a: "s" }, [["details"]]],
    ["marked", secret({ a: "s" }), [["details"]]],
    ["marked in part", { a: secret("s"), b: 1 }, [["details", "a"]]],
    ["left out", undefined, undefined],
  ])("notes each secret once, where it was marked, if it was: %s", async (_, details, noted) => {
    const owned = { consortiumId: "c", environmentId: "e", membershipId: "m", name: "n", type: "kms" };
    const given = { ...owned, ...(details !== undefined && { details }) };
    expect((await plugin.check("Configuration", given)).inputs.__secrets).toEqual(noted);
  });

  test("does not say which values are secret while one is not known, as a saved plan allows", async () => {
    const given = { description: secret("d"), extra: { a: unknown } };
    const { inputs } = await plugin.check("Consortium", given);
    expect(inputs).toEqual({ name: "acme", ...given, __secrets: unknown });
  });
});

describe("a preview of a create", () => {
  test.each<[string, string, Props, Props]>([
    ["knows what is given", "Node", { name: "n", size: "large" }, { name: "n", size: "large" }],
    ["knows nothing that the service adds", "Node", {}, { state: unknown, urls: unknown, revision: unknown }],
    ["knows nothing that the service chooses", "Node", { role: "validator" }, { size: unknown, role: "validator" }],
    ["does not make up what is left out", "Node", {}, { extra: undefined, adopt: undefined }],
  ])("%s", async (_, kind, inputs, outs) => {
    const { calls } = await world();
    const owned = { consortiumId: "c", environmentId: "e", membershipId: "m", name: "n" };
    const preview = await plugin.create(kind, { ...owned, ...inputs }, { preview: true });
    await plugin.create(kind, { ...owned, ...inputs }, { preview: true });
    expect(calls()).toEqual(["GET /consortia"]); // whether the key is valid, once
    expect(preview.outs).toEqual(expect.objectContaining({ ...owned, ...JSON.parse(JSON.stringify(outs)) }));
    for (const [key, value] of Object.entries(outs))
      if (value === undefined) expect(preview.outs).not.toHaveProperty(key);
    expect(preview.id).toBe("");
  });

  test("says what it adopts, and that it is about a new one, as no warning", async () => {
    const { net } = await world();
    await plugin.create("Node", { ...net, name: "n", adopt: true }, { preview: true });
    expect(plugin.shown).toEqual([
      {
        row: "acme",
        text: 'node "n": finds nothing to adopt, and creates a new one',
        warns: false,
        passing: false,
      },
    ]);
  });
});

describe("an object that another resource of the program takes over", () => {
  test.each([
    ["leaves it, though it is not ready yet", "failed", undefined],
    ["keeps it, if the other one did not get it", "started", /^Fix "next-n\d", .*\[step-failed:/],
  ])("the old resource %s: nothing is deleted", async (_, state, why) => {
    const { service, net } = await world();
    const { consortiumId, environmentId, membershipId, otherMembershipId } = net;
    const { nodes } = service.store;
    for (const name of ["n1", "n2"]) {
      const args = { consortiumId, environmentId, membershipId, name };
      const old = await plugin.create(urnOf("Node", name), args);
      plugin.close();
      newProcess();
      plugin = await Protocol.start();
      await plugin.configure();
      nodes.setState(old.id, state);
      const next = urnOf("Node", `next-${name}`);
      const { inputs } = await plugin.check(next, {
        ...args,
        ...(why && { membershipId: otherMembershipId }),
        adopt: true,
      });
      const failed = await plugin.create(next, inputs).catch((error: unknown) => error);
      expect(failed).toMatchObject({ details: containing("n"), ...(!why && { kept: { id: old.id } }) });
      const left = plugin.delete(urnOf("Node", name), old.id, old.outs).catch((error: Failed) => error.details);
      expect(await left).toEqual(why && expect.stringMatching(why));
      expect(nodes.list().some(({ id }) => id === old.id)).toBe(true);
    }
  });
});

describe("a preview of an update", () => {
  const preview = async (kind: string, olds: Props, news: Props): Promise<Props> =>
    (await plugin.update(kind, "id1", olds, news, { preview: true })).outs;
  const pair = { consortiumId: "c", environmentId: "e", membershipId: "m", name: "a" };
  const shown = { ...pair, username: "u", password: secret("hush"), revision: "3" };

  test.each<[string, Props, Props]>([
    ["stays, if nothing asks for another", {}, { password: secret("hush"), username: "u" }],
    ["is not known, if something does", { rotateWhenChanged: { month: "may" } }, { password: unknown, username: "u" }],
  ])("the password %s", async (_, news, outs) => {
    await world();
    const found = await preview("AppCred", shown, { ...pair, ...news });
    expect(found).toMatchObject({ username: outs.username, revision: unknown, authType: unknown }); // never shown
    expect(JSON.stringify(found.password)).toContain(outs.password === unknown ? unknown : "hush");
  });

  test.each<[string, Props, Props, Props]>([
    ["that the service has chosen stays", { size: "small" }, {}, { size: "small" }],
    ["that the service has not shown is not known", {}, {}, { size: unknown }],
    ["that the program now chooses is known", { size: "small" }, { size: "large" }, { size: "large" }],
  ])("a value %s", async (_, olds, news, outs) => {
    await world();
    const node = { consortiumId: "c", environmentId: "e", membershipId: "m", name: "n" };
    expect(await preview("Node", { ...node, ...olds }, { ...node, ...news })).toMatchObject(outs);
  });

  test("a value that stays, although the program asks for another one, is shown as it is", async () => {
    await world();
    const environment = { consortiumId: "c", name: "e", provider: "quorum", consensusType: "raft" };
    const olds = { ...environment, extra: { a: 1 }, __kept: { version: 2 } };
    expect(await preview("Environment", olds, environment)).toMatchObject({ extra: { a: 1 } });
  });
});

describe("a difference in detail", () => {
  const { ADD, ADD_REPLACE, DELETE, DELETE_REPLACE, UPDATE, UPDATE_REPLACE } = PropertyDiff.Kind;
  const zone = { consortiumId: "c", environmentId: "e", name: "z", region: "r", cloud: "aws" };
  const bases: Record<string, Props> = { EnvironmentZone: zone, Consortium: { name: "c" } };

  test.each<[string, string, Props, Props, string, number]>([
    ["another value", "Consortium", {}, { name: "o" }, "name", UPDATE],
    ["a first value", "Consortium", {}, { description: "d" }, "description", ADD],
    ["no value any more", "Consortium", { description: "d" }, {}, "description", DELETE],
    ["another value of another object", "EnvironmentZone", {}, { region: "r2" }, "region", UPDATE_REPLACE],
    ["a first value of another object", "EnvironmentZone", {}, { bridgeId: "b" }, "bridgeId", ADD_REPLACE],
    ["no value any more of another object", "EnvironmentZone", { bridgeId: "b" }, {}, "bridgeId", DELETE_REPLACE],
  ])("is %s", async (_, type, olds, news, key, kind) => {
    await world();
    const state = { ...bases[type], ...olds, state: "live", __kept: { version: 2 } };
    const found = await plugin.diff(type, "x", state, { ...bases[type], ...news });
    expect([found.getDiffsList(), found.getDetaileddiffMap().get(key)!.getKind()]).toEqual([[key], kind]);
    expect(found.getChanges()).toBe(DiffResponse.DiffChanges.DIFF_SOME);
    expect(found.getDetaileddiffMap().get(key)!.getInputdiff()).toBe(false);
  });
});

describe("a time-out of the engine", () => {
  test("limits the verb, and is no input; without one, the default holds", async () => {
    const { service, net } = await world();
    const { id: environmentId } = await plugin.create("Environment", {
      consortiumId: net.consortiumId,
      name: "e",
      provider: "quorum",
      consensusType: "ibft",
    });
    service.setTiming({ nodeStart: 90_000 });
    const { consortiumId, membershipId } = net;
    const own = { consortiumId, membershipId, environmentId, name: "n", customTimeouts: { create: 1 } };
    const made = await plugin.create("Node", own);
    expect(made.outs).toMatchObject({ state: "started" });
    expect(made.outs).not.toHaveProperty("customTimeouts");
    const other = { ...own, name: "o" };
    await expect(plugin.create("Node", other, { timeout: 5 })).rejects.toMatchObject({
      details: containing("after 5 s"),
    });
  });
});

test("an error names the resource, if a call failed, and has the engine's code for one that is expected", async () => {
  const { service, net } = await world();
  service.faults.add({ kind: "status", status: 400, errorMessage: "no", method: "POST" });
  await expect(plugin.create("Membership", { consortiumId: net.consortiumId, orgName: "x" })).rejects.toMatchObject({
    code: 9,
    details: expect.stringMatching(/^Membership "acme": Fix .*POST .*HTTP 400: no\. \[request-refused:/) as string,
  });
});

test("a line about waiting passes by in the row of its resource; the others stay, and are no warnings", async () => {
  const { net, service } = await world();
  service.setTiming({ nodeStart: 60_000 });
  const { consortiumId, environmentId, membershipId } = net;
  service.faults.add({ kind: "resetAfter", method: "POST" });
  await plugin.create("Node", { consortiumId, environmentId, membershipId, name: "n" });
  const [passing, others] = [true, false].map((is) => plugin.shown.filter((line) => line.passing === is));
  expect(passing!.length).toBeGreaterThan(0);
  expect(others!.map(({ text }) => text)).toEqual([
    containing("Looking for an object that it may have created anyway"),
  ]);
  expect(new Set(plugin.shown.map(({ row, warns }) => `${row} ${warns}`))).toEqual(new Set(["acme false"]));
});

describe("once the engine is gone", () => {
  /** The answer of a service without a connection. */
  const answered = <Q extends object, A>(call: unknown, request: Q): Promise<{ error?: string; answer?: A }> =>
    new Promise((resolve) =>
      (call as handleUnaryCall<Q, A>)({ request, metadata: new Metadata() } as ServerUnaryCall<Q, A>, (error, answer) =>
        resolve(error ? { error: (error as { details?: string }).details ?? "" } : { answer: answer! }),
      ),
    );

  test("nothing is sent any more, and who waits ends", async () => {
    const { service } = await start({ clock: undefined, timing: { environmentStart: 3_600_000 } });
    const provider = new ProviderService();
    const create = (kind: string, props: Props) =>
      answered(provider.calls.create, new proto.CreateRequest().setUrn(urnOf(kind)).setProperties(struct(props)));
    await answered(provider.calls.configure, new proto.ConfigureRequest().setArgs(struct({})));
    const { answer } = await create("Consortium", { name: "c" });
    const client = { provider: "quorum", consensusType: "raft" };
    const consortiumId = (answer as proto.CreateResponse).getId();
    const waiting = create("Environment", { consortiumId, name: "e", ...client });
    await until(() => service.calls.some(({ method, route }) => method === "POST" && route.endsWith("/environments")));
    provider.end();
    expect(await waiting).toHaveProperty("error");
    service.clearCalls();
    expect(await create("Consortium", { name: "d" })).toHaveProperty("error");
    expect(service.calls).toEqual([]);
  });
});
