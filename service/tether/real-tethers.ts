import type { Base, Tethering } from "../context";
import type { RealLedger } from "../ledger/ledger";
import { type FieldsOf, type Network, networks, type Wire } from "../store/entities";
import { type AccountKeys, Accounts } from "./accounts";
import { Schedule, SingleFlight } from "./schedule";
import type { Target, Targets } from "./targets";
import { boundEnvironment, reportOf, type Tether } from "./tethering";
import { isFull, Refusal } from "../errors";
import type { Store } from "../store/store";
import {
  contractAddress,
  deployment,
  isThere,
  keccak,
  type Mined,
  pinCount,
  pinData,
  pinnedAt,
  Rejected,
  settled,
  signed,
} from "./transactions";

/** How long an activation waits for its first report (ms). */
const firstReportMs = 1_000;

/** Tethers that really pin. Each has an account and a contract per network, and sends a transaction for each report. */
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

  /** Continues after a restart. A contract of a simulation does not count. */
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

  /** Does not wait for blocks. What was sent is recorded, so the next start continues it. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#schedule.close(), this.#deployments.settled()]);
  }
}

type Begun = NonNullable<NonNullable<FieldsOf["tether"]["deploying"]>[Network]>;

/** The contracts of tethers. Each is deployed, and paid for, once per network. */
class Deployments {
  readonly #deploying = new SingleFlight<Wire>();

  constructor(
    private readonly store: Store,
    private readonly accounts: Accounts,
    private readonly signal: AbortSignal,
  ) {}

  /** Deploys a contract. Concurrent calls for the same one share an answer. */
  deploy(id: string, network: Network): Promise<Wire> {
    return this.#deploying.join(`${id} ${network}`, () =>
      this.#deploy(id, network).catch((error: Error) => {
        if (error instanceof Refusal || isFull(error)) throw error;
        const stopping = "The service is stopping: the deployment goes on when it starts again.";
        if (this.signal.aborted) throw new Refusal(503, stopping);
        throw new Refusal(502, `The contract could not be deployed on ${network}: ${error.message}.`);
      }),
    );
  }

  /** Whether the contract is there. If the network lost its state, the contract counts as not deployed. */
  async isDeployed(id: string, network: Network): Promise<boolean> {
    const contract = this.#fields(id).contracts?.[network];
    if (!contract) return false;
    const target = await this.accounts.target(id, network);
    if (contract.chainId === target.chainId && (await isThere(target, contract.address))) return true;
    const { contracts, deployments, pinning } = this.#fields(id);
    const address = contracts?.[network]?.address;
    this.store.setFields("tether", id, {
      contracts: { ...contracts, [network]: undefined },
      deployments: { ...deployments, [network]: 0 },
      pinning: pinning?.network === network ? undefined : pinning,
      problem: `The contract ${address} is not on ${network} any more: the network lost its state. Deploy it again.`,
    });
    return false;
  }

  settled = () => this.#deploying.settled();

  /** Records the deployment before it is sent, so that a restart continues it and none is paid for twice. */
  async #deploy(id: string, network: Network): Promise<Wire> {
    const target = await this.accounts.target(id, network);
    for (;;) {
      const begun = this.#fields(id).deploying?.[network];
      if (!begun) {
        const transaction = await signed(target, this.accounts.key(id), { data: deployment() });
        const address = contractAddress(this.accounts.address(id), transaction.nonce);
        this.#record(id, network, { address, ...transaction });
        await this.store.synced();
        continue;
      }
      const mined = await this.#mined(target, this.accounts.address(id), begun).catch((error: unknown) => {
        if (error instanceof Rejected) this.#record(id, network, undefined);
        throw error;
      });
      if (!mined && !(await isThere(target, begun.address))) {
        this.#record(id, network, undefined);
        continue;
      }
      const { contracts, deployments, deploying } = this.#fields(id);
      const { chainId } = target;
      this.store.setFields("tether", id, {
        contracts: { ...contracts, [network]: { address: begun.address, chainId } },
        deployments: { ...deployments, [network]: 1 },
        deploying: { ...deploying, [network]: undefined },
        problem: undefined,
      });
      return { network, chain_id: chainId, contract_address: begun.address, ...mined };
    }
  }

  #record(id: string, network: Network, begun: Begun | undefined): void {
    this.store.setFields("tether", id, { deploying: { ...this.#fields(id).deploying, [network]: begun } });
  }

  /** Records of version 0.1.0 lack the transaction itself, so it cannot be sent again. */
  async #mined(target: Target, from: string, { nonce, hash, raw }: Begun) {
    if (hash !== undefined && raw !== undefined) return settled(target, from, { nonce, hash, raw }, this.signal);
    const [latest, pending] = await Promise.all(
      ["latest", "pending"].map((block) => target.call<string>("eth_getTransactionCount", [from, block])),
    );
    const waits = Number(latest) <= nonce && Number(pending) > nonce;
    if (waits) throw new Refusal(409, `A deployment on ${target.network} waits for its block. Try again later.`);
    return undefined;
  }

  #fields = (id: string) => this.store.get("tether", id)!.fields;
}

/** How soon a report that could not be pinned is tried again (ms). */
const retryMs = 2_000;

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

  /** Makes the report that is due, if any. Returns when the next one is due. */
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
    const inStep = nextPin + (Math.floor(Math.max(0, clock() - nextPin) / step) + 1) * step; // missed reports are not made up
    const next = problem === undefined ? inStep : Math.min(inStep, clock() + retryMs);
    store.setFields("tether", id, { nextPin: next });
    return next;
  }

  /** Makes a report. Returns why, if there is none. */
  async #pin(id: string): Promise<string | undefined> {
    const { network, contracts = {}, pinning: begun } = this.#get(id).fields;
    const net = begun?.network ?? network!;
    const contract = contracts[net];
    if (!contract) return `There is no contract on ${net}. Deploy it.`;
    const target = await this.accounts.target(id, net);
    if (!(await this.deployments.isDeployed(id, net))) return this.#get(id).fields.problem;
    const pinning = begun ?? (await this.#begin(id, net, await pinCount(target, contract.address)));
    let mined = await this.#send(id, target, contract.address, pinning);
    if (!mined && (await pinCount(target, contract.address)) <= pinning.index) {
      if (await this.deployments.isDeployed(id, net)) this.base.store.setFields("tether", id, { pinning: undefined });
      return this.#get(id).fields.problem ?? "The transaction was lost. Another one is sent.";
    }
    mined ??= await pinnedAt(target, contract.address, pinning.index);
    const fresh = this.#get(id);
    const place = { network: net, chain_id: contract.chainId, contract_address: contract.address };
    const pin = { ...place, ...mined, contract_index: pinning.index, hash: pinning.hash };
    const report = reportOf(fresh, pinning.at, { states: pinning.states, pin });
    const fields = { ...fresh.fields, reports: fresh.fields.reports + 1, pinning: undefined };
    this.base.store.put([report, { ...fresh, changedAt: this.base.clock(), fields }]);
    return undefined;
  }

  async #begin(id: string, network: Network, index: number): Promise<Pinning> {
    const environment = boundEnvironment(this.base, this.#get(id));
    if (!environment) throw new Error("The environment to pin does not exist.");
    const states = await this.ledger.statesNow(environment);
    return { network, index, hash: reportHash(states), states, at: this.base.clock() };
  }

  /** Sends the transaction, the recorded one if there is one. Returns undefined if no block has it or will have it. */
  async #send(id: string, target: Target, contract: string, pinning: Pinning): Promise<Mined | undefined> {
    const { index, hash } = pinning;
    const note = (made: Pinning["transaction"]) =>
      this.base.store.setFields("tether", id, { pinning: { ...pinning, transaction: made } });
    let { transaction } = pinning;
    if (!transaction && (await pinCount(target, contract)) <= index) {
      transaction = await signed(target, this.accounts.key(id), { to: contract, data: pinData(index, hash) });
      note(transaction); // on disk before it is sent, so that a restart sends the same one again
      await this.base.store.synced();
    }
    if (!transaction) return undefined;
    return settled(target, this.accounts.address(id), transaction, this.signal).catch((error: unknown) => {
      if (error instanceof Rejected) note(undefined);
      throw error;
    });
  }

  #get = (id: string) => this.base.store.get("tether", id)!;
}

/** The hash of a report, which a tether pins: Keccak-256 of its canonical JSON. */
const reportHash = (states: readonly unknown[]): string => keccak(canonicalJson(states));

/** JSON without white space, with the keys of each object sorted (RFC 8785): the same text for the same content. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(",")}}`;
}
