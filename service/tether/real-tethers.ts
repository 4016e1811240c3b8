import type { Base, Tethering } from "../context";
import type { RealLedger } from "../ledger/ledger";
import { networks, type Network, type Wire } from "../store/entities";
import { type AccountKeys, Accounts } from "./accounts";
import { Deployments } from "./deployments";
import { Pins } from "./pins";
import { Schedule } from "./schedule";
import type { Targets } from "./targets";
import type { Tether } from "./tethering";

/** How long an activation waits for its first report. */
const firstReportMs = 1_000;

/** Tethers that really pin: each has an account, a contract for each network, and sends a transaction for each report. */
export class RealTethers implements Tethering {
  readonly #stopping = new AbortController();
  readonly #accounts: Accounts;
  readonly #deployments: Deployments;
  readonly #schedule: Schedule;

  constructor(
    private readonly base: Base,
    ledger: RealLedger,
    private readonly targets: Targets,
    keys: AccountKeys,
  ) {
    const { signal } = this.#stopping;
    this.#accounts = new Accounts(base.store, targets, keys, signal);
    this.#deployments = new Deployments(base.store, this.#accounts, signal);
    const pins = new Pins(base, ledger, this.#accounts, this.#deployments, signal);
    this.#schedule = new Schedule(base.clock, (id) => pins.pinIfDue(id));
  }

  account = ({ id }: Tether) => this.#accounts.address(id);
  balance = ({ id }: Tether, network: Network) => this.#accounts.balance(id, network);
  fund = ({ id }: Tether, network: Network, wei: bigint) => this.#accounts.fund(id, network, wei);
  deploy = ({ id }: Tether, network: Network) => this.#deployments.deploy(id, network);
  isDeployed = ({ id }: Tether, network: Network) => this.#deployments.isDeployed(id, network);

  current({ id, fields }: Tether): Tether {
    void this.#schedule.look(id, fields.nextPin); // whoever asks does not wait for a block
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
      ...(fields.problem === undefined ? {} : { last_error: fields.problem }),
    };
  }

  /** Goes on after a restart. A contract that only a simulation had deployed is none. */
  resume(): void {
    const { store } = this.base;
    for (const { id, fields } of store.all("tether")) {
      const { contracts = {}, network, deploying = {} } = fields;
      const known = (net: Network) => (contracts[net] ? 1 : 0);
      const deployments = { mainnet: known("mainnet"), rinkeby: known("rinkeby") };
      const simulated = networks.some((net) => fields.deployments[net] > 0 && !contracts[net]);
      const stopped = network && simulated ? { active: false, activated: false, nextPin: undefined } : {};
      if (simulated) store.setFields("tether", id, { deployments, ...stopped });
      for (const net of networks.filter((net) => deploying[net])) {
        this.#deployments.deploy(id, net).catch(({ message }: Error) => {
          store.setFields("tether", id, { problem: message });
        });
      }
      this.#schedule.set(id, store.get("tether", id)!.fields.nextPin);
    }
  }

  /** What waits for a block goes on with the next start: it is noted before it is sent. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#schedule.close(), this.#deployments.settled()]);
  }
}
