import type { Base } from "../context";
import type { FieldsOf, Network, Signed, Wire } from "../store/entities";
import type { Store } from "../store/store";
import { isFull, Refusal } from "../errors";
import type { Accounts } from "./accounts";
import { SingleFlight } from "./schedule";
import type { Target } from "./targets";
import {
  beganAnew,
  contractAddress,
  deployment,
  isThere,
  Lasting,
  type Mined,
  raised,
  Rejected,
  settled,
  signed,
} from "./transactions";

/** Pause before checking a deployment with an unknown outcome (ms). */
const retryMs = 2_000;

type Begun = NonNullable<NonNullable<FieldsOf["tether"]["deploying"]>[Network]>;
type Contract = NonNullable<NonNullable<FieldsOf["tether"]["contracts"]>[Network]>;

/** For how long, and in how many checks in a row, a network must not show a contract before it counts as lost. */
const missing = { ms: 5_000, looks: 3 };

/** The contracts of tethers. Each is deployed, and paid for, once per network. */
export class Deployments {
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
      let begun: Begun = known ?? (await this.#begin(id, target));
      if (begun !== deploying?.[network]) this.#record(id, network, begun);
      await this.store.synced();
      const { address } = begun;
      const isDone = () => isThere(target, address);
      const raise = async (made: Signed) => {
        const higher = await raised(target, this.accounts.key(id), made);
        if (higher) this.#record(id, network, (begun = { address, ...higher }));
        await this.store.synced();
        return higher;
      };
      const watched = { fresh: known === undefined, isDone, raise, signal: this.signal };
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
