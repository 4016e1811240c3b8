import { type AnswersChange, type Service, type Timing } from "../../../service/index";
import { bases, type Collected, collected, nameKey, storeOf } from "../../support/bases";
import { Engine, failed } from "../../support/engine";
import { made, world } from "../../support/lifecycle";
import { newProcess, setEnvironment } from "../../support/service";
import { rewriting } from "../../support/virtual-time";

/* The same facts with every answer that a service may give where the API is unspecified. */

interface Variant {
  where: string;
  answers?: AnswersChange;
  timing?: Partial<Timing>;
  /** What happens to the object once it is made. */
  then?: (service: Service) => void;
  /** The kinds that it may affect. Default: all. */
  kinds?: readonly Collected[];
}

const deletions = (status: number): AnswersChange["deleted"] =>
  Object.fromEntries(["consortium", "environment", "membership", "node", "credential"].map((kind) => [kind, status]));

/** Also for those that contain credentials. */
const aroundCredentials: Collected[] = ["consortium", "membership", "environment", "appCred"];

/** Each service has several manners that do not touch one another. */
const variants: Variant[] = [
  {
    where:
      "creates are answered 200, changes and deletions 202, what is gone 410, and objects have an id and fields that nobody knows",
    answers: {
      created: 200,
      updated: 202,
      deleted: deletions(202),
      gone: 410,
      idField: "id",
      unknownFields: true,
    },
  },
  {
    where:
      "creates and changes are answered 204, there is no GET of one object, other fields are refused, and lists are behind",
    answers: { created: 204, updated: 204, getById: false, strictBodies: true },
    timing: { listLag: 500 },
    // A service that shows nothing of a new credential's password could not be used at all.
    kinds: collected.filter((kind) => kind !== "appCred"),
  },
  {
    where: "answers have no body, what is gone is answered 403, and lists are half a second behind",
    answers: { emptyBodies: true, gone: 403 },
    timing: { listLag: 500 },
  },
  {
    where: "credentials are not listed (404), and a consortium is made with a member",
    answers: { listCredentials: 404, foundingMembership: true },
    kinds: aroundCredentials,
  },
  {
    where: "credentials are not listed (405), and a parent is deleted with what is in it, at any time",
    answers: { listCredentials: 405, refuseChildren: false, refuseEarlyDelete: false },
    kinds: aroundCredentials,
  },
  {
    where: "credentials are listed with asterisks for a password",
    then: ({ store: { credentials } }) =>
      credentials.list().forEach(({ id }) => credentials.patch(id, { password: "********" })),
    kinds: ["appCred"],
  },
  {
    where: "a start takes more than a minute, and a deletion 4 s, which show for 4 s more",
    timing: { environmentStart: 90_000, nodeStart: 60_000, deleting: 4_000, deletedVisible: 4_000 },
  },
];

describe.each(variants)("on a service where $where", ({ answers, timing, then, kinds = collected }) => {
  test.each(kinds)("%s: it is created, changes in place and only with the program, and is deleted", async (kind) => {
    const { engine, service, net, time, count, shown } = await world(kind);
    if (answers) service.setAnswers(answers);
    if (timing) service.setTiming(timing);
    const isListed = kind !== "appCred" || typeof answers?.listCredentials !== "number";
    const args = bases[kind](net);
    expect(await engine.up(args)).toEqual({ then: "created" });
    expect(engine.outputs).toMatchObject({ ...args, ...complete(kind, engine.kept!.id) });
    then?.(service);

    const { password } = engine.outputs;
    expect(await engine.up(args)).toEqual({ then: "same" });
    const renamed = { ...args, [nameKey(kind)]: "renamed" };
    expect((await engine.up(renamed)).then).toBe("updated");
    newProcess();
    time.pass(1_000);
    expect(await engine.refresh()).toBe("there");
    expect(await engine.up(renamed)).toEqual({ then: "same" });
    expect(engine.outputs.password).toBe(password);

    const state = engine.kept!;
    await engine.destroy();
    engine.kept = state;
    newProcess();
    await engine.destroy(); // as after an interrupted run, by a process that does not know that it was deleted
    service.setTiming({ listLag: 0 });
    if (isListed) {
      expect(await count()).toBe(0);
      expect(await shown()).toBeUndefined();
    }
    expect(service.store.credentials.list()).toEqual([]);
  });
});

/** Outputs that only the service knows. */
const complete = (kind: Collected, id: string): object => {
  const text = expect.any(String) as string;
  if (kind === "appCred") return { username: id, password: text };
  const rpc = expect.stringContaining("http") as string;
  return kind === "node" ? { state: "started", urls: { rpc } } : { state: text };
};

describe("a service that changes nothing in place", () => {
  const ways: [string, (service: Service) => void, RegExp][] = [
    [
      "PATCH is answered 405",
      (service) => service.setAnswers({ patch: 405 }),
      /run `pulumi up` again .*cannot change name in place \(PATCH .*HTTP 405.*Nothing was changed\./,
    ],
    [
      "PATCH is answered 200 and ignored",
      (service) => service.faults.add({ method: "PATCH", kind: "status", status: 200, body: {}, times: Infinity }),
      /run `pulumi up` again .*accepts another name, but keeps the old one\. \[cannot-change:/,
    ],
  ];
  test.each(ways.flatMap((way) => [false, true].map((back) => [way[0], back, ...way] as const)))(
    "a credential's name, where %s, with its old name in between: %s: the pair stays until the next run makes a new one",
    async (_way, isBack, _title, break_, error) => {
      const { engine, service, net, count, shown } = await world("appCred");
      const [args, renamed] = [bases.appCred(net), { ...bases.appCred(net), name: "renamed" }];
      await engine.up(args);
      const { id, outputs } = engine.kept!;
      break_(service);
      expect((await engine.preview(renamed)).then).toBe("updated");
      const outcome = await engine.up(renamed);
      expect(outcome).toMatchObject({ then: "incomplete", error: expect.stringMatching(error) as string });
      if (isBack) {
        await engine.up(args);
        expect(await engine.up(args)).toEqual({ then: "same" });
      }
      expect(engine.kept).toMatchObject({ id, outputs });
      expect([await count(), await shown()]).toMatchObject([1, { name: "app" }]);

      newProcess();
      expect(await engine.refresh()).toBe("there");
      expect(await engine.preview(renamed)).toEqual({ then: "replaced", replaces: ["name"], deletedFirst: false });
      expect((await engine.up(renamed)).then).toBe("replaced");
      expect(engine.outputs).toMatchObject({ name: "renamed", password: expect.any(String) as string });
      expect(engine.outputs.password).not.toBe(outputs.password);
      expect([await count(), await shown()]).toMatchObject([1, { name: "renamed" }]);
      expect(await engine.up(renamed)).toEqual({ then: "same" });
    },
  );

  test.each(["membership", "appCred"] as const)(
    "%s that no longer exists: the error says that instead",
    async (kind) => {
      const { engine, service, net } = await world(kind);
      await engine.up(bases[kind](net));
      storeOf(service, kind).remove(engine.kept!.id);
      expect(await engine.up({ ...bases[kind](net), [nameKey(kind)]: "renamed" })).toEqual(
        failed(/pulumi up --refresh.*no longer exists: it was deleted outside of Pulumi.*\[deleted-outside:/),
      );
    },
  );
});

test.each([
  ["node", 4_000],
  ["service", 0],
] as const)("a %s that restarts is waited for, with lists %i ms behind", async (kind, listLag) => {
  const { engine, service, net, shown, time } = await world(kind);
  const args = bases[kind](net);
  await engine.up(args);
  time.pass(listLag);
  service.setTiming({ listLag });
  const larger = { ...args, size: "large" };
  expect(await engine.up(larger)).toEqual({ then: "updated" });
  expect(engine.outputs).toMatchObject({ size: "large", state: "started", revision: "2" });
  expect(await engine.up(larger)).toEqual({ then: "same" });
  expect(await shown()).toMatchObject({ size: "large", state: "started", _revision: "2" });
});

test.each(["environment", "service"] as const)(
  "a new %s that no list shows for more than a minute is not taken for deleted",
  async (kind) => {
    const { engine, service, net, count, time } = await world(kind, {
      timing: { listLag: 70_000 },
      answers: { getById: false },
    });
    time.pass(80_000);
    expect(await engine.up(bases[kind](net))).toEqual({ then: "created" });
    service.setTiming({ listLag: 0 });
    expect(await count()).toBe(1);
  },
);

test.each([
  ["rpc", "wss"],
  ["wss", "rpc"],
])("a node that shows only %s is ready, in the next run, too", async (shown, without) => {
  const { engine, net, time } = await world("node");
  rewriting({ answer: (text) => text.replaceAll(new RegExp(`"${without}":"[^"]*",?`, "g"), "").replaceAll(",}", "}") });
  const began = time.now();
  expect(await engine.up(bases.node(net))).toEqual({ then: "created" });
  expect(time.now() - began).toBeLessThan(60_000);
  expect(engine.outputs.urls).toEqual({ [shown]: expect.any(String) as string });
  newProcess();
  await engine.refresh();
  expect(await engine.up(bases.node(net))).toEqual({ then: "same" });
});

test.each(["environmentZone", "invitation"] as const)(
  "%s without a list in the service: refused, with that reason",
  async (kind) => {
    const { engine, net, writes } = await world(kind, { answers: { extended: false } });
    writes();
    const why = /has no list of these \(GET \S+s: HTTP 404\), so it may not have this kind.* Nothing was created/;
    expect(await engine.up(bases[kind](net))).toEqual(failed(why));
    expect(writes()).toEqual([]);
  },
);

describe("403 for a missing object", () => {
  async function removed(kind: Collected) {
    const made = await world(kind, { answers: { gone: 403 } });
    const { engine, service, net, time } = made;
    await engine.up(bases[kind](net));
    storeOf(service, kind).remove(engine.kept!.id);
    time.pass(60_000);
    newProcess();
    return made;
  }

  test.each(["consortium", "node", "appCred"] as const)(
    "%s: is not believed if the list is refused as well, and nothing is dropped",
    async (kind) => {
      const { engine, service } = await removed(kind);
      service.faults.add({ kind: "status", status: 403, method: "GET", times: Infinity });
      await expect(engine.refresh()).rejects.toThrow(/HTTP 403/);
      await expect(engine.destroy()).rejects.toThrow(/HTTP 403/);
      expect(engine.kept).toBeDefined();
    },
  );

  test("an environment that is listed as deleted is gone, and its node with it", async () => {
    const { engine, service, net, time } = await world("environment", { answers: { gone: 403 } });
    const node = new Engine("node");
    await engine.up(bases.environment(net));
    await node.up({ ...bases.node(net), environmentId: engine.kept!.id });
    service.setTiming({ deletedVisible: 600_000 });
    const kept = engine.kept!;
    setEnvironment({ CONSORTIUM_CONFIRM_DELETED: kept.id });
    newProcess();
    await engine.destroy();
    time.pass(1_000);
    setEnvironment({ CONSORTIUM_CONFIRM_DELETED: undefined });
    newProcess();
    engine.kept = kept;
    expect(await node.refresh()).toBe("gone");
    await engine.destroy();
  });
});

describe("the answer to a DELETE", () => {
  const refusal = { kind: "status", status: 409, errorMessage: "no", method: "DELETE", times: Infinity } as const;

  test("that shows it as deleted is believed: nothing is looked for, though a list shows it still", async () => {
    const { engine, service, calls } = await made("node");
    const body = { _id: engine.kept!.id, state: "deleted" };
    service.faults.add({ kind: "status", status: 200, body, method: "DELETE" });
    await engine.destroy();
    expect(calls().at(-1)).toMatch(/^DELETE/);
  });

  test("that refuses what is in a failed environment, and does not go with it, is an error", async () => {
    const { engine, net, service, said } = await made("node");
    service.store.environments.setState(net.environmentId, "failed");
    service.faults.add(refusal);
    await expect(engine.destroy()).rejects.toThrow(/could not be deleted: DELETE .*\[not-empty:/);
    expect(said.join("\n")).not.toContain("stays for now");
  });

  test.each([
    ["failed, is left to it at once", "failed", 10_000],
    ["at work, is left to nobody", "live", Infinity],
  ])("that refuses a zone whose environment is %s", async (_, state, within) => {
    const { engine, net, service, time, said } = await made("environmentZone");
    service.store.environments.setState(net.environmentId, state);
    service.faults.add({ ...refusal, errorMessage: "it is still being set up" });
    const began = time.now();
    const outcome = await engine.destroy().catch(() => "refused");
    expect([outcome, time.now() - began < within]).toEqual(state === "failed" ? [undefined, true] : ["refused", true]);
    expect(said.join("\n").includes("stays for now, and is deleted with its environment")).toBe(state === "failed");
  });
});

describe("a parent that still holds something", () => {
  const parents = ["consortium", "membership"] as const;
  /** An object in it, which this stack has, too. */
  const filled = async (kind: (typeof parents)[number]) => {
    const all = await world(kind);
    await all.engine.up(bases[kind](all.net));
    const { id } = all.engine.kept!;
    const inside = kind === "consortium" ? new Engine("membership") : new Engine("node");
    if (kind === "consortium") await inside.up({ consortiumId: id, orgName: "inside" });
    else await inside.up({ ...bases.node(all.net), membershipId: id });
    return { ...all, inside };
  };

  test.each(parents)("%s: waits for deletions of this run, however long they take, then is deleted", async (kind) => {
    const { engine, inside, service, time, shown } = await filled(kind);
    service.setTiming({ deleting: 130_000 });
    const began = time.now();
    await Promise.all([inside.destroy(), engine.destroy()]);
    expect(time.now() - began).toBeGreaterThanOrEqual(130_000);
    expect(await shown()).toBeUndefined();
  });

  test("a membership waits for nodes of this run that the service is still removing", async () => {
    const { engine, inside, service, time, shown } = await filled("membership");
    await inside.destroy();
    service.faults.add({
      method: "DELETE",
      route: "/consortia/:consortiumId/memberships/:membershipId",
      kind: "status",
      status: 409,
      errorMessage: "the membership still owns nodes",
      times: Infinity,
    });
    time.when(/^DELETE /, () => service.faults.clear(), 100_000);
    await engine.destroy();
    expect(await shown()).toBeUndefined();
  });

  test.each(parents)("%s: waits a moment for objects that disappear by themselves", async (kind) => {
    const { engine, inside, service, time, shown } = await filled(kind);
    const { memberships, nodes } = service.store;
    time.when(/^DELETE /, () => (kind === "consortium" ? memberships : nodes).remove(inside.kept!.id), 6_000);
    await engine.destroy();
    expect(await shown()).toBeUndefined();
  });

  test.each(parents)("%s: soon gives up if they stay, with the service's message, once", async (kind) => {
    const { engine, time, said } = await filled(kind);
    const began = time.now();
    await expect(engine.destroy()).rejects.toThrow(
      /delete in the console what is in it, .*does not manage.*could not be deleted: DELETE .*HTTP 409: .*still (has|owns)/,
    );
    expect(time.now() - began).toBeLessThan(15_000);
    expect(said.filter((line) => line.includes("kept by the service")).length).toBeLessThanOrEqual(1);
    expect(engine.kept).toBeDefined();
  });

  test("an environment that is still initializing is deleted as soon as the service allows it", async () => {
    const { engine, net, service } = await world("environment");
    service.setTiming({ environmentStart: 20_000 });
    const args = { ...bases.environment(net), customTimeouts: { create: 5 } };
    expect((await engine.up(args)).then).toBe("incomplete");
    await engine.destroy();
    expect(service.store.environments.list().map(({ fields }) => fields.name)).toEqual(["main", "spare"]);
  });
});
