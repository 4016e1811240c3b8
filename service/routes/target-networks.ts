import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { Context } from "../context";
import { networks } from "../store/entities";
import { Refusal } from "../errors";

const message = z.looseObject({ method: z.string() });
export const messages = z.array(message).min(1).or(message);

/** What changes nothing on a chain. */
export const reads: ReadonlySet<string> = new Set([
  ...["eth_blockNumber", "eth_call", "eth_chainId", "eth_estimateGas", "eth_feeHistory", "eth_gasPrice"],
  ...[
    "eth_getBalance",
    "eth_getBlockByHash",
    "eth_getBlockByNumber",
    "eth_getCode",
    "eth_getLogs",
    "eth_getStorageAt",
    "eth_syncing",
  ],
  ...["eth_getTransactionByHash", "eth_getTransactionCount", "eth_getTransactionReceipt", "eth_maxPriorityFeePerGas"],
  ...["net_version", "web3_clientVersion"],
]);

/** What anybody may ask of a public network. */
const open = new Set([...reads, "eth_sendRawTransaction"]);

/** The local chains that stand for the public networks, as a public network shows itself: whoever has a report can check it. */
export function targetRoutes(app: FastifyInstance, context: Context): void {
  app.post("/target/:network", { bodyLimit: 1_048_576, config: { quiet: true } }, async (request, reply) => {
    const { network: name } = request.params as { network: string };
    const network = networks.find((one) => one === name);
    const { targets } = context.backend;
    if (!network || !targets?.isLocal(network)) throw new Refusal(404, `There is no local network ${name} here.`);
    const { data: batch } = messages.safeParse(request.body);
    if (!batch) throw new Refusal(400, "The body must be a JSON-RPC call, or a batch of calls.");
    for (const { method } of [batch].flat()) {
      if (!open.has(method)) throw new Refusal(403, `${method} is not open to everybody on ${network}.`);
    }
    const chain = await targets.chain(network);
    return reply.type("application/json").send(await chain.ask(JSON.stringify(batch)));
  });
}
