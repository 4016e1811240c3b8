import { type Rights, screen } from "../../../service/ledger/screening";
import { callLimits } from "../../../service/settings/settings";
import { containing } from "../helpers";

/* The calls that a chain gets for a message, tested without a chain. Limits over HTTP and WebSocket: limits.test.ts. */

type Fields = Record<string, unknown>;

const rights: Rights = {
  limits: callLimits.parse({ gas: 1_000, batch: 4 }),
  profile: undefined,
  socket: false,
  report: (error) => {
    throw error;
  },
};

/** The call to the chain, or the error without it. */
function passed(method: string, params: unknown[], more: Partial<Rights> = {}) {
  const [call] = screen({ jsonrpc: "2.0", id: 1, method, params }, { ...rights, ...more }).calls;
  return call as { params: Fields[]; answer?: { error: { message: string } } };
}

const hex = (gas: number) => `0x${gas.toString(16)}`;

describe("the gas of a simulation", () => {
  const gasOf = (...blocks: (number | undefined)[][]) => {
    const blockStateCalls = blocks.map((all) => ({ calls: all.map((gas) => ({ gas: gas && hex(gas) })) }));
    const { params, answer } = passed("eth_simulateV1", [{ blockStateCalls }]);
    if (answer) return answer.error.message;
    const simulated = params[0]!.blockStateCalls as { calls: { gas: string }[] }[];
    return simulated.map(({ calls }) => calls.map(({ gas }) => Number(gas)));
  };

  test.each([
    ["of each call is the limit", [[undefined, undefined], [undefined]], [[1_000, 1_000], [1_000]]],
    ["is what a call names", [[600, undefined], [400]], [[600, 1_000], [400]]],
  ])("%s", (_what, given, gas) => expect(gasOf(...given)).toEqual(gas));

  test("of one call is no more than the limit", () => {
    expect(gasOf([600], [1_001])).toContain("asks for 1001 gas; the limit is 1000");
  });

  test("is not set for a block without calls, which stays empty", () => {
    const { params } = passed("eth_simulateV1", [{ blockStateCalls: [{ blockOverrides: {} }] }]);
    expect(params[0]!.blockStateCalls).toEqual([{ blockOverrides: {} }]);
  });
});

describe("the gas of a call", () => {
  const over = { error: { message: containing("asks for 1001 gas; the limit is 1000") } };

  test.each([
    ["that names none is the limit", {}, hex(1_000)],
    ["is what it names", { gas: hex(5) }, hex(5)],
    ["may be named as a transaction does", { gasLimit: hex(5) }, hex(5)],
    ["named twice is the first one", { gas: hex(5), gasLimit: hex(7) }, hex(5)],
  ])("%s", (_what, given, gas) => expect(passed("eth_call", [given, "latest"]).params[0]).toEqual({ gas }));

  test.each([
    ["gas", { gas: hex(1_001) }],
    ["gasLimit", { gasLimit: hex(1_001) }],
  ])("is no more than the limit in %s", (_what, given) => {
    for (const method of ["eth_call", "eth_estimateGas", "eth_createAccessList"])
      expect(passed(method, [given]).params[0]).toEqual({ gas: hex(1_000) });
  });

  test.each<unknown>([
    ...["0x3e9", "0X3E9", "0x00000000000003e9", "0xffffffffffff", `0x${"f".repeat(16)}`, "1001", 1_001],
    ...[`0x${"f".repeat(65)}`, "1_000", "", "0x", "-1", 1.5, {}, [], true, "0b1", " 0x5208"],
  ])("%j is beyond the limit, which a call is given then, or not a number", (gas) => {
    const refused = { error: { message: containing("gas") } };
    const { params, answer } = passed("eth_call", [{ gas }]);
    if (answer) expect(answer).toMatchObject(refused);
    else expect(params[0]).toEqual({ gas: hex(1_000) });
    expect(passed("eth_simulateV1", [{ blockStateCalls: [{ calls: [{ gas }] }] }]).answer).toMatchObject(refused);
  });

  test("of a transaction without a limit is the node's choice, not the maximum", () => {
    const account = `0x${"a".repeat(40)}`;
    expect(passed("eth_sendTransaction", [{ from: account }], { account }).params).toEqual([{ from: account }]);
    expect(passed("eth_sendTransaction", [{ from: account, gas: hex(1_001) }], { account }).answer).toMatchObject(over);
  });
});
