import { inGethsWords } from "../../../service/ledger/failures";
import { secondsOf } from "../../../service/profiles";

/* What a caller hears of an engine's error, without an engine. */

const kept = { height: 200, history: 128 };
const said = (message: string, code = -32_000) => inGethsWords({ code, message }, kept).message;

describe("a call that reverts", () => {
  const word = (value: number) => value.toString(16).padStart(64, "0");
  const text = (value: string) => Buffer.from(value).toString("hex");
  const reverted = (data: unknown) => inGethsWords({ code: 3, message: "execution reverted: x", data }, kept).message;
  const reason = (length: number, body: string) => `0x08c379a0${word(32)}${word(length)}${body}`;

  test.each([
    ["a reason", reason(2, text("no").padEnd(64, "0")), "execution reverted: no"],
    ["a reason that ends with the data", reason(2, text("no")), "execution reverted: no"],
    ["a reason that is cut off", reason(3, text("no")), "execution reverted"],
    ["an empty reason", reason(0, ""), "execution reverted: "],
    ["no room for a reason", `0x08c379a0${word(32)}`, "execution reverted"],
    ["a panic", `0x4e487b71${word(0x12)}`, "execution reverted: division or modulo by zero"],
    ["a panic that nobody knows", `0x4e487b71${word(0x99)}`, "execution reverted: unknown panic code: 0x99"],
    ["half a panic", "0x4e487b7100", "execution reverted"],
    ["an error of the contract's own", `0x12345678${word(1)}${word(1)}`, "execution reverted"],
    ["nothing", "0x", "execution reverted"],
    ["what is no text", undefined, "execution reverted"],
  ])("with %s", (_, data, message) => expect(reverted(data)).toBe(message));

  test("has its data, or none", () => {
    expect(inGethsWords({ code: 3, message: "", data: "0x12" }, kept)).toMatchObject({ code: 3, data: "0x12" });
    expect(inGethsWords({ code: 3, message: "", data: { a: 1 } }, kept)).toMatchObject({ data: "0x", known: true });
  });
});

test.each([
  ["EVM error InvalidFEOpcode", "invalid opcode: INVALID"],
  ["EVM error NotActivated", "invalid opcode"],
  ["max_priority_fee_per_gas greater than `max_fee_per_gas`", "max priority fee per gas higher than max fee per gas"],
  ["Invalid Chain Id", "chainId does not match node's"],
  ["Out of gas: gas required exceeds allowance: 5", "out of gas"],
  ["EVM error StackOverflow", "stack limit reached 1024"],
  ["Out of stack", "stack limit reached 1024"],
  ["StateChangeDuringStaticCall", "write protection"],
  ["EVM error CreateContractSizeLimit", "max code size exceeded"],
  ["Insufficient funds for gas", "insufficient funds for gas * price + value"],
  ["nonce too low", "nonce too low"],
  ["nonce too high", "nonce too high"],
  ["Resource not found", "header for hash not found"],
  ["block not found", "unknown block"],
  ["above the block gas limit", "exceeds block gas limit"],
  ["something new", "the ledger cannot execute this call"],
])("%s is %s", (engine, geth) => expect(said(engine)).toBe(geth));

test("what is foreseen is known; of parameters that the engine cannot read, nothing of its own words is said", () => {
  const one = (message: string, code: number) => {
    const { code: told, message: text, known } = inGethsWords({ code, message }, kept);
    return [told, text, known];
  };
  expect(one("nonce too low", -32_003)).toEqual([-32_000, "nonce too low", true]);
  expect(one("nonce too low", -32_602)).toEqual([-32_000, "nonce too low", true]);
  expect(one("data did not match any variant", -32_602)).toEqual([-32_602, "invalid params", false]);
  expect(one("data did not match any variant", -32_603)).toEqual([
    ...[-32_000, "the ledger cannot execute this call", false],
  ]);
});

describe("a state that is not kept", () => {
  const notKept = (which: string, first: number) =>
    `The state of ${which} is not kept: calls can read the states of the latest 128 blocks, from block ${first}.`;
  test.each([
    ["BlockOutOfRange: block height is 200 but requested was 201", "header not found"],
    ["BlockOutOfRange: block height is 200 but requested was 200", notKept("block 200", 73)],
    ["BlockOutOfRange: requested was 3", notKept("block 3", 73)],
    ["Historical data is not there", notKept("that block", 73)],
  ])("%s: %s", (engine, message) => expect(said(engine)).toBe(message));

  test("of a ledger with fewer blocks, all are kept", () => {
    const { message } = inGethsWords({ code: -32_000, message: "no state" }, { height: 5, history: 128 });
    expect(message).toContain("from block 0.");
  });
});

test.each([
  ["0x5", 5],
  [1e12, 1e12],
  [2e18, 2e9],
  ["0x1bc16d674ec80000", 2e9],
  [2_000_000_000_000_000_000n, 2e9],
])("a block's time of %s is %d seconds", (timestamp, seconds) => expect(secondsOf(timestamp)).toBe(seconds));
