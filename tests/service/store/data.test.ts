import { clocked } from "../helpers";

test("the API shows changes made behind a client's back", async () => {
  const { service, send, clock, paths, node, membership, environment, consortium } = await clocked();
  const { store } = service;
  store.nodes.setState(node, "failed");
  store.nodes.patch(node, { state_reason: "disk full" });
  clock.pass(60_000);
  expect((await send("GET", paths.node)).body).toMatchObject({
    state: "failed",
    state_reason: "disk full",
    _revision: "2",
  });
  store.memberships.patch(membership, { org_name: "renamed" });
  expect((await send("GET", paths.membership)).body).toMatchObject({ org_name: "renamed", _revision: "1" });
  expect((await send("GET", paths.environment)).body.state).toBe("setup");
  store.nodes.setState(node, "started");
  expect((await send("GET", paths.environment)).body.state).toBe("live");
  store.environments.setState(environment, "failed");
  expect((await send("GET", paths.environment)).body.state).toBe("failed");
  store.environments.remove(environment);
  for (const path of [paths.environment, paths.node, paths.credential])
    expect((await send("GET", path)).status).toBe(404);
  expect((await send("GET", `${paths.consortium}/environments`)).body).toEqual([]);
  store.consortia.remove(consortium);
  expect((await send("GET", "/consortia")).body).toEqual([]);
});

test.each(["initializing", "failed"])("a state that is set to %s stays forever", async (state) => {
  const { service, send, clock, paths, node, environment } = await clocked();
  service.store.nodes.setState(node, state);
  service.store.environments.setState(environment, state);
  clock.pass(3_600_000);
  for (const path of [paths.node, paths.environment]) expect((await send("GET", path)).body.state).toBe(state);
});

test("lists all objects, or matching ones, in their current state", async () => {
  const { service, send, clock, paths, membership, node, environment } = await clocked();
  await send("POST", `${paths.environment}/nodes`, { membership_id: membership, name: "n2" });
  const { nodes, environments, tethers } = service.store;
  expect(nodes.list().map(({ fields }) => fields.name)).toEqual(["n1", "n2"]);
  expect(nodes.list({ name: "n1" })).toMatchObject([{ id: node, parent: environment, state: "initializing" }]);
  expect(nodes.list({ parent: "elsewhere" })).toEqual([]);
  clock.pass(1_500);
  expect(nodes.get(node).state).toBe("started");
  expect(environments.list()).toHaveLength(1);
  expect(() => environments.get(node)).toThrow(`There is no environment ${node}`);
  expect(tethers.list()).toEqual([]);
});
