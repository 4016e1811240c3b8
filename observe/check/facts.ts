import { type Clock, type ConsortiumClient, systemClock } from "../../provider/api";
import { SharedAnswers } from "../answers";
import { observeLive } from "../live";
import { type NetworkModel } from "../model";
import { withStacks } from "../stack";
import { type Held, openerOf } from "./held";
import { type NodeProbe, probeNodes } from "./probe-nodes";
import { probeTether, type TetherProbe } from "./probe-tethers";

/** All that the checks look at. */
export interface Facts {
  /** The live network, with what the stack says of it. */
  model: NetworkModel;
  stack?: NetworkModel;
  /** By the ids of the nodes. */
  nodes: ReadonlyMap<string, NodeProbe>;
  /** By the ids of the tethers. */
  tethers: ReadonlyMap<string, TetherProbe>;
  /** Public chains whose addresses were given, and not taken from the service. */
  trusted: ReadonlySet<string>;
  /** Milliseconds since 1970. */
  now: number;
  /** For how many pins the funds have to last. */
  pinsAhead: number;
}

export interface FactOptions {
  /** Id or name of the one consortium to look at. Default: those of the stack, or else all. */
  consortium?: string;
  /** Ids of tethers besides those of the stack. */
  tethers?: readonly string[];
  stack?: NetworkModel;
  /** Credentials to reach nodes with. */
  held?: readonly Held[];
  /** JSON-RPC addresses of public chains, by network. */
  targets?: Readonly<Record<string, string>>;
  pinsAhead?: number;
  answers?: SharedAnswers;
  clock?: Clock;
  now?: () => number;
}

export async function gatherFacts(client: ConsortiumClient, options: FactOptions = {}): Promise<Facts> {
  const { stack, held = [], targets = {}, clock = systemClock, pinsAhead = 24, now = Date.now } = options;
  const { answers = new SharedAnswers(client) } = options;
  const ids = new Set([...(options.tethers ?? []), ...(stack?.tethers ?? []).map(({ id }) => id)]);
  const seen = await observeLive(client, {
    ...{ answers, nodeStatus: true, tethers: [...ids] },
    ...(options.consortium !== undefined && { consortium: options.consortium }),
  });
  const live = options.consortium === undefined && stack ? onlyOf(seen, stack) : seen;
  const model = stack ? withStacks(live, [stack]) : live;
  const opener = openerOf(held, model);
  const environments = model.consortia.flatMap((one) => one.environments);
  const [nodes, tethers] = await Promise.all([
    Promise.all(environments.map((one) => probeNodes(one, opener, clock))),
    Promise.all(
      model.tethers.map(async (one) => {
        const target = targets[one.network ?? ""] ?? one.targetUrl;
        return [one.id, await probeTether(client, one, target)] as const;
      }),
    ),
  ]);
  return {
    ...{ model, ...(stack && { stack }), nodes: new Map(nodes.flatMap((some) => [...some])) },
    ...{ tethers: new Map(tethers), trusted: new Set(Object.keys(targets)), now: now(), pinsAhead },
  };
}

/** A check of a stack is about what is the stack's, whatever else the organization has. */
function onlyOf(live: NetworkModel, stack: NetworkModel): NetworkModel {
  const ids = new Set(stack.consortia.map(({ id }) => id));
  return { ...live, consortia: live.consortia.filter(({ id }) => ids.has(id)) };
}
