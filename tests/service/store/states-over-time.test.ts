import { SteadyClock } from "../../../service/storage/steady-clock";
import { Store } from "../../../service/store/store";
import { clocked, refused, start } from "../helpers";

test("time goes on however often and however far the clock is set back", () => {
  let time = 1_000;
  const clock = new SteadyClock(() => time);
  const seen = [clock.now()];
  for (const back of [500, 300]) {
    time -= back;
    seen.push(clock.now());
    time += 7;
    seen.push(clock.now());
  }
  expect(seen).toEqual([1_000, 1_000, 1_007, 1_007, 1_014]);
});

test("an environment is initializing, then setup, then live with its first started node", async () => {
  const { clock, state, paths } = await clocked({ timing: { environmentStart: 1_000, nodeStart: 3_000 } });
  const seen: string[] = [];
  for (const ms of [999, 1, 1_999, 1]) {
    clock.pass(ms);
    seen.push(`${await state(paths.environment)} with a node ${await state(paths.node)}`);
  }
  expect(seen).toEqual([
    "initializing with a node initializing",
    "setup with a node initializing",
    "setup with a node initializing",
    "live with a node started",
  ]);
});

test("a change of timing applies to later creates", async () => {
  const { service, send, clock, state, paths, membership } = await clocked({ timing: { nodeStart: 1_000 } });
  service.setTiming({ nodeStart: 5_000 });
  const late = (await send("POST", `${paths.environment}/nodes`, { membership_id: membership })).body._id;
  clock.pass(1_000);
  expect(await state(paths.node)).toBe("started");
  expect(await state(`${paths.environment}/nodes/${late}`)).toBe("initializing");
});

test.each(["initializing", "failed"])("a state that a test sets to %s stays forever", async (state) => {
  const { service, send, clock, paths, node, environment } = await clocked();
  service.store.nodes.setState(node, state);
  service.store.environments.setState(environment, state);
  expect(() => service.store.environments.get(node)).toThrow(`There is no environment ${node}`);
  clock.pass(3_600_000);
  for (const path of [paths.node, paths.environment]) expect((await send("GET", path)).body.state).toBe(state);
});

/* How long each kind is seen deleting: hosted.test.ts. */
describe("deleting takes a while", () => {
  test("an object that is being deleted still counts as a child, and accepts no new children", async () => {
    const { send, clock, paths, membership } = await clocked({ timing: { deleting: 900 } });
    await send("DELETE", paths.node);
    expect((await send("DELETE", paths.membership)).status).toBe(409);
    clock.pass(899);
    expect((await send("DELETE", paths.node)).status).toBe(204); // again, which takes no longer
    clock.pass(1);
    expect((await send("GET", paths.node)).status).toBe(404);
    expect((await send("DELETE", paths.membership)).status).toBe(204);
    const node = await send("POST", `${paths.environment}/nodes`, { membership_id: membership });
    await send("DELETE", paths.environment);
    clock.pass(900);
    expect((await send("DELETE", paths.consortium)).body.state).toBe("deleting");
    const member = await send("POST", `${paths.consortium}/memberships`, { org_name: "late" });
    expect(member).toMatchObject(refused(409, "being deleted"));
    expect(node).toMatchObject(refused(409, "being deleted"));
  });
});

describe("lists that lag", () => {
  test("show creates, changes and deletions late; reads by id are immediate", async () => {
    const { send, clock, paths } = await clocked({ timing: { listLag: 1_000 }, answers: { deleted: { node: 200 } } });
    const list = async () => (await send("GET", `${paths.environment}/nodes`)).body.map(({ name }) => name);
    const later = async () => {
      const before = await list();
      clock.pass(999);
      expect(await list()).toEqual(before);
      clock.pass(1);
      return list();
    };
    expect(await list()).toEqual([]);
    expect((await send("GET", paths.node)).body.name).toBe("n1");
    expect(await later()).toEqual(["n1"]);
    await send("PATCH", paths.node, { name: "n2" });
    expect((await send("GET", paths.node)).body.name).toBe("n2");
    expect(await later()).toEqual(["n2"]);
    await send("DELETE", paths.node);
    expect((await send("GET", paths.node)).status).toBe(404);
    expect(await later()).toEqual([]);
  });

  test("show states late, too", async () => {
    const { send, clock, paths, state } = await clocked({ timing: { listLag: 1_000, nodeStart: 2_000 } });
    clock.pass(2_000);
    expect(await state(paths.node)).toBe("started");
    expect((await send("GET", `${paths.environment}/nodes`)).body).toMatchObject([{ state: "initializing" }]);
    clock.pass(1_000);
    expect((await send("GET", `${paths.environment}/nodes`)).body).toMatchObject([{ state: "started" }]);
  });
});

test("latency delays every call, and concurrent calls are counted", async () => {
  const { service, send } = await start({ timing: { latency: 1_000 } });
  const began = performance.now();
  await Promise.all(Array.from({ length: 5 }, () => send("GET", "/consortia")));
  expect(performance.now() - began).toBeGreaterThanOrEqual(990);
  expect(service.inFlight.max).toBe(5);
  service.inFlight.reset();
  service.setTiming({ latency: 0 });
  await send("GET", "/consortia");
  expect(service.inFlight.max).toBe(1);
});

describe("old versions", () => {
  const draft = { kind: "consortium", parent: "o", organization: "o", due: undefined } as const;
  let now = 0;
  const open = () => new Store(new SteadyClock(() => ++now));
  const nameAt = (store: Store, at: number) => store.listed("consortium", "o", at).map(({ fields }) => fields.name);

  test("are kept while there is room, however many", () => {
    const store = open();
    const first = store.create({ ...draft, fields: { name: "0" } });
    for (let version = 1; version <= 100; version++) store.setFields("consortium", first.id, { name: `${version}` });
    expect(nameAt(store, first.createdAt)).toEqual(["0"]);
  });

  test("and deleted objects are kept up to a number, the latest ones", () => {
    const store = open();
    const kept = store.create({ ...draft, fields: { name: "kept" } });
    const changing = store.create({ ...draft, fields: { name: "0" } });
    const times = [changing.createdAt];
    for (let version = 1; version <= 200; version++)
      times.push(store.setFields("consortium", changing.id, { name: `${version}` }).changedAt);
    const remembered = times.filter((at) => nameAt(store, at).length === 2);
    expect(remembered).toEqual(times.slice(-128));
    const gone = Array.from({ length: 1_030 }, () => store.create({ ...draft, fields: { name: "d" } }));
    for (const one of gone) store.remove(one);
    expect(nameAt(store, gone.at(-1)!.createdAt).filter((name) => name === "d")).toHaveLength(1_024);
    expect(store.children("consortium", "o").map(({ fields }) => fields.name)).toEqual(["kept", "200"]);
    expect(kept.fields.name).toBe("kept");
  });
});
