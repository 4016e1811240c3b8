import { setImmediate as nextRound } from "node:timers/promises";
import { Turns } from "../../../service/http/turns";
import { client, containing, start } from "../helpers";
import { eth, ledgered, result, webSocket } from "../ledgers";

afterEach(() => jest.restoreAllMocks());

const busy = (ms: number) => () => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};
const timed = async (work: Promise<unknown>) => {
  const begun = performance.now();
  await work;
  return performance.now() - begun;
};

test("a caller that has used more than its share waits as long as that takes; others do not", async () => {
  const turns = new Turns({ atOnce: 64, work: 100 });
  turns.measured("greedy", busy(130)); // 100 ms are saved, and 30 take 300
  const [greedy, other] = await Promise.all([timed(turns.next("greedy")), timed(turns.next("other"))]);
  expect([greedy > 150, greedy < 2_000, other < greedy]).toEqual([true, true, true]);
  turns.measured("frugal", busy(50));
  expect(await timed(turns.next("frugal"))).toBeLessThan(greedy);
});

test("work that throws counts like any other, and what it threw is passed on", async () => {
  const turns = new Turns({ atOnce: 64, work: 100 });
  const throwing = (): never => {
    busy(130)();
    throw new Error("refused");
  };
  expect(() => turns.measured("greedy", throwing)).toThrow("refused");
  const [greedy, other] = await Promise.all([timed(turns.next("greedy")), timed(turns.next("other"))]);
  expect([greedy > 150, greedy < 2_000, other < greedy]).toEqual([true, true, true]);
});

test("works of many callers leave gaps for everything else, and no caller's come before another's", async () => {
  const turns = new Turns({ atOnce: 64, work: 1_000 });
  const order: string[] = [];
  const work = async (caller: string) => {
    await turns.next(caller);
    turns.measured(caller, busy(15));
    order.push(caller);
  };
  const all = ["a", "a", "a", "a", "b", "c", "d"].map(work);
  let most = 0;
  let working = true;
  const looked = (async () => {
    while (working) {
      const before = order.length;
      await nextRound();
      most = Math.max(most, order.length - before);
    }
  })();
  await Promise.all(all);
  working = false;
  await looked;
  expect(most).toBeLessThan(4); // of seven in one round
  expect(order.slice(-2)).toEqual(["a", "a"]);
});

test("so many calls of a caller wait, and no more", async () => {
  const turns = new Turns({ atOnce: 2, work: 100 });
  turns.measured("a", busy(110));
  const waiting = [turns.next("a"), turns.next("a")];
  await expect(turns.next("a")).rejects.toMatchObject({ status: 429, message: containing("2 of them are waiting") });
  await turns.next("b");
  await Promise.all(waiting);
  await turns.next("a");
});

/** A body of as many values as there may be. */
const wide = { name: "x", other: { list: Array<number>(9_900).fill(1) } };

test("an organization that keeps the service busy waits, gets 429 beyond a number of calls, and delays nobody else", async () => {
  const organizations = [{ name: "greedy" }, { name: "other" }];
  const callLimits = { work: 10, atOnce: 2 };
  const { service } = await start({ organizations, callLimits, limits: { consortia: 99 } });
  const other = client(service.baseUrl, service.organizations[1]!.apiKey);
  const known = { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" };
  const done: string[] = [];
  const greedy = Array.from({ length: 8 }, async () => {
    const asked = { method: "POST", headers: known, body: JSON.stringify(wide) };
    const { status, headers } = await fetch(`${service.baseUrl}/consortia`, asked); // however long it takes
    done.push(`greedy ${status} ${headers.get("retry-after")}`);
  });
  await Promise.race(greedy);
  expect((await other("GET", "/consortia")).status).toBe(200);
  done.push("other");
  await Promise.all(greedy);
  expect(done).toEqual(expect.arrayContaining(["greedy 201 null", "greedy 429 1", "other"]));
  expect(done.at(-1)).toBe("greedy 201 null");
});

test("every way into the service is measured, under the name of its caller", async () => {
  const { service, send, credential, urls, paths } = await ledgered();
  const { id } = service.organizations[0]!;
  const calls: [string, () => Promise<unknown>][] = [
    [id, () => send("GET", "/consortia")],
    [id, () => send("POST", "/consortia", { name: 5 })],
    [id, () => send("POST", `/embedded${paths.environment}/rpc`, eth("eth_chainId"))],
    [id, () => result(urls.rpc, credential, "eth_chainId")],
    [
      id,
      async () => {
        const { socket } = await webSocket(urls.wss, credential);
        const answered = new Promise((done) => socket.once("message", done));
        socket.send(JSON.stringify(eth("eth_chainId")));
        await answered;
      },
    ],
    ["127.0.0.1", () => fetch(`${service.url}/target/rinkeby`, { method: "POST", body: "{}" })],
  ];
  for (const [caller, call] of calls) {
    const waited = jest.spyOn(Turns.prototype, "next");
    const measured = jest.spyOn(Turns.prototype, "measured");
    await call();
    expect(waited.mock.calls).toEqual([[caller]]);
    expect(measured.mock.calls[0]).toEqual([caller, expect.any(Function)]);
    jest.restoreAllMocks();
  }
});
