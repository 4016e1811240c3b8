import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Context } from "../http/context";
import { Refusal } from "../errors";
import { gapBefore } from "../json";
import { scope } from "../http/server";
import { acceptText, send, Share } from "../http/calls";
import { read, type Rights, mustBeMessage } from "../ledger/screening";
import { networks } from "../store/entities";

/** Calls that change nothing on a chain. */
export const reads: ReadonlySet<string> = new Set([
  ...["eth_blockNumber", "eth_call", "eth_chainId", "eth_estimateGas", "eth_feeHistory", "eth_gasPrice"],
  ...["eth_getBalance", "eth_getBlockByHash", "eth_getBlockByNumber", "eth_getCode", "eth_getLogs"],
  ...["eth_getTransactionByHash", "eth_getTransactionCount", "eth_getTransactionReceipt", "eth_maxPriorityFeePerGas"],
  ...["eth_getStorageAt", "eth_syncing", "net_version", "web3_clientVersion"],
]);

/** Calls that anybody may make to a public network. */
const open = new Set([...reads, "eth_sendRawTransaction"]);
/** The period over which calls from an address are counted (s). */
const span = 10;

/** Serves the local chains that stand for public networks to everybody, so that anybody with a report can verify it. */
export async function targetRoutes(app: FastifyInstance, context: Context): Promise<void> {
  const { backend, clock } = context;
  const limits = context.settings.callLimits;
  /** The callers by address, while they have open requests. */
  const shares = new Map<string, Share>();
  const rate = new Rate(limits.targetRate * span, clock);
  const only = { methods: open, because: "is not available here without a credential" };
  const rights: Rights = { limits, profile: undefined, socket: false, only, report: context.report };
  const networkOf = (request: FastifyRequest) => {
    const { network: name } = request.params as { network: string };
    const network = networks.find((one) => one === name);
    if (!network || !backend.targets?.isLocal(network))
      throw new Refusal(404, `There is no local network ${name} here.`);
    return { network, targets: backend.targets };
  };
  const entered = ({ ip }: FastifyRequest, reply: FastifyReply) => {
    const share = shares.get(ip) ?? new Share(limits);
    shares.set(ip, share);
    share.enter(reply);
    reply.raw.once("close", () => share.isIdle && shares.delete(ip));
    return share;
  };
  await scope(app, "target networks", (targets) => {
    acceptText(targets, limits);
    // before the body is read
    targets.addHook("onRequest", (request, reply, next) => {
      networkOf(request);
      rate.take(request.ip, 1, reply);
      next();
    });
    targets.post("/target/:network", { config: { quiet: true } }, async (request, reply) => {
      const { network, targets } = networkOf(request);
      const share = entered(request, reply);
      const body = (request.body as string | undefined) ?? "";
      await gapBefore(body);
      const asked = read(body, rights);
      mustBeMessage(asked);
      rate.take(request.ip, asked.calls.length - 1, reply);
      const chain = () => targets.chain(network);
      await chain();
      return send(reply, share, asked, chain, rights);
    });
  });
}

/** Counts the calls of each address in a period. */
class Rate {
  readonly #made = new Map<string, number>();
  #since = 0;

  constructor(
    private readonly most: number,
    private readonly clock: () => number,
  ) {}

  take(address: string, calls: number, reply: FastifyReply): void {
    const now = this.clock();
    if (now < this.#since || now >= this.#since + span * 1_000) {
      this.#since = now;
      this.#made.clear();
    }
    const made = (this.#made.get(address) ?? 0) + calls;
    if (made <= this.most) return void this.#made.set(address, made);
    const left = Math.ceil((this.#since + span * 1_000 - now) / 1_000);
    reply.header("retry-after", `${left}`);
    const allowed = `At most ${this.most} calls in ${span} s are allowed without a credential`;
    throw new Refusal(429, `${allowed}. Try again in ${left} s.`);
  }
}
