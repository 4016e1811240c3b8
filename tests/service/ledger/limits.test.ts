import { once } from "node:events";
import { contract, endless, eth, ledgered, raw, returning, rpc, webSocket } from "../ledgers";
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
  return [http, ws];
}

test("more gas or memory than the limit is refused, and a call that never ends does, over HTTP and WebSocket", async () => {
  const made = await ledgered({ callLimits: { memory: MiB } });
  // all forms, and what a call beyond the limit is given: screening.test.ts
  const calls = [
    eth("eth_call", { to: contract, gas: "0x1c9c381" }, "latest", code(endless), { gasLimit: "0xffffffffffff" }),
    eth("eth_call", { to: contract }, "latest", code(returning(2 * MiB))),
  ];
  const raised = { blockOverrides: { gasLimit: "0xffffffffffff" }, stateOverrides: code(endless) };
  const within = { ...raised, calls: [{ to: contract }, { to: contract }] };
  for (const way of await ways(made)) {
    for (const call of calls) expect(await way(call)).toMatchObject({ id: 1, error: { message: "out of gas" } });
    expect(await way(eth("eth_simulateV1", { blockStateCalls: [within] }))).toMatchObject({ id: 1 });
  }
  const asked = eth("eth_call", { to: contract, gas: "-1", data: "0x00" }, "latest");
  const answer = await fetch(`${made.service.url}/target/rinkeby`, { method: "POST", body: JSON.stringify(asked) });
  expect(await answer.json()).toMatchObject({ error: { message: containing("gas") } });
});

test("batches, requests and answers have limits", async () => {
  const most = { batch: 3, request: 20_000, answer: 9_000 };
  const made = await ledgered({ callLimits: most });
  const { service, credential, urls } = made;
  const one = eth("eth_chainId");
  for (const way of await ways(made)) {
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
