import type { Wire } from "../routes/responses";
import type { Context } from "../context";
import type { Entity } from "../store/entities";
import { stateAt } from "../store/states-over-time";
import { accountsOfChain } from "./genesis";
import type { Chain, Chains, ChainSpec } from "./chains";

type Environment = Entity<"environment">;

const specOf = ({ id, fields }: Environment): ChainSpec => ({
  ...{ key: id, chainId: fields.chain_id, period: fields.block_period, accounts: accountsOfChain, free: true },
});

/** The ledgers of the environments: one chain each. */
export class Ledger {
  readonly #accounts = new WeakMap<Chain, Promise<string[]>>();

  constructor(
    private readonly context: Context,
    private readonly chains: Chains,
  ) {}

  chain(environment: Environment): Promise<Chain> {
    return this.chains.get(specOf(environment));
  }

  /** Starts it without anybody waiting; who then needs it hears why it did not work. */
  prepare(environment: Environment): void {
    this.chain(environment).catch(() => undefined);
  }

  /** The account that a node's chain signs for in its name, and for no other node. */
  async account(chain: Chain, node: Entity<"node">): Promise<string> {
    const asked = this.#accounts.get(chain) ?? chain.call<string[]>("eth_accounts");
    this.#accounts.set(chain, asked);
    asked.catch(() => this.#accounts.delete(chain));
    const known = await asked;
    return known[node.fields.account ?? 0]!;
  }

  /** Starts the chains of all environments that have nodes. */
  resume(): void {
    const { store } = this.context;
    const environments = store.all("environment").filter(({ id }) => store.children("node", id).length > 0);
    for (const environment of environments) this.prepare(environment);
  }

  /** What a node tells that only its chain knows. */
  async facts(environment: Environment, node: Entity<"node">): Promise<Wire> {
    const chain = await this.chain(environment);
    const [height, own] = await Promise.all([chain.call<string>("eth_blockNumber"), this.account(chain, node)]);
    return { block_height: Number(height), user_accounts: [own] };
  }

  async log(environment: Environment): Promise<readonly string[]> {
    return (await this.chain(environment)).lines;
  }

  /** The state of every node now, for a report. */
  async report(environment: Environment): Promise<Wire[]> {
    const { store, clock } = this.context;
    const now = clock();
    const chain = await this.chain(environment);
    type Block = { number: string; hash: string; stateRoot: string };
    const block = await chain.call<Block>("eth_getBlockByNumber", ["latest", false]);
    const ledger = { block_height: Number(block.number), block_hash: block.hash, state_root: block.stateRoot };
    return store.children("node", environment.id).map((node) => ({
      node_id: node.id,
      ...(node.fields.name === undefined ? {} : { node_name: node.fields.name }),
      environment_id: environment.id,
      state: stateAt(node, now),
      ...(stateAt(node, now) === "started" ? ledger : {}),
      reported_at: new Date(now).toISOString(),
    }));
  }
}
