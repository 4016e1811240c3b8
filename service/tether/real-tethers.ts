import type { Base, Tethering } from "../context";
import type { RealLedger } from "../store/ledgers";
import { type FieldsOf, type Network, networks, type Wire } from "../store/entities";
import { type AccountKeys, Accounts } from "./accounts";
import { Schedule, SingleFlight } from "./schedule";
import type { Target, Targets } from "./targets";
import { environmentToPin, isDeployedOn, reportOf, type Tether } from "./tethering";
import { isFull, Refusal } from "../errors";
import type { Store } from "../store/store";
import {
  contractAddress,
  deployment,
  beganAnew,
  isThere,
  keccak,
  Lasting,
  type Mined,
  type Outcome,
  pinCount,
  pinData,
  pinnedAt,
  Rejected,
  settled,
  signed,
} from "./transactions";

/** How long an activation waits for its first report (ms). */
const firstReportMs = 1_000;

/** Tethers on real chains. Each has an account and a contract per network, and sends a transaction for each report. */
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
    this.#deployments = new Deployments(base, this.#accounts, signal);
    const pins = new Pins(base, ledger, this.#accounts, this.#deployments, signal);
    this.#schedule = new Schedule(base.clock, (id) => pins.pinIfDue(id));
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
      ...(fields.problem === undefined ? {} : { last_error: fields.problem }),
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
    }
  }

  /** Does not wait for blocks. Sent transactions are recorded, so the next start continues with them. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#schedule.close(), this.#deployments.settled()]);
  }
}

/** Pause before checking a deployment with an unknown outcome, or retrying a failed pin (ms). */
const retryMs = 2_000;

type Begun = NonNullable<NonNullable<FieldsOf["tether"]["deploying"]>[Network]>;
type Contract = NonNullable<NonNullable<FieldsOf["tether"]["contracts"]>[Network]>;

/** For how long, and in how many checks in a row, a network must not show a contract before it counts as lost. */
const missing = { ms: 5_000, looks: 3 };

/** The contracts of tethers. Each is deployed, and paid for, once per network. */
class Deployments {
  readonly #deploying = new SingleFlight<Wire>();
  /** Contracts that the network did not show in the last check. */
  readonly #missing = new Map<string, Lasting>();

  private readonly store: Store;

  constructor(
    private readonly base: Base,
    private readonly accounts: Accounts,
    private readonly signal: AbortSignal,
  ) {
    this.store = base.store;
  }

  /** Deploys a contract. Concurrent calls for the same one share an answer. */
  deploy(id: string, network: Network): Promise<Wire> {
    return this.#deploying.join(`${id} ${network}`, () =>
      this.#deploy(id, network).catch((error: Error) => {
        if (this.signal.aborted)
          throw new Refusal(503, "The service is stopping: the deployment continues when it starts again.");
        const begun = this.#fields(id).deploying?.[network] !== undefined;
        if (begun) setTimeout(() => this.signal.aborted || this.goOn(id, network), retryMs).unref();
        if (error instanceof Refusal || isFull(error)) throw error;
        if (error instanceof Rejected)
          throw new Refusal(409, `The contract was not deployed on ${network}: ${error.message}.`);
        const outcome = begun ? "It is not known yet whether the contract is" : "The contract could not be";
        const next = begun ? " The service keeps checking. Deploying again does not pay twice." : "";
        throw new Refusal(502, `${outcome} deployed on ${network}: ${error.message}.${next}`);
      }),
    );
  }

  /** Continues a deployment until its outcome is known. */
  goOn(id: string, network: Network): void {
    this.deploy(id, network)
      .catch(({ message }: Error) => {
        if (!this.signal.aborted) this.store.setFields("tether", id, { problem: message });
      })
      .catch(this.base.report);
  }

  /**
   * Whether the contract exists. If the network lost its state, the contract counts as not deployed.
   *
   * @param again whether to deploy a missing contract again. It sends the same transaction, so a mistake costs nothing
   */
  async isDeployed(id: string, network: Network, again: boolean): Promise<boolean> {
    const { contracts, lost } = this.#fields(id);
    const contract = contracts?.[network];
    const known = contract ?? lost?.[network];
    if (!known) return false;
    const target = await this.accounts.target(id, network);
    const other = contract !== undefined && contract.chainId !== target.chainId;
    if (!other && (await isThere(target, known.address))) {
      this.#missing.delete(`${id} ${network}`);
      if (!contract) this.#deployed(id, target, lost![network]!, "done"); // a node did not show it for a while
      return true;
    }
    if (!contract) return false;
    const anew = other || (await beganAnew(target, contract.transaction));
    if (anew || again || this.#isLost(id, network)) this.#lose(id, network, contract, anew);
    else throw new Refusal(409, `${network} does not show the contract ${contract.address} at present.`);
    return false;
  }

  /** Whether a contract was missing for so long that it counts as lost. */
  #isLost(id: string, network: Network): boolean {
    const key = `${id} ${network}`;
    const lasting = this.#missing.get(key) ?? new Lasting(missing);
    this.#missing.set(key, lasting);
    return lasting.holds(true);
  }

  #lose(id: string, network: Network, { address, transaction }: Contract, anew: boolean): void {
    const { contracts, deployments, pinning, lost } = this.#fields(id);
    this.#missing.delete(`${id} ${network}`);
    this.store.setFields("tether", id, {
      contracts: { ...contracts, [network]: undefined },
      deployments: { ...deployments, [network]: 0 },
      lost: { ...lost, [network]: anew ? undefined : { address, ...transaction } },
      pinning: pinning?.network === network ? undefined : pinning,
      problem: `The contract ${address} is no longer on ${network}: the network lost its state. Deploy it again.`,
    });
  }

  settled = () => this.#deploying.settled();

  /** Records the deployment before sending it, so that a restart continues it and never pays twice. */
  async #deploy(id: string, network: Network): Promise<Wire> {
    const target = await this.accounts.target(id, network);
    const from = this.accounts.address(id);
    for (;;) {
      const { deploying, lost } = this.#fields(id);
      const known = deploying?.[network] ?? lost?.[network];
      const begun: Begun = known ?? (await this.#begin(id, target));
      if (begun !== deploying?.[network]) this.#record(id, network, begun);
      await this.store.synced();
      const isDone = () => isThere(target, begun.address);
      const watched = { fresh: known === undefined, isDone, signal: this.signal };
      const outcome = await settled(target, from, begun, watched).catch((error: unknown) => {
        if (error instanceof Rejected) this.#record(id, network, undefined);
        throw error;
      });
      if (outcome === "void") this.#record(id, network, undefined);
      else return this.#deployed(id, target, begun, outcome);
    }
  }

  async #begin(id: string, target: Target): Promise<Begun> {
    const transaction = await signed(target, this.accounts.key(id), { data: deployment() });
    return { address: contractAddress(this.accounts.address(id), transaction.nonce), ...transaction };
  }

  #deployed(id: string, { network, chainId }: Target, begun: Begun, outcome: Mined | "done"): Wire {
    const { contracts, deployments, deploying, lost } = this.#fields(id);
    const { address, ...transaction } = begun;
    this.store.setFields("tether", id, {
      contracts: { ...contracts, [network]: { address, chainId, transaction } },
      deployments: { ...deployments, [network]: 1 },
      deploying: { ...deploying, [network]: undefined },
      lost: { ...lost, [network]: undefined },
      problem: undefined,
    });
    return { network, chain_id: chainId, contract_address: address, ...(outcome === "done" ? {} : outcome) };
  }

  #record(id: string, network: Network, begun: Begun | undefined): void {
    const { deploying, lost } = this.#fields(id);
    this.store.setFields("tether", id, {
      deploying: { ...deploying, [network]: begun },
      lost: { ...lost, [network]: undefined },
    });
  }

  #fields = (id: string) => this.store.get("tether", id)!.fields;
}

type Pinning = NonNullable<FieldsOf["tether"]["pinning"]>;

/** The reports of tethers. Each is pinned by a transaction. */
class Pins {
  constructor(
    private readonly base: Base,
    private readonly ledger: RealLedger,
    private readonly accounts: Accounts,
    private readonly deployments: Deployments,
    private readonly signal: AbortSignal,
  ) {}

  /** Makes a due report, if any. Returns when the next one is due. */
  async pinIfDue(id: string): Promise<number | undefined> {
    const { clock, settings, store } = this.base;
    const { active, nextPin, interval } = this.#get(id).fields;
    if (!active || nextPin === undefined || interval === undefined || nextPin > clock()) return nextPin;
    const step = interval * settings.timing.tetherHour;
    const problem = await this.#pin(id).catch((error: Error) => error.message);
    if (this.signal.aborted) return undefined;
    if (this.#get(id).fields.problem !== problem) store.setFields("tether", id, { problem });
    const still = this.#get(id).fields;
    if (!still.active) return undefined;
    if (still.nextPin !== nextPin) return still.nextPin; // activated again meanwhile
    const inStep = nextPin + (Math.floor(Math.max(0, clock() - nextPin) / step) + 1) * step; // missed reports are not repeated
    const next = problem === undefined ? inStep : Math.min(inStep, clock() + retryMs);
    store.setFields("tether", id, { nextPin: next });
    return next;
  }

  /** Makes a report. Returns the reason if that fails. */
  async #pin(id: string): Promise<string | undefined> {
    const { network, pinning: begun } = this.#get(id).fields;
    const net = begun?.network ?? network!;
    const target = await this.accounts.target(id, net);
    const none = `There is no contract on ${net}. Deploy it.`;
    if (!(await this.deployments.isDeployed(id, net, false))) return this.#get(id).fields.problem ?? none;
    const contract = this.#get(id).fields.contracts![net]!;
    const pinning = begun ?? (await this.#begin(id, net, await pinCount(target, contract.address)));
    const outcome = await this.#send(id, target, contract.address, pinning);
    if (outcome === "void") {
      if (await this.deployments.isDeployed(id, net, false))
        this.base.store.setFields("tether", id, { pinning: undefined });
      return this.#get(id).fields.problem ?? "The transaction was lost. Another one is sent.";
    }
    const mined = outcome === "done" ? await pinnedAt(target, contract.address, pinning.index) : outcome;
    const fresh = this.#get(id);
    const place = { network: net, chain_id: contract.chainId, contract_address: contract.address };
    const pin = { ...place, ...mined, contract_index: pinning.index, hash: pinning.hash };
    const report = reportOf(fresh, pinning.at, { states: pinning.states, pin });
    const fields = { ...fresh.fields, reports: fresh.fields.reports + 1, pinning: undefined };
    this.base.store.put([report, { ...fresh, changedAt: this.base.clock(), fields }]);
    return undefined;
  }

  async #begin(id: string, network: Network, index: number): Promise<Pinning> {
    const environment = environmentToPin(this.base, this.#get(id), false);
    this.base.store.setFields("tether", id, { environment: environment.id }); // for one that an older version activated
    const states = await this.ledger.statesNow(environment);
    return { network, index, hash: keccak(canonicalJson(states)), states, at: this.base.clock() };
  }

  /** Sends the transaction, or the recorded one if it exists. */
  async #send(id: string, target: Target, contract: string, pinning: Pinning): Promise<Outcome> {
    const { index, hash } = pinning;
    const note = (made: Pinning["transaction"]) =>
      this.base.store.setFields("tether", id, { pinning: { ...pinning, transaction: made } });
    const isDone = async () => (await pinCount(target, contract)) > index;
    const fresh = pinning.transaction === undefined;
    if (fresh && (await isDone())) return "done";
    const transaction =
      pinning.transaction ??
      (await signed(target, this.accounts.key(id), { to: contract, data: pinData(index, hash) }));
    if (fresh) note(transaction); // on disk before it is sent, so that a restart sends the same one again
    await this.base.store.synced();
    const watched = { fresh, isDone, signal: this.signal };
    return settled(target, this.accounts.address(id), transaction, watched).catch((error: unknown) => {
      if (error instanceof Rejected) note(undefined);
      throw error;
    });
  }

  #get = (id: string) => this.base.store.get("tether", id)!;
}

/** JSON without white space, with the keys of each object sorted (RFC 8785): the same text for the same content. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(",")}}`;
}
