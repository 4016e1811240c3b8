import { once } from "node:events";
import type { World } from "../helpers";
import { eth, ledgered, rpc, webSocket } from "../ledgers";

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
