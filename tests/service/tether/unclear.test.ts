import { quick, refused } from "../helpers";
import { until } from "../../support/until";
import { type Asked, type Between, Network } from "../targets";
import { pinning } from "../tethered";

const rpcError = ({ id }: Asked, message: string) =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_000, message } });
const nothing = ({ id }: Asked, result: unknown) => ({ body: JSON.stringify({ jsonrpc: "2.0", id, result }) });
const isSent = ({ method }: Pick<Asked, "method">) => method === "eth_sendRawTransaction";

/** Answers the first transactions in another way. */
const firstSends = (count: number, answer: Between): Between => {
  let left = count;
  return (call, forward, request) => (isSent(call) && left-- > 0 ? answer(call, forward, request) : forward());
};

/** Shows the account's new nonce, but neither receipts nor code, until so many ms later. */
function balanced(ms: number): Between {
  let seen = 0;
  let since = -Infinity;
  const late = ["eth_getTransactionReceipt", "eth_getCode", "eth_call"];
  return async (call, forward) => {
    const answer = await forward();
    if (call.method === "eth_getTransactionCount") {
      const count = Number((JSON.parse(answer.body) as { result: string }).result);
      if (count > seen) [seen, since] = [count, performance.now()];
    }
    if (!late.includes(call.method) || performance.now() > since + ms) return answer;
    return nothing(call, call.method === "eth_getTransactionReceipt" ? null : "0x");
  };
}

/** Passes the first transaction on, and answers something else. */
const taken = (answer: { status: number; body: string }) => () =>
  firstSends(1, async (_call, forward) => {
    await forward();
    return answer;
  });

/* For the nodes' answers in JSON-RPC, and repeated sends, see settled.test.ts. The number: how often a transaction is sent. */
const proxies: [string, number, () => Between][] = [
  ["a proxy's 502 page after it was taken", 2, taken({ status: 502, body: "<html>502 Bad Gateway</html>" })],
  ["a proxy's JSON without a result after it was taken", 2, taken({ status: 504, body: '{"message":"timed out"}' })],
  [
    "a refusal of the second attempt after the first one was taken",
    2,
    () =>
      firstSends(2, async (call, forward) => {
        const { body } = await forward();
        return body.includes('"result"')
          ? { status: 502, body: "" }
          : { body: rpcError(call, "insufficient funds for gas * price + value") };
      }),
  ],
  [
    "a 429 twice",
    3,
    () => firstSends(2, () => Promise.resolve({ status: 429, body: '{"error":"Too Many Requests"}' })),
  ],
  ["nodes that show the nonce 0.4 s before the receipt", 1, () => balanced(400)],
];

/** A tether that pins to the test's own network through a proxy, and has money there. */
async function through(between: Between, network: Network) {
  const calls: string[] = [];
  const url = await network.behind((call, forward, request) => {
    calls.push(call.method);
    return between(call, forward, request);
  });
  return { ...(await pinning(network, { timing: { ...quick, tetherHour: 3_600_000 } }, url)), calls };
}

/** Makes blocks until there is a report: one that is deep enough stays. */
const mined = (network: Network, get: Awaited<ReturnType<typeof through>>["get"]) =>
  network.mineUntil(async () => (await get("/reportCount")).text === "1");

test.each(proxies)("%s: one contract is paid for", async (_what, _sent, between) => {
  const network = await new Network().start();
  const { get, post, account } = await through(between(), network);
  await until(async () => [200, 409].includes((await post("/deploy")).status));
  expect((await get()).body).toMatchObject({ deployed_networks: ["rinkeby"] });
  expect(await network.deployedBy(account)).toBe(1);
  expect((await post("/deploy")).status).toBe(409);
});

test.each(proxies)("%s: one transaction pins a report", async (_what, sent, between) => {
  const network = await new Network().start();
  const pinning: { now?: Between } = {};
  const { get, post, account, calls } = await through((...asked) => (pinning.now ?? asked[1])(...asked), network);
  expect((await post("/deploy")).status).toBe(200);
  pinning.now = between();
  await network.call("evm_setAutomine", false);
  calls.length = 0;
  await post("/activate");
  await until(() => calls.filter((method) => isSent({ method })).length >= sent);
  await mined(network, get);
  expect(await network.calledBy(account)).toBe(1);
  expect((await get()).text).not.toContain("last_error");
});

test("a definite refusal is reported, and the next deployment is another transaction", async () => {
  const network = await new Network().start();
  const raws = new Set<unknown>();
  let refuse = true;
  const { post, account } = await through((call, forward) => {
    if (!isSent(call)) return forward();
    raws.add(call.params[0]);
    return refuse ? Promise.resolve({ body: rpcError(call, "insufficient funds for gas * price + value") }) : forward();
  }, network);
  expect(await post("/deploy")).toMatchObject(refused(409, "insufficient funds"));
  expect(raws.size).toBe(1);
  await network.call("anvil_setBalance", account, "0x4563918244f40000");
  await network.call("evm_mine");
  refuse = false;
  expect((await post("/deploy")).status).toBe(200);
  expect(await network.deployedBy(account)).toBe(1);
});

test("a contract that a node does not show for a while is not lost or paid for again", async () => {
  const network = await new Network().start();
  const hidden = { now: false };
  const { get, post, account } = await through(
    (call, forward) => (hidden.now && call.method === "eth_getCode" ? Promise.resolve(nothing(call, "0x")) : forward()),
    network,
  );
  expect((await post("/deploy")).status).toBe(200);
  hidden.now = true;
  expect((await post("/deploy")).status).toBe(200); // the same transaction, which is in a block
  await post("/activate");
  await until(async () => (await get()).text.includes("lost its state"));
  hidden.now = false;
  await mined(network, get);
  expect((await get()).body).toMatchObject({ deployed_networks: ["rinkeby"] });
  expect(await network.deployedBy(account)).toBe(1);
});

test("a network that is down from the start gets no contract, which is certain", async () => {
  const network = await new Network().start();
  const { post } = await through(() => Promise.resolve({ status: 503, body: "maintenance" }), network);
  const { status, text } = await post("/deploy");
  expect([status, text]).toEqual([502, expect.stringContaining("The contract could not be deployed on rinkeby: ")]);
  expect(text).not.toContain("keeps checking");
});

test("while the network is down, the outcome is unknown; the service continues by itself", async () => {
  const network = await new Network().start();
  let [down, over] = [false, false];
  const { get, account, service } = await through(async (call, forward) => {
    const answer = await forward();
    down ||= isSent(call);
    return down && !over ? { status: 503, body: "maintenance" } : answer;
  }, network);
  const answer = await fetch(`${service.baseUrl}/tether/tether0001/deploy`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" },
    body: "{}",
  });
  expect(answer.status).toBe(502);
  expect(await answer.text()).toContain("It is not known yet whether the contract is deployed on rinkeby");
  over = true;
  await until(async () => (await get()).text.includes('"deployed_networks":["rinkeby"]'));
  expect(await network.deployedBy(account)).toBe(1);
});
