import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { Contract, JsonRpcProvider, keccak256, toUtf8Bytes } from "ethers";
import { type Service, type ServiceOptions, startService } from "../../../service/index";
import { canonicalJson } from "../../../service/tether/pins";
import { build, client, matching, quick, refused, type Wire } from "../helpers";
import { until } from "../../support/until";
import { Network } from "../targets";
import { ways } from "../tethered";

/*
 * Tethers on real chains. For the cost of deployments and pins, and for failures, see money.test.ts.
 */

const ether = 10n ** 18n;
const hash = matching(/^0x[0-9a-f]{64}$/);
const address = matching(/^0x[0-9a-fA-F]{40}$/);

const services: Service[] = [];
afterAll(() => Promise.all(services.map((service) => service.close())));

/** A service with a real tether, and an environment of two nodes for it. It runs until the last test of the file. */
async function anchored(options: ServiceOptions = {}) {
  const service = await startService({ ledger: true, timing: quick, tethers: [{ id: "tether0001" }], ...options });
  services.push(service);
  const send = client(service.baseUrl, service.apiKey);
  const world = await build(send);
  await send("POST", `${world.paths.environment}/nodes`, { membership_id: world.membership });
  const { get, post, configure } = ways(send);
  const count = async () => Number((await get("/reportCount")).text);
  const fund = (network: string, wei: string) => send("POST", "/embedded/tether/tether0001/fund", { network, wei });
  return { ...world, service, get, post, configure, count, fund };
}

type Anchored = Awaited<ReturnType<typeof anchored>>;

interface Pinned extends Wire {
  contract_address: string;
  transaction_hash: string;
  block_number: number;
  contract_index: number;
  hash: string;
  reports: object[];
}

/** The contract's own data. */
async function onChain(url: string, { contract_address, contract_index, transaction_hash }: Pinned) {
  const provider = new JsonRpcProvider(url, undefined, { staticNetwork: true });
  const abi = ["function hashAt(uint256) view returns (bytes32)", "function count() view returns (uint256)"];
  const contract = new Contract(contract_address, abi, provider);
  const receipt = await provider.getTransactionReceipt(transaction_hash);
  const [pinned, count] = [await contract.hashAt!(contract_index), await contract.count!()] as [string, bigint];
  provider.destroy();
  return { hash: pinned, count: Number(count), block: receipt?.blockNumber, events: receipt?.logs.length };
}

const targetsOf = async ({ get }: Anchored) =>
  ((await get()).body as unknown as { target_urls: Record<string, string> }).target_urls;

test("a tether reports the states of both nodes until it is stopped, each with its hash in the contract", async () => {
  const it = await anchored({ timing: { ...quick, tetherHour: 150 } });
  await it.configure();
  const { body: deployed } = await it.post("/deploy");
  expect(deployed).toMatchObject({ network: "rinkeby", contract_address: address, transaction_hash: hash });
  expect(await it.post("/deploy")).toMatchObject(refused(409, "already deployed"));
  expect(await it.count()).toBe(0);
  expect((await it.post("/activate")).text).toBe("true");
  expect(await it.count()).toBeGreaterThan(0); // the first one comes with the answer
  await until(async () => (await it.count()) >= 3);
  await it.post("/deactivate");
  const url = (await targetsOf(it)).rinkeby!;
  const report = async (which: string) => (await it.get(which)).body as unknown as Pinned;
  const first = await report("/reports/0");
  await until(async () => (await it.count()) === (await onChain(url, first)).count); // a pin may have been under way
  const last = (await it.count()) - 1;
  expect(await report("/lastReport")).toEqual(await report(`/reports/${last}`));
  const place = { network: "rinkeby", chain_id: 900_004, contract_address: deployed.contract_address };
  for (const index of [0, last]) {
    const pinned = await report(`/reports/${index}`);
    expect(pinned).toMatchObject({ ...place, index, contract_index: index });
    expect(pinned.reports).toHaveLength(2);
    expect(pinned.reports[0]).toMatchObject({ node_id: it.node, environment_id: it.environment, block_hash: hash });
    expect(pinned.hash).toBe(keccak256(toUtf8Bytes(canonicalJson(pinned.reports))));
    expect(await onChain(url, pinned)).toMatchObject({ hash: pinned.hash, block: pinned.block_number, events: 1 });
  }
});

test("a tether without funds on a network is not deployed there, but once it has money, which is shown by network", async () => {
  const rinkeby = String(2n * ether);
  const it = await anchored({ tethers: [{ id: "tether0001", funds: { mainnet: "0", rinkeby } }] });
  await it.configure("mainnet");
  const account = (await it.get("/account")).body;
  expect(account).toEqual({ address, balance: "0" });
  expect((await it.get("/accounts")).body).toEqual(account);
  const own = (account as unknown as { address: string }).address;
  expect((await it.get("/balance/rinkeby")).body).toEqual({ address: own, balance: rinkeby });
  expect((await it.get("/balance/ropsten")).status).toBe(400);
  expect(await it.post("/deploy")).toMatchObject(refused(402, `${own} has no funds on mainnet`));
  expect((await it.get()).body).toMatchObject({ account: own, deployed_networks: [] });
  for (const [network, wei] of [
    ["mainnet", "-1"],
    ["mainnet", "0"],
    ["ropsten", "1"],
  ] as const)
    // prettier-ignore
    expect([network, wei, (await it.fund(network, wei)).status]).toEqual([network, wei, 400]);
  const funded = await it.fund("mainnet", String(ether));
  expect(funded).toMatchObject({ status: 200, body: { ...account, balance: String(ether) } });
  expect((await it.post("/deploy")).status).toBe(200);
  const left = BigInt((await it.get("/account")).body.balance);
  expect([left < ether, left > 0n]).toEqual([true, true]);
  expect((await it.get()).body).toMatchObject({ deployed_networks: ["mainnet"] });
});

test("a tether on the user's own network has its real balance there, and gets no money", async () => {
  const theirs = await anchored();
  await theirs.get("/balance/rinkeby"); // starts the chain
  const it = await anchored({ ledger: { targets: await targetsOf(theirs) } });
  expect((await it.get("/balance/rinkeby")).body.balance).toBe("0");
  expect(await it.fund("rinkeby", "1")).toMatchObject(refused(409, "no faucet"));
  await theirs.service.close();
  expect(await it.get("/balance/rinkeby")).toMatchObject(refused(502, "rinkeby"));
});

test.each([
  ["a plain address", "http://127.0.0.1:1/", "http://127.0.0.1:1"],
  ["one with a user name and a password", "http://me:s3cret@127.0.0.1:1/", "http://127.0.0.1:1"],
  ["one with a key in its path", "http://127.0.0.1:1/v3/s3cret", "http://127.0.0.1:1/…"],
  ["one with a key in its query", "http://127.0.0.1:1/?key=s3cret", "http://127.0.0.1:1/…"],
])("the address of a network is shown without possible secrets: %s", async (_what, mainnet, shown) => {
  const it = await anchored({ ledger: { targets: { mainnet } } });
  expect(await targetsOf(it)).toMatchObject({ mainnet: shown });
});

describe("a tether whose pin waits for a block", () => {
  /** The network makes blocks only when the test says so. */
  const waiting = async () => {
    const network = await new Network().start("--no-mining");
    const it = await anchored({ ledger: { targets: { rinkeby: network.url } } });
    await it.configure();
    await network.fund((await it.get()).body.account);
    expect((await network.mining(it.post("/deploy"))).status).toBe(200);
    await it.post("/activate");
    await until(async () => (await network.waiting()) > 0);
    return { ...it, network };
  };

  test("reports again after an hour, and not before", async () => {
    const { network, count } = await waiting();
    await network.mineUntil(async () => (await count()) === 1);
    for (let block = 0; block < 10; block++) await network.mine();
    expect([await count(), await network.waiting()]).toEqual([1, 0]);
  });

  test("and is activated again meanwhile, reports once more at once: an activation makes a report", async () => {
    const { post, network, count } = await waiting();
    await post("/deactivate");
    await post("/activate");
    await network.mineUntil(async () => (await count()) === 2);
  });

  test("and is stopped meanwhile, makes only that report", async () => {
    const { get, post, network, count } = await waiting();
    await post("/deactivate");
    await network.mineUntil(async () => (await count()) === 1);
    expect((await get()).body).toMatchObject({ state: "inactive" });
  });
});

test("the compiled contract matches the source", () => {
  const root = resolve(__dirname, "../../..");
  execFileSync(process.execPath, ["contracts/compile.mjs", "--check"], { cwd: root, stdio: "pipe" });
});
