import { build, refused } from "../helpers";
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
