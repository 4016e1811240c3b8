import { Server } from "node:http";
import { request } from "undici";
import type { FaultRule, Service } from "../../service/index";
import { start, type Send } from "./helpers";
import { until } from "../support/until";

const create = (send: Send, name: string) => send("POST", "/consortia", { name });
const names = async (send: Send) => (await send("GET", "/consortia")).body.map(({ name }) => name);

/** A service whose calls meet this fault. */
async function facing(rule: FaultRule) {
  const started = await start({ limits: { consortia: 99 } });
  started.service.faults.add(rule);
  return started;
}

/** The raw request that creates a consortium. */
const creating = ({ apiKey }: Service) => ({
  method: "POST" as const,
  headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
  body: JSON.stringify({ name: "a" }),
});

/** The code of the error below fetch's own if there is no answer. */
async function failure(call: Promise<unknown>): Promise<string> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const cause = (error as { cause?: { code?: string } } | undefined)?.cause;
  return cause?.code ?? String(error);
}

describe("effects of faults", () => {
  test.each<[FaultRule, number | "ECONNRESET", string[]]>([
    [{ kind: "status", status: 429 }, 429, []],
    [{ kind: "status", status: 504, acted: true }, 504, ["a"]],
    [{ kind: "html", status: 503 }, 503, []],
    [{ kind: "html", acted: true }, 502, ["a"]],
    [{ kind: "resetBefore" }, "ECONNRESET", []],
    [{ kind: "resetAfter" }, "ECONNRESET", ["a"]],
  ])("%j: a create ends in %s, and has made %j", async (rule, end, made) => {
    const { send } = await facing(rule);
    const call = create(send, "a");
    expect(end === "ECONNRESET" ? await failure(call) : (await call).status).toBe(end);
    expect(await names(send)).toEqual(made);
  });

  test("status and html: Retry-After, the message, a body, or a page like a proxy's", async () => {
    const { service, send } = await facing({ kind: "status", status: 429, retryAfter: 3, errorMessage: "slow down" });
    const answer = await create(send, "a");
    expect(answer.body).toEqual({ errorMessage: "slow down" });
    expect(answer.headers.get("retry-after")).toBe("3");
    service.faults.add({ kind: "status", status: 503 });
    expect((await create(send, "a")).body).toEqual({ errorMessage: "Service Unavailable" });
    service.faults.add({ kind: "status", status: 400, body: { error: { code: 7 } } });
    expect((await create(send, "a")).body).toEqual({ error: { code: 7 } });
    service.faults.add({ kind: "html", status: 503 });
    const { headers, text } = await create(send, "a");
    expect(headers.get("content-type")).toContain("text/html");
    expect(text).toMatch(/^<html>.*503 Service Unavailable/);
  });

  test.each(["delay", "refuse"] as const)("%s: a duration longer than any timer does not end at once", async (kind) => {
    const { send } = await facing({ kind, ms: 2 ** 31 });
    if (kind === "refuse") {
      for (let tries = 0; tries < 20; tries++) expect(await failure(names(send))).toBe("ECONNREFUSED");
      return;
    }
    let ended = false;
    void names(send).catch(() => undefined).finally(() => (ended = true)); // prettier-ignore
    for (let others = 0; others < 20; others++) await names(send);
    expect(ended).toBe(false);
  });

  test.each([true, false])("hang (acted: %s): no answer until the client gives up", async (acted) => {
    const { service, send } = await facing({ kind: "hang", acted });
    const giveUp = new AbortController();
    const call = fetch(`${service.baseUrl}/consortia`, { ...creating(service), signal: giveUp.signal });
    await until(() => service.calls[0]?.fault === "hang");
    expect(await names(send)).toEqual(acted ? ["a"] : []);
    expect(service.inFlight.now).toBe(1);
    giveUp.abort();
    await expect(call).rejects.toThrow("aborted");
    await until(() => service.inFlight.now === 0);
    expect(service.calls[0]!.status).toBeUndefined();
  });

  test("truncated: half of the JSON under the length of the whole, then the connection closes", async () => {
    const { service, send } = await facing({ kind: "truncated", method: "POST" });
    const { statusCode, headers, body } = await request(`${service.baseUrl}/consortia`, creating(service));
    expect(statusCode).toBe(201);
    const whole = (await send("GET", "/consortia")).body;
    expect(Number(headers["content-length"])).toBe(JSON.stringify(whole[0]).length);
    await expect(body.text()).rejects.toThrow(/other side closed|terminated|aborted/);
  });

  test("truncated, well-formed: half of the JSON as a complete response", async () => {
    const { send } = await facing({ kind: "truncated", wellFormed: true, method: "POST" });
    const { status, text, body } = await create(send, "a");
    expect({ status, body }).toEqual({ status: 201, body: undefined });
    const whole = JSON.stringify((await send("GET", "/consortia")).body[0]);
    expect(text).toBe(whole.slice(0, Math.floor(whole.length / 2)));
  });

  test("delay: the call takes at least that long", async () => {
    const { send } = await facing({ kind: "delay", ms: 80 });
    const began = performance.now();
    expect((await create(send, "a")).status).toBe(201);
    expect(performance.now() - began).toBeGreaterThanOrEqual(75);
  });

  test("refuse without a target: no connections from now on, then again on the same port", async () => {
    const { service, send } = await start();
    await send("GET", "/consortia"); // leaves a connection open, which must not survive
    const { hits } = service.faults.add({ kind: "refuse", ms: 200 });
    expect(hits).toBe(1);
    expect(await failure(create(send, "a"))).toBe("ECONNREFUSED");
    await until(async () => (await failure(send("GET", "/consortia"))) !== "ECONNREFUSED");
    expect(await names(send)).toEqual([]);
  });

  test("refuse with a target: at that call, without acting", async () => {
    const { send } = await facing({ kind: "refuse", ms: 100, method: "POST", nth: 2 });
    expect((await create(send, "a")).status).toBe(201);
    expect(await failure(create(send, "b"))).toMatch(/UND_ERR_SOCKET|ECONNRESET/);
    expect(await failure(create(send, "c"))).toBe("ECONNREFUSED");
    await until(async () => (await failure(send("GET", "/consortia"))) !== "ECONNREFUSED");
    expect(await names(send)).toEqual(["a"]);
  });
});

test("a service closes at once, with hanging calls and open connections, and a delayed call has no effect", async () => {
  const { service, send } = await start();
  await send("GET", "/consortia");
  service.faults.add({ kind: "hang" });
  service.faults.add({ kind: "delay", ms: 60_000, nth: 2 });
  const calls = [failure(send("GET", "/consortia")), failure(create(send, "late"))];
  await until(() => service.calls.length === 3);
  await service.close();
  expect(await Promise.all(calls)).toEqual(["UND_ERR_SOCKET", "UND_ERR_SOCKET"]);
  expect(service.store.consortia.list()).toEqual([]);
  expect(await failure(send("GET", "/consortia"))).toBe("ECONNREFUSED");
});

test("a service that refuses connections can be closed", async () => {
  const { service } = await facing({ kind: "refuse", ms: 20 });
  await service.close();
  const listen = jest.spyOn(Server.prototype, "listen"); // its port may be another process's by now
  await new Promise((done) => setTimeout(done, 60));
  expect(listen).not.toHaveBeenCalled();
});

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
