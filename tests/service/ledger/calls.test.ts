import { setTimeout as wait } from "node:timers/promises";
import { Refusal } from "../../../service/errors";
import { answers, type Ask } from "../../../service/http/calls";
import { Excess, rpcCall } from "../../../service/ledger/rpc";
import type { Rights } from "../../../service/ledger/screening";
import { callLimits } from "../../../service/settings/settings";
import { containing } from "../helpers";

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
