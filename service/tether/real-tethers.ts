import type { Wire } from "../routes/responses";
import type { Context } from "../context";
import { networks, type Entity, type FieldsOf, type Network } from "../store/entities";
import { Refusal } from "../http/errors";
import type { Ledger } from "../ledger/real-ledger";
import { boundEnvironment } from "./simulated-tethers";
import { canonical } from "./report-hash";
import { addressOf, contractAddress, deployment, isThere, keccak, pinCount, pinData, pinnedAt } from "./contract";
import type { AccountKeys } from "./account-keys";
import { Schedule } from "./schedule";
import type { Target, Targets } from "./targets";
import type { Tethering } from "./tethering";
import { type Mined, Rejected, settled, signed } from "./transactions";

type Tether = Entity<"tether">;
type Fields = FieldsOf["tether"];
type Pinning = NonNullable<Fields["pinning"]>;

/** How long an activation waits for its first report. */
const firstReportMs = 1_000;

/** Tethers that really pin: each has an account, a contract per network, and sends a transaction per report. */
export class Anchors implements Tethering {
  readonly #schedule: Schedule;
  readonly #granting = new Map<string, Promise<void>>();
  readonly #deploying = new Map<string, Promise<Wire>>();
  readonly #stopping = new AbortController();

  constructor(
    private readonly context: Context,
    private readonly ledger: Ledger,
    private readonly targets: Targets,
    private readonly keys: AccountKeys,
  ) {
    this.#schedule = new Schedule(context.clock, (id) => this.#pinIfDue(id));
  }

  account = (tether: Tether) => Promise.resolve(addressOf(this.keys.of(tether.id)));

  async balance(tether: Tether, network: Network): Promise<string> {
    const target = await this.#target(tether.id, network);
    const address = await this.account(tether);
    return String(BigInt(await target.call<string>("eth_getBalance", [address, "latest"])));
  }

  current(tether: Tether): Promise<Tether> {
    void this.#schedule.look(tether.id, tether.fields.nextPin); // whoever asks does not wait for a block
    return Promise.resolve(this.#get(tether.id));
  }

  async activated(tether: Tether): Promise<void> {
    await this.#schedule.look(tether.id, tether.fields.nextPin, firstReportMs);
  }

  /** Calls for the same contract have one answer. */
  deploy(tether: Tether, network: Network): Promise<Wire> {
    const key = `${tether.id} ${network}`;
    const begun = this.#deploying.get(key);
    if (begun) return begun;
    const deploying = this.#deploy(tether.id, network)
      .catch((error: Error) => {
        if (error instanceof Refusal) throw error;
        const stopping = "The service is stopping: the deployment goes on when it starts again.";
        if (this.#stopping.signal.aborted) throw new Refusal(503, stopping);
        throw new Refusal(502, `The contract could not be deployed on ${network}: ${error.message}.`);
      })
      .finally(() => this.#deploying.delete(key));
    this.#deploying.set(key, deploying);
    return deploying;
  }

  async isDeployed({ id }: Tether, network: Network): Promise<boolean> {
    const contract = this.#get(id).fields.contracts?.[network];
    if (!contract) return false;
    const target = await this.#target(id, network);
    if (contract.chainId === target.chainId && (await isThere(target, contract.address))) return true;
    this.#forget(id, network);
    return false;
  }

  async fund(tether: Tether, network: Network, wei: bigint): Promise<void> {
    const target = await this.#target(tether.id, network);
    if (!target.local) throw new Refusal(409, `There is no faucet on ${network}: it is not a chain of this service.`);
    await this.#give(tether.id, target, wei);
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
    for (const tether of this.context.store.all("tether")) {
      const { contracts = {}, network, deploying = {} } = tether.fields;
      const known = (net: Network) => (contracts[net] ? 1 : 0);
      const deployments = { mainnet: known("mainnet"), rinkeby: known("rinkeby") };
      const simulated = networks.some((net) => tether.fields.deployments[net] > 0 && !contracts[net]);
      const stopped = network && simulated ? { active: false, activated: false, nextPin: undefined } : {};
      if (simulated) this.#change(tether.id, { deployments, ...stopped });
      for (const net of networks) {
        if (deploying[net]) this.deploy(tether, net).catch((error: Error) => this.#failed(tether.id, error.message));
      }
      this.#schedule.set(tether.id, this.#get(tether.id).fields.nextPin);
    }
  }

  /** What waits for a block goes on with the next start: it is noted before it is sent. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled([this.#schedule.close(), ...this.#deploying.values()]);
  }

  async #deploy(id: string, network: Network): Promise<Wire> {
    const target = await this.#target(id, network);
    const key = this.keys.of(id);
    const from = addressOf(key);
    const note = (begun: NonNullable<Fields["deploying"]>[Network]) =>
      this.#change(id, { deploying: { ...this.#get(id).fields.deploying, [network]: begun } });
    for (;;) {
      const begun = this.#get(id).fields.deploying?.[network];
      if (!begun) {
        const { transaction, cost } = await signed(target, key, { data: deployment() });
        await this.#mustOwn(target, from, cost);
        note({ address: contractAddress(from, transaction.nonce), ...transaction });
        continue;
      }
      const mined = await this.#mined(target, from, begun).catch((error: unknown) => {
        if (error instanceof Rejected) note(undefined);
        throw error;
      });
      if (!mined && !(await isThere(target, begun.address))) {
        note(undefined);
        continue;
      }
      const { contracts, deployments, deploying } = this.#get(id).fields;
      const { chainId } = target;
      this.#change(id, {
        contracts: { ...contracts, [network]: { address: begun.address, chainId } },
        deployments: { ...deployments, [network]: 1 },
        deploying: { ...deploying, [network]: undefined },
        problem: undefined,
      });
      return { network, chain_id: chainId, contract_address: begun.address, ...mined };
    }
  }

  /** What version 0.1.0 noted lacks the transaction itself: it cannot be sent again. */
  async #mined(target: Target, from: string, { nonce, hash, raw }: { nonce: number; hash?: string; raw?: string }) {
    if (hash !== undefined && raw !== undefined) {
      return settled(target, from, { nonce, hash, raw }, this.#stopping.signal);
    }
    const [latest, pending] = await Promise.all(
      ["latest", "pending"].map((block) => target.call<string>("eth_getTransactionCount", [from, block])),
    );
    const waits = Number(latest) <= nonce && Number(pending) > nonce;
    if (waits) throw new Refusal(409, `A deployment on ${target.network} waits for its block. Try again later.`);
    return undefined;
  }

  async #mustOwn(target: Target, address: string, cost: bigint): Promise<void> {
    const balance = BigInt(await target.call<string>("eth_getBalance", [address, "latest"]));
    if (balance >= cost) return;
    const money = `it owns ${balance} wei and needs about ${cost}`;
    throw new Refusal(402, `The account ${address} has no funds on ${target.network}: ${money}.`);
  }

  /** Makes the report that is due, if one is; answers when the next one is. */
  async #pinIfDue(id: string): Promise<number | undefined> {
    const { active, nextPin, interval } = this.#get(id).fields;
    if (!active || nextPin === undefined || interval === undefined || nextPin > this.context.clock()) return nextPin;
    const step = interval * this.context.settings.timing.tetherHour;
    const problem = await this.#pin(id).catch((error: Error) => error.message);
    if (this.#stopping.signal.aborted) return undefined;
    this.#failed(id, problem);
    const now = this.context.clock();
    const still = this.#get(id).fields;
    if (!still.active) return undefined;
    if (still.nextPin !== nextPin) return still.nextPin; // activated again meanwhile
    const next = nextPin + (Math.floor(Math.max(0, now - nextPin) / step) + 1) * step; // what was missed stays out
    this.#change(id, { nextPin: next });
    return next;
  }

  /** @returns why there is none, if there is no report */
  async #pin(id: string): Promise<string | undefined> {
    const { network, contracts = {}, pinning: begun } = this.#get(id).fields;
    const net = begun?.network ?? network!;
    const contract = contracts[net];
    if (!contract) return `There is no contract on ${net}. Deploy it.`;
    const target = await this.#target(id, net);
    if (!(await this.isDeployed(this.#get(id), net))) return this.#get(id).fields.problem;
    const key = this.keys.of(id);
    const from = addressOf(key);
    const pinning = begun ?? (await this.#report(id, net, await pinCount(target, contract.address)));
    const { index, hash, at, states } = pinning;
    const note = (transaction: Pinning["transaction"]) => this.#change(id, { pinning: { ...pinning, transaction } });
    let { transaction } = pinning;
    let mined: Mined | undefined;
    if (!transaction && (await pinCount(target, contract.address)) <= index) {
      const made = await signed(target, key, { to: contract.address, data: pinData(index, hash) });
      await this.#mustOwn(target, from, made.cost);
      note((transaction = made.transaction)); // kept before it is sent: after a crash it is sent again, and not another one
    }
    try {
      if (transaction) mined = await settled(target, from, transaction, this.#stopping.signal);
    } catch (error) {
      if (error instanceof Rejected) note(undefined);
      throw error;
    }
    if (!mined && (await pinCount(target, contract.address)) <= index) {
      if (await this.isDeployed(this.#get(id), net)) this.#change(id, { pinning: undefined });
      return this.#get(id).fields.problem ?? "The transaction was lost, and is made again.";
    }
    mined ??= await pinnedAt(target, contract.address, index);
    const fresh = this.#get(id);
    const place = { network: net, chain_id: contract.chainId, contract_address: contract.address };
    const report: Entity<"report"> = {
      ...{ kind: "report", id: `${id}:${fresh.fields.reports}`, parent: id, organization: fresh.organization },
      ...{ state: "active", createdAt: at, changedAt: at, revision: 0 },
      fields: { states, pin: { ...place, ...mined, contract_index: index, hash } },
    };
    const fields = { ...fresh.fields, reports: fresh.fields.reports + 1, pinning: undefined };
    this.context.store.put([report, { ...fresh, changedAt: this.context.clock(), fields }]);
    return undefined;
  }

  async #report(id: string, network: Network, index: number): Promise<Pinning> {
    const environment = boundEnvironment(this.context, this.#get(id));
    if (!environment) throw new Error("The environment to pin does not exist.");
    const states = await this.ledger.report(environment);
    return { network, index, hash: keccak(canonical(states)), states, at: this.context.clock() };
  }

  /** The network, on which the account then has what the options give it. */
  async #target(id: string, network: Network): Promise<Target> {
    const target = await this.targets.get(network, this.#stopping.signal);
    const { granted, balances } = this.#get(id).fields;
    if (!target.local || granted?.[network]) return target;
    const key = `${id} ${network}`;
    const granting = this.#granting.get(key) ?? this.#give(id, target, BigInt(balances[network]));
    this.#granting.set(key, granting);
    await granting.finally(() => this.#granting.delete(key));
    this.#change(id, { granted: { ...this.#get(id).fields.granted, [network]: true } });
    return target;
  }

  async #give(id: string, target: Target, wei: bigint): Promise<void> {
    if (wei > 0n) await target.call("anvil_addBalance", [addressOf(this.keys.of(id)), `0x${wei.toString(16)}`]);
  }

  /** A network that lost its state has to get the contract again. */
  #forget(id: string, network: Network): void {
    const { contracts, deployments, pinning } = this.#get(id).fields;
    const address = contracts?.[network]?.address;
    this.#change(id, {
      contracts: { ...contracts, [network]: undefined },
      deployments: { ...deployments, [network]: 0 },
      pinning: pinning?.network === network ? undefined : pinning,
      problem: `The contract ${address} is not on ${network} any more: the network lost its state. Deploy it again.`,
    });
  }

  #failed(id: string, problem: string | undefined): void {
    if (this.#get(id).fields.problem !== problem) this.#change(id, { problem });
  }

  #get = (id: string): Tether => this.context.store.get("tether", id)!;

  #change(id: string, fields: Partial<Fields>): void {
    const tether = this.#get(id);
    this.context.store.change(tether, { fields: { ...tether.fields, ...fields } });
  }
}
