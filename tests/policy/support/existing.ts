import { network, type Network, send } from "../../support/network";
import { type ServiceOptions } from "../../../service";
import { start } from "../../support/service";
import { Plan, type Planned } from "./plan";

/** A service with a consortium, two environments and a node. */
export async function begin(options?: ServiceOptions) {
  const started = await start(options);
  const there = await network(started.service, started.time);
  const post = async (path: string, body: object): Promise<string> =>
    (await send(started.service, "POST", path, body))._id;
  const within = `/consortia/${there.consortiumId}`;
  const nodesThere = async (names: string[]): Promise<void> => {
    const nodes = `${within}/environments/${there.environmentId}/nodes`;
    for (const name of names) await post(nodes, { name, membership_id: there.membershipId });
  };
  return { ...started, there, post, nodesThere, within };
}

/** Resources of this stack in the existing consortium. */
export function inside(there: Network) {
  const { consortiumId, environmentId, membershipId } = there;
  const plan = new Plan();
  const environment = (name: string): Planned => plan.add("Environment", name, { consortiumId });
  const node = (name: string, more: object = {}): Planned =>
    plan.add("Node", name, { consortiumId, environmentId, membershipId, ...more });
  return { plan, environment, node };
}
