import {
  type BaseContract,
  ContractFactory,
  type ContractTransactionResponse,
  Interface,
  JsonRpcProvider,
  keccak256,
  toUtf8Bytes,
  type TransactionReceipt,
  Wallet,
} from "ethers";
import solc from "solc";
import Anchor from "../../../contracts/Anchor.json";
import { verifyReport } from "../../../sdk";
import { canonicalJson } from "../../../sdk/runtime/report";
import { type Service, startService } from "../../../service/index";
import { build, client } from "../../service/helpers";
import { startPinning } from "../../support/network";
import { until } from "../../support/until";
import { quick } from "../../service/ledgers";
import { Network } from "../../service/targets";

/* Forged reports on a real chain, beside a real one: of a contract that lies, and of one that was deployed with lies in it. */

const forgeries = `
  pragma solidity ^0.8.20;

  /// Names somebody else as its owner, and answers whatever is wanted.
  contract Liar {
    event Pinned(uint256 indexed index, bytes32 hash);
    address public owner;
    mapping(uint256 => bytes32) public hashAt;
    constructor(address named) { owner = named; }
    function pin(uint256 index, bytes32 hash) external { hashAt[index] = hash; emit Pinned(index, hash); }
  }

  /// Leaves any code behind, with a pin in its storage that nobody has sent.
  contract Planted {
    event Pinned(uint256 indexed index, bytes32 hash);
    bytes32[] private hashes;
    constructor(bytes32 hash, bytes memory code) {
      hashes.push(hash);
      emit Pinned(0, hash);
      assembly { return(add(code, 32), mload(code)) }
    }
  }`;

type Compiled = Record<"Liar" | "Planted", { abi: object[]; bytecode: string }>;
function compiled(): Compiled {
  const { compile } = solc as { compile: (input: string) => string };
  const settings = { evmVersion: "paris", outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } } };
  const input = { language: "Solidity", sources: { "f.sol": { content: forgeries } }, settings };
  const output = JSON.parse(compile(JSON.stringify(input))) as {
    contracts: { "f.sol": Record<string, { abi: object[]; evm: { bytecode: { object: string } } }> };
  };
  const contracts = Object.entries(output.contracts["f.sol"]);
  return Object.fromEntries(
    contracts.map(([name, { abi, evm }]) => [name, { abi, bytecode: evm.bytecode.object }]),
  ) as Compiled;
}

interface Report {
  chain_id: number;
  contract_address: string;
  contract_index: number;
  transaction_hash: string;
  block_number: number;
  hash: string;
  reports: { node_id: string }[];
}

let service: Service;
let chain: JsonRpcProvider;
let url: string;
let account: string;
let genuine: Report;
let stranger: Wallet;
/** The stranger's claim: the real report, with another node in it. */
let lie: Pick<Report, "reports" | "hash">;

// One service for all: each test only adds a contract of a stranger.
beforeAll(async () => {
  const timing = { ...quick, tetherHour: 150 };
  const network = await new Network().start();
  const ledger = { targets: { rinkeby: network.url } };
  service = await startService({ ledger, timing, tethers: [{ id: "tether0001" }] });
  const send = client(service.baseUrl, service.apiKey);
  const { paths, membership } = await build(send);
  await send("POST", `${paths.environment}/nodes`, { membership_id: membership, name: "n2" });
  const at = "/tether/tether0001";
  ({ account } = (await send("GET", at)).body);
  await network.fund(account);
  await startPinning(async (path, body) => expect((await send("POST", path, body)).status).toBe(200), "tether0001");
  await until(async () => Number((await send("GET", `${at}/reportCount`)).text) > 0);
  genuine = (await send("GET", `${at}/reports/0`)).body as unknown as Report;
  url = network.url;

  chain = new JsonRpcProvider(url, undefined, { staticNetwork: true, cacheTimeout: -1, polling: true });
  chain.pollingInterval = 50;
  stranger = new Wallet(Wallet.createRandom().privateKey, chain);
  await network.fund(stranger.address);
  const reports = genuine.reports.map((one, at) => (at === 0 ? { ...one, node_id: "forged" } : one));
  lie = { reports, hash: keccak256(toUtf8Bytes(canonicalJson(reports))) };
});
afterAll(async () => {
  chain.destroy();
  await service.close();
});

/** Deploys a contract in the stranger's name. */
async function deploy({ abi, bytecode }: Pick<typeof Anchor, "bytecode"> & { abi: object[] }, ...args: unknown[]) {
  const contract = await new ContractFactory(new Interface(abi), bytecode, stranger).deploy(...args);
  const receipt = (await contract.deploymentTransaction()!.wait())!;
  return { contract, receipt, address: await contract.getAddress() };
}

/** The report of a pin that a transaction has written. */
const pinned = (address: string, { hash, blockNumber }: TransactionReceipt): Report => ({
  ...genuine,
  ...lie,
  contract_index: 0,
  contract_address: address,
  transaction_hash: hash,
  block_number: blockNumber,
});

async function pin(contract: BaseContract): Promise<TransactionReceipt> {
  const sent = (await contract.getFunction("pin")(0, lie.hash)) as ContractTransactionResponse;
  return (await sent.wait())!;
}

const refused = (reason: RegExp) => ({ verified: false, reason: expect.stringMatching(reason) as string });

test("the real one is verified, whichever facts are known", async () => {
  const verified = { verified: true, hash: genuine.hash, owner: account, contractAddress: genuine.contract_address };
  const contractAddress = genuine.contract_address;
  for (const known of [{}, { account }, { contractAddress }, { account, contractAddress }])
    expect(await verifyReport(genuine, url, known)).toMatchObject(verified);
  expect(await verifyReport({ ...genuine, ...lie }, url)).toEqual(refused(/did not pin this hash/));
});

test("a stranger's contract that names the account as its owner, and gives the expected answers", async () => {
  const { contract, address } = await deploy(compiled().Liar, account);
  const forged = pinned(address, await pin(contract));
  const other = /does not have the code of a tether service/;
  for (const known of [{ account }, { contractAddress: address }, {}])
    expect(await verifyReport(forged, url, known)).toEqual(refused(other));
});

test("our code with the account as its owner, and a pin that was planted when a stranger deployed it", async () => {
  const real = await chain.getCode(genuine.contract_address);
  const { receipt, address } = await deploy(compiled().Planted, lie.hash, real);
  expect(await chain.getCode(address)).toBe(real);
  const forged = pinned(address, receipt);
  const stranger = /comes from 0x\w+, not from the owner of the contract/;
  for (const known of [{ account }, {}]) expect(await verifyReport(forged, url, known)).toEqual(refused(stranger));
});

test("a stranger's own pin, in their copy of our contract: only the account shows the difference", async () => {
  const { contract, address } = await deploy(Anchor);
  const own = pinned(address, await pin(contract));
  expect(await verifyReport(own, url, { account })).toEqual(
    refused(new RegExp(`belongs to ${stranger.address}, not to`)),
  );
  expect(await verifyReport(own, url)).toMatchObject({ verified: true, owner: stranger.address });
});
