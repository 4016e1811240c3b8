import { bases, collectionOf, routeOf } from "../../support/bases";
import { Engine, failed, type Props } from "../../support/engine";
import { world } from "../../support/lifecycle";
import { send } from "../../support/network";
import { newProcess } from "../../support/service";
import { rewriting } from "../../support/virtual-time";
import { type Service } from "../../../service/index";

/* Credentials are special: they are indistinguishable, and the password is shown only once. */

test("without a list of credentials, a warning says that an unused one may be left", async () => {
  const { engine, service, net, said } = await world("appCred", { answers: { listCredentials: 404 } });
  service.faults.add({ kind: "resetAfter", method: "POST" });
  expect(await engine.up(bases.appCred(net))).toEqual({ then: "created" });
  expect(said.join("\n")).toMatch(/Warning: credential "app": .*whose password nobody has.*delete it by hand/);
  expect(service.store.credentials.list().map(({ id }) => id)).toContain(engine.kept!.id);
});

test("an answer without the password: the service is asked for a new one of the same credential", async () => {
  const { engine, service, net, calls } = await world("appCred");
  // The answer to the create names it, and shows no more.
  rewriting({
    answer: (text, { method, url }) =>
      method === "POST" && url.endsWith("/appcreds") ? text.replace(/,"password":"[^"]*"/, "") : text,
  });
  expect(await engine.up(bases.appCred(net))).toEqual({ then: "created" });
  expect(calls().filter((call) => call.startsWith("POST"))).toEqual([
    `POST ${routeOf("appCred")}`,
    `POST ${routeOf("appCred")}/:credentialId/regenerate`,
  ]);
  expect(service.store.credentials.list()).toEqual([expect.objectContaining({ id: engine.kept!.id })]);
  expect(JSON.stringify(engine.outputs)).toMatch(/"password":.*[^"]{8}/);
  expect(await engine.up(bases.appCred(net))).toEqual({ then: "same" });
});

test("without such a call, a credential whose password nobody has is deleted again, each time", async () => {
  const { engine, service, net } = await world("appCred", { answers: { extended: false } });
  rewriting({
    answer: (text, { method }) => (method === "POST" ? text.replace(/,"password":"[^"]*"/, "") : text),
  });
  for (let times = 0; times < 2; times++) {
    expect(await engine.up(bases.appCred(net))).toEqual(failed(/without the password.* was deleted again/));
    expect(service.store.credentials.list()).toEqual([]);
  }
});

test.each([true, false])(
  "an answer without the password, with the id of another one (can regenerate: %s): that stays as it is",
  async (extended) => {
    const { engine, service, net } = await world("appCred", { answers: { extended } });
    const { credentials } = service.store;
    const others = ["first", "second"];
    for (const name of others)
      await send(service, "POST", collectionOf("appCred", net), { membership_id: net.membershipId, name });
    const before = credentials.list();
    for (const { id } of before) {
      rewriting({
        answer: (text, { method, url }) =>
          method === "POST" && url.endsWith("/appcreds")
            ? JSON.stringify({ ...JSON.parse(text), _id: id, username: id, password: undefined })
            : text,
      });
      expect(await engine.up(bases.appCred(net))).toEqual(failed(new RegExp(`without the password(?!.*${id})`)));
      expect(credentials.list()).toEqual(expect.arrayContaining(before));
    }
  },
);

test("if the service refuses the name, which the API does not list, the create is sent without it", async () => {
  const { engine, service, net, calls } = await world("appCred");
  service.faults.add({ kind: "status", status: 400, errorMessage: "unknown field: name", method: "POST" });
  expect(await engine.up(bases.appCred(net))).toEqual({ then: "created" });
  expect(calls().filter((call) => call.startsWith("POST"))).toHaveLength(2);
  expect(service.store.credentials.get(engine.kept!.id).fields).not.toHaveProperty("name");
  expect(engine.outputs.name).toBe("app");
  await engine.refresh();
  expect(await engine.up(bases.appCred(net))).toEqual({ then: "same" });
});

test("a lost one is never confused with a sibling's that is still unanswered", async () => {
  const { engine, service, net, time } = await world("appCred");
  const all = [engine, new Engine("appCred"), new Engine("appCred")];
  service.faults.add({ kind: "resetAfter", method: "POST" });
  time.late = ({ method }) => (method === "POST" ? time.sleep(1_000) : Promise.resolve());
  const outcomes = await Promise.all(all.map((one) => one.up(bases.appCred(net)))); // all look alike
  expect(outcomes).toEqual(all.map(() => ({ then: "created" })));
  const there = service.store.credentials.list().map(({ id }) => id);
  expect(there.sort()).toEqual(all.map((one) => one.kept!.id).sort());
});

test("a sibling that appears first in lagging lists does not end the search for the lost one", async () => {
  const { engine, service, net, time, said } = await world("appCred", { timing: { listLag: 1_200 } });
  const sibling = new Engine("appCred");
  time.pass(5_000);
  // Of two creates at once the first is told to wait, so that the lost one is the younger of the two.
  service.faults.add({ kind: "status", status: 429, retryAfter: 1, method: "POST" });
  service.faults.add({ kind: "resetAfter", method: "POST", nth: 3 });
  const outcomes = await Promise.all([engine, sibling].map((one) => one.up(bases.appCred(net))));
  expect(outcomes).toEqual([{ then: "created" }, { then: "created" }]);
  const there = service.store.credentials.list().map(({ id }) => id);
  expect(there.sort()).toEqual([engine.kept!.id, sibling.kept!.id].sort());
  expect(said.filter((line) => line.includes("whose password was lost"))).toHaveLength(1);
});

describe("a credential with the same member and name that this run did not make", () => {
  const others = (service: Service): string[] => service.store.credentials.list().map(({ id }) => id);

  test.each<[string, Props]>([
    ["under CONSORTIUM_ADOPT", {}],
    ["at a rotation under CONSORTIUM_ADOPT", { keepers: { month: "may" } }],
  ])("%s: it is named, and stays", async (_title, change) => {
    const { engine, service, net, said } = await world("appCred");
    const body = { membership_id: net.membershipId, name: "app" };
    const { id } = await send(service, "POST", collectionOf("appCred", net), body);
    if (change.keepers) expect(await engine.up(bases.appCred(net))).toEqual({ then: "created" });
    const own = engine.kept?.id;
    newProcess({ CONSORTIUM_ADOPT: "true" });
    expect(await engine.up({ ...bases.appCred(net), ...change })).toMatchObject({ then: own ? "replaced" : "created" });
    expect(others(service).sort()).toEqual([id, engine.kept!.id].sort());
    const warning = said.find((line) => line.startsWith("Warning: "));
    expect(warning).toContain(`consortium sweep --id ${id}`);
    expect(warning).not.toContain(own ?? "no other");
  });

  test("if more appear during a lost answer than this run can have made, they are named, and none is deleted", async () => {
    const { engine, service, net, time, said } = await world("appCred", { timing: { listLag: 1_500 } });
    const where = collectionOf("appCred", net);
    time.pass(5_000);
    service.faults.add({ kind: "resetAfter", method: "POST" });
    // Somebody makes one of the same name while lists show neither.
    const another = () => send(service, "POST", where, { membership_id: net.membershipId, name: "app" });
    time.when(/^POST /, () => time.during(another), 10);
    expect(await engine.up(bases.appCred(net))).toEqual({ then: "created" });
    expect(others(service)).toHaveLength(3);
    expect(said.join("\n")).toMatch(/Warning: credential "app": .*, .* appeared .*Nothing was deleted/);
  });
});
