import type { Base, Tethering } from "../context";
import { Refusal } from "../errors";
import { address, hash, type SimulatedLedger } from "../store/ledgers";
import type { Entity, Network, Wire } from "../store/entities";
import { balanceOn, boundEnvironment, isDeployedOn, reportOf, type Tether } from "./tethering";

/** Costs on the public chains, in wei. */
const costs = { deploy: 5_000_000_000_000_000n, pin: 100_000_000_000_000n };

/** Maximum overdue reports to make at once; earlier ones are left out. */
const mostAtOnce = 10_000;

/** Tethers on simulated networks: every amount and hash is derived from the data. */
export class SimulatedTethers implements Tethering {
  constructor(
    private readonly base: Base,
    private readonly ledger: SimulatedLedger,
  ) {}

  account = (tether: Tether) => address("tether", tether.id);
  balance = (tether: Tether, network: Network) => Promise.resolve(String(balanceOn(tether.fields, network)));
  isDeployed = ({ fields }: Tether, network: Network) => Promise.resolve(isDeployedOn(fields, network));
  contract = ({ id, fields }: Tether, network: Network) =>
    isDeployedOn(fields, network) ? address("contract", id, network) : undefined;
  shown = () => ({});

  activated(tether: Tether): Promise<void> {
    this.current(tether);
    return Promise.resolve();
  }

  deploy(tether: Tether, network: Network): Promise<Wire> {
    const balances = this.#paid(tether, network, costs.deploy);
    const { deployments } = tether.fields;
    const deployed = { ...deployments, [network]: (deployments[network] ?? 0) + 1 };
    this.base.store.setFields("tether", tether.id, { balances, deployments: deployed });
    const contract = { contract_address: address("contract", tether.id, network) };
    return Promise.resolve({ network, ...contract, transaction_hash: hash("deploy", tether.id, network) });
  }

  fund({ id, fields }: Tether, network: Network, wei: bigint): Promise<void> {
    const more = { ...fields.balances, [network]: String(balanceOn(fields, network) + wei) };
    this.base.store.setFields("tether", id, { balances: more });
    return Promise.resolve();
  }

  /** Makes all due reports. Nothing runs in the background: each read brings the tether up to date. */
  current(tether: Tether): Tether {
    const { store, clock, settings } = this.base;
    const { active, interval, nextPin, network } = tether.fields;
    const now = clock();
    if (!active || !network || interval === undefined || nextPin === undefined || nextPin > now) return tether;

    const step = interval * settings.timing.tetherHour;
    const due = Math.floor((now - nextPin) / step) + 1;
    const environment = boundEnvironment(this.base, tether);
    const reports: Entity<"report">[] = [];
    let { fields } = tether;
    for (let index = Math.max(0, due - mostAtOnce); index < due; index++) {
      if (!environment || balanceOn(fields, network) < costs.pin) break; // unpaid, so not pinned
      const at = nextPin + index * step;
      const paid = { ...tether, fields };
      reports.push(reportOf(paid, at, { states: this.ledger.states(environment, at) }));
      fields = { ...fields, reports: fields.reports + 1, balances: this.#paid(paid, network, costs.pin) };
    }
    const next: Tether = { ...tether, changedAt: now, fields: { ...fields, nextPin: nextPin + due * step } };
    store.put([...reports, next]);
    return next;
  }

  #paid(tether: Tether, network: Network, wei: bigint): Tether["fields"]["balances"] {
    const { fields } = tether;
    const owned = balanceOn(fields, network);
    if (owned >= wei) return { ...fields.balances, [network]: String(owned - wei) };
    const money = `it has ${owned} wei and needs ${wei}`;
    throw new Refusal(402, `The account ${this.account(tether)} has no funds on ${network}: ${money}.`);
  }
}
