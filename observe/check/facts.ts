import { type Clock, type ConsortiumClient, systemClock } from "../../provider/api";
import { type Held, isOf } from "../../inventory/credentials";
import { LiveNetwork } from "../../inventory/live";
import { type NetworkModel } from "../../inventory/model";
import { withStacks } from "../../inventory/stack";
import { type NodeProbes, type PairProbe, probeNodes } from "./probe-nodes";
import { probeTether, type TetherProbe } from "./probe-tethers";

/** All that the checks look at. */
export interface Facts {
  /** The live network, with what the stack says of it. */
  model: NetworkModel;
  stack?: NetworkModel;
  /** By the ids of the nodes. */
  nodes: NodeProbes["nodes"];
  /** The pairs that are of the network, or of nothing that the service shows. */
  pairs: readonly PairProbe[];
  /** Whether all credentials of the organization were listed: a pair that is not among them opens nothing. */
  allListed: boolean;
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
  /** Whether to send a transaction of value 0 to each node. Default: no. */
  write?: boolean;
  live?: LiveNetwork;
  clock?: Clock;
  now?: () => number;
}

export async function gatherFacts(client: ConsortiumClient, options: FactOptions = {}): Promise<Facts> {
  const { consortium, stack, held = [], targets = {}, clock = systemClock, pinsAhead = 24, now = Date.now } = options;
  const { live = new LiveNetwork(client), write = false } = options;
  const ids = new Set([...(options.tethers ?? []), ...(stack?.tethers ?? []).map(({ id }) => id)]);
  const seen = await live.look({ consortium, tethers: [...ids], nodeStatus: true, partial: true });
  const shown = consortium === undefined && stack ? onlyOf(seen, stack) : seen;
  const model = stack ? withStacks(shown, [stack]) : shown;
  const others = environmentsIn(seen).filter(({ id }) => !environmentsIn(model).some((one) => one.id === id));
  const own = held.filter((one) => !others.some((environment) => isOf(environment, one)));
  const [{ nodes, pairs }, tethers] = await Promise.all([
    probeNodes(model, own, { clock, write }),
    Promise.all(
      model.tethers.map(async (one) => {
        const target = targets[one.network ?? ""] ?? one.targetUrl;
        return [one.id, await probeTether(client, one, target)] as const;
      }),
    ),
  ]);
  const isWhole = [...seen.consortia, ...environmentsIn(seen)].every(({ unseen }) => unseen === undefined);
  const allListed = consortium === undefined && isWhole && environmentsIn(seen).every(({ unlisted }) => !unlisted);
  return {
    ...{ model, ...(stack && { stack }), nodes, pairs, allListed },
    ...{ tethers: new Map(tethers), trusted: new Set(Object.keys(targets)), now: now(), pinsAhead },
  };
}

const environmentsIn = ({ consortia }: NetworkModel) => consortia.flatMap(({ environments }) => environments);

/** A check of a stack is about what is the stack's, whatever else the organization has. */
function onlyOf(live: NetworkModel, stack: NetworkModel): NetworkModel {
  const ids = new Set(stack.consortia.map(({ id }) => id));
  return { ...live, consortia: live.consortia.filter(({ id }) => ids.has(id)) };
}
