import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { built, serveJson } from "../child";
import { verifyReport } from "../../../sdk/runtime/verify";
import { basic, build, newFolder, quick, start, type Wire } from "../helpers";
import { until } from "../../support/until";
import { Network } from "../targets";
import { pinning, ways } from "../tethered";

/** The network makes blocks only when the test says so. */
const byHand = "--no-mining";
const pace = { timing: { ...quick, tetherHour: 500 } };

const count = async (get: Awaited<ReturnType<typeof pinning>>["get"]) => Number((await get("/reportCount")).text);
const addressIn = (answer: { body: Wire }) => (answer.body as unknown as { contract_address: string }).contract_address;

test("five concurrent calls, and one more while the first waits for its block, pay for one contract", async () => {
  const network = await new Network().start(byHand);
  const { post, account } = await pinning(network, pace);
  const five = Promise.all(Array.from({ length: 5 }, () => post("/deploy")));
  await until(async () => (await network.waiting()) > 0);
  const sixth = post("/deploy");
  const answers = await network.mining(Promise.all([five, sixth]).then(([some, last]) => [...some, last]));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  expect(new Set(answers.map(addressIn)).size).toBe(1);
  expect(await network.deployedBy(account)).toBe(1);
  expect((await post("/deploy")).status).toBe(409);
});

describe("a service in its own process", () => {
  beforeAll(built);
  let dataDir: string;
  beforeEach(() => (dataDir = newFolder()));

  async function serve(network: Network) {
    const quickly = ["--node-start", "0", "--environment-start", "0", "--tether-hour", "1"];
    const where = ["--data", dataDir, "--tether", "tether0001", "--target", `rinkeby=${network.url}`];
    const served = await serveJson([...where, ...quickly]);
    return { ...served, ...ways(served.send) };
  }

  test("that is killed between sending and mining pays for one contract, and finds it, unasked", async () => {
    const network = await new Network().start(byHand);
    const first = await serve(network);
    await first.post("/targetNetwork", { network: "rinkeby" });
    const { account } = (await first.get()).body;
    await network.fund(account);
    const lost = first.post("/deploy").catch(() => undefined);
    await until(async () => (await network.waiting()) > 0);
    first.child.kill("SIGKILL");
    await Promise.all([lost, first.ended]);

    const { get } = await serve(network);
    await network.mineUntil(async () => (await get()).text.includes('"deployed_networks":["rinkeby"]'));
    expect(await network.deployedBy(account)).toBe(1);
  });

  test("can answer and stop while a pin waits for its block, and pins once afterwards", async () => {
    const network = await new Network().start(byHand);
    const { post, get, send, stop } = await serve(network);
    await build(send);
    await post("/targetNetwork", { network: "rinkeby" });
    await post("/interval", { interval: 1 });
    await network.fund((await get()).body.account);
    const contract = addressIn(await network.mining(post("/deploy")));
    expect((await post("/activate")).text).toBe("true");
    await until(async () => (await network.waiting()) > 0);
    for (const asked of [get(), get("/reportCount"), get("/account"), get("/balance/rinkeby"), post("/deactivate")]) {
      expect((await asked).status).toBe(200);
    }
    expect((await post("/activate")).text).toBe("true");
    await stop();

    const after = await serve(network);
    await network.mineUntil(async () => (await count(after.get)) >= 1);
    await after.post("/deactivate");
    const report = (await after.get("/reports/0")).body as unknown as { contract_index: number };
    expect(report.contract_index).toBe(0);
    expect(await network.call<string>("eth_getCode", contract, "latest")).not.toBe("0x");
  });
});

test("a pin whose fee is too low after the base fee has risen, twice, is sent with higher ones as the same transaction", async () => {
  const network = await new Network().start(byHand);
  const { get, post, account } = await pinning(network, { timing: { ...quick, tetherHour: 3_600_000 } });
  expect((await network.mining(post("/deploy"))).status).toBe(200);
  await post("/activate");
  await until(async () => (await network.waiting()) > 0);
  type Pool = { pending: Record<string, Record<string, { nonce: string; maxFeePerGas: string }>> };
  const pending = async () =>
    Object.values((await network.call<Pool>("txpool_content")).pending).flatMap((some) => Object.values(some));
  const [first] = await pending();
  expect((await get()).text).not.toContain("last_error");
  const spike = async (base: string) => {
    await network.call("anvil_setNextBlockBaseFeePerGas", base);
    await network.mine();
  };
  const fees = [Number(first!.maxFeePerGas)];
  for (const base of ["0xe8d4a51000", "0x9184e72a000"]) {
    await spike(base); // and no other block, which would have the new one
    await until(async () => Number((await pending())[0]?.maxFeePerGas) > Number(base));
    const all = await pending();
    expect(all.map(({ nonce }) => nonce)).toEqual([first!.nonce]);
    fees.push(Number(all[0]!.maxFeePerGas));
    expect((await get()).text).toContain(`fee of up to ${BigInt(all[0]!.maxFeePerGas)} wei per gas`);
  }
  expect(fees).toEqual([...new Set(fees)].sort((a, b) => a - b));
  // Now it cannot pay for more, says so, and goes on when it can.
  await network.call("anvil_setBalance", account, "0xde0b6b3a7640000");
  await spike("0x5af3107a4000");
  await until(async () => (await get()).text.includes("because the base fee has risen"));
  expect(await count(get)).toBe(0);
  await network.call("anvil_setBalance", account, "0x21e19e0c9bab2400000");
  await network.mineUntil(async () => (await count(get)) === 1);
  expect([await network.calledBy(account), (await get()).text.includes("last_error")]).toEqual([1, false]);
});

test.each([
  ["moved to other blocks", false],
  ["dropped", true],
])("reports whose transactions are %s, twice, hold again without another payment", async (_, isDropped) => {
  const network = await new Network().start("--block-time", "1");
  const it = await pinning(network, { timing: { ...quick, tetherHour: 3_600_000 } });
  expect((await it.post("/deploy")).status).toBe(200);
  for (const reports of [1, 2]) {
    await it.post("/activate"); // which makes a report, and the next one only in an hour
    await until(async () => (await count(it.get)) === reports);
    await it.post("/deactivate");
  }
  const { account } = it;
  const report = async (index: number) => (await it.get(`/reports/${index}`)).body as unknown as Pinned;
  type Pinned = Wire & { block_number: number; transaction_hash: string };
  const holds = async (index: number) => (await verifyReport(await report(index), network.url, { account })).verified;
  const hold = async () => (await holds(0)) && (await holds(1));
  await until(hold);
  const paid = await network.calledBy(account);
  for (const time of [1, 2]) {
    const before = [await report(0), await report(1)];
    const head = Number(await network.call<string>("eth_blockNumber"));
    const raws = await Promise.all(
      before.map(({ transaction_hash }) => network.call<string>("eth_getRawTransactionByHash", transaction_hash)),
    );
    const depth = head - before[0]!.block_number + 1;
    await network.call(
      "anvil_reorg",
      depth,
      isDropped ? [] : raws.map((raw, at) => [raw, at + 1 < depth ? at + 1 : at]),
    );
    if (isDropped) {
      expect(await hold()).toBe(false);
      await until(async () => (await it.get()).text.includes("replaced the block of report 0, 1"));
    }
    await until(hold);
    await until(async () => !(await it.get()).text.includes("last_error"));
    const after = [await report(0), await report(1)];
    expect(after.map(({ transaction_hash }) => transaction_hash)).toEqual(before.map((one) => one.transaction_hash));
    expect(after).not.toEqual(before);
    expect([time, await network.calledBy(account)]).toEqual([time, paid]);
  }
  await it.post("/activate");
  await until(async () => (await count(it.get)) > 2 && holds(2));
});

test("a network that lost its state is reported, and the contract can be deployed again", async () => {
  const network = await new Network().start();
  const { get, post, account } = await pinning(network, pace);
  expect((await post("/deploy")).status).toBe(200);
  await network.stop();
  await network.start();
  await network.fund(account);
  expect((await post("/deploy")).status).toBe(200); // it notices that, too
  await post("/activate");
  await until(async () => (await count(get)) >= 1);
  await network.stop();
  await until(async () => (await get()).text.includes("does not answer"));
  await network.start();
  await until(async () => (await get()).text.includes("lost its state. Deploy it again"));
  expect((await get()).body).toMatchObject({ deployed_networks: [] });
  const before = await count(get);
  await network.fund(account);
  expect((await post("/deploy")).status).toBe(200);
  await until(async () => (await count(get)) > before);
  await until(async () => !(await get()).text.includes("last_error")); // report 0 is sent again, which a later look sees
});

test("a target's user name and password are used, but never shown", async () => {
  const network = await new Network().start();
  const asked: unknown[] = [];
  const wanted = basic("reader", "s3cret-pass").authorization;
  const guarded = await network.behind((_call, forward, { headers }) => {
    asked.push(headers.authorization);
    return headers.authorization === wanted ? forward() : Promise.resolve({ status: 401, body: "" });
  });
  const url = guarded.replace("//", "//reader:s3cret-pass@");
  const dataDir = newFolder();
  const { get, post, service } = await pinning(network, {
    ...pace,
    dataDir,
    ledger: { targets: { rinkeby: url, mainnet: "http://reader:s3cret-pass@127.0.0.1:1" } },
  });
  const answers = [await post("/deploy"), await post("/activate")];
  await until(async () => (await count(get)) >= 1);
  answers.push(await get(), await get("/account"), await get("/balance/mainnet"), await get("/reports/0"));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 502, 200]);
  expect((await get()).body).toMatchObject({ target_urls: { mainnet: "http://127.0.0.1:1" } });
  await service.close();
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const kept = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1"));
  expect([...answers.map(({ text }) => text), ...kept].filter((text) => /s3cret|reader/.test(text))).toEqual([]);
  expect(asked.length).toBeGreaterThan(0);
});

test("anybody can read the local networks, but change them only with a signed transaction", async () => {
  const { service, send } = await start({ ledger: true, tethers: [{ id: "tether0001" }] });
  const { target_urls } = (await ways(send).get()).body as unknown as { target_urls: { rinkeby: string } };
  const ask = async (body: unknown) => {
    const answer = await fetch(target_urls.rinkeby, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const call = (method: string, ...params: unknown[]) => ({ jsonrpc: "2.0", id: 1, method, params });
  expect(await ask(call("eth_chainId"))).toEqual({ status: 200, text: expect.stringContaining("0xdbba4") as string });
  expect((await ask([call("eth_blockNumber"), call("eth_gasPrice")])).status).toBe(200);
  for (const method of ["anvil_setBalance", "evm_mine", "eth_sendTransaction", "anvil_reset", "hardhat_setBalance"]) {
    expect((await ask(call(method))).status).toBe(403);
    expect((await ask([call("eth_chainId"), call(method)])).status).toBe(403);
  }
  const refused = { status: 200, text: expect.stringContaining('"code":-32600') as string };
  for (const body of [5, null, [], {}, "x"]) expect(await ask(body)).toEqual(refused);
  expect((await fetch(`${service.url}/target/ropsten`, { method: "POST" })).status).toBe(404);
});
