import type { Wire } from "../routes/responses";
import type { Context } from "../context";
import type { Entity, Network } from "../store/entities";
import { address, hash } from "../ledger/simulated-hashes";
import { accountOf, caughtUp, costs, pay } from "./simulated-tethers";

type Tether = Entity<"tether">;

/** What a tether service does on the networks it pins to. */
export interface Tethering {
  /** The tether as it is now; no read waits for a transaction. */
  current(tether: Tether): Promise<Tether>;
  account(tether: Tether): Promise<string>;
  /** In wei. */
  balance(tether: Tether, network: Network): Promise<string>;
  /** It was activated: its first report is due. */
  activated(tether: Tether): Promise<void>;
  /** Whether the contract is there; a network may have lost it. */
  isDeployed(tether: Tether, network: Network): Promise<boolean>;
  /** Deploys the contract; answers what is known of it. */
  deploy(tether: Tether, network: Network): Promise<Wire>;
  fund(tether: Tether, network: Network, wei: bigint): Promise<void>;
  /** What else is shown of it. */
  shown(tether: Tether): Wire;
}

/** Networks that exist as numbers only: every amount and hash follows from the data. */
export class Simulated implements Tethering {
  constructor(private readonly context: Context) {}

  current = (tether: Tether) => Promise.resolve(caughtUp(this.context, tether));
  account = (tether: Tether) => Promise.resolve(accountOf(tether));
  balance = (tether: Tether, network: Network) => Promise.resolve(tether.fields.balances[network]);
  shown = () => ({});
  isDeployed = ({ fields }: Tether, network: Network) => Promise.resolve(fields.deployments[network] > 0);

  activated(tether: Tether): Promise<void> {
    caughtUp(this.context, tether);
    return Promise.resolve();
  }

  deploy(tether: Tether, network: Network): Promise<Wire> {
    const balances = pay(tether, network, costs.deploy);
    const { deployments } = tether.fields;
    const fields = { ...tether.fields, balances, deployments: { ...deployments, [network]: deployments[network] + 1 } };
    this.context.store.change(tether, { fields });
    const contract = { contract_address: address("contract", tether.id, network) };
    return Promise.resolve({ network, ...contract, transaction_hash: hash("deploy", tether.id, network) });
  }

  fund(tether: Tether, network: Network, wei: bigint): Promise<void> {
    const { balances } = tether.fields;
    const more = { ...balances, [network]: String(BigInt(balances[network]) + wei) };
    this.context.store.change(tether, { fields: { ...tether.fields, balances: more } });
    return Promise.resolve();
  }
}
