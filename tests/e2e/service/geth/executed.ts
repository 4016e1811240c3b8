import { contract, encoded, ending, given, nobody, other, reverting, storing, word, zero } from "./step";
import type { Params, Row, Seen } from "./step";

/* Calls of code, and what they cost. */

/** Calls of code that is there for one call. */
const code = (bytes: string, more: object = {}) => [{ to: other, ...more }, ...over({ code: bytes })];
const over = (changes: object, ...block: object[]) => ["latest", { [other]: changes }, ...block];
const slot0 = "0x60005460005260206000f3";
const sha256 = `0x${"2".padStart(40, "0")}`;
const reason = encoded(["string"], ["no such thing"]);
const executed: [string, Params][] = [
  ["of nothing", [{}, "latest"]],
  ["of an account", [{ to: nobody }, "latest"]],
  ["without a block", [{ to: nobody }]],
  ["of code that returns", code(ending("f3", word(42)))],
  ["of code that stops", code("0x00")],
  ["of code that reverts", code(reverting(""))],
  ["of code that reverts with a reason", code(reverting(`08c379a0${reason}`))],
  ["of code that reverts with an empty reason", code(reverting(`08c379a0${encoded(["string"], [""])}`))],
  ["of code that reverts with a broken reason", code(reverting(`08c379a0${word(32)}`))],
  ["of code that panics", code(reverting(`4e487b71${word(0x11)}`))],
  ["of code that panics with an unknown code", code(reverting(`4e487b71${word(0x99)}`))],
  ["of code that fails an assertion", code(reverting(`4e487b71${word(1)}`))],
  ["of code with an error of its own", code(reverting(`12345678${word(1)}`))],
  ["of an invalid opcode", code("0xfe")],
  ["of an opcode that nobody knows", code("0x0c")],
  ["of PUSH0", code("0x5f5ff3")],
  ["of a jump to nowhere", code("0x600056")],
  ["of an empty stack", code("0x50")],
  ["of a full stack", code("0x5b6000600056")],
  ["without enough gas", code("0x5b600056", { gas: "0x5300" })],
  ["without enough gas to begin", code("0x00", { gas: "0x1" })],
  ["of return data that is not there", code("0x602060006000396020600060003e00")],
  ["of money that nobody has", [{ from: nobody, to: other, value: "0xde0b6b3a7640000" }, "latest"]],
  ["of money at the price of gas", [{ from: nobody, to: other, gasPrice: "0x3b9aca00", gas: "0x5208" }, "latest"]],
  ["of a deployment", [{ data: storing }, "latest"]],
  ["with input and data", [{ to: other, input: "0x12", data: "0x12" }, "latest"]],
  ["with input that is not data", [{ to: other, input: "0x12", data: "0x34" }, "latest"]],
  ["with two kinds of fees", [{ to: other, gasPrice: "0x1", maxFeePerGas: "0x1" }, "latest"]],
  ["with a tip above its fee", [{ to: other, maxPriorityFeePerGas: "0x2", maxFeePerGas: "0x1" }, "latest"]],
  ["of a short address", [{ to: "0x12" }, "latest"]],
  ["with data of odd digits", [{ to: other, data: "0x1" }, "latest"]],
  ["with a number for gas", [{ to: other, gas: 21000 }, "latest"]],
  ["with gas of leading zeros", [{ to: other, gas: "0x05208" }, "latest"]],
  ["of a text", ["x", "latest"]],
  ["of null", [null, "latest"]],
  ["of no argument", []],
  ["at a block that is not there", [{ to: other }, "0xffffff"]],
  ["at an earlier block", [{ to: other }, "0x1"]],
  ["for another chain", [{ to: other, chainId: "0x5" }, "latest"]],
  ["with changed storage", [{ to: other }, ...over({ code: slot0, stateDiff: { [zero]: `0x${word(9)}` } })]],
  ["with two kinds of changed storage", [{ to: other }, ...over({ state: {}, stateDiff: { [zero]: zero } })]],
  ["of a precompile elsewhere", [{ to: nobody }, "latest", { [sha256]: { movePrecompileToAddress: nobody } }]],
  ["with a changed block", [{ to: other }, ...over({ code: "0x4360005260206000f3" }, { number: "0x77" })]],
];
export const calls: Row[] = executed.map(([title, params]) => [`a call ${title}`, "eth_call", params]);

/** Code that reads its slot 5, and an account. */
const reading = ["latest", { [other]: { code: `0x6005545073${nobody.slice(2)}3100` } }];
const stored = (seen: Seen) => ({ to: contract(seen), data: `0x${word(9)}` });
const byRich = (seen: Seen) => ({ from: seen.rich.address, ...stored(seen) });

const gas = (what: string, ...of: Parameters<typeof given>): Row => [`gas ${what}`, "eth_estimateGas", given(...of)];
const list = (what: string, ...of: Parameters<typeof given>): Row => [
  `an access list${what}`,
  "eth_createAccessList",
  given(...of),
];

export const estimates: Row[] = [
  gas("of a transfer", { to: nobody, value: "0x0" }),
  gas("of a transfer from an account", ({ rich }) => ({ from: rich.address, to: nobody, value: "0x1" })),
  gas("of a deployment", { data: storing }),
  gas("of a call that stores", byRich),
  ["gas of a call that reverts", "eth_estimateGas", code(reverting(`08c379a0${reason}`))],
  ["gas of a call that fails", "eth_estimateGas", code("0xfe")],
  gas("of a call with too little", (seen) => ({ ...stored(seen), gas: "0x5300" })),
  gas("of money that nobody has", { from: nobody, to: other, value: "0xde0b6b3a7640000" }),
  gas("at an earlier block", { to: nobody }, "0x1"),
  list("", byRich, "latest"),
  list(" of a call that clears", (seen) => ({ from: seen.rich.address, to: contract(seen) }), "latest"),
  list(
    " of code that reads others",
    { to: other, accessList: [{ address: zero.slice(0, 42), storageKeys: [zero] }] },
    ...reading,
  ),
  list(" of a deployment", ({ rich }) => ({ from: rich.address, data: storing })),
  ["an access list of a call that reverts", "eth_createAccessList", code(reverting(`08c379a0${reason}`))],
];
