import type { Base } from "../base";
import type { Wire } from "../store/entities";
import { stateAt } from "../store/states-over-time";
import type { Chain, Chains } from "./chains";
import { accountsOfChain, type Environment, type Node } from "./ledger";
import { SimulatedLedger } from "./simulated-ledger";

/** One chain for each environment; what no chain tells is as in the simulation. */
export class RealLedger extends SimulatedLedger {
  readonly #accounts = new WeakMap<Chain, Promise<string[]>>();

  constructor(
    base: Base,
    private readonly chains: Chains,
  ) {
    super(base);
  }

  chain({ id, fields }: Environment): Promise<Chain> {
    const { chain_id: chainId, block_period, consensus_type } = fields;
    const spec = { key: id, chainId, accounts: accountsOfChain, free: true };
    // raft makes a block when there is a transaction, the others whenever their period is over
    return this.chains.get(consensus_type === "raft" ? spec : { ...spec, period: block_period });
  }

  /** Starts it without anybody waiting; who then needs it hears why it did not work. */
  override prepare(environment: Environment): void {
    this.chain(environment).catch(() => undefined);
  }

  /** The account that a node's chain signs for in its name, and for no other node. */
  async account(chain: Chain, node: Node): Promise<string> {
    const asked = this.#accounts.get(chain) ?? chain.call<string[]>("eth_accounts");
    this.#accounts.set(chain, asked);
    asked.catch(() => this.#accounts.delete(chain));
    const known = await asked;
    return known[node.fields.account ?? 0]!;
  }

  /** Starts the chains of all environments that have nodes. */
  resume(): void {
    const { store } = this.base;
    const environments = store.all("environment").filter(({ id }) => store.children("node", id).length > 0);
    for (const environment of environments) this.prepare(environment);
  }

  override async status(environment: Environment, node: Node, host: string | undefined): Promise<Wire> {
    const simulated = await super.status(environment, node, host);
    const chain = await this.chain(environment);
    const own = await this.account(chain, node);
    const shown = { ...simulated, block_height: chain.height, user_accounts: [own] };
    const { restarting } = chain;
    if (!restarting) return shown;
    const { since, why } = restarting;
    return { ...shown, ledger_restarting: { since: new Date(since).toISOString(), reason: why } };
  }

  /** The chain's own last lines. Constellation is not run: of it there is only the start. */
  override async log(environment: Environment, node: Node, client: string): Promise<readonly string[]> {
    const start = this.startOfLog(node, client);
    if (client !== "geth" || stateAt(node, this.base.clock()) !== "started") return start;
    return [...start, ...(await this.chain(environment)).lines];
  }

  /** The state of every node now, for a report. */
  async statesNow(environment: Environment): Promise<Wire[]> {
    const now = this.base.clock();
    const chain = await this.chain(environment);
    type Block = { number: string; hash: string; stateRoot: string };
    const block = await chain.call<Block>("eth_getBlockByNumber", ["latest", false]);
    const ledger = { block_height: Number(block.number), block_hash: block.hash, state_root: block.stateRoot };
    return this.base.store.children("node", environment.id).map((node) => ({
      node_id: node.id,
      ...(node.fields.name === undefined ? {} : { node_name: node.fields.name }),
      environment_id: environment.id,
      state: stateAt(node, now),
      ...(stateAt(node, now) === "started" ? ledger : {}),
      reported_at: new Date(now).toISOString(),
    }));
  }
}
