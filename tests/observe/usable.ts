import { LiveNetwork } from "../../inventory/live";
import { check, type Result } from "../../observe/check/checks";
import { type ObserveOptions, observeNetwork } from "../../observe/check/observations";
import { ConsortiumClient } from "../../provider/api/client";
import { resolveSettings } from "../../provider/api/settings";
import { startService } from "../../service/index";
import { client, quick } from "../service/helpers";
import { until } from "../support/until";
import { Network } from "../service/targets";

export const tetherId = "tether0001";
const hour = 3_600_000;

/** Seconds between blocks. */
const period = 1;

type Look = (options?: ObserveOptions, patienceMs?: number) => Promise<Result[]>;

/** A network that applications use: two members, four nodes on a real chain, and a tether that has pinned to another one. */
export async function usable() {
  const target = await new Network().start();
  let ahead = -10 * hour;
  const service = await startService({
    clock: () => Date.now() + ahead,
    ledger: { targets: { rinkeby: target.url } },
    timing: quick,
    tethers: [{ id: tetherId }],
  });
  const send = client(service.baseUrl, service.apiKey);
  const make = async (path: string, body: object) => (await send("POST", path, body)).body;
  const consortium = (await make("/consortia", { name: "trade" }))._id;
  const within = `/consortia/${consortium}`;
  const members: string[] = [];
  for (const org_name of ["grower", "roaster"]) members.push((await make(`${within}/memberships`, { org_name }))._id);
  const kind = { provider: "quorum", consensus_type: "ibft" };
  const environment = (await make(`${within}/environments`, { name: "ledger", ...kind }))._id;
  service.store.environments.patch(environment, { block_period: period });
  const inside = `${within}/environments/${environment}`;
  const nodes: string[] = [];
  const credentials: { username: string; password: string }[] = [];
  for (const [at, membership_id] of members.entries()) {
    for (const one of [1, 2]) nodes.push((await make(`${inside}/nodes`, { membership_id, name: `n${at}-${one}` }))._id);
    const { username, password } = await make(`${inside}/appcreds`, { membership_id });
    credentials.push({ username, password });
  }
  const tether = (path: string, body: object = {}) => make(`/tether/${tetherId}${path}`, body);
  await tether("/targetNetwork", { network: "rinkeby" });
  await tether("/interval", { interval: 1 });
  const { account } = (await send("GET", `/tether/${tetherId}`)).body;
  await target.fund(account);
  await tether("/deploy");
  ahead = 0;
  await tether("/activate");
  await until(async () => Number((await send("GET", `/tether/${tetherId}/reportCount`)).text) > 0);
  const given = { apiKey: service.apiKey, baseUrl: service.baseUrl };
  const settings = resolveSettings({ env: {}, given });
  const api = new ConsortiumClient(settings);
  const look: Look = async (options, patienceMs) => {
    const looking = patienceMs === undefined ? api : new ConsortiumClient(settings, { patienceMs });
    const live = new LiveNetwork(looking, 0);
    const seen = observeNetwork(looking, { credentials, tethers: [tetherId], live, ...options });
    return check(await seen.finally(() => looking !== api && looking.close()));
  };
  return {
    service,
    send,
    target,
    consortium,
    environment,
    path: inside,
    grower: members[0]!,
    nodes,
    account,
    credentials,
    /** The results; a call that the service does not answer may take `patienceMs`. */
    look,
    /** The problems. */
    wrong: async (...options: Parameters<Look>) => (await look(...options)).filter(({ outcome }) => outcome !== "ok"),
    /** Lets the service's clock go faster for a moment. */
    pass: (ms: number) => void (ahead += ms),
    close: async () => {
      await api.close();
      await service.close();
    },
  };
}
export type Usable = Awaited<ReturnType<typeof usable>>;
