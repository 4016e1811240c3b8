import { once } from "node:events";
import { contract, endless, eth, ledgered, raw, result, returning, rpc, webSocket } from "../ledgers";
import { basic, containing } from "../helpers";
import { until } from "../../support/until";

const MiB = 1_048_576;
const code = (text: string) => ({ [contract]: { code: text } });

interface Said {
  id?: unknown;
  result?: string;
  error?: { code: number; message: string };
}

/** A member's two ways to a chain: HTTP and WebSocket. */
async function ways(made: Awaited<ReturnType<typeof ledgered>>) {
  const { socket, messages } = await webSocket(made.urls.wss, made.credential);
  const http = async (body: unknown) => (await rpc(made.urls.rpc, made.credential, body)).body as Said | Said[];
  const ws = async (body: unknown) => {
    const before = messages.length;
    socket.send(JSON.stringify(body));
    await until(() => messages.length > before);
    return messages.at(-1) as unknown as Said | Said[];
  };
  return { http, ws, all: [http, ws] };
}

/** A call to a local network, which needs no key. */
const target = async (url: string, body: unknown) => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(`${url}/target/rinkeby`, {
    method: "POST",
    body: text,
    signal: AbortSignal.timeout(30_000),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as never };
};

test("more gas than the limit is refused, and a call that never ends does, over HTTP and WebSocket", async () => {
  const made = await ledgered();
  const { service, credential, urls } = made;
  const [from] = await result<string[]>(urls.rpc, credential, "eth_accounts");
  // all forms, and what a call beyond the limit is given: screening.test.ts
  const gas = "0x1c9c381";
  const raised = { blockOverrides: { gasLimit: "0xffffffffffff" }, stateOverrides: code(endless) };
  const calls = [
    eth("eth_call", { to: contract, gas }, "latest", code(endless), { gasLimit: "0xffffffffffff" }),
    eth("eth_sendTransaction", { from, to: contract, gas, gasPrice: "0x0" }),
    eth("eth_simulateV1", { blockStateCalls: [{ ...raised, calls: [{ to: contract, gas }] }] }),
  ];
  for (const way of (await ways(made)).all) {
    for (const call of calls) expect(await way(call)).toMatchObject({ id: 1, error: { message: containing("gas") } });
    const within = { ...raised, calls: [{ to: contract }, { to: contract }] };
    expect(await way(eth("eth_simulateV1", { blockStateCalls: [within] }))).toMatchObject({ id: 1 });
  }
  const asked = eth("eth_call", { to: contract, gas: "-1", data: "0x00" }, "latest");
  expect((await target(service.url, asked)).body).toMatchObject({ error: { message: containing("gas") } });
});

test("the memory of an execution ends at its limit", async () => {
  const small = await ledgered({ callLimits: { memory: MiB } });
  const call = eth("eth_call", { to: contract }, "latest", code(returning(2 * MiB)));
  expect(await (await ways(small)).http(call)).toMatchObject({ error: { message: containing("out of gas") } });
});

test("batches, requests and answers have limits", async () => {
  const most = { batch: 3, request: 20_000, answer: 9_000 };
  const made = await ledgered({ callLimits: most });
  const { service, credential, urls } = made;
  const { all } = await ways(made);
  const one = eth("eth_chainId");
  for (const way of all) {
    expect(await way([one, one, one, one])).toMatchObject([{ error: { message: containing("at most 3") } }]);
    const big = eth("eth_call", { to: contract }, "latest", code(returning(5_000)));
    expect(await way(big)).toMatchObject({ id: 1, error: { code: -32_005, message: containing("9000 bytes") } });
    expect(await way(one)).toMatchObject({ result: containing("0x") });
  }
  const headers = basic(credential.username, credential.password);
  const tooLarge = { status: 413, text: containing("too large") };
  const body = "x".repeat(20_001);
  for (const [name, value] of [
    ["content-length", `${body.length}`],
    ["transfer-encoding", "chunked"],
  ] as const)
    expect(await raw(urls.rpc, { ...headers, [name]: value }, body).catch(() => tooLarge)).toEqual(tooLarge);
  expect(await raw(`${service.url}/target/rinkeby`, {}, body).catch(() => tooLarge)).toEqual(tooLarge);
  const { socket } = await webSocket(urls.wss, credential);
  const closed = once(socket, "close");
  socket.send(body);
  expect((await closed)[0]).toBe(1009);
});
