import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Context } from "../http/context";
import { Refusal } from "../errors";
import { scope } from "../http/server";
import { acceptText, send } from "../http/calls";
import { read, type Rights } from "../ledger/screening";
import { networks } from "../store/entities";

export const reads: ReadonlySet<string> = new Set([
  ...["eth_blockNumber", "eth_call", "eth_chainId", "eth_estimateGas", "eth_feeHistory", "eth_gasPrice"],
  ...["eth_getBalance", "eth_getBlockByHash", "eth_getBlockByNumber", "eth_getCode", "eth_getLogs"],
  ...["eth_getTransactionByHash", "eth_getTransactionCount", "eth_getTransactionReceipt", "eth_maxPriorityFeePerGas"],
  ...["eth_getStorageAt", "eth_syncing", "net_version", "web3_clientVersion"],
]);

/** Calls that anybody may make to a public network. */
const open = new Set([...reads, "eth_sendRawTransaction"]);

/** Serves the local chains that stand for public networks to everybody, so that anybody with a report can verify it. */
export async function targetRoutes(app: FastifyInstance, context: Context): Promise<void> {
  const { backend } = context;
  const limits = context.settings.callLimits;
  const only = { methods: open, because: "is not available here without a credential" };
  const rights: Rights = { limits, profile: undefined, socket: false, only, report: context.report };
  const networkOf = (request: FastifyRequest) => {
    const { network: name } = request.params as { network: string };
    const network = networks.find((one) => one === name);
    if (!network || !backend.targets?.isLocal(network))
      throw new Refusal(404, `There is no local network ${name} here.`);
    return { network, targets: backend.targets };
  };
  await scope(app, "target networks", (targets) => {
    acceptText(targets, limits);
    // before the body is read
    targets.addHook("onRequest", (request, _reply, next) => {
      networkOf(request);
      next();
    });
    targets.post("/target/:network", { config: { quiet: true } }, async (request, reply) => {
      const { network, targets } = networkOf(request);
      const chain = () => targets.chain(network);
      await chain();
      return send(reply, read((request.body as string | undefined) ?? "", rights), chain, rights);
    });
  });
}
