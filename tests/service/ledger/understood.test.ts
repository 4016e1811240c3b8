import { encodeRlp, type Transaction } from "ethers";
import { intrinsicGas, sentBy } from "../../../service/ledger/admission";
import { type Criteria, matching } from "../../../service/ledger/logs";
import { Reads } from "../../../service/ledger/reads";
import { rpcCall } from "../../../service/ledger/rpc";
import type { Simulation } from "../../../service/ledger/params";
import { read, type Rights, screen } from "../../../service/ledger/screening";
import { mustFollow } from "../../../service/ledger/simulation";
import { type Profile, profiles } from "../../../service/profiles";
import { callLimits } from "../../../service/settings/settings";

/* What is understood of a message before a chain gets it. Its gas, and several calls: screening.test.ts. */

const account = `0x${"a".repeat(40)}`;
const hash = `0x${"1f".repeat(32)}`;
const rights = (more: Partial<Rights> = {}): Rights => ({
  limits: callLimits.parse({ gas: 1_000, batch: 3 }),
  profile: profiles.quorum!.ibft,
  socket: false,
  report: (error) => {
    throw error;
  },
  ...more,
});

/** What the chain gets, or the answer without it, as text. */
function became(call: unknown, more: Partial<Rights> = {}): string {
  const [one] = screen(call, rights(more)).calls;
  const { answer, method, params, silent } = one as unknown as Record<string, never>;
  const text = answer === undefined ? JSON.stringify([method, params]) : outcome(answer);
  return silent ? `silent ${text}` : text;
}
const outcome = ({ result, error, id }: { result?: unknown; error?: { code: number; message: string }; id: unknown }) =>
  `${JSON.stringify(id)} ${error ? `${error.code}: ${error.message}` : JSON.stringify(result)}`;
const asked = (method: string, ...params: unknown[]) => ({ jsonrpc: "2.0", id: 1, method, params });

describe("a message", () => {
  test.each([
    ["{", "null -32700: The body is not JSON."],
    ['[{"id":4},1,1,1]', "4 -32600: batch too large: 4 calls, at most 3 are allowed"],
    ['{"id":3,"method":5,"jsonrpc":"2.0"}', "3 -32600: A call must be an object with a method."],
    [
      '{"id":1,"method":"eth_chainId","jsonrpc":"2.0","params":{"a":1}}',
      "1 -32602: non-array args: the params of a call must be a list",
    ],
    ['{"id":3,"method":"eth_chainId"}', '3 -32600: A call must have the field jsonrpc: "2.0".'],
    [
      '{"id":1,"method":"eth_getBalance","jsonrpc":"2.0","params":[9007199254740992]}',
      '1 -32600: A number is beyond 2^53 - 1: write it as a hexadecimal string, such as "0x20000000000000".',
    ],
  ])("%s", (body, text) => {
    const { calls } = read(body, rights());
    expect(outcome((calls[0] as unknown as { answer: never }).answer)).toBe(text);
  });

  test("that is nested too deeply is answered with its id", () => {
    const deep = `{"id":7,"jsonrpc":"2.0","method":"eth_call","params":${"[".repeat(140_000)}${"]".repeat(140_000)}}`;
    const [one] = read(deep, rights()).calls;
    expect(outcome((one as unknown as { answer: never }).answer)).toBe("7 -32600: The call is nested too deeply.");
  });

  test("of as many calls as are allowed is a batch; of one alone it is none", () => {
    const call = asked("eth_chainId");
    expect(screen([call, call, call], rights())).toMatchObject({ batch: true, calls: [{}, {}, {}] });
    expect(screen([call], rights()).batch).toBe(true);
    expect(screen(call, rights()).batch).toBe(false);
  });

  test("without an id has no answer, unless it is no call", () => {
    expect(became({ jsonrpc: "2.0", method: "eth_chainId" })).toBe('silent ["eth_chainId",[]]');
    expect(became({ jsonrpc: "2.0", id: null, method: "eth_chainId" })).toBe('["eth_chainId",[]]');
    expect(became({ jsonrpc: "2.0", method: "nothing" })).toMatch(/^silent null -32601/);
    expect(became({ jsonrpc: "2.0" })).toMatch(/^null -32600/);
  });

  test("an error that nobody foresaw is reported, and not told", () => {
    const report = jest.fn();
    const bad = { limits: { ...rights().limits, batch: 3 } };
    Object.defineProperty(bad.limits, "gas", {
      get: () => {
        throw new Error("secret");
      },
    });
    expect(became(asked("eth_call", {}), { ...bad, report })).not.toContain("secret");
    expect(report.mock.calls).toMatchObject([[{ message: "secret" }]]);
  });
});

describe("what the client answers by itself", () => {
  test.each([
    ["web3_clientVersion", [], "Geth/v1.10.3-stable(quorum-v23.4.0)/linux-amd64/go1.20"],
    ["eth_gasPrice", [], "0x0"],
    ["eth_maxPriorityFeePerGas", [], "0x0"],
    ["eth_feeHistory", ["0x0", "latest", []], { oldestBlock: "0x0", gasUsedRatio: null }],
    ["net_peerCount", [], "0x0"],
    ["eth_hashrate", [], "0x0"],
    ["eth_mining", [], false],
    ["eth_protocolVersion", [], "0x41"],
  ])("%s", (method, params, result) => {
    expect(became(asked(method, ...params))).toBe(`1 ${JSON.stringify(result)}`);
  });

  test("on a public network, the version is the service's, and prices are the chain's", () => {
    const open = { profile: undefined };
    expect(became(asked("web3_clientVersion"), open)).toBe('1 "consortium-service"');
    expect(became(asked("eth_gasPrice"), open)).toBe('["eth_gasPrice",[]]');
  });

  test("the account of the node, where there is one", () => {
    for (const method of ["eth_accounts", "eth_requestAccounts"]) {
      expect(became(asked(method), { account })).toBe(`1 ${JSON.stringify([account])}`);
      expect(became(asked(method))).toMatch(/^1 -32601: the method eth_/);
    }
    expect(became(asked("eth_chainId"), { account })).toBe('["eth_chainId",[]]');
    expect(became(asked("eth_feeHistory", "0x1", "latest", []))).toBe('["eth_feeHistory",["0x1","latest",[]]]');
  });
});

describe("who may make a call", () => {
  test("subscriptions need a WebSocket", () => {
    expect(became(asked("eth_subscribe", "newHeads"))).toMatch(/^1 -32601: notifications not supported/);
    for (const kind of ["newHeads", "syncing"])
      expect(became(asked("eth_subscribe", kind), { socket: true })).toBe(`["eth_subscribe",["${kind}"]]`);
  });

  test("who seals blocks is asked of a protocol that says so, and a node's coinbase is its account", () => {
    const clique = { profile: profiles.geth!.poa, account };
    expect(became(asked("clique_getSigners"), clique)).toBe('["clique_getSigners",["latest"]]');
    expect(became(asked("clique_getSigners"))).toMatch(/^1 -32601/);
    expect(became(asked("istanbul_getValidators", "0x1"))).toBe('["istanbul_getValidators",["0x1"]]');
    expect(became(asked("istanbul_getValidators"), clique)).toMatch(/^1 -32601/);
    expect(became(asked("eth_coinbase"), clique)).toBe(`1 "${account}"`);
    expect(became(asked("eth_coinbase"), { account })).toBe('["eth_coinbase",[]]');
  });

  test("blobs need a hard fork that has them", () => {
    const cancun = { ...profiles.quorum!.ibft, hardFork: "cancun" } as Profile;
    expect(became(asked("eth_blobBaseFee"))).toMatch(/^1 -32601/);
    expect(became(asked("eth_blobBaseFee"), { profile: cancun })).toBe('["eth_blobBaseFee",[]]');
    expect(became(asked("eth_blobBaseFee"), { profile: undefined })).toBe('["eth_blobBaseFee",[]]');
  });

  test.each([
    ...["anvil_reset", "anvil_setRpcUrl", "anvil_dumpState", "anvil_loadState", "anvil_setBalance", "anvil_nodeInfo"],
    ...["anvil_impersonateAccount", "anvil_autoImpersonateAccount", "ANVIL_RESET", "hardhat_reset", "constructor"],
    ...["hardhat_dumpState", "eth_sendUnsignedTransaction", "evm_mine", "evm_revert", "debug_dbGet", "trace_block"],
    "wallet_sendTransaction",
  ])("nobody may call %s: it connects elsewhere, accesses files, or changes the chain from outside", (method) => {
    const [own, call] = ["eth_chainId", method].map((one) => JSON.stringify(asked(one))) as [string, string];
    const doubled = call.replace("{", '{"method":"eth_chainId",'); // the chain must get the method that was checked
    for (const text of [call, call.replace("_", "\\u005f"), doubled]) {
      const { calls } = read(`[${own},${text}]`, rights());
      expect(calls).toMatchObject([{ method: "eth_chainId" }, { answer: { id: 1, error: { code: -32_601 } } }]);
      expect(JSON.stringify(calls)).toContain(`the method ${method} does not exist`);
    }
  });

  test("a node signs for its own account alone, however that is written", () => {
    const signs = (method: string, ...params: unknown[]) => became(asked(method, ...params), { account });
    const loud = (one: string) => one.toUpperCase().replace("0X", "0x");
    const other = `0x${"b".repeat(40)}`;
    expect(signs("eth_sign", loud(account), "0x12")).toBe(JSON.stringify(["eth_sign", [account, "0x12"]]));
    expect(signs("personal_sign", "0x12", account)).toBe(JSON.stringify(["personal_sign", ["0x12", account]]));
    for (const from of [other, loud(other), undefined, null, [account, other]]) {
      const whose = typeof from === "string" ? `not ${from}.` : "and the call names none.";
      for (const said of [
        ...["eth_sendTransaction", "eth_signTransaction"].map((method) => signs(method, { from, to: account })),
        signs("eth_sign", from, "0x12"),
        signs("personal_sign", account, from), // the account is the second one
        signs("eth_signTypedData_v4", from, {}),
      ]) {
        expect(said).toMatch(/^1 -32000: unknown account: /);
        expect(said).toContain(`for its own account ${account} only, ${whose}`);
      }
    }
    for (const params of [undefined, [], { from: account }])
      expect(became({ ...asked("eth_sendTransaction"), params }, { account })).toContain("and the call names none.");
    expect(became(asked("eth_sign", account, "0x12"))).toMatch(/^1 -32601/);
  });

  test.each([...["privateFor", "privateFrom", "privacyGroupId"], ...["restriction", "privacyFlag", "mandatoryFor"]])(
    "no node takes %s: the transaction would be public",
    (field) => {
      const said = became(asked("eth_sendTransaction", { from: account, [field]: [] }), { account });
      expect(said).toContain(`-32602: invalid argument 0: ${field}: this service has no private transactions`);
    },
  );

  test("without a credential, only what is listed", () => {
    const only = { methods: new Set(["eth_chainId"]), because: "is not for you" };
    expect(became(asked("eth_chainId"), { only })).toBe('["eth_chainId",[]]');
    expect(() => became(asked("eth_blockNumber"), { only })).toThrow("eth_blockNumber is not for you.");
  });
});

describe("params", () => {
  const passed = (method: string, given: unknown[], more?: Partial<Rights>) => became(asked(method, ...given), more);
  const at = (method: string, ...params: unknown[]) => JSON.stringify([method, params]);
  test.each<[string, unknown[], unknown[]]>([
    ["eth_getBalance", [account], [account, "latest"]],
    ["eth_getBalance", [account.toUpperCase().replace("0X", "0x"), null], [account, "latest"]],
    ["eth_getBalance", [account, "safe"], [account, "latest"]],
    ["eth_getBalance", [account, "finalized"], [account, "latest"]],
    ["eth_getBalance", [account, "earliest"], [account, "earliest"]],
    ["eth_getBalance", [account, "0x0"], [account, "0x0"]],
    ["eth_getBalance", [account, { blockNumber: "0x5" }], [account, "0x5"]],
    ["eth_getBalance", [account, hash], [account, { blockHash: hash }]],
    ["eth_getBalance", [account, { blockHash: hash }], [account, { blockHash: hash }]],
    ["eth_getBlockByNumber", ["safe", false], ["latest", false]],
    ["eth_getBlockByNumber", ["finalized", true], ["latest", true]],
    ["eth_call", [{}, "safe"], [{ gas: "0x3e8" }, "latest"]],
    ["eth_getStorageAt", [account, "5"], [account, `0x${"5".padStart(64, "0")}`, "latest"]],
    ["eth_getStorageAt", [account, "0xA"], [account, `0x${"a".padStart(64, "0")}`, "latest"]],
    ["web3_sha3", [""], ["0x"]],
    ["eth_feeHistory", [5, "latest", [0, 0, 100]], [5, "latest", [0, 0, 100]]],
    ["eth_feeHistory", ["12", "latest", []], [12, "latest", []]],
    ["eth_call", [{ data: "0x12" }], [{ input: "0x12", gas: "0x3e8" }, "latest"]],
    ["eth_call", [{ data: "0x12", input: "0x34" }], [{ input: "0x34", gas: "0x3e8" }, "latest"]],
    ["eth_getLogs", [{ address: null, topics: [null, [hash, null]] }], [{ topics: [null, [hash, null]] }]],
    ["eth_getLogs", [{ fromBlock: "safe", toBlock: "finalized" }], [{ fromBlock: "latest", toBlock: "latest" }]],
    ["eth_newFilter", [{ fromBlock: "earliest", toBlock: "0x0" }], [{ fromBlock: "earliest", toBlock: "0x0" }]],
    ["eth_newFilter", [{ fromBlock: "0x5", toBlock: "latest" }], [{ fromBlock: "0x5", toBlock: "latest" }]],
    ["eth_uninstallFilter", ["x".repeat(66)], ["x".repeat(66)]],
  ])("%s %j", (method, given, params) => expect(passed(method, given)).toBe(at(method, ...params)));

  test.each<[string, unknown[], string]>([
    ["eth_getBalance", [account, `0x1${"0".repeat(16)}`], "invalid argument 1: must be the number or hash"],
    ["eth_getStorageAt", [account, "1".repeat(67)], "invalid argument 1: must be a storage key"],
    ["eth_getTransactionByHash", [`${hash}0`], "invalid argument 0: must be a hash"],
    ["eth_call", [{ value: 5 }], "invalid argument 0: value: must be a hexadecimal number of at most 64 digits"],
    ["eth_call", [{ colour: 5, taste: 6 }], "invalid argument 0: unknown field colour, taste"],
    ["eth_call", [{ colour: 5, privateFor: [] }], "invalid argument 0: privateFor: this service has no private"],
    ["eth_feeHistory", [1_025, "latest", []], "invalid argument 0: Too big: expected number to be <=1024"],
    ["eth_uninstallFilter", ["x".repeat(67)], "invalid argument 0: must be a text of at most 66 characters"],
    ["debug_traceTransaction", [hash, { tracer: "4byteTracer" }], "invalid argument 1: tracer: must be callTracer"],
    ["debug_traceTransaction", [hash, { stateOverrides: {} }], "invalid argument 1: "],
    ["eth_getLogs", [{ address: Array(1_001).fill(account) }], "address: exceed max addresses: at most 1000"],
    ["eth_getProof", [account, Array(1_025).fill("0x1")], "invalid argument 1: must be at most 1024 storage keys"],
    ["eth_feeHistory", ["0x1", "latest", Array(101).fill(1)], "invalid argument 2: must be at most 100 percentiles"],
    ["eth_feeHistory", ["0x1", "latest", [-0.5]], "invalid reward percentile: -0.500000"],
  ])("%s %j is refused", (method, given, why) => expect(passed(method, given)).toContain(why));

  test("as many as are allowed pass", () => {
    const many: [string, unknown[]][] = [
      ["eth_getProof", [account, Array(1_024).fill("0x1")]],
      ["eth_feeHistory", ["0x1", "latest", Array(100).fill(1)]],
      ["eth_feeHistory", [1_024, "latest", [0, 100]]],
      ["eth_getLogs", [{ topics: Array(4).fill(null), address: Array(1_000).fill(account) }]],
      ["eth_getLogs", [{ blockHash: hash }]],
      ["eth_call", [{}, "latest", { [account]: { state: {} } }]],
    ];
    for (const [method, params] of many) expect(passed(method, params)).toMatch(/^\["eth_/);
  });

  test("a transaction that is sent must not say two things", () => {
    const sent = (fields: object) => passed("eth_sendTransaction", [{ from: account, ...fields }], { account });
    expect(sent({ data: "0x12", input: "0x34" })).toContain('both "data" and "input" are set and not equal.');
    for (const fields of [{ data: "0x12" }, { input: "0x12" }, { data: "0x12", input: "0x12" }])
      expect(sent(fields)).toBe(at("eth_sendTransaction", { from: account, input: "0x12" }));
  });
});

describe("logs", () => {
  const [a, b] = [account, `0x${"b".repeat(40)}`];
  const [one, two] = [`0x${"1".repeat(64)}`, `0x${"2".repeat(64)}`];
  const log = { blockNumber: "0x1", address: a, topics: [one, two] };
  test.each<[Criteria, boolean]>([
    [{}, true],
    [{ address: null, topics: null }, true],
    [{ address: b }, false],
    [{ address: [] }, true],
    [{ topics: [] }, true],
    [{ topics: [null, two] }, true],
    [{ topics: [null, [one, two]] }, true],
    [{ topics: [[two, null]] }, true],
    [{ topics: [[]] }, true],
    [{ address: a, topics: [one, one] }, false],
    [{ address: b, topics: [one] }, false],
  ])("%j: %j", (criteria, fits) => expect(matching(criteria)(log)).toBe(fits));
});

describe("the gas that a transaction needs before anything is executed", () => {
  const gas = (fork: Parameters<typeof intrinsicGas>[1], fields: object) =>
    Number(intrinsicGas({ to: account, data: "0x", ...fields } as unknown as Transaction, fork));
  test.each<[Parameters<typeof intrinsicGas>[1], object, number]>([
    ["berlin", { to: null, data: `0x${"00".repeat(33)}` }, 53_000 + 33 * 4],
    ["shanghai", { to: null, data: `0x${"00".repeat(33)}` }, 53_000 + 33 * 4 + 2 * 2],
    ["shanghai", { data: `0x${"00".repeat(33)}` }, 21_000 + 33 * 4],
    ["berlin", { accessList: [{ storageKeys: [] }, { storageKeys: [1, 2] }] }, 21_000 + 2 * 2_400 + 2 * 1_900],
    ["prague", { data: `0x${"12".repeat(100)}` }, 21_000 + 40 * 100],
    ["shanghai", { data: `0x${"12".repeat(100)}` }, 21_000 + 16 * 100],
    ["prague", { data: `0x${"00".repeat(100)}` }, 21_000 + 10 * 100],
  ])("%s %j", (fork, fields, needed) => expect(gas(fork, fields)).toBe(needed));
});

test.each([
  ["than its fee at most", "0x02", "0x01", "max priority fee per gas higher than max fee per gas"],
  ["than nothing", "0x01", "0x02", "invalid sender: invalid transaction v, r, s values"],
])("a transaction with a higher tip %s is refused for its own reason", async (_what, tip, most, why) => {
  const parts = ["0x05", "0x", tip, most, "0x5208", account, "0x", "0x", [], "0x", "0x", "0x"];
  const raw = `0x02${encodeRlp(parts).slice(2)}`;
  const spec = { key: "e1", chainId: 5, accounts: 1, profile: undefined };
  await expect(sentBy(undefined as never, raw, spec)).rejects.toThrow(why);
});

test("the nonces of a simulation with validation follow in all of its blocks, for each account", async () => {
  const other = `0x${"b".repeat(40)}`;
  const used: Record<string, string> = { [account]: "0x5", [other]: "0x2" };
  const follow = (...blocks: [from: string, nonce: string][][]) => {
    const blockStateCalls = blocks.map((calls) => ({ calls: calls.map(([from, nonce]) => ({ from, nonce })) }));
    return mustFollow({ blockStateCalls } as Simulation, (from) => Promise.resolve(used[from]));
  };
  const [one, two]: [string, string][][] = [[[account, "0x5"], [other, "0x2"], [account, "0x6"]], [[other, "0x3"], [account, "0x7"]]]; // prettier-ignore
  await follow(one!, two!);
  await expect(follow(one!, [[account, "0x5"]])).rejects.toThrow("nonce too low: address 0xaa");
  await expect(follow(one!, [[other, "0x7"]])).rejects.toThrow("nonce too high: address 0xbb");
});

describe("the engine", () => {
  const answered = async (method: string, params: unknown[], result: unknown = "the engine's", profile?: Profile) => {
    const engine = { answer: () => Promise.resolve({ result }) };
    const data = { height: 3, logs: () => [Buffer.from('{"address":"0x1","topics":[]}')], placeOf: () => undefined };
    const reads = new Reads(
      { data, spec: { profile } } as never,
      () => Promise.resolve(engine as never),
      () => Promise.resolve(),
    );
    return reads.answer(rpcCall(method, params), { bytes: 100, ms: 1_000 });
  };
  const fees = (newest: unknown, percentiles: number[] = []) =>
    answered("eth_feeHistory", ["0x1", newest, percentiles], { oldestBlock: "0x3", reward: [] });
  test("is not asked for logs: they are kept", async () => {
    expect(await answered("eth_getLogs", [{}])).toEqual([{ address: "0x1", topics: [] }]);
  });
  test.each(["0x3", "0x0", "latest", "pending"])("is asked for fees up to the block %s", async (newest) => {
    expect(await fees(newest)).toEqual({ oldestBlock: "0x3" });
    expect(await fees(newest, [50])).toEqual({ oldestBlock: "0x3", reward: [] });
  });
  test("is not asked for fees of a block that there is not: it would say zero", async () =>
    expect(fees("0x4")).rejects.toThrow("request beyond head block: requested 4, head 3"));

  test.each([
    [
      "eth_getTransactionByHash",
      { blockTimestamp: "0x0", hash: "0x1", blockHash: "0x2", blockNumber: "0x3", transactionIndex: "0x4" },
      { hash: "0x1", blockHash: null, blockNumber: null, transactionIndex: null },
    ],
    ["eth_getTransactionByHash", null, null],
    ["eth_getTransactionReceipt", "0x12", null],
    ["eth_getRawTransactionByHash", "0x12", "0x12"],
    ["eth_getRawTransactionByHash", null, "0x"],
    ["eth_call", "0x", "0x"],
  ])("%s: %j is told as %j", async (method, result, shown) =>
    expect(await answered(method, ["0x1"], result, profiles.quorum!.ibft)).toEqual(shown),
  );
});
