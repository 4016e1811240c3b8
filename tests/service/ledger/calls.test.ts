import { EventEmitter } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import type { FastifyReply } from "fastify";
import { Refusal } from "../../../service/errors";
import { answers, type Ask, Share } from "../../../service/http/calls";
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
  {
    batch = true,
    socket = false,
    end = performance.now() + minute,
    share = new Share(callLimits.parse({})),
    most = 1_000,
  } = {},
) {
  const asked: string[] = [];
  const limits = callLimits.parse({ answer: most });
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
  for await (const part of answers({ batch, calls }, share, noting, rights, end)) parts.push(part);
  return { asked, said: JSON.parse(Buffer.concat(parts).toString()) as Said[] };
}

const answer = (result = "0x1") => Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, result }));
const good: Ask = () => Promise.resolve(answer());
const three = ["eth_call", "eth_sendTransaction", "eth_sendRawTransaction"];
const late = { error: { code: -32_005, message: containing("did not answer within") } };
const long = { error: { code: -32_005, message: containing("longer than") } };

const slowly = (until: number): Ask => {
  return async () => {
    while (performance.now() < until) await wait(10);
    return answer();
  };
};
const tooLong: Ask = () => Promise.reject(new Excess("long"));
const tooLate: Ask = () => Promise.reject(new Excess("late"));
const taken = { result: "0x1" };

test.each<[string, (end?: number) => [Ask, Parameters<typeof made>[2]], number, object[]]>([
  ["when its time was over before its turn came", () => [good, { end: performance.now() }], 0, [late, late, late]],
  [
    "from the one on that comes after its time: nobody would hear of it",
    (end = performance.now() + 50) => [slowly(end), { end }],
    1,
    [taken, late, late],
  ],
  ["once one of them took all that is left of its time", () => [tooLate, {}], 1, [late, late, late]],
  ["once the answer to one of them is too long", () => [tooLong, {}], 1, [long, long, long]],
  ["once the answers are as long as all may be", () => [good, { most: answer().length }], 1, [taken, long, long]],
])("the calls of a message are not made %s", async (_when, given, count, answers) => {
  const { asked, said } = await made(three, ...given());
  expect(asked).toEqual(three.slice(0, count));
  expect(said).toMatchObject(answers);
});

test("each call gets the remaining size and time of its batch", async () => {
  const end = performance.now() + minute;
  const bounds: { bytes: number; ms: number }[] = [];
  await made(["a", "b"], (_call, bound) => (bounds.push(bound), good(_call, bound)), { end, most: 500 });
  expect(bounds.map(({ bytes }) => bytes)).toEqual([500, 500 - answer().length]);
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

describe("a turn", () => {
  const time = 60;
  const share = new Share(callLimits.parse({ time }));

  test("lasts as long as a request may take; a late one ends at once without asking the chain", async () => {
    const before = performance.now();
    const busy = await Promise.all([1, 2, 3, 4].map(() => share.turn()));
    expect(busy[0]!.end).toBeGreaterThanOrEqual(before + time);
    expect(busy[0]!.end).toBeLessThan(before + time + 5_000);
    expect((await share.turn()).end).toBeLessThanOrEqual(performance.now());
    busy.forEach(({ release }) => release());
  });

  test("is given to four requests at a time; the next one begins after an answer", async () => {
    const share = new Share(callLimits.parse({ time: minute }));
    const busy = await Promise.all([1, 2, 3, 4].map(() => share.turn()));
    let begun = false;
    const next = share.turn().then((turn) => ((begun = true), turn));
    await wait(50);
    expect(begun).toBe(false);
    busy[0]!.release();
    (await next).release();
    busy.forEach(({ release }) => release());
  });

  test("is immediate for a signed transaction, and only for that", async () => {
    const share = new Share(callLimits.parse({ time: minute }));
    const busy = await Promise.all([1, 2, 3, 4].map(() => share.turn()));
    const message = (batch: boolean, ...methods: string[]) => ({
      batch,
      calls: methods.map((one) => rpcCall(one, [])),
    });
    const sent = "eth_sendRawTransaction";
    const begun: string[] = [];
    const others = [message(false, "eth_call"), message(false, "eth_sendTransaction"), message(true, sent)].map(
      async (other) => {
        const turn = await share.turn(other);
        begun.push(other.calls[0]!.method);
        turn.release();
      },
    );
    const own = await Promise.all([1, 2].map(() => share.turn(message(false, sent))));
    await wait(50);
    expect(begun).toEqual([]);
    own.forEach(({ release }) => release());
    await wait(50);
    expect(begun).toEqual([]); // it had no turn to give up
    busy.forEach(({ release }) => release());
    await Promise.all(others);
    expect(begun).toHaveLength(3);
  });

  test("is refused beyond the limit of open requests, until one of them closes", () => {
    const share = new Share(callLimits.parse({ atOnce: 2 }));
    const open: EventEmitter[] = [];
    const enter = () => {
      const raw = new EventEmitter();
      share.enter({ raw, header: () => undefined } as unknown as FastifyReply);
      open.push(raw);
    };
    enter();
    enter();
    expect(enter).toThrow("2 of your requests are in progress");
    open[0]!.emit("close");
    enter();
    expect(enter).toThrow("2 of your requests are in progress");
    open.forEach((raw) => raw.emit("close"));
  });
});

describe("a filter", () => {
  const filters = 2;
  const call = (method: string, id = "0x1") => rpcCall(method, [id]);

  test("counts only if it exists, up to the limit", () => {
    const share = new Share(callLimits.parse({ filters }));
    const error = Buffer.from('{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}');
    for (let time = 0; time < 3; time++) share.noted(call("eth_newFilter"), error);
    for (const id of ["0x1", "0x2"]) {
      expect(share.refuses(call("eth_newBlockFilter"))).toBeUndefined();
      share.noted(call("eth_newBlockFilter"), answer(id));
    }
    expect(share.refuses(call("eth_newBlockFilter"))).toContain("You have 2 filters");
  });

  test("ends five minutes after its last use", () => {
    const share = new Share(callLimits.parse({ filters }));
    const now = jest.spyOn(Date, "now").mockReturnValue(0);
    try {
      for (const id of ["0x1", "0x2"]) share.noted(call("eth_newFilter"), answer(id));
      now.mockReturnValue(200_000);
      share.noted(call("eth_getFilterChanges", "0x1"), answer());
      now.mockReturnValue(300_001);
      expect(share.refuses(call("eth_getFilterChanges", "0x1"))).toBeUndefined();
      expect(share.refuses(call("eth_getFilterChanges", "0x2"))).toBe("filter not found");
      expect(share.refuses(call("eth_newFilter"))).toBeUndefined();
    } finally {
      now.mockRestore();
    }
  });
});
