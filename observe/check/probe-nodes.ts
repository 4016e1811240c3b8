import type { JsonRpcProvider } from "ethers";
import { type Clock } from "../../provider/api";
import { conditionOf } from "../../provider/api/states";
import { CredentialRefused } from "../../sdk/runtime/credential-refused";
import { ethers } from "../../sdk/runtime/ethers";
import { overHttp } from "../../sdk/runtime/node-providers";
import { type EnvironmentModel, type NodeModel } from "../model";
import { type Held, type Opener } from "./held";

/** What a node itself said, when it was asked as an application asks it. */
export type NodeProbe =
  | { kind: "skipped"; why: string; next?: string }
  | { kind: "failed"; why: string; next: string }
  | { kind: "answered"; chainId: number; first: number; last: number; seconds: number };

/** How long a node may take to answer. */
const patienceMs = 10_000;
const lookEveryMs = 500;

/** Seconds between two blocks where blocks come without transactions; undefined: none is due (raft; spec, section 2.2). */
export function blocksEvery({ consensusType, blockPeriod, state = "" }: EnvironmentModel): number | undefined {
  const isAsleep = /idle|paus|sleep|hibernat|suspend/i.test(state);
  return consensusType === "raft" || isAsleep || !blockPeriod ? undefined : blockPeriod;
}

interface Asked {
  node: NodeModel;
  provider: JsonRpcProvider;
  chainId: number;
  first: number;
  last: number;
}

/** Asks all nodes of an environment at once, and again until each has a new block, where blocks are due. */
export async function probeNodes(
  environment: EnvironmentModel,
  opener: Opener,
  clock: Clock,
): Promise<Map<string, NodeProbe>> {
  const probes = new Map<string, NodeProbe>();
  const opened: JsonRpcProvider[] = [];
  const asked: Asked[] = [];
  const begin = async (node: NodeModel): Promise<void> => {
    const login = opener(environment.id, node.membershipId);
    const url = node.urls?.rpc;
    if (conditionOf(node.state) !== "ready")
      return void probes.set(node.id, { kind: "skipped", why: "it is not started" });
    if (login === undefined) return void probes.set(node.id, noCredential);
    if (url === undefined || !isHttp(url)) return void probes.set(node.id, noAddress(url));
    const provider = overHttp(url, basic(login));
    opened.push(provider);
    try {
      const [chainId, first] = await inTime(clock, ask(provider));
      asked.push({ node, provider, chainId, first, last: first });
    } catch (error) {
      probes.set(node.id, failureOf(error, url));
    }
  };
  try {
    await Promise.all(environment.nodes.map(begin));
    const startedAt = clock.now();
    await watchBlocks(asked, blocksEvery(environment), clock, probes);
    const seconds = (clock.now() - startedAt) / 1000;
    for (const { node, chainId, first, last } of asked)
      if (!probes.has(node.id)) probes.set(node.id, { kind: "answered", chainId, first, last, seconds });
    return probes;
  } finally {
    for (const provider of opened) provider.destroy();
  }
}

/** Three blocks' time is enough for one, and two seconds for a busy machine. */
async function watchBlocks(
  asked: Asked[],
  period: number | undefined,
  clock: Clock,
  probes: Map<string, NodeProbe>,
): Promise<void> {
  if (period === undefined) return;
  const end = clock.now() + (3 * period + 2) * 1000;
  const standing = () => asked.filter(({ node, first, last }) => last <= first && !probes.has(node.id));
  while (standing().length > 0 && clock.now() < end) {
    await clock.sleep(lookEveryMs);
    await Promise.all(
      asked.map(async (one) => {
        try {
          one.last = Number(await inTime(clock, one.provider.send("eth_blockNumber", [])));
        } catch (error) {
          probes.set(one.node.id, failureOf(error, one.node.urls!.rpc!));
        }
      }),
    );
  }
}

const noCredential: NodeProbe = {
  kind: "skipped",
  why: "no credential of its member is at hand",
  next: "Give the stack that holds one (--stack), or outputs with its `username` and `password` in one object (--outputs).",
};
const isHttp = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

const noAddress = (url = ""): NodeProbe => ({
  kind: "failed",
  why: url === "" ? "the service shows no RPC address of it" : `its RPC address is none: ${url}`,
  next: "Wait a minute. If it stays so, read the node's logs in the console.",
});

const basic = ({ username, password }: Held): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

async function ask(provider: JsonRpcProvider): Promise<[chainId: number, height: number]> {
  const [chainId, height] = (await Promise.all([
    provider.send("eth_chainId", []),
    provider.send("eth_blockNumber", []),
  ])) as [string, string];
  return [Number(chainId), Number(height)];
}

class TooSlow extends Error {}

async function inTime<T>(clock: Clock, work: Promise<T>): Promise<T> {
  const answered = new AbortController();
  const late = clock.sleep(patienceMs, answered.signal).then(() => {
    throw new TooSlow(`it did not answer within ${patienceMs / 1000} s`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    work.catch(() => undefined);
    answered.abort();
  }
}

/** A service without real chains has no runtime endpoints: that says nothing of a node. */
function failureOf(error: unknown, url: string): NodeProbe {
  if (ethers().isError(error, "SERVER_ERROR") && error.response?.statusCode === 501)
    return { kind: "skipped", why: "the service runs no chain (HTTP 501)" };
  if (error instanceof CredentialRefused)
    return {
      ...{ kind: "failed", why: `it refuses the credential: ${error.errorMessage}` },
      next: "Make a new pair: replace the AppCred (a change of its `keepers` does), then give it to the applications.",
    };
  const { shortMessage, message } = error as Error & { shortMessage?: string };
  return {
    ...{ kind: "failed", why: `${new URL(url).origin} does not answer: ${shortMessage ?? message}` },
    next: "Look whether this machine reaches that address, then at the node's logs in the console.",
  };
}
