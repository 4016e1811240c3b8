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
  topic,
  word,
  zero,
  type Params,
  type Row,
  type Seen,
  type Step,
} from "./step";

/* What is heard of several blocks: filters that are looked at in turn, what is pending, and traces of what was executed. */

const stores = (title: string, nonce: number, value: number): Step =>
  sends(title, (seen) => ({ nonce, to: contract(seen), data: `0x${word(value)}`, gasLimit: 100_000 }));
const changes = (title: string, filter: string): Step => call([title, "eth_getFilterChanges", hashOf(filter)]);

const watched: Row[] = [
  ["a filter of new logs", "eth_newFilter", [{ topics: [topic] }]],
  ["another filter of new logs", "eth_newFilter", [{ topics: [topic], fromBlock: "latest", toBlock: "latest" }]],
  ["a filter of logs since a block", "eth_newFilter", [{ topics: [topic], fromBlock: "0x2" }]],
  ["a filter of logs of blocks to come", "eth_newFilter", [{ topics: [topic], fromBlock: "0xd", toBlock: "0xe" }]],
  ["a filter of other logs", "eth_newFilter", [{ topics: [zero] }]],
  ["a filter of new blocks", "eth_newBlockFilter", []],
  ["a filter of new transactions", "eth_newPendingTransactionFilter", []],
  ["a filter of new transactions in full", "eth_newPendingTransactionFilter", [true]],
];
const filters = [
  "a filter of new logs",
  "a filter of logs since a block",
  "a filter of logs of blocks to come",
  "a filter of other logs",
  "a filter of new transactions",
  "a filter of new transactions in full",
];
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
  ...["a filter of new logs", "a filter of logs since a block", "a filter of logs of blocks to come"].map((filter) =>
    call([`all logs of ${filter.slice(2)}`, "eth_getFilterLogs", hashOf(filter)]),
  ),
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
const fails: Step[] = [
  sends("a contract that calls others and fails", (seen) => ({
    nonce: 17,
    to: null,
    data: calling(seen),
    gasLimit: 500_000,
  })),
];

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
const of =
  (step: string, ...options: unknown[]): Params =>
  (seen) => [seen.of(step), ...options];
const traces: Row[] = [
  ...traced.flatMap((step): Row[] => [
    [`calls of ${step}`, "debug_traceTransaction", of(step, { tracer: "callTracer" })],
    [`steps of ${step}`, "debug_traceTransaction", of(step)],
  ]),
  [
    "calls of a contract that calls others and fails",
    "debug_traceTransaction",
    of("a contract that calls others and fails", { tracer: "callTracer" }),
  ],
  [
    "calls with logs",
    "debug_traceTransaction",
    of("a call of the contract", { tracer: "callTracer", tracerConfig: { withLog: true } }),
  ],
  [
    "steps with memory",
    "debug_traceTransaction",
    of("a call of the contract", { enableMemory: true, enableReturnData: true }),
  ],
  [
    "steps without a stack",
    "debug_traceTransaction",
    of("a call of the contract", { disableStack: true, disableStorage: true }),
  ],
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
  simulates(
    "a simulation in another order",
    { blockOverrides: { number: "0x40" } },
    { blockOverrides: { number: "0x30" } },
  ),
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
  ...fails,
  ...[...ranges, ...pending, ...traces, ...simulations, ...limits].map(call),
];
