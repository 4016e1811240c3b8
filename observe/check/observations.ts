import type { JsonRpcProvider } from "ethers";
import { type PlacedCredential, belongsTo, replaceCredential, credentialsFor } from "../../inventory/credentials";
import { LiveNetwork, mayAnswer } from "../../inventory/live";
import {
  displayName,
  type EnvironmentModel,
  environmentsOf,
  type NetworkModel,
  type NodeModel,
  type TetherModel,
} from "../../inventory/model";
import { onlyOf, type StackRead } from "../../inventory/stack";
import { chainFor, pinIn, Pins, type Targets } from "../../inventory/tethers";
import { type Clock, type ConsortiumClient, systemClock } from "../../provider/api";
import { conditionOf } from "../../provider/api/states";
import { CredentialRefused } from "../../sdk/runtime/credential-refused";
import { ethers, saidIn } from "../../sdk/runtime/ethers";
import { overHttp } from "../../sdk/runtime/node-connections";
import { type Verification } from "../../sdk/runtime/verify";
import { ChainNode, type ChainProbe, compareHeights } from "./new-blocks";

/** Everything that the checks look at. */
export interface Observations {
  /** The live network, compared with the stack. */
  model: NetworkModel;
  stack?: NetworkModel;
  /** By the ids of the nodes. */
  nodes: ReadonlyMap<string, NodeProbe>;
  /** The credentials of the network, and those that match nothing in the service. */
  credentials: readonly CredentialProbe[];
  /** Whether all credentials of the organization were listed, so that no other credential works. */
  allListed: boolean;
  /** By the ids of the tethers. */
  tethers: ReadonlyMap<string, TetherProbe>;
  /** Public chains whose addresses were given instead of taken from the service. */
  trusted: ReadonlySet<string>;
  /** Milliseconds since 1970. */
  now: number;
  /** Number of pins for which the funds must last. */
  pinsAhead: number;
}

export interface ObserveOptions {
  /** Id or name of the one consortium to look at. Default: those of the stack, or else all. */
  consortium?: string;
  /** Ids of further tethers besides those of the stack. */
  tethers?: readonly string[];
  stack?: StackRead;
  /** Credentials for the nodes. */
  credentials?: readonly PlacedCredential[];
  /** JSON-RPC addresses of public chains, by network. */
  targets?: Targets;
  pinsAhead?: number;
  /** Whether to send a transaction of value 0 to each node. Default: no. */
  write?: boolean;
  live?: LiveNetwork;
  clock?: Clock;
  now?: () => number;
}

export async function observeNetwork(client: ConsortiumClient, options: ObserveOptions = {}): Promise<Observations> {
  const { consortium, stack, targets = {}, clock = systemClock, pinsAhead = 24, now = Date.now } = options;
  const { live = new LiveNetwork(client), write = false } = options;
  const ids = new Set([...(options.tethers ?? []), ...(stack?.model.tethers ?? []).map(({ id }) => id)]);
  const looking = { consortium, tethers: [...ids], nodeStatus: true, partial: true, plan: true };
  const seen = await live.look({ ...looking, ...(stack && { stacks: [stack] }) });
  const model = consortium === undefined && stack ? onlyOf(seen, stack.model) : seen;
  const others = environmentsOf(seen).filter(({ id }) => !environmentsOf(model).some((one) => one.id === id));
  const known = (options.credentials ?? []).filter((one) => !others.some((environment) => belongsTo(environment, one)));
  const [{ nodes, credentials }, tethers] = await Promise.all([
    probeNodes(model, known, { clock, write }),
    Promise.all(model.tethers.map(async (one) => [one.id, await probeTether(client, one, targets)] as const)),
  ]);
  const isWhole = [...seen.consortia, ...environmentsOf(seen)].every(({ unseen }) => unseen === undefined);
  const allListed = consortium === undefined && isWhole && environmentsOf(seen).every((one) => !hidesCredentials(one));
  return {
    model,
    ...(stack && { stack: stack.model }),
    nodes,
    credentials,
    allListed,
    tethers: new Map(tethers),
    trusted: new Set(Object.keys(targets)),
    now: now(),
    pinsAhead,
  };
}

const hidesCredentials = ({ unlisted = [] }: EnvironmentModel): boolean => unlisted.includes("appCred");

/** The public chain's answer about a tether's last pins. */
interface TetherProbe {
  /** About the last report. Absent without one, or without a chain to ask. */
  verdict?: Verification;
  /** Recent reports that do not hold, and why. */
  broken?: { index: number; reason: string }[];
  /** Average cost of the last pins. */
  weiPerPin?: bigint;
  /** Why the chain could not be asked. */
  unseen?: string;
  /** Milliseconds between its last two reports. */
  apartMs?: number;
}

/** Number of recent pins that are verified, and that the average cost of one is taken from. */
const samples = 3;

async function probeTether(client: ConsortiumClient, tether: TetherModel, targets: Targets): Promise<TetherProbe> {
  const [chain, apartMs] = await Promise.all([probePins(client, tether, targets), betweenPins(client, tether)]);
  return { ...chain, ...(apartMs !== undefined && { apartMs }) };
}

/** Without these times, the interval is not judged. */
async function betweenPins(
  client: ConsortiumClient,
  { id, reports = 0, lastPin }: TetherModel,
): Promise<number | undefined> {
  if (reports < 2 || lastPin?.at === undefined) return undefined;
  const before = await client.getTetherReport(id, reports - 2).catch(() => undefined);
  const apart = Date.parse(lastPin.at) - Date.parse(pinIn(reports - 2, before).at ?? "");
  return Number.isNaN(apart) ? undefined : apart;
}

async function probePins(client: ConsortiumClient, tether: TetherModel, targets: Targets): Promise<TetherProbe> {
  const { id, reports = 0, account, lastPin } = tether;
  const [url, present] = [chainFor(tether, targets, lastPin?.network), chainFor(tether, targets)];
  if (reports === 0 || url === undefined) return {};
  const pins = new Pins(client, id);
  try {
    const newest = await pins.newest(reports, samples);
    const sameChain = newest.filter(({ network }) => network === lastPin?.network);
    const verdicts = await Promise.all(sameChain.map(({ index }) => pins.verify(index, url, account)));
    const broken = verdicts.flatMap((one, at) =>
      one.verified ? [] : [{ index: sameChain[at]!.index, reason: one.reason }],
    );
    return { verdict: verdicts[0], broken, ...(url === present && { weiPerPin: await pins.cost(newest, url) }) };
  } catch (error) {
    return { unseen: saidIn(error) };
  }
}

/** Why a node gave no answer. `unknown`: no credential to ask it with. */
type Silence =
  { kind: "skipped"; why: string; next?: string } | { kind: "failed" | "unknown"; why: string; next: string };

/** How a node answered when it was asked as an application would. */
export type NodeProbe = Silence | ({ kind: "answered" } & ChainProbe);

/** How the nodes responded to a credential, by their names. */
interface CredentialProbe {
  credential: PlacedCredential;
  /** Number of nodes at which it was tried. */
  nodes: number;
  opened: string[];
  refused: string[];
  /** The message of the last node that refused it. */
  why?: string;
}

/**
 * Asks all nodes of a network, each with every credential that may open it, and waits for a new block of each if one is due.
 * @param write whether to send a transaction to each
 */
async function probeNodes(
  model: NetworkModel,
  known: readonly PlacedCredential[],
  { clock, write }: { clock: Clock; write: boolean },
) {
  const environments = environmentsOf(model);
  // If the service does not list credentials, only a node that accepts one shows to whom it belongs.
  const unassigned = known.filter(
    (one) => one.environmentId === undefined && !environments.some((environment) => belongsTo(environment, one)),
  );
  const probes = new Map(
    known.map((credential): [PlacedCredential, CredentialProbe] => [
      credential,
      { credential, nodes: 0, opened: [], refused: [] },
    ]),
  );
  const nodes = await Promise.all(
    environments.map(async (environment) => {
      const opened: JsonRpcProvider[] = [];
      const probed = environment.nodes.map(async (node) => {
        const own = [...credentialsFor(environment, node, known), ...(hidesCredentials(environment) ? unassigned : [])];
        const tried = own.map((one) => probes.get(one)!);
        for (const one of tried) one.nodes++;
        return [node.id, await probeNode(environment, node, tried, { clock, write, opened })] as const;
      });
      try {
        const results = await Promise.all(probed);
        await compareHeights(results.flatMap(([, one]) => (one instanceof ChainNode ? [one] : [])));
        return results.map(([id, one]): [string, NodeProbe] => [
          id,
          one instanceof ChainNode ? { kind: "answered", ...one.probe } : one,
        ]);
      } finally {
        for (const provider of opened) provider.destroy();
      }
    }),
  );
  return { nodes: new Map(nodes.flat()), credentials: [...probes.values()] };
}

interface Probing {
  clock: Clock;
  write: boolean;
  /** Collects the connections. */
  opened: JsonRpcProvider[];
}

async function probeNode(
  environment: EnvironmentModel,
  node: NodeModel,
  credentials: readonly CredentialProbe[],
  { clock, write, opened }: Probing,
): Promise<Silence | ChainNode> {
  const url = node.urls?.rpc;
  const notStarted: Silence = { kind: "skipped", why: "it is not started" };
  if (!mayAnswer(node.state)) return notStarted;
  const isStopped = conditionOf(node.state) === "stopped"; // but it may still answer
  if (credentials.length === 0) return isStopped ? notStarted : noCredential;
  if (url === undefined && node.unseen !== undefined)
    return { kind: "skipped", why: "the service did not show its address" };
  if (url === undefined || !isHttp(url)) return isStopped ? notStarted : noAddress(url);
  try {
    const results = await Promise.allSettled(
      credentials.map((one) => {
        const provider = overHttp(url, one.credential);
        opened.push(provider);
        return knock(one, node, provider, clock);
      }),
    );
    const chain = results.find((one) => one.status === "fulfilled")?.value;
    if (chain === undefined) {
      const errors = results.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
      const telling = errors.find((one) => !(one instanceof CredentialRefused)) ?? errors[0];
      return isStopped ? notStarted : failureOf(telling, url);
    }
    await chain.watch(environment, write);
    return chain;
  } catch (error) {
    return failureOf(error, url);
  }
}

/** Tries one credential at one node. */
async function knock(
  tried: CredentialProbe,
  node: NodeModel,
  provider: JsonRpcProvider,
  clock: Clock,
): Promise<ChainNode> {
  const chain = new ChainNode(provider, clock);
  try {
    await chain.meet();
    tried.opened.push(displayName(node));
    return chain;
  } catch (error) {
    if (error instanceof CredentialRefused) {
      tried.refused.push(displayName(node));
      tried.why = error.errorMessage;
    }
    throw error;
  }
}

const noCredential: Silence = {
  kind: "unknown",
  why: "no credential of its member is available",
  next: "Give the stack that holds one (--stack), or outputs with its `username` and `password` in one object (--outputs).",
};
const isHttp = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

const noAddress = (url = ""): Silence => ({
  kind: "failed",
  why: url === "" ? "the service does not show its RPC address" : `its RPC address is invalid: ${url}`,
  next: "Wait a minute. If the error persists, read the node's logs in the console.",
});

/** A service without real chains has no runtime endpoints, which says nothing about a node. */
function failureOf(error: unknown, url: string): Silence {
  if (ethers().isError(error, "SERVER_ERROR") && error.response?.statusCode === 501)
    return { kind: "skipped", why: "the service runs no chain (HTTP 501)" };
  if (error instanceof CredentialRefused)
    return { kind: "failed", why: `it refuses the credential: ${error.errorMessage}`, next: replaceCredential };
  return {
    kind: "failed",
    why: `${new URL(url).origin} does not answer: ${saidIn(error)}`,
    next: "Check whether this machine reaches that address, then read the node's logs in the console.",
  };
}
