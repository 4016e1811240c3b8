import type { FaultRule } from "../../../service/index";
import { start } from "../helpers";

const roomy = { limits: { consortia: 99 } };

describe("matching calls", () => {
  const eight = async (rule: Partial<FaultRule>) => {
    const { service, send } = await start(roomy);
    service.faults.add({ kind: "status", status: 500, ...rule } as FaultRule);
    const hit: number[] = [];
    for (let call = 1; call <= 8; call++) if ((await send("GET", "/consortia")).status === 500) hit.push(call);
    return hit;
  };

  test.each([
    [{}, [1]],
    [{ nth: 3 }, [3]],
    [{ times: 2 }, [1, 2]],
    [{ nth: 3, times: 2 }, [3, 4]],
    [{ nth: 6, times: Infinity }, [6, 7, 8]],
    [{ every: 3 }, [3, 6]],
    [{ every: 3, times: 1 }, [3]],
    [{ nth: 2, every: 3 }, [2, 5, 8]],
    [{ method: "get" }, [1]],
    [{ method: "POST" }, []],
    [{ route: "/consortia" }, [1]],
    [{ route: "/consortia/:consortiumId" }, []],
    [{ route: "^/consort" }, [1]],
    [{ route: /IA$/i }, [1]],
    [{ route: "environments" }, []],
  ])("%j", async (rule, expected) => {
    expect(await eight(rule)).toEqual(expected);
  });

  test("the pattern of a route matches only that route", async () => {
    const { service, send } = await start();
    service.faults.add({ kind: "status", status: 500, route: "/consortia", times: Infinity });
    expect((await send("GET", "/consortia/x")).status).toBe(404);
    expect((await send("GET", "/consortia")).status).toBe(500);
  });

  test("the first matching rule decides; rules count their calls, and can be removed", async () => {
    const { service, send } = await start();
    const status = async () => (await send("GET", "/consortia")).status;
    const first = service.faults.add({ kind: "status", status: 500, times: 2 });
    const second = service.faults.add({ kind: "status", status: 501, times: Infinity });
    expect([await status(), await status(), await status()]).toEqual([500, 500, 501]);
    expect([first.seen, first.hits, second.seen, second.hits]).toEqual([3, 2, 3, 1]);
    second.remove();
    expect(await status()).toBe(200);
    service.faults.add({ kind: "status", status: 502, times: Infinity });
    service.faults.clear();
    expect(await status()).toBe(200);
  });

  test("faults precede the check of the key, and the log names them", async () => {
    const { service, send } = await start();
    service.faults.add({ kind: "status", status: 500 });
    await send("POST", "/consortia", { name: "a" }, { authorization: "Bearer nobody" });
    await send("POST", "/consortia", { name: "b" });
    expect(service.calls).toMatchObject([
      { status: 500, fault: "status", body: undefined },
      { status: 201, body: { name: "b" } },
    ]);
    expect(service.calls[1]).not.toHaveProperty("fault");
  });

  test.each([
    [{ kind: "explode" }, /fault: kind/],
    [{ kind: "status" }, /fault: status/],
    [{ kind: "status", status: 500, nht: 3 }, /nht/],
    [{ kind: "status", status: 500, nth: 0 }, /nth/],
    [
      { kind: "resetBefore", route: "/consortia/:id" },
      /no route \/consortia\/:id; there are \/.*\/consortia\/:consortiumId,/,
    ],
    [{ kind: "resetBefore", route: "(" }, /regular expression/],
  ])("%j is not a rule", async (rule, message) => {
    const { service } = await start();
    expect(() => service.faults.add(rule as FaultRule)).toThrow(message);
  });
});
