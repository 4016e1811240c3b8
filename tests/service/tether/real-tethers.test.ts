import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { canonicalJson } from "../../../service/tether/real-tethers";
import { Contract, JsonRpcProvider, keccak256, toUtf8Bytes } from "ethers";
import { build, containing, start, until, type Wire } from "../helpers";
import { quick } from "../ledgers";
import { refused } from "../tethered";

jest.setTimeout(30_000);

const ether = 10n ** 18n;

/** A service with a real tether on a network of two nodes. */
async function anchored(options: Parameters<typeof start>[0] = {}) {
  const { service, send } = await start({ ledger: true, timing: quick, tethers: [{ id: "tether0001" }], ...options });
  const world = await build(send);
  await send("POST", `${world.paths.environment}/nodes`, { membership_id: world.membership });
  const get = (path: string) => send("GET", `/tether/tether0001${path}`);
  const post = (path: string, body: unknown = {}) => send("POST", `/tether/tether0001${path}`, body);
  const configure = async (network = "rinkeby") => {
    await post("/targetNetwork", { network });
    await post("/interval", { interval: 1 });
  };
  const count = async () => Number((await get("/reportCount")).text);
  const fund = (network: string, wei: string) => send("POST", "/embedded/tether/tether0001/fund", { network, wei });
  return { ...world, service, send, get, post, configure, count, fund };
}

interface Pinned extends Wire {
  network: string;
  chain_id: number;
  contract_address: string;
  transaction_hash: string;
  block_number: number;
  contract_index: number;
  hash: string;
  reports: { node_id: string; block_hash: string }[];
}

/** What the contract itself says. */
async function onChain(url: string, { contract_address, contract_index, transaction_hash }: Pinned) {
  const provider = new JsonRpcProvider(url, undefined, { staticNetwork: true });
  const abi = ["function hashAt(uint256) view returns (bytes32)", "function count() view returns (uint256)"];
  const contract = new Contract(contract_address, abi, provider);
  const receipt = await provider.getTransactionReceipt(transaction_hash);
  const [hash, count] = [await contract.hashAt!(contract_index), await contract.count!()] as [string, bigint];
  provider.destroy();
  return { hash, count: Number(count), block: receipt?.blockNumber, logs: receipt?.logs.length };
}

test("a report is on the target chain, with the hash of what it tells", async () => {
  const { get, post, configure, count, node } = await anchored({ timing: { ...quick, tetherHour: 150 } });
  await configure();
  const deploy = (await post("/deploy")).body;
  expect(deploy).toMatchObject({
    network: "rinkeby",
    contract_address: containing("0x"),
    transaction_hash: containing("0x"),
  });
  expect(await post("/deploy")).toMatchObject(refused(409, "already deployed"));
  expect(await count()).toBe(0);
  expect((await post("/activate")).text).toBe("true");
  expect(await count()).toBeGreaterThan(0);
  await until(async () => (await count()) >= 3);
  await post("/deactivate");
  const { target_urls } = (await get("")).body as unknown as Wire & { target_urls: { rinkeby: string } };
  const first = (await get("/reports/0")).body as unknown as Pinned;
  // a pin may have been under way
  await until(async () => (await count()) === (await onChain(target_urls.rinkeby, first)).count);
  const last = await count();
  for (const index of [0, last - 1]) {
    const report = (await get(`/reports/${index}`)).body as unknown as Pinned;
    expect(report).toMatchObject({ index, contract_index: index, network: "rinkeby", chain_id: 900_004 });
    expect(report.reports).toHaveLength(2);
    expect(report.reports[0]).toMatchObject({ node_id: node, block_hash: containing("0x") });
    expect(report.hash).toBe(keccak256(toUtf8Bytes(canonicalJson(report.reports))));
    expect(await onChain(target_urls.rinkeby, report)).toEqual({
      hash: report.hash,
      count: last,
      block: report.block_number,
      logs: 1,
    });
  }
  expect((await get("/lastReport")).body).toEqual((await get(`/reports/${last - 1}`)).body);
});

test("account and balance tell the chain's truth, and without funds nothing is deployed", async () => {
  const funds = { mainnet: "0", rinkeby: String(2n * ether) };
  const { get, post, configure, fund } = await anchored({ tethers: [{ id: "tether0001", funds }] });
  await configure("mainnet");
  const { address, balance } = (await get("/account")).body as unknown as Wire & { address: string };
  expect(balance).toBe("0");
  expect((await get("/accounts")).body).toEqual({ address, balance });
  expect((await get("/balance/rinkeby")).body).toEqual({ address, balance: funds.rinkeby });
  expect(await post("/deploy")).toMatchObject(refused(402, `${address} has no funds on mainnet`));
  expect((await get("")).body).toMatchObject({ account: address, deployed_networks: [] });

  expect(await fund("mainnet", String(ether))).toMatchObject({
    status: 200,
    body: { address, balance: String(ether) },
  });
  expect((await post("/deploy")).status).toBe(200);
  const left = BigInt((await get("/account")).body.balance);
  expect(left).toBeGreaterThan(0n);
  expect(left).toBeLessThan(ether);
  expect((await get("")).body.deployed_networks).toEqual(["mainnet"]);
  expect((await fund("mainnet", "-1")).status).toBe(400);
  expect((await fund("ropsten", "1")).status).toBe(400);
});

test("a network of the user's own is used as it is", async () => {
  const chains = await anchored();
  await chains.get("/balance/rinkeby");
  const { target_urls } = (await chains.get("")).body as unknown as Wire & { target_urls: { rinkeby: string } };
  const { get, fund } = await anchored({ ledger: { targets: target_urls } });
  expect((await get("/balance/rinkeby")).body.balance).toBe("0");
  expect(await fund("rinkeby", "1")).toMatchObject(refused(409, "no faucet"));
  await chains.service.close();
  expect(await get("/balance/rinkeby")).toMatchObject({ status: 502 });
});

test("the compiled contract is that of the source", () => {
  const root = resolve(__dirname, "../../..");
  execFileSync(process.execPath, ["contracts/compile.mjs", "--check"], { cwd: root, stdio: "pipe" });
});
