import { getAddress, Interface, keccak256, toUtf8Bytes, ZeroHash } from "ethers";
import Anchor from "../../../contracts/Anchor.json";
import { type VerifyOptions, verifyReport } from "../../../sdk";
import { peer } from "../../support/peer";

/* Reports, verified or refused, on a target chain that only plays the few calls that a check needs. */

const reports = [
  { node_id: "n1", node_name: "süd", state: "started", block_height: 12, block_hash: `0x${"ab".repeat(32)}` },
  { state: "stopped", node_id: "n2", nested: { b: [1, { d: null, c: true }], a: "x" } },
];
/** Written out by hand, so that it is not this product's own idea of the form. */
const text =
  `[{"block_hash":"0x${"ab".repeat(32)}","block_height":12,"node_id":"n1","node_name":"süd","state":"started"},` +
  `{"nested":{"a":"x","b":[1,{"c":true,"d":null}]},"node_id":"n2","state":"stopped"}]`;
const hash = keccak256(toUtf8Bytes(text));
const contract = getAddress(`0x${"ac".repeat(20)}`);
const owner = "0x5B38Da6a701c568545dCfcB03FcB875f56beddC4";
const transaction = `0x${"3d".repeat(32)}`;
const report = {
  index: 4,
  pinned_at: "2026-01-01T00:00:00.000Z",
  network: "rinkeby",
  chain_id: 900004,
  reports,
  hash,
  contract_address: contract,
  transaction_hash: transaction,
  block_number: 9,
  contract_index: 2,
};

const anchor = new Interface(Anchor.abi);
/** The code on the chain: the contract's, with its owner filled in by hand. */
const codeOf = (owner: string): string => {
  const code = Buffer.from(Anchor.deployedBytecode.slice(2), "hex");
  for (const { start } of Object.values(Anchor.immutableReferences).flat())
    code.write(owner.slice(2), start + 12, "hex");
  return `0x${code.toString("hex")}`;
};
type Chain = { id: number; code: string; stored: string | undefined; receipt: object | null };
const log = (index: number, pinned = hash, address = contract): object => ({
  ...anchor.encodeEventLog("Pinned", [index, pinned]),
  address: address.toLowerCase(),
  blockNumber: "0x9",
  blockHash: ZeroHash,
  transactionHash: transaction,
  logIndex: "0x0",
  transactionIndex: "0x0",
  removed: false,
});
const receipt = (changes: object = {}): object => ({
  transactionHash: transaction,
  blockHash: ZeroHash,
  blockNumber: "0x9",
  transactionIndex: "0x0",
  status: "0x1",
  from: owner,
  to: contract,
  contractAddress: null,
  logsBloom: "0x",
  type: "0x2",
  gasUsed: "0x1",
  cumulativeGasUsed: "0x1",
  effectiveGasPrice: "0x1",
  logs: [log(2)],
  ...changes,
});
const usual: Chain = { id: 900004, code: codeOf(owner), stored: hash, receipt: receipt() };
let chain: Chain;

const block = {
  hash: ZeroHash,
  parentHash: ZeroHash,
  number: "0x9",
  timestamp: "0x6955b900",
  nonce: "0x0000000000000000",
  difficulty: "0x0",
  gasLimit: "0x1",
  gasUsed: "0x0",
  miner: owner,
  extraData: "0x",
  transactions: [],
};
type Asked = { id: number; method: string; params: { data: string }[] };
function respond({ id, method, params }: Asked): object {
  const call = (): object => {
    const asked = anchor.parseTransaction({ data: params[0]!.data })!;
    const value = asked.args[0] === 2n ? chain.stored : undefined;
    if (value === undefined) return { error: { code: 3, message: "execution reverted", data: "0x" } };
    return { result: anchor.encodeFunctionResult(asked.name, [value]) };
  };
  const answers: Record<string, () => object> = {
    eth_chainId: () => ({ result: `0x${chain.id.toString(16)}` }),
    eth_getCode: () => ({ result: chain.code }),
    eth_getTransactionReceipt: () => ({ result: chain.receipt }),
    eth_getBlockByNumber: () => ({ result: block }),
    eth_call: call,
  };
  return { jsonrpc: "2.0", id, ...answers[method]!() };
}

let url: string;
beforeEach(async () => {
  chain = usual;
  const server = await peer((response, seen) => {
    const asked = JSON.parse(server.requests[seen - 1]!.body) as Asked | Asked[];
    response.end(JSON.stringify(Array.isArray(asked) ? asked.map(respond) : respond(asked)));
  });
  url = server.baseUrl;
});

const good = { contractAddress: contract.toLowerCase(), account: owner.toLowerCase() };
test.each<[string, unknown, VerifyOptions | undefined]>([
  ["as the service shows it", report, undefined],
  ["with its index, as getTetherReports answers it", { index: 4, reports: [], report }, undefined],
  ["with the keys in another order", { ...report, reports: [reports[0], { ...reports[1], state: "stopped" }] }, {}],
  ["with addresses in lower case", { ...report, contract_address: contract.toLowerCase() }, undefined],
  ["with addresses in capitals", { ...report, contract_address: `0x${contract.slice(2).toUpperCase()}` }, undefined],
  ["with the contract and the account that are known", report, good],
])("a report that is on the chain: %s", async (_, given, expected) => {
  expect(await verifyReport(given, url, expected)).toEqual({
    verified: true,
    hash,
    chainId: 900004,
    contractAddress: contract,
    owner,
    transactionHash: transaction,
    blockNumber: 9,
    pinnedAt: new Date(0x6955b900 * 1000),
  });
});

const refused = (reason: RegExp) => ({ verified: false, reason: expect.stringMatching(reason) as string });
const tampered = [{ ...reports[0], block_height: 13 }, reports[1]];
const rehashed = keccak256(toUtf8Bytes(text.replace('"block_height":12', '"block_height":13')));
test.each<[string, unknown, Partial<Chain>, RegExp]>([
  ["a report of a node was changed", { ...report, reports: tampered }, {}, /hash of the nodes' reports.*changed/],
  ["its hash, too", { ...report, reports: tampered, hash: rehashed }, {}, /did not pin this hash/],
  ["a node was left out", { ...report, reports: [reports[0]] }, {}, /was changed/],
  ["the order of the nodes", { ...report, reports: [...reports].reverse() }, {}, /was changed/],
  ["another chain", report, { id: 1 }, /on the chain 900004, and this is the chain 1/],
  ["other code", report, { code: codeOf(owner).replace(/.$/, "0") }, /does not have the code of a tether service/],
  ["more code", report, { code: `${codeOf(owner)}00` }, /does not have the code of a tether service/],
  [
    "two owners",
    report,
    { code: codeOf(owner).replace(/5b38da/i, "5b38db") },
    /does not have the code of a tether service/,
  ],
  [
    "another sender",
    report,
    { receipt: receipt({ from: contract }) },
    /comes from 0xac.*, not from the owner .* 0x5B38/i,
  ],
  ["no contract", report, { code: "0x" }, /no contract at 0x/],
  ["no transaction", report, { receipt: null }, /no transaction 0x/],
  ["a failed transaction", report, { receipt: receipt({ status: "0x0", logs: [] }) }, /failed/],
  ["another block", { ...report, block_number: 8 }, {}, /in block 9, but the report says 8/],
  ["a transaction that pins nothing", report, { receipt: receipt({ logs: [] }) }, /did not pin this hash/],
  ["another index", report, { receipt: receipt({ logs: [log(3)] }) }, /did not pin this hash/],
  ["another contract's event", report, { receipt: receipt({ logs: [log(2, hash, owner)] }) }, /did not pin this hash/],
  ["the contract holds another hash", report, { stored: ZeroHash }, /holds 0x0+ at 2, not/],
  ["the contract holds nothing", report, { stored: undefined }, /holds nothing at 2/],
  ["bare reports, pinned nowhere", reports, {}, /was not pinned: it holds the reports of the nodes, but names no/],
  ["nothing", undefined, {}, /was not pinned/],
  ["half of it", { ...report, hash: "0x12", chain_id: "1" }, {}, /not complete: chain_id, hash missing/],
])("refused: %s", async (_, given, changes, reason) => {
  chain = { ...usual, ...changes };
  expect(await verifyReport(given, url)).toEqual(refused(reason));
});

/** As text of JSON, because that is how a report comes. */
const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
const cyclic: unknown[] = [{ node_id: "n1" }];
cyclic.push({ deeper: [cyclic] });
const shared = { at: 1 };
test.each<[string, unknown[], RegExp]>([
  ["20,000 levels deep", [nested(20_000)], /nested too deeply/],
  ["cyclic", cyclic, /contains itself/],
  ["the same object twice", [shared, shared], /was changed/],
  ["lone surrogates", [{ "\udc00": "a\ud800" }], /was changed/],
  ["a bigint", [1n], /holds a bigint, which JSON does not have/],
  ["a symbol", [Symbol("x")], /holds a symbol/],
  ["a function", [() => 1], /holds a function/],
  ["no number", [NaN], /holds NaN/],
  ["more than a number", [JSON.parse("1e400")], /holds Infinity/],
])("a verdict, not a throw: %s", async (_, odd, reason) => {
  expect(await verifyReport({ ...report, reports: odd }, url)).toEqual(refused(reason));
});

test.each<[string, unknown[], string]>([
  ["500 levels deep", [nested(500)], `[${"[".repeat(500)}${"]".repeat(500)}]`],
  ["lone surrogates", [{ "\udc00": "ü\ud800x" }], '[{"\\udc00":"ü\\ud800x"}]'],
  ["missing values", [{ b: undefined, a: [undefined] }], '[{"a":[null]}]'],
])("verified if it is on the chain: %s", async (_, odd, written) => {
  const odder = keccak256(toUtf8Bytes(written));
  chain = { ...usual, stored: odder, receipt: receipt({ logs: [log(2, odder)] }) };
  expect(await verifyReport({ ...report, reports: odd, hash: odder }, url)).toMatchObject({
    verified: true,
    hash: odder,
  });
});

test.each([{ account: "" }, { account: "0x12" }, { contractAddress: "trade.eth" }])("%j is refused", async (given) => {
  await expect(verifyReport(report, url, given)).rejects.toThrow(/verifyReport: \w+ must be an address: 0x/);
});

test.each<[VerifyOptions, RegExp]>([
  [{ contractAddress: owner }, /pinned in the contract .*, not in 0x5B38/],
  [{ account: contract }, /belongs to 0x5B38.*, not to 0xac/i],
])("refused: not %j", async (expected, reason) => {
  expect(await verifyReport(report, url, expected)).toEqual(refused(reason));
});

test("a chain that does not answer is an error, not a verdict, and its full address is not shown", async () => {
  const looking = verifyReport(report, "http://127.0.0.1:1/secret-path");
  await expect(looking).rejects.toThrow(/target chain at http:\/\/127\.0\.0\.1:1 does not answer: .*ECONNREFUSED/);
  await expect(looking).rejects.not.toThrow(/secret-path/);
});

test("no address at all is a clear error", async () => {
  await expect(verifyReport(report, "rinkeby")).rejects.toThrow(/targetRpcUrl must be the address/);
});
