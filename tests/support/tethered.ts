import { type ServiceOptions } from "../../service/index";
import { Engine, type Props } from "./engine";
import { network } from "./network";
import { start, type Started } from "./service";

export const tetherId = "tether0001";
export const ether = "1000000000000000000";
export const tetherArgs = { tetherId, network: "rinkeby", intervalHours: 2 };

/** The calls of the tether API, as in the log. */
export const post = (action: string): string => `POST /tether/:tetherId/${action}`;
/** The same calls, for faults. */
export const posting = (action: string) => ({ method: "POST", route: `/tether/:tetherId/${action}` });
export const account = "GET /tether/:tetherId/account";
export const tether = "GET /tether/:tetherId";
const reportCount = "GET /tether/:tetherId/reportCount";
/** Its state comes first: it may run already. */
export const firstSteps = [
  tether,
  ...[post("targetNetwork"), post("interval"), account, tether, reportCount, post("deploy"), post("activate")],
];

/** The calls about the key if the state does not know its organization. */
export const whose = ["GET /consortia", "GET /apikeys"];

export interface Tethered extends Started {
  engine: Engine;
  /** The service's own object of the tether. */
  fields: () => Props;
}

/** A service with a tether, which has funds on both networks, and an environment for it to pin. */
export async function tethered(options: ServiceOptions = {}): Promise<Tethered> {
  const started = await start({ tethers: [{ id: tetherId, funds: { rinkeby: ether, mainnet: ether } }], ...options });
  await network(started.service, started.time);
  const fields = (): Props => started.service.store.tethers.get(tetherId).fields;
  return { ...started, engine: new Engine("tetherService"), fields };
}
