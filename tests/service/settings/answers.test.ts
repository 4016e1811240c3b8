import { startService, type ServiceOptions } from "../../../service/index";
import { anyText, client, furnished, matching, populated, quick, refused, start } from "../helpers";
import { readFileSync } from "node:fs";
import { apiQuirks, callLimits, limits, timing } from "../../../service/settings/settings";

const world = (answers: ServiceOptions["answers"] = {}) =>
  furnished({ timing: quick, tethers: [{ id: "t" }], answers });

test.each([200, 202, 204])("created and updated: %i", async (status) => {
  const { service, send, paths } = await world();
  service.setAnswers({ created: status, updated: status });
  const answers = [
    await send("POST", "/consortia", { name: "a" }),
    await send("PATCH", paths.membership, { org_name: "b" }),
  ];
  for (const { status: answered, text } of answers)
    expect({ answered, empty: text === "" }).toEqual({ answered: status, empty: status === 204 });
});

test("deleted: the status of each kind, and with a body, the object", async () => {
  const { service, send, all } = await world({ refuseChildren: false });
  const { consortium, membership, environment, ...inside } = all;
  for (const [name, path] of Object.entries({ ...inside, environment, membership, consortium })) {
    const kind = /zone/i.test(name) ? "zone" : name;
    service.setAnswers({ deleted: { [kind]: 203 } });
    const { status, body } = await send("DELETE", path);
    expect([kind, status, body._revision]).toEqual([kind, 203, "1"]);
    expect(body.state).toBe(kind === "credential" ? undefined : "deleted");
  }
});

test("a change of one answer leaves the others", async () => {
  const { service } = await start({ answers: { created: 200, deleted: { node: 202 } } });
  service.setAnswers({ deleted: { membership: 200 }, updated: 204 });
  expect(service.answers).toMatchObject({ created: 200, updated: 204, deleted: { node: 202, membership: 200 } });
  expect(() => service.setAnswers({ created: 500 })).toThrow(/setAnswers: created/);
});

test("emptyBodies: only a new password answers with a body", async () => {
  const { service, send, paths, membership } = await world();
  service.setAnswers({ emptyBodies: true });
  for (const [method, path, body] of [
    ["POST", "/consortia", { name: "a" }],
    ["POST", `${paths.consortium}/memberships`, { org_name: "a" }],
    ["PATCH", paths.node, { name: "b" }],
    ["DELETE", paths.node, undefined],
  ] as const) {
    const { status, text } = await send(method, path, body);
    expect({ ok: status < 300, text }).toEqual({ ok: true, text: "" });
  }
  const pair = await send("POST", `${paths.environment}/appcreds`, { membership_id: membership });
  expect(pair.body).toHaveProperty("password");
  expect((await send("POST", `${paths.credential}/regenerate`)).body).toHaveProperty("password");
});

test("idField: all objects carry id in place of _id", async () => {
  const { service, send, all } = await world();
  service.setAnswers({ idField: "id" });
  for (const path of [...Object.values(all), "/tether/t"]) {
    const { body } = await send("GET", path);
    expect(body).toHaveProperty("id", path.split("/").at(-1));
    expect(body).not.toHaveProperty("_id");
  }
});

test("getById: only nodes can be read by id", async () => {
  const { service, send, all } = await world();
  service.setAnswers({ getById: false });
  const { node, ...others } = all;
  expect((await send("GET", node)).status).toBe(200);
  for (const path of [...Object.values(others), "/tether/t"])
    expect(await send("GET", path)).toMatchObject(refused(404));
});

test.each([405, 404, 501])("patch, reset and listCredentials: %i", async (status) => {
  const { service, send, all, paths } = await world();
  service.setAnswers({ patch: status, reset: status, listCredentials: status });
  const answer = refused(status);
  for (const path of Object.values(all)) {
    const before = (await send("GET", path)).text;
    expect(await send("PATCH", path, { name: "x" })).toMatchObject(answer);
    expect((await send("GET", path)).text).toBe(before);
  }
  for (const path of [all.node, all.service]) expect(await send("PUT", `${path}/reset`, {})).toMatchObject(answer);
  expect(await send("GET", `${paths.environment}/appcreds`)).toMatchObject(answer);
  expect((await send("GET", `${paths.environment}/nodes`)).status).toBe(200);
});

test.each([404, 410, 403] as const)("gone: %i", async (gone) => {
  const { send, paths, all } = await world({ gone });
  await send("DELETE", paths.environment);
  const { consortium, membership, consortiumZone, invitation, ...inside } = all;
  for (const path of [...Object.values(inside), `${paths.environment}/nodes`, "/consortia/x", "/tether/x/account"])
    expect(await send("GET", path)).toMatchObject(refused(gone));
  for (const path of [consortium, membership, consortiumZone, invitation])
    expect((await send("GET", path)).status).toBe(200);
});

test("unknownFields: every object has additional fields, some null, besides its own", async () => {
  const { service, send, all } = await world();
  for (const path of [...Object.values(all), "/tether/t", "/tether/t/account"]) {
    const plain = (await send("GET", path)).body;
    service.setAnswers({ unknownFields: true });
    const { body } = await send("GET", path);
    service.setAnswers({ unknownFields: false });
    expect(body).toMatchObject({ ...plain, x_plan: { renews: null }, x_retired_at: null });
  }
});

test("strictBodies: fields that are not documented are refused", async () => {
  const { service, send, paths, membership } = await world();
  service.setAnswers({ strictBodies: true });
  const kind = { provider: "geth", consensus_type: "poa" };
  const bodies: [string, object][] = [
    ["/consortia", { name: "a", description: "d" }],
    [`${paths.consortium}/memberships`, { org_name: "a" }],
    [`${paths.consortium}/environments`, { ...kind, name: "e", chain_id: 5, description: "d" }],
    [`${paths.environment}/nodes`, { membership_id: membership, name: "n" }],
    [`${paths.environment}/appcreds`, { membership_id: membership, name: "n" }],
    ["/tether/t/interval", { interval: 1 }],
  ];
  for (const [path, body] of bodies) {
    expect(await send("POST", path, { ...body, colour: "red" })).toMatchObject(refused(400, "colour"));
    expect((await send("POST", path, body)).status).toBeLessThan(300);
  }
});

test("foundingMembership: a consortium is created and deleted with one", async () => {
  const { send } = await start({ organizations: [{ name: "acme" }], answers: { foundingMembership: true } });
  const consortium = (await send("POST", "/consortia", { name: "c" })).body._id;
  const list = await send("GET", `/consortia/${consortium}/memberships`);
  expect(list.body).toMatchObject([{ org_name: "acme", state: "active" }]);
  expect(list.body[0]).not.toHaveProperty("founding");
  expect((await send("DELETE", `/consortia/${consortium}`)).status).toBe(202);
});

test("extended: false: kinds and fields beyond the specification do not exist", async () => {
  const { service, send, paths, membership, all } = await world();
  service.setAnswers({ extended: false });
  const more = Object.entries(all).flatMap(([kind, path]) => (kind in paths ? [] : [path]));
  const beyond = [`${paths.environment}/eth/fundaccount`, `${paths.credential}/regenerate`, "/tether/t/account"];
  for (const path of beyond) expect((await send("POST", path, {})).status).toBe(404);
  for (const body of [{ state: "paused" }, { release_id: "quorum-0" }, { autopause_idle_hours: 1 }, { idle_hours: 1 }])
    expect((await send("PATCH", paths.environment, body)).status).toBe(400);
  const account = [`${paths.environment}/status`, "/orgs", "/apikeys", "/regions", "/plans/starter", "/memberships"];
  for (const path of [...more, ...account, "/releases", "/documentstore/x/destinations"])
    expect(await send("GET", path)).toMatchObject(refused(404, "no GET"));
  expect((await send("POST", "/authtoken", { apikey: service.apiKey })).status).toBe(404);
  expect((await send("PUT", `${paths.node}/reset`, {})).status).toBe(404);
  expect((await send("POST", `${paths.membership}/verify`, { test_certificate: true })).status).toBe(404);
  const { body } = await send("GET", paths.node);
  for (const field of ["size", "urls", "first_user_account"]) expect(body).not.toHaveProperty(field);
  expect((await send("PATCH", paths.node, { size: "large" })).status).toBe(400);

  const list = `${paths.environment}/nodes`;
  const wanted = { membership_id: membership, zone_id: "anywhere" };
  expect((await send("POST", list, wanted)).body).toMatchObject(wanted);
  service.setAnswers({ strictBodies: true });
  expect(await send("POST", list, wanted)).toMatchObject(refused(400, "zone_id"));
  expect((await send("POST", list, { membership_id: membership, name: "n" })).status).toBe(201);
});

describe("refuseChildren", () => {
  test("false: a membership is deleted with its nodes and credentials in all environments", async () => {
    const { send, paths, membership } = await populated({ timing: quick, answers: { refuseChildren: false } });
    const kept = (await send("POST", `${paths.consortium}/memberships`, { org_name: "b" })).body._id;
    const kind = { provider: "geth", consensus_type: "poa" };
    const second = (await send("POST", `${paths.consortium}/environments`, kind)).body._id;
    const inside = [paths.environment, `${paths.consortium}/environments/${second}`];
    for (const path of inside) await send("POST", `${path}/nodes`, { membership_id: kept, name: "kept" });
    for (const list of ["nodes", "appcreds"]) await send("POST", `${inside[1]}/${list}`, { membership_id: membership });
    expect((await send("DELETE", paths.membership)).status).toBe(204);
    for (const path of inside) {
      expect((await send("GET", `${path}/nodes`)).body).toMatchObject([{ name: "kept" }]);
      expect((await send("GET", `${path}/appcreds`)).body).toEqual([]);
    }
  });
});

test.each([
  [{ prot: 1 }, /startService options: .*"prot"/],
  [{ port: -1 }, /port: /],
  [{ port: 70_000 }, /port: /],
  [{ host: "" }, /host: /],
  [{ organizations: [] }, /organizations: /],
  [{ organizations: [{ name: "a" }, { name: "a" }] }, /organizations: each name must be different/],
  [{ organizations: [{ name: "a", apiKey: "with space" }] }, /organizations.0.apiKey: must be visible characters/],
  [{ organizations: ["a", "b"].map((name) => ({ name, apiKey: "k" })) }, /b cannot use the API key of a/],
  [{ tethers: [{ id: "a/b" }] }, /tethers.0.id: must be letters/],
  [{ tethers: [{ id: "t" }, { id: "t" }] }, /tethers: each id must be different/],
  [{ tethers: [{ id: "t", organization: "nobody" }] }, /tether t names an unknown organization, nobody/],
  [{ tethers: [{ id: "t", funds: { rinkeby: "1.5" } }] }, /funds.rinkeby: must be a whole number of wei/],
  [{ data: "/a", dataDir: "/b" }, /data and dataDir name two folders/],
  [{ limits: { nodes: -1 } }, /limits.nodes: /],
  [{ timing: { nodeStart: -1 } }, /timing.nodeStart: /],
  [{ timing: { tetherHour: 0 } }, /timing.tetherHour: /],
  [{ answers: { gone: 200 } }, /answers.gone: /],
  [{ answers: { created: 199 } }, /answers.created: /],
  [{ answers: { created: 300 } }, /answers.created: /],
  [{ answers: { patch: 399 } }, /answers.patch: /],
  [{ answers: { patch: 600 } }, /answers.patch: /],
  [{ answers: { deleted: { node: 404 } } }, /answers.deleted.node: /],
  [{ ledger: { idleAfter: -1 } }, /ledger/],
  [{ ledger: { anvil: "/nowhere/anvil" } }, /\/nowhere\/anvil/],
  [{ clock: 5 }, /clock: must be a function/],
])("%j is refused with a one-sentence reason", async (options, message) => {
  const refusal = { code: "invalid-setting", message: matching(message) };
  await expect(startService(options as ServiceOptions)).rejects.toMatchObject(refusal);
});

test("an error names five values, and how many more there are", async () => {
  const bad = { environmentStart: -1, nodeStart: -1, upgrade: -1, deletedVisible: -1, deleting: -1 };
  await expect(startService({ timing: bad })).rejects.toThrow(/(timing\.\w+: [^;]*; ){4}timing\.\w+: [^;]*$/);
  const more = { ...bad, listLag: -1, latency: -1 };
  await expect(startService({ timing: more })).rejects.toThrow(/(timing\.\w+: [^;]*; ){5}and 2 more/);
});

test("the outermost statuses are taken", () => {
  for (const given of [
    { created: 200, patch: 400 },
    { created: 299, patch: 599 },
  ] as const)
    expect(apiQuirks.parse(given)).toMatchObject(given);
});

test("undefined options get their defaults", async () => {
  const none = { port: undefined, timing: { nodeStart: undefined }, answers: { deleted: undefined } };
  const { service } = await start(none);
  expect(service.timing.nodeStart).toBe(1_500);
  expect(service.answers.deleted.node).toBe(204);
});

test("each default is the one that its description promises", () => {
  const source = readFileSync("service/settings/settings.ts", "utf8");
  const described = source.matchAll(/Default ([^\s.;:]+(?: [KM]iB)?)[^/]*?\*\/\s+(\w+):/g);
  const promised = [...described].map(([, text = "", name = ""]) => {
    const bytes = { KiB: 1_024, MiB: 1_048_576 }[text.split(" ")[1] ?? ""] ?? 1;
    const number = Number(text.split(" ")[0]!.replaceAll(",", "")) * bytes;
    return [name, Number.isNaN(number) ? text.replaceAll("`", "") : String(number)];
  });
  const { deleted, quorumLedger, ...simple } = apiQuirks.parse({});
  const parts = [simple, timing.parse({}), limits.parse({}), callLimits.parse({})];
  const all = parts.flatMap((part) => Object.entries(part)).map(([name, value]) => [name, String(value)]);
  expect(promised).toEqual(all);
  expect(quorumLedger).toEqual({ clock: "seconds" });
  const { consortium, environment, ...others } = deleted;
  expect([consortium, environment, new Set(Object.values(others))]).toEqual([202, 202, new Set([204])]);
});

test("the addresses are consistent, and each service has a new key", async () => {
  const { service } = await start();
  const other = await start();
  expect(service.url).toBe(`http://127.0.0.1:${service.port}`);
  expect(service.baseUrl).toBe(`${service.url}/api/v1`);
  expect(service.organizations).toEqual([{ id: anyText, name: "local", apiKey: service.apiKey }]);
  expect(other.service.apiKey).not.toBe(service.apiKey);
  expect((await client(other.service.baseUrl, service.apiKey)("GET", "/consortia")).status).toBe(401);
});
