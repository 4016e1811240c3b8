import { screen, type Rights } from "../../../service/ledger/screening";
import { callLimits } from "../../../service/settings/settings";
import { containing } from "../helpers";
import { setTimeout as wait } from "node:timers/promises";
import { Refusal } from "../../../service/errors";
import { answers, type Ask } from "../../../service/http/calls";
import { Excess, rpcCall } from "../../../service/ledger/rpc";
import type { Engine } from "../../../service/ledger/engine";
import { Pool, type Waiting } from "../../../service/ledger/pool";

/* The calls that a chain gets for a message, tested without a chain. Limits over HTTP and WebSocket: node-calls.test.ts. */

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

/* Processing the calls of one message, without a chain: `ask` replaces it. */

interface Said {
  id: number;
  result?: string;
  error?: { code: number; message: string };
}

const minute = 60_000;

/** Sends a message of calls; returns the answers and the calls to the chain. */
async function made(
  methods: readonly string[],
  ask: Ask,
  { batch = true, socket = false, time = minute, most = 1_000 } = {},
) {
  const asked: string[] = [];
  const limits = callLimits.parse({ answer: most, time });
  const report = (error: unknown): never => {
    throw error;
  };
  const rights: Rights = { limits, profile: undefined, socket, report };
  const calls = methods.map((method, id) => rpcCall(method, ["0x1"], id));
  const noting: Ask = (call, bounds) => {
    asked.push(call.method);
    return ask(call, bounds);
  };
  const parts: Buffer[] = [];
  for await (const part of answers({ batch, calls }, noting, rights)) parts.push(part);
  return { asked, said: JSON.parse(Buffer.concat(parts).toString()) as Said[] };
}

const result = "0x1";
const size = JSON.stringify({ jsonrpc: "2.0", id: 1, result }).length;
const good: Ask = () => Promise.resolve(result);
const three = ["eth_call", "eth_sendTransaction", "eth_sendRawTransaction"];
const late = { error: { code: -32_005, message: containing("did not answer within") } };
const long = { error: { code: -32_005, message: containing("longer than") } };

const slowly =
  (ms: number): Ask =>
  async () => {
    const until = performance.now() + ms;
    while (performance.now() < until) await wait(10);
    return result;
  };
const tooLong: Ask = () => Promise.reject(new Excess("long"));
const tooLate: Ask = () => Promise.reject(new Excess("late"));
const taken = { result: "0x1" };

test.each<[string, () => [Ask, Parameters<typeof made>[2]], number, object[]]>([
  [
    "from the one on that comes after its time: nobody would hear of it",
    () => [slowly(50), { time: 50 }],
    1,
    [taken, late, late],
  ],
  ["once one of them took all that is left of its time", () => [tooLate, {}], 1, [late, late, late]],
  ["once the answer to one of them is too long", () => [tooLong, {}], 1, [long, long, long]],
  ["once the answers are as long as all may be", () => [good, { most: size }], 1, [taken, long, long]],
])("the calls of a message are not made %s", async (_when, given, count, answers) => {
  const { asked, said } = await made(three, ...given());
  expect(asked).toEqual(three.slice(0, count));
  expect(said).toMatchObject(answers);
});

test("each call gets the remaining size and time of its batch", async () => {
  const bounds: { bytes: number; ms: number }[] = [];
  await made(["a", "b"], (_call, bound) => (bounds.push(bound), good(_call, bound)), { most: 500 });
  expect(bounds.map(({ bytes }) => bytes)).toEqual([500, 500 - size]);
  expect(bounds[0]!.ms).toBeLessThanOrEqual(minute);
  expect(bounds[1]!.ms).toBeLessThanOrEqual(bounds[0]!.ms);
});

test("a refusal is an answer in a batch or over a WebSocket, and a status otherwise", async () => {
  const refusing: Ask = () => Promise.reject(new Refusal(503, "It is starting."));
  const refused = { error: { code: -32_603, message: "It is starting." } };
  expect((await made(["a", "b"], refusing)).said).toMatchObject([refused, refused]);
  expect((await made(["a"], refusing, { batch: false, socket: true })).said).toMatchObject(refused);
  await expect(made(["a"], refusing, { batch: false })).rejects.toThrow("It is starting.");
});

/* Which transactions wait for a block. With a chain: admission.test.ts, recovery.test.ts. */

/** `a0`: the first transaction of a; `a5?`: waits for an earlier one; `a0!`: replaces `a0`. */
function one(text: string): Waiting {
  const [, from = "", nonce, kind] = /^(\w)(\d)(.?)$/.exec(text)!;
  return { raw: text, from, nonce: Number(nonce), cost: 0n, queued: kind === "?" };
}

test.each([
  ["a0 b1? b0 a1 a0!", "b1? b0 a1 a0!", 4, "a replacement comes last, and replaces only one of its account"],
  ["a2? a1? b1? a0", "a2? a1? b1? a0", 3, "what fills a gap makes those that waited for it ready"],
  ["a2? a0", "a2? a0", 1, "but not those that wait for another one"],
])("of %s wait %s, %i of them for a block: %s", (sent, wait, ready) => {
  const pool = new Pool();
  sent.split(" ").forEach((text, at) => pool.add(`0x${at}`, one(text)));
  expect([pool.raws.join(" "), pool.ready]).toEqual([wait, ready]);
});

test("a copy has what waited for a nonce as it was, whatever fills the gap since", () => {
  const pool = new Pool();
  pool.add("0xa", one("a1?"));
  const before = pool.copy();
  pool.add("0xb", one("a0"));
  expect(pool.ready).toBe(2);
  pool.restore(before);
  expect([pool.raws, pool.ready]).toEqual([["a1?"], 0]);
});

test("of what an engine still has, the pool learns what can be in the next block; the rest goes", async () => {
  const pool = new Pool();
  for (const [at, text] of ["a0", "a1?", "b0", "b1"].entries()) pool.add(`0x${at}`, one(text));
  const known = (hash: string, nonce: string) => ({ [nonce]: { hash, from: "0xA", nonce, gas: "0x1", value: "0x0" } });
  const content = { pending: { a: known("0x1", "0x1") }, queued: { b: known("0x3", "0x1") } };
  await pool.clean({ call: () => Promise.resolve(content) } as unknown as Engine);
  expect(pool.raws).toEqual(["a1?", "b1"]);
  expect([..."ab"].map((account) => pool.of(account).map(({ queued }) => queued))).toEqual([[false], [true]]);
});

test("a removed transaction is gone, once, and a new engine's replace all", () => {
  const pool = new Pool();
  pool.add("0xa", one("a0"));
  pool.add("0xb", one("b0"));
  for (let time = 0; time < 2; time++) pool.remove("0xa");
  expect(pool.raws).toEqual(["b0"]);
  pool.restore(new Map([["0xc", one("c0")]]));
  expect([pool.has("0xb"), pool.has("0xc"), pool.raws]).toEqual([false, true, ["c0"]]);
});
