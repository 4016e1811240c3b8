import { once } from "node:events";
import { matching, type World } from "../helpers";
import { until } from "../../support/until";
import { eth, ledgered, result, rpc, webSocket } from "../ledgers";

const raft = { provider: "quorum", consensus_type: "raft", chain_id: 4_711 };

test("a node's addresses lead to the environment's chain: calls, batches, transactions, through every node", async () => {
  const { send, paths, membership, credential, urls } = await ledgered({}, raft);
  expect(Number(await result(urls.rpc, credential, "eth_chainId"))).toBe(4_711);
  const batch = await rpc(urls.rpc, credential, [eth("eth_chainId"), eth("net_version")]);
  expect(batch).toMatchObject({ status: 200, body: [{ result: "0x1267" }, { result: "4711" }] });

  const second = (await send("POST", `${paths.environment}/nodes`, { membership_id: membership })).body._id;
  const status = async (path: string) => (await send("GET", `${path}/status`)).body;
  const [one, two] = [await status(paths.node), await status(`${paths.environment}/nodes/${second}`)];
  const [from, to] = [one, two].map(({ user_accounts }) => user_accounts[0]!);
  expect(from).not.toBe(to);
  const hash = await result<string>(urls.rpc, credential, "eth_sendTransaction", { from, to, value: "0x5" });
  const own = { ...eth("eth_sendTransaction", { from, to, value: "0x0" }), id: "own" };
  expect((await rpc(urls.rpc, credential, own)).body).toMatchObject({
    jsonrpc: "2.0",
    id: "own",
    result: matching(/^0x/),
  });
  type Receipt = { status: string; blockNumber: string } | null;
  let receipt: Receipt = null;
  await until(async () => {
    receipt = await result<Receipt>(two.urls.rpc, credential, "eth_getTransactionReceipt", hash);
    return receipt !== null;
  });
  expect(receipt).toMatchObject({ status: "0x1" });
  const balance = await result<string>(two.urls.rpc, credential, "eth_getBalance", to, "latest");
  expect(BigInt(balance)).toBe(10_000n * 10n ** 18n + 5n);
});

describe("access", () => {
  async function world() {
    const made = await ledgered();
    const { send, paths, service, environment, membership, node } = made;
    const create = async (path: string, body: object) =>
      (await send("POST", path, body)).body as World["credential"] & { _id: string };
    const other = (await create(`${paths.consortium}/memberships`, { org_name: "other" }))._id;
    const theirs = (await create(`${paths.environment}/nodes`, { membership_id: other }))._id;
    const poa = { provider: "geth", consensus_type: "poa" };
    const elsewhere = (await create(`${paths.consortium}/environments`, poa))._id;
    const inElsewhere = `${paths.consortium}/environments/${elsewhere}`;
    const away = await create(`${inElsewhere}/appcreds`, { membership_id: membership });
    const stranger = await create(`${paths.environment}/appcreds`, { membership_id: other });
    const knock = async (pair: World["credential"], at = `${environment}/${node}`) => {
      const url = `${service.url}/runtime/${at}`;
      const http = await rpc(url, pair, eth("eth_chainId"));
      const { status, error, socket } = await webSocket(url.replace("http", "ws"), pair);
      if (status === 101) socket.terminate();
      else expect(error).toBe((http.body as { errorMessage: string }).errorMessage);
      return [http.status, status];
    };
    return { ...made, theirs, away, stranger, knock };
  }

  test("a member's own credential, on its own nodes, in its own environment", async () => {
    const { credential, stranger, away, theirs, environment, knock } = await world();
    const refused = [401, 401];
    expect(await knock(credential)).toEqual([200, 101]);
    expect(await knock({ ...credential, password: "wrong" })).toEqual(refused);
    expect(await knock(stranger)).toEqual(refused);
    expect(await knock(away)).toEqual(refused);
    expect(await knock(credential, `${environment}/${theirs}`)).toEqual(refused);
    expect(await knock(stranger, `${environment}/${theirs}`)).toEqual([200, 101]);
  });

  test.each(["credential", "node", "environment"] as const)("nobody after its %s was deleted", async (kind) => {
    const { send, paths, credential, urls, knock } = await world();
    const { socket } = await webSocket(urls.wss, credential);
    const closed = once(socket, "close");
    expect((await send("DELETE", paths[kind])).status).toBeLessThan(300);
    await closed;
    expect(await knock(credential)).toEqual([401, 401]);
  });
});
