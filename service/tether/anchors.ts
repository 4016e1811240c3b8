import type { Wire } from "../answers";
import type { Context } from "../context";
import { networks, type Entity, type FieldsOf, type Network } from "../entities";
import { Refusal } from "../errors";
import type { Ledger } from "../ledger/ledger";
import { boundEnvironment } from "../pinning";
import { canonical } from "./canonical";
import { addressOf, deployed, keccak, onTarget, pinCount, pinned, planned } from "./contract";
import type { AccountKeys } from "./keys";
import { Schedule } from "./schedule";
import type { Target, Targets } from "./targets";
import type { Tethering } from "./tethering";

type Tether = Entity<"tether">;
type Fields = FieldsOf["tether"];

/** Tethers that really pin: each has an account, a contract per network, and sends a transaction per report. */
export class Anchors implements Tethering {
  readonly #schedule: Schedule;
  readonly #granting = new Map<string, Promise<void>>();

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

  async current(tether: Tether): Promise<Tether> {
    await this.#schedule.look(tether.id, tether.fields.nextPin);
    return this.#get(tether.id);
  }

  deploy(tether: Tether, network: Network): Promise<Wire> {
    return this.#schedule
      .inTurn(tether.id, () => this.#deploy(tether, network))
      .catch((error: unknown) => {
        if (error instanceof Refusal) throw error;
        throw new Refusal(502, `The contract could not be deployed on ${network}: ${reason(error as Error)}.`);
      });
  }

  async fund(tether: Tether, network: Network, wei: bigint): Promise<void> {
    const target = await this.#target(tether.id, network);
    if (!target.local) throw new Refusal(409, `There is no faucet on ${network}: it is not a chain of this service.`);
    await this.#schedule.inTurn(tether.id, () => this.#give(tether.id, target, wei));
  }

  shown({ fields }: Tether): Wire {
    const contracts = Object.entries(fields.contracts ?? {}).map(([network, { address }]) => [network, address]);
    const urls = networks.flatMap((network) => {
      const url = this.targets.url(network);
      return url === undefined ? [] : [[network, url]];
    });
    return {
      contracts: Object.fromEntries(contracts) as Wire,
      target_urls: Object.fromEntries(urls) as Wire,
      ...(fields.problem === undefined ? {} : { last_error: fields.problem }),
    };
  }

  /** Goes on after a restart. A contract that only a simulation had deployed is none. */
  resume(): void {
    for (const tether of this.context.store.all("tether")) {
      const { contracts = {}, network } = tether.fields;
      const known = (net: Network) => (contracts[net] ? 1 : 0);
      const deployments = { mainnet: known("mainnet"), rinkeby: known("rinkeby") };
      const stopped = network && !contracts[network] ? { active: false, activated: false, nextPin: undefined } : {};
      if (networks.some((net) => tether.fields.deployments[net] > 0 !== deployments[net] > 0))
        this.#change(tether.id, { deployments, ...stopped });
      this.#schedule.set(tether.id, this.#get(tether.id).fields.nextPin);
    }
  }

  close = () => this.#schedule.close();

  async #deploy({ id }: Tether, network: Network): Promise<Wire> {
    const target = await this.#target(id, network);
    const { chainId } = target;
    return onTarget(target, this.keys.of(id), async (wallet) => {
      const begun = this.#get(id).fields.deploying?.[network];
      const there = begun && (await wallet.provider!.getCode(begun.address)) !== "0x";
      const plan = there ? { ...begun, cost: undefined } : await planned(wallet);
      if (plan.cost !== undefined) {
        const balance = await wallet.provider!.getBalance(wallet.address);
        const money = `it owns ${balance} wei and needs about ${plan.cost}`;
        const message = `The account ${wallet.address} has no funds on ${network}: ${money}.`;
        if (balance < plan.cost) throw new Refusal(402, message);
      }
      const { address, nonce } = plan;
      const { deploying } = this.#get(id).fields;
      this.#change(id, { deploying: { ...deploying, [network]: { address, nonce } } });
      const mined = plan.cost !== undefined ? await deployed(wallet, nonce) : {};
      const { contracts, deployments } = this.#get(id).fields;
      this.#change(id, {
        contracts: { ...contracts, [network]: { address, chainId } },
        deployments: { ...deployments, [network]: 1 },
        deploying: { ...deploying, [network]: undefined },
      });
      return { network, chain_id: chainId, contract_address: address, ...mined };
    });
  }

  /** Makes the report that is due, if one is; answers when the next one is. */
  async #pinIfDue(id: string): Promise<number | undefined> {
    const { active, nextPin, interval } = this.#get(id).fields;
    if (!active || nextPin === undefined || interval === undefined || nextPin > this.context.clock()) return nextPin;
    const step = interval * this.context.settings.timing.tetherHour;
    let problem: string | undefined;
    try {
      await this.#pin(id);
    } catch (error) {
      problem = reason(error as Error);
      if ((error as { code?: string }).code === "INSUFFICIENT_FUNDS") this.#change(id, { pinning: undefined }); // surely not sent
    }
    const now = this.context.clock();
    const next = nextPin + (Math.floor(Math.max(0, now - nextPin) / step) + 1) * step; // what was missed stays out
    const still = this.#get(id).fields.active;
    this.#change(id, { nextPin: still ? next : undefined, problem });
    return still ? next : undefined;
  }

  async #pin(id: string): Promise<void> {
    const tether = this.#get(id);
    const { network, contracts = {} } = tether.fields;
    const net = tether.fields.pinning?.network ?? network!;
    const contract = contracts[net];
    if (!contract) throw new Error(`there is no contract on ${net}`);
    const target = await this.#target(id, net);
    await onTarget(target, this.keys.of(id), async (wallet) => {
      // kept before it is sent: after a crash the transaction may be there, and then is this report's
      const pinning =
        tether.fields.pinning ?? (await this.#prepare(tether, net, () => pinCount(wallet, contract.address)));
      const mined = await pinned(wallet, contract.address, pinning.index, pinning.hash);
      const { hash, at, states } = pinning;
      const fresh = this.#get(id);
      const index = fresh.fields.reports;
      const place = { network: net, chain_id: contract.chainId, contract_address: contract.address };
      const report: Entity<"report"> = {
        ...{ kind: "report", id: `${id}:${index}`, parent: id, organization: tether.organization },
        ...{ state: "active", createdAt: at, changedAt: at, revision: 0 },
        fields: { states, pin: { ...place, ...mined, contract_index: pinning.index, hash } },
      };
      const fields = { ...fresh.fields, reports: index + 1, pinning: undefined };
      this.context.store.put([report, { ...fresh, changedAt: this.context.clock(), fields }]);
    });
  }

  async #prepare(tether: Tether, network: Network, count: () => Promise<number>) {
    const environment = boundEnvironment(this.context, tether);
    if (!environment) throw new Error("the environment to pin does not exist");
    const states = await this.ledger.report(environment);
    const hash = keccak(canonical(states));
    const pinning = { network, index: await count(), hash, states, at: this.context.clock() };
    this.#change(tether.id, { pinning });
    return pinning;
  }

  /** The network, on which the account then has what the options give it. */
  async #target(id: string, network: Network): Promise<Target> {
    const target = await this.targets.get(network);
    const { granted, balances } = this.#get(id).fields;
    if (!target.local || granted?.[network]) return target;
    const key = `${id} ${network}`;
    const granting = this.#granting.get(key) ?? this.#give(id, target, BigInt(balances[network]));
    this.#granting.set(key, granting);
    await granting;
    this.#change(id, { granted: { ...this.#get(id).fields.granted, [network]: true } });
    return target;
  }

  async #give(id: string, target: Target, wei: bigint): Promise<void> {
    const address = addressOf(this.keys.of(id));
    const balance = BigInt(await target.call<string>("eth_getBalance", [address, "latest"]));
    if (wei > 0n) await target.call("anvil_setBalance", [address, `0x${(balance + wei).toString(16)}`]);
  }

  #get = (id: string): Tether => this.context.store.get("tether", id)!;

  #change(id: string, fields: Partial<Fields>): void {
    const tether = this.#get(id);
    this.context.store.change(tether, { fields: { ...tether.fields, ...fields } });
  }
}

const reason = (error: Error & { shortMessage?: string }) => error.shortMessage ?? error.message;
