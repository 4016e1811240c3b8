import { build, start, type Send } from "../helpers";

const now = { environmentStart: 0, nodeStart: 0, deletedVisible: 0 };

describe("refuseChildren", () => {
  const children = async (send: Send, path: string) =>
    Promise.all(
      ["environments", "memberships"].map(async (list) => (await send("GET", `${path}/${list}`)).body.length),
    );

  test("true: a parent is deleted only after its children", async () => {
    const { send } = await start({ timing: { ...now, deletedVisible: 9_999 } });
    const { paths } = await build(send);
    expect((await send("DELETE", paths.membership)).body.errorMessage).toContain("1 node(s)");
    expect((await send("DELETE", paths.consortium)).body.errorMessage).toContain(
      "1 environment(s) and 1 membership(s)",
    );
    expect((await send("DELETE", paths.node)).status).toBe(204);
    expect((await send("DELETE", paths.membership)).status).toBe(204);
    expect((await send("DELETE", paths.consortium)).status).toBe(409);
    expect((await send("DELETE", paths.environment)).status).toBe(202);
    expect((await send("DELETE", paths.consortium)).status).toBe(202);
  });

  test("false: a membership takes its nodes and credentials along", async () => {
    const { send } = await start({ timing: now, answers: { refuseChildren: false } });
    const { paths } = await build(send);
    const kept = (await send("POST", `${paths.consortium}/memberships`, { org_name: "b" })).body._id;
    await send("POST", `${paths.environment}/nodes`, { membership_id: kept, name: "kept" });
    expect((await send("DELETE", paths.membership)).status).toBe(204);
    expect((await send("GET", `${paths.environment}/nodes`)).body).toMatchObject([{ name: "kept" }]);
    expect((await send("GET", `${paths.environment}/appcreds`)).body).toEqual([]);
  });

  test("false: a consortium takes everything along", async () => {
    const { service, send } = await start({ timing: now, answers: { refuseChildren: false } });
    const { paths } = await build(send);
    expect(await children(send, paths.consortium)).toEqual([1, 1]);
    expect((await send("DELETE", paths.consortium)).status).toBe(202);
    expect((await send("GET", paths.node)).status).toBe(404);
    const left = [
      service.store.environments,
      service.store.memberships,
      service.store.nodes,
      service.store.credentials,
    ];
    expect(left.map((collection) => collection.list().length)).toEqual([0, 0, 0, 0]);
  });
});

test("refuseEarlyDelete: false lets an initializing environment be deleted", async () => {
  const { send } = await start({ timing: { environmentStart: 60_000 }, answers: { refuseEarlyDelete: false } });
  const { paths } = await build(send);
  expect((await send("DELETE", paths.environment)).status).toBe(202);
});
