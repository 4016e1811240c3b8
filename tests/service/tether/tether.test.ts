import { build, matching, refused, type start } from "../helpers";
import { tethered } from "../tethered";

test("target network, interval, deploy, activate, deactivate: in that order", async () => {
  const { service, send, get, post } = await tethered();
  expect((await get("")).body).toMatchObject({ _id: "tether0001", state: "initial", deployed_networks: [] });
  expect(await post("/deploy")).toMatchObject(refused(409, "target network"));
  expect(await post("/activate")).toMatchObject(refused(409, "target network"));
  expect((await post("/targetNetwork", { network: "rinkeby" })).status).toBe(200);
  expect(await post("/activate")).toMatchObject(refused(409, "interval"));
  expect((await post("/interval", { interval: 2 })).status).toBe(200);
  expect(await post("/activate")).toMatchObject(refused(409, "Deploy the contract on rinkeby"));
  expect((await post("/deploy")).status).toBe(200);
  const deployed = { state: "deployed", network: "rinkeby", interval: 2, deployed_networks: ["rinkeby"] };
  expect((await get("")).body).toMatchObject(deployed);
  expect(await post("/activate")).toMatchObject(refused(409, "does not exist yet"));
  await build(send);
  const done = { status: 200, text: "true" };
  expect(await post("/activate")).toMatchObject(done);
  expect((await get("")).body.state).toBe("active");
  expect(await post("/activate")).toMatchObject(done);
  expect(await post("/targetNetwork", { network: "mainnet" })).toMatchObject(refused(409, "deactivate it first"));
  expect(await post("/interval", { interval: 3 })).toMatchObject(refused(409, "deactivate it first"));
  for (let again = 0; again < 2; again++) expect(await post("/deactivate")).toMatchObject(done);
  expect((await get("")).body.state).toBe("inactive");
  expect((await post("/interval", { interval: 3 })).status).toBe(200);
  expect(await post("/activate")).toMatchObject(done);
  const { fields } = service.store.tethers.get("tether0001");
  expect(fields).toMatchObject({ interval: 3, deployments: { rinkeby: 1, mainnet: 0 } });
});

test.each([
  ["/targetNetwork", {}],
  ["/targetNetwork", { network: "ropsten" }],
  ["/interval", {}],
  ["/interval", { interval: 0 }],
  ["/interval", { interval: 1.5 }],
  ["/interval", { interval: "2" }],
])("POST %s %j is refused", async (path, body) => {
  const { get, post } = await tethered();
  const before = (await get("")).text;
  expect((await post(path, body)).status).toBe(400);
  expect((await get("")).text).toBe(before);
});

describe("money", () => {
  test("pays for a contract once per network; without funds, the error names address and network", async () => {
    const { service, send, post, get, configure } = await tethered();
    await build(send);
    await configure();
    const balance = async () => BigInt((await get("/account")).body.balance);
    expect(await balance()).toBe(10n ** 18n);
    expect((await post("/deploy")).status).toBe(200);
    const after = await balance();
    expect(after).toBeLessThan(10n ** 18n);
    expect(await post("/deploy")).toMatchObject(refused(409, "already deployed"));
    expect(await balance()).toBe(after);
    await post("/activate");
    await post("/deactivate");

    await post("/targetNetwork", { network: "mainnet" });
    expect(await post("/activate")).toMatchObject(refused(409, "on mainnet"));
    const address = (await get("")).body.account;
    expect(await post("/deploy")).toMatchObject(refused(402, `${address} has no funds on mainnet`));
    service.store.tethers.setFunds("tether0001", "mainnet", 10n ** 18n);
    expect((await post("/deploy")).status).toBe(200);
    expect((await post("/activate")).text).toBe("true");
    expect((await get("")).body.deployed_networks).toEqual(["mainnet", "rinkeby"]);
    expect(service.store.tethers.get("tether0001").fields.deployments).toEqual({ rinkeby: 1, mainnet: 1, local: 0 });
  });
});

test("an unknown tether is unknown", async () => {
  const { send } = await tethered();
  expect(await send("GET", "/tether/nobody/account")).toMatchObject(refused(404, "nobody"));
});

const hour = 3_600_000;

describe("reports", () => {
  async function active(options: Parameters<typeof start>[0] = {}, interval = 2) {
    const all = await tethered(options);
    const world = await build(all.send);
    all.clock.pass(5_000);
    await all.configure("rinkeby", interval);
    await all.post("/deploy");
    const count = async () => Number((await all.get("/reportCount")).text);
    return { ...all, ...world, count };
  }

  test("one at activation, then one every interval, and none while inactive", async () => {
    const { clock, count, post } = await active();
    const seen = [await count()];
    const after = async (ms: number) => {
      clock.pass(ms);
      seen.push(await count());
    };
    await post("/activate");
    await after(0);
    await after(2 * hour - 1);
    await after(1);
    await after(6 * hour);
    await post("/deactivate");
    await after(9 * hour);
    await post("/activate");
    await after(0);
    expect(seen).toEqual([0, 1, 1, 2, 5, 5, 6]);
  });

  test("at most 10,000 overdue ones are made at once, without the earliest", async () => {
    const funds = { rinkeby: String(10n ** 19n) };
    const { clock, count, get, post } = await active({ tethers: [{ id: "tether0001", funds }] }, 1);
    await post("/activate");
    expect(await count()).toBe(1);
    clock.pass(10_001 * hour);
    expect(await count()).toBe(10_001);
    const [second] = (await get("/reports/1")).body as unknown as { reported_at: string }[];
    const [first] = (await get("/reports/0")).body as unknown as { reported_at: string }[];
    expect(Date.parse(second!.reported_at) - Date.parse(first!.reported_at)).toBe(2 * hour);
  });

  test("a report has the state of each node of the environment at its time", async () => {
    const { send, clock, get, post, paths, membership, node } = await active();
    expect((await get("/lastReport")).status).toBe(404);
    await post("/activate");
    const added = { membership_id: membership, name: "n2" };
    const second = (await send("POST", `${paths.environment}/nodes`, added)).body._id;
    clock.pass(2 * hour);
    type States = Record<string, unknown>[];
    const [first, last] = [(await get("/reports/0")).body, (await get("/reports/1")).body] as States[];
    expect(first).toMatchObject([{ node_id: node, block_height: 0 }]);
    expect(last!.map((state) => state.node_id)).toEqual([node, second]);
    expect(last![0]).toMatchObject({ block_hash: matching(/^0x[0-9a-f]{64}$/) });
    expect(last![0]!.block_height).toBeGreaterThan(1_000);
    expect((await get("/lastReport")).body).toEqual(last);
    await send("DELETE", paths.environment);
    expect((await get("/reports/1")).body).toEqual(last);
    expect((await get("/reports/2")).status).toBe(404);
    expect((await get("/reports/-1")).status).toBe(400);
  });

  test("each costs wei; without funds, there are no reports", async () => {
    const { service, clock, count, get, post } = await active();
    await post("/activate");
    const before = BigInt((await get("/account")).body.balance);
    clock.pass(2 * hour);
    const pin = before - BigInt((await get("/account")).body.balance);
    expect(pin).toBeGreaterThan(0n);
    service.store.tethers.setFunds("tether0001", "rinkeby", pin);
    clock.pass(20 * hour);
    expect(await count()).toBe(3);
    expect((await get("/account")).body.balance).toBe("0");
  });

  test("the environment is found by its name at activation, and no other of that name is ever pinned", async () => {
    const id = "tether0001";
    const { service, clock, send, get, post, configure } = await tethered({ tethers: [{ id, environment: "late" }] });
    const { paths } = await build(send);
    await configure();
    await post("/deploy");
    expect(await post("/activate")).toMatchObject(refused(409, "The environment late does not exist yet"));
    const late = { name: "late", provider: "geth", consensus_type: "poa" };
    const make = async (consortium: string) => (await send("POST", `${consortium}/environments`, late)).body._id;
    const first = await make(paths.consortium);
    expect((await post("/activate")).text).toBe("true");
    const other = (await send("POST", "/consortia", { name: "other" })).body._id;
    const second = await make(`/consortia/${other}`);
    clock.pass(hour);
    expect(service.store.tethers.environmentOf(id)?.id).toBe(first);
    expect((await get("/reportCount")).text).toBe("2");
    await post("/deactivate");
    await post("/activate");
    expect(service.store.tethers.environmentOf(id)?.id).toBe(first);
    // Without it, another one is pinned only by a new activation, and only if its name tells which.
    await send("DELETE", `${paths.consortium}/environments/${first}`);
    const third = await make(paths.consortium);
    clock.pass(hour);
    expect([service.store.tethers.environmentOf(id), (await get("/reportCount")).text]).toEqual([undefined, "3"]);
    await post("/deactivate");
    expect(await post("/activate")).toMatchObject(refused(409, `other/late (${second}), supply/late (${third})`));
    await send("DELETE", `/consortia/${other}/environments/${second}`);
    expect((await post("/activate")).text).toBe("true");
    expect(service.store.tethers.environmentOf(id)?.id).toBe(third);
  });

  test.each(["trade/prod", "id"])("an environment named by %s is no other one", async (by) => {
    const { service, send } = await tethered();
    const made: string[] = [];
    for (const name of ["other", "trade"]) {
      const consortium = (await send("POST", "/consortia", { name })).body._id;
      const prod = { name: "prod", provider: "geth", consensus_type: "poa" };
      made.push((await send("POST", `/consortia/${consortium}/environments`, prod)).body._id);
    }
    const { id } = (await send("POST", "/embedded/tethers", { environment: by === "id" ? made[1] : by })).body;
    expect(id).toMatch(/^t[a-z0-9]{9}$/);
    const steps = { targetNetwork: { network: "rinkeby" }, interval: { interval: 1 }, deploy: {}, activate: {} };
    for (const [step, body] of Object.entries(steps))
      expect((await send("POST", `/tether/${id}/${step}`, body)).status).toBe(200);
    expect(service.store.tethers.environmentOf(id)?.id).toBe(made[1]);
  });
});
