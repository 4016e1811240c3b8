import type { ServiceOptions } from "../../../service/index";
import { furnished, populated, quick, refused, start } from "../helpers";

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
  test("true: a parent is deleted only after its children", async () => {
    const { send, paths } = await populated({ timing: { ...quick, deletedVisible: 9_999 } });
    const holds = refused(409, "1 environment(s) and 1 membership(s)");
    expect(await send("DELETE", paths.membership)).toMatchObject(refused(409, "1 node(s)"));
    expect(await send("DELETE", paths.consortium)).toMatchObject(holds);
    expect((await send("DELETE", paths.node)).status).toBe(204);
    expect((await send("DELETE", paths.membership)).status).toBe(204);
    expect((await send("DELETE", paths.consortium)).status).toBe(409);
    expect((await send("DELETE", paths.environment)).status).toBe(202);
    expect((await send("DELETE", paths.consortium)).status).toBe(202);
  });

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
