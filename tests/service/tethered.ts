import { FakeClock, populated, quick, type Send, start } from "./helpers";
import type { Network } from "./targets";

/** The routes of the tether. */
export function ways(send: Send) {
  const get = (path = "") => send("GET", `/tether/tether0001${path}`);
  const post = (path: string, body: unknown = {}) => send("POST", `/tether/tether0001${path}`, body);
  const configure = async (network = "rinkeby", interval = 1) => {
    expect((await post("/targetNetwork", { network })).status).toBe(200);
    expect((await post("/interval", { interval })).status).toBe(200);
  };
  return { get, post, configure };
}

/** A service with one tether on a fake clock; `post` and `get` go to the tether. */
export async function tethered(options: Parameters<typeof start>[0] = {}) {
  const clock = new FakeClock();
  const started = await start({ clock: clock.now, tethers: [{ id: "tether0001" }], ...options });
  return { ...started, clock, ...ways(started.send) };
}

/** A tether with money and an environment, which pins to a test's own network, optionally through a proxy. */
export async function pinning(network: Network, options: Parameters<typeof start>[0] = {}, url = network.url) {
  const ledger = { targets: { rinkeby: url } };
  const started = await populated({ ledger, timing: quick, tethers: [{ id: "tether0001" }], ...options });
  const { get, post, configure } = ways(started.send);
  await configure();
  const { account } = (await get()).body;
  await network.fund(account);
  return { ...started, get, post, account };
}
