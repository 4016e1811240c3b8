import type { Wire } from "../routes/responses";
import type { Context } from "../context";
import type { Entity } from "../store/entities";
import { address, hash, hex } from "./simulated-hashes";
import { stateAt } from "../store/states-over-time";

const logLength = 1_000;

/** How far the blockchain of an environment is: a block each period since its first node was there. */
export function blockHeight(context: Context, environment: Entity<"environment">, at: number): number {
  const started = context.store
    .listed("node", environment.id, at)
    .filter((node) => stateAt(node, at) === "started")
    .map((node) => node.due ?? node.changedAt);
  if (started.length === 0) return 0;
  return Math.floor((at - Math.min(...started)) / (environment.fields.block_period * 1_000));
}

export const blockHash = (environment: string, height: number) => hash("block", environment, height);

/** What a started node tells of itself; all but the height follows from the ids. */
export function ledgerOf(
  context: Context,
  environment: Entity<"environment">,
  node: Entity<"node">,
  host: string | undefined,
): Wire {
  const now = context.clock();
  const validators = context.store.children("node", environment.id).filter((one) => stateAt(one, now) === "started");
  const rpc = `${context.origin(host)}/runtime/${environment.id}/${node.id}`;
  return {
    id: hex(64, "enode", node.id),
    geth: {
      public_address: address("node", node.id),
      validators: validators.map(({ id }) => address("node", id)),
    },
    user_accounts: [address("account", node.id)],
    block_height: blockHeight(context, environment, now),
    urls: { rpc, wss: rpc.replace(/^http/, "ws") },
  };
}

/** The last lines of a node's log, oldest first. */
export function logOf(context: Context, environment: Entity<"environment">, node: Entity<"node">, client: string) {
  const now = context.clock();
  const line = (at: number, text: string) => `${new Date(at).toISOString()} INFO [${client}] ${text}`;
  const start = [line(node.createdAt, `Starting node ${node.id}`), line(node.createdAt, "Waiting for peers")];
  if (stateAt(node, now) !== "started") return start;
  const height = blockHeight(context, environment, now);
  const period = environment.fields.block_period * 1_000;
  const blocks = Array.from({ length: Math.min(height, logLength) }, (_, index) => {
    const block = height - Math.min(height, logLength) + index + 1;
    const at = now - (height - block) * period;
    return line(at, `Imported block number=${block} hash=${blockHash(environment.id, block)}`);
  });
  return [...start, line(node.due ?? node.changedAt, "Node is started"), ...blocks];
}
