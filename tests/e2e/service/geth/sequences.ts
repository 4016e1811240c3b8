import {
  call,
  contract,
  encoded,
  ending,
  hashOf,
  nobody,
  other,
  reverting,
  sends,
  stores,
  topic,
  word,
  zero,
} from "./step";
import type { Row, Seen, Step } from "./step";

/* What is heard of several blocks: filters that are looked at in turn, what is pending, and traces of what was executed. */

const changes = (title: string, filter: string): Step => call([title, "eth_getFilterChanges", hashOf(filter)]);

const logs = (title: string, filter: object): Row => [title, "eth_newFilter", [filter]];
const watched: Row[] = [
  logs("a filter of new logs", { topics: [topic] }),
  logs("another filter of new logs", { topics: [topic], fromBlock: "latest", toBlock: "latest" }),
  logs("a filter of logs since a block", { topics: [topic], fromBlock: "0x2" }),
  logs("a filter of logs of blocks to come", { topics: [topic], fromBlock: "0xd", toBlock: "0xe" }),
  logs("a filter of other logs", { topics: [zero] }),
  ["a filter of new blocks", "eth_newBlockFilter", []],
  ["a filter of new transactions", "eth_newPendingTransactionFilter", []],
  ["a filter of new transactions in full", "eth_newPendingTransactionFilter", [true]],
];
const apart = ["another filter of new logs", "a filter of new blocks"];
const filters = watched.map(([title]) => title).filter((title) => !apart.includes(title));
const looks = (when: string) => filters.map((filter) => changes(`${filter}: ${when}`, filter));
const heard: Step[] = [
  ...watched.map(call),
  ...looks("before any block"),
  stores("a first block with a log", 11, 21),
  stores("a second block with a log", 12, 22),
  ...looks("after two blocks"),
  ...looks("again"),
  changes("new blocks after two, as hashes", "a filter of new blocks"),
  sends("a block without a log", { nonce: 13, value: 1n }),
  stores("a third block with a log", 14, 23),
  stores("a fourth block with a log", 15, 24),
  ...looks("after three more"),
  changes("another filter of new logs: after all", "another filter of new logs"),
  changes("another filter of new logs: after all, again", "another filter of new logs"),
  changes("new blocks after three more, as hashes", "a filter of new blocks"),
  ...filters.slice(0, 3).map((one) => call([`all logs of ${one.slice(2)}`, "eth_getFilterLogs", hashOf(one)])),
];

const ranges: Row[] = [
  { fromBlock: "0x5", toBlock: "0x1" },
  { fromBlock: "safe" },
  { fromBlock: "0x1", toBlock: "finalized" },
  { toBlock: "0x5" },
  { toBlock: "earliest" },
  { fromBlock: "earliest", toBlock: "earliest" },
  { fromBlock: "pending" },
  { toBlock: "pending" },
].map((range): Row => [
  `${/earliest","/.test(JSON.stringify(range)) ? "a filter of" : "filtered"} ${JSON.stringify(range)}`,
  "eth_newFilter",
  [range],
]);

const pending: Row[] = [
  ["logs of the pending block", "eth_getLogs", [{ fromBlock: "pending" }]],
  ["logs up to the pending block", "eth_getLogs", [{ fromBlock: "0x1", toBlock: "pending" }]],
  ["the pending block, in full", "eth_getBlockByNumber", ["pending", true]],
  ["a count of the pending block", "eth_getBlockTransactionCountByNumber", ["pending"]],
  ["uncles of the pending block", "eth_getUncleCountByBlockNumber", ["pending"]],
  ["receipts of the pending block", "eth_getBlockReceipts", ["pending"]],
  ["a transaction of the pending block", "eth_getTransactionByBlockNumberAndIndex", ["pending", "0x0"]],
  ["fees up to the pending block", "eth_feeHistory", ["0x3", "pending", [50]]],
  ["fees up to the latest block", "eth_feeHistory", ["0x3", "latest", [50]]],
];

/** Calls the contract, which stores, statically and as usual; then reads what was not returned. */
const calling = (seen: Seen) => {
  const [push, address] = ["6000".repeat(4), `73${contract(seen).slice(2)}5a`];
  return `0x${push}${address}fa506000${push}${address}f1506001600060003e`;
};
const failing = "a contract that calls others and fails";
const fails = sends(failing, (seen) => ({ nonce: 17, to: null, data: calling(seen), gasLimit: 500_000 }));

const traced = [
  "a transfer",
  "a deployment",
  "a call of the contract",
  "a transfer with an access list",
  "a transfer with fees",
  "a contract that reverts",
  "a contract of an invalid opcode",
  "a contract that needs more gas",
  "a contract that begins with EF",
  "a fourth block with a log",
];
const trace = (title: string, step: string, ...options: object[]): Row => [
  title,
  "debug_traceTransaction",
  (seen) => [seen.of(step), ...options],
];
const [stored, tracer] = ["a call of the contract", "callTracer"];
const traces: Row[] = [
  ...traced.flatMap((step) => [trace(`calls of ${step}`, step, { tracer }), trace(`steps of ${step}`, step)]),
  trace(`calls of ${failing}`, failing, { tracer }),
  trace("calls with logs", stored, { tracer, tracerConfig: { withLog: true } }),
  trace("steps with memory", stored, { enableMemory: true, enableReturnData: true }),
  trace("steps without a stack", stored, { disableStack: true, disableStorage: true }),
  ["steps of nothing", "debug_traceTransaction", [zero, {}]],
];

const simulates = (title: string, ...blockStateCalls: object[]): Row => [
  title,
  "eth_simulateV1",
  [{ blockStateCalls }, "latest"],
];
const inCode = (code: string, more: object = {}) => ({
  stateOverrides: { [other]: { code } },
  calls: [{ to: other, ...more }],
});
const simulations: Row[] = [
  simulates("a simulation of a call that returns", inCode(ending("f3", word(42)))),
  simulates("a simulation of a revert", inCode(reverting(""))),
  simulates("a simulation of an invalid opcode", inCode("0xfe")),
  simulates("a simulation of a log", inCode("0x60206000a000")),
  simulates("a simulation in another order", ...["0x40", "0x30"].map((number) => ({ blockOverrides: { number } }))),
  ...(
    [
      ["a nonce that is used", { nonce: "0x0" }, true],
      ["a nonce to come", { nonce: "0x9" }, true],
      ["any nonce, without validation", { nonce: "0x9" }, false],
      ["money that nobody has", { value: `0x1${"0".repeat(25)}` }, false],
      ["too little gas", { gas: "0x5207" }, false],
      ["more gas than a block has", { gas: "0x1c9c381" }, false],
    ] as const
  ).map(([what, more, validation]): Row => [
    `a simulation of ${what}`,
    "eth_simulateV1",
    ({ rich }) => {
      const from = what === "a nonce that is used" ? rich.address : nobody;
      return [{ blockStateCalls: [{ calls: [{ from, to: other, ...more }] }], validation }, "latest"];
    },
  ]),
  simulates("a simulation of a revert with a reason", inCode(reverting(`08c379a0${encoded(["string"], ["no"])}`))),
  simulates("a simulation of too many blocks", ...Array<object>(257).fill({})),
  simulates("a simulation of an earlier block", { blockOverrides: { number: "0x2" } }),
];
const limits: Row[] = [
  ["a call with more gas than a block has", "eth_call", [{ to: nobody, gas: "0x1c9c381" }, "latest"]],
];

const cleared: Step[] = [
  call(["a proof of the pending state", "eth_getProof", (seen) => [contract(seen), ["0x1"], "pending"]]),
  stores("what is stored is cleared", 16, 0),
  call(["a proof of what was cleared", "eth_getProof", (seen) => [contract(seen), ["0x0"], "latest"]]),
];

export const sequences: Step[] = [
  ...heard,
  ...cleared,
  fails,
  ...[...ranges, ...pending, ...traces, ...simulations, ...limits].map(call),
];
