import { quick, refused } from "../helpers";
import { until } from "../../support/until";
import { type Asked, type Between, Network } from "../targets";
import { pinning } from "../tethered";

const rpcError = ({ id }: Asked, message: string) =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_000, message } });
const nothing = ({ id }: Asked, result: unknown) => ({ body: JSON.stringify({ jsonrpc: "2.0", id, result }) });
const isSent = ({ method }: Pick<Asked, "method">) => method === "eth_sendRawTransaction";

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

/* For nodes' answers in JSON-RPC, and what each of them means, see settled.test.ts. The number: how often a transaction is sent. */
const proxies: [string, number, () => Between][] = [
  [
    "a proxy's pages, a 429, and a refusal of what was taken before",
    4,
    () => {
      const answers = [
        { status: 502, body: "<html>502 Bad Gateway</html>" },
        { status: 504, body: '{"message":"timed out"}' },
        { status: 429, body: '{"error":"Too Many Requests"}' },
      ];
      return async (call, forward) => {
        if (!isSent(call)) return forward();
        await forward();
        return answers.shift() ?? { body: rpcError(call, "insufficient funds for gas * price + value") };
      };
    },
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

test.each(proxies)("%s: one contract is paid for, and one transaction pins a report", async (_what, sent, between) => {
  const network = await new Network().start();
  const now = { between: between() };
  const { get, post, account, calls } = await through((...asked) => now.between(...asked), network);
  const sends = () => calls.filter((method) => isSent({ method })).length;
  await network.call("evm_setAutomine", false);
  const deployed = post("/deploy");
  await until(() => sends() >= sent);
  await network.mining(deployed);
  await until(async () => (await get()).text.includes('"deployed_networks":["rinkeby"]'));
  expect((await post("/deploy")).status).toBe(409);
  expect(await network.deployedBy(account)).toBe(1);
  now.between = between();
  calls.length = 0;
  await post("/activate");
  await until(() => sends() >= sent);
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
  expect(raws.size).toBe(2);
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

test("a network that is down from the start gets no contract; after a transaction, that is unknown, and the service continues", async () => {
  const network = await new Network().start();
  let [down, over] = [true, false];
  const { get, post, account } = await through(async (call, forward) => {
    const answer = await forward();
    down ||= isSent(call);
    return down && !over ? { status: 503, body: "maintenance" } : answer;
  }, network);
  const certain = await post("/deploy");
  expect(certain).toMatchObject(refused(502, "The contract could not be deployed on rinkeby: "));
  expect(certain.text).not.toContain("keeps checking");
  down = false;
  const unknown = "It is not known yet whether the contract is deployed on rinkeby";
  expect(await post("/deploy")).toMatchObject(refused(502, unknown));
  over = true;
  await until(async () => (await get()).text.includes('"deployed_networks":["rinkeby"]'));
  expect(await network.deployedBy(account)).toBe(1);
});
