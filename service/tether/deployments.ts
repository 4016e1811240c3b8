import { isFull, Refusal } from "../errors";
import type { FieldsOf, Network, Wire } from "../store/entities";
import type { Store } from "../store/store";
import type { Accounts } from "./accounts";
import { contractAddress, deployment, isThere, Rejected, settled, signed } from "./transactions";
import type { Target } from "./targets";
import { SingleFlight } from "./schedule";

type Begun = NonNullable<NonNullable<FieldsOf["tether"]["deploying"]>[Network]>;

/** The contracts of tethers: each is deployed, and paid, once for each network. */
export class Deployments {
  readonly #deploying = new SingleFlight<Wire>();

  constructor(
    private readonly store: Store,
    private readonly accounts: Accounts,
    private readonly signal: AbortSignal,
  ) {}

  /** Calls for the same contract have one answer. */
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

  /** Whether the contract is there. A network that lost its state has to get it again. */
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

  /** What is begun is noted before it is sent, so that it goes on after a restart, and none is paid twice. */
  async #deploy(id: string, network: Network): Promise<Wire> {
    const target = await this.accounts.target(id, network);
    for (;;) {
      const begun = this.#fields(id).deploying?.[network];
      if (!begun) {
        const transaction = await signed(target, this.accounts.key(id), { data: deployment() });
        const address = contractAddress(this.accounts.address(id), transaction.nonce);
        this.#note(id, network, { address, ...transaction });
        await this.store.synced();
        continue;
      }
      const mined = await this.#mined(target, this.accounts.address(id), begun).catch((error: unknown) => {
        if (error instanceof Rejected) this.#note(id, network, undefined);
        throw error;
      });
      if (!mined && !(await isThere(target, begun.address))) {
        this.#note(id, network, undefined);
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

  #note(id: string, network: Network, begun: Begun | undefined): void {
    this.store.setFields("tether", id, { deploying: { ...this.#fields(id).deploying, [network]: begun } });
  }

  /** What version 0.1.0 noted lacks the transaction itself: it cannot be sent again. */
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
