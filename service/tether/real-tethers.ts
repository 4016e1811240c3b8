import type { Base, Tethering } from "../context";
import type { RealLedger } from "../store/ledgers";
import { type FieldsOf, type Network, networks, type Wire } from "../store/entities";
import { type AccountKeys, Accounts } from "./accounts";
import { Deployments } from "./deployments";
import { Pins, replacedText } from "./pins";
import { Schedule } from "./schedule";
import type { Targets } from "./targets";
import { isDeployedOn, type Tether } from "./tethering";

/** How long an activation waits for its first report (ms). */
const firstReportMs = 1_000;

/** Tethers on real chains. Each has an account and a contract per network, and sends a transaction for each report. */
export class RealTethers implements Tethering {
  readonly #stopping = new AbortController();
  readonly #accounts: Accounts;
  readonly #deployments: Deployments;
  readonly #schedule: Schedule;
  readonly #watch: Schedule;

  constructor(
    private readonly base: Base,
    ledger: RealLedger,
    private readonly targets: Targets,
    keys: AccountKeys,
  ) {
    const { signal } = this.#stopping;
    this.#accounts = new Accounts(base.store, targets, keys, signal);
    this.#deployments = new Deployments(base, this.#accounts, signal);
    const opened = (id: string) => this.#watch.set(id, Date.now());
    const pins = new Pins(base, ledger, this.#accounts, this.#deployments, signal, opened);
    this.#schedule = new Schedule(base.clock, (id) => pins.pinIfDue(id));
    // By the machine's clock: blocks do not follow that of the service.
    this.#watch = new Schedule(Date.now, (id) => pins.mend(id));
  }

  account = ({ id }: Tether) => this.#accounts.address(id);
  balance = ({ id }: Tether, network: Network) => this.#accounts.balance(id, network);
  fund = ({ id }: Tether, network: Network, wei: bigint) => this.#accounts.fund(id, network, wei);
  deploy = ({ id }: Tether, network: Network) => this.#deployments.deploy(id, network);
  isDeployed = ({ id }: Tether, network: Network) => this.#deployments.isDeployed(id, network, true);

  contract = ({ fields }: Tether, network: Network) => fields.contracts?.[network]?.address;

  current({ id, fields }: Tether): Tether {
    void this.#schedule.look(id, fields.nextPin); // a read does not wait for a block
    return this.base.store.get("tether", id)!;
  }

  activated({ id, fields }: Tether): Promise<void> {
    return this.#schedule.look(id, fields.nextPin, firstReportMs);
  }

  shown({ fields }: Tether): Wire {
    const contracts = Object.entries(fields.contracts ?? {}).map(([network, contract]) => [network, contract?.address]);
    return {
      contracts: Object.fromEntries(contracts) as Wire,
      target_urls: Object.fromEntries(networks.map((network) => [network, this.targets.url(network)])),
      ...lastError(fields),
    };
  }

  /** Continues after a restart. Simulated contracts do not count. */
  resume(): void {
    const { store } = this.base;
    for (const { id, fields } of store.all("tether")) {
      const { contracts = {}, network, deploying = {} } = fields;
      const known = (net: Network) => (contracts[net] ? 1 : 0);
      const deployments = Object.fromEntries(networks.map((net) => [net, known(net)]));
      const simulated = networks.some((net) => isDeployedOn(fields, net) && !contracts[net]);
      const stopped = network && simulated ? { active: false, activated: false, nextPin: undefined } : {};
      if (simulated) store.setFields("tether", id, { deployments, ...stopped });
      for (const net of networks.filter((net) => deploying[net])) this.#deployments.goOn(id, net);
      this.#schedule.set(id, store.get("tether", id)!.fields.nextPin);
      if (fields.firstOpen !== undefined) this.#watch.set(id, Date.now());
    }
  }

  /** Does not wait for blocks. Sent transactions are recorded, so the next start continues with them. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#schedule.close(), this.#watch.close(), this.#deployments.settled()]);
  }
}

/** Why the last pin failed, or which reports do not hold at present. */
const lastError = ({ problem, replaced }: FieldsOf["tether"]): Wire => {
  const last_error = problem ?? (replaced && replacedText(replaced));
  return last_error === undefined ? {} : { last_error };
};
