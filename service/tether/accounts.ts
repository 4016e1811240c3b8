import { Refusal } from "../errors";
import type { Network } from "../store/entities";
import type { Store } from "../store/store";
import type { AccountKeys } from "./account-keys";
import { addressOf } from "./contract";
import type { Target, Targets } from "./targets";
import { balanceOf } from "./transactions";
import { WorkUnderWay } from "./work-under-way";

/** The tethers' accounts on the networks that they pin to, and their money there. */
export class Accounts {
  readonly #granting = new WorkUnderWay<void>();

  constructor(
    private readonly store: Store,
    private readonly targets: Targets,
    private readonly keys: AccountKeys,
    private readonly signal: AbortSignal,
  ) {}

  key = (id: string) => this.keys.of(id);
  address = (id: string) => addressOf(this.key(id));

  /** The network, on which the account then has what the options give it. */
  async target(id: string, network: Network): Promise<Target> {
    const target = await this.targets.get(network, this.signal);
    const { granted, balances } = this.store.get("tether", id)!.fields;
    if (!target.local || granted?.[network]) return target;
    await this.#granting.join(`${id} ${network}`, async () => {
      await this.#give(id, target, BigInt(balances[network]), `first money of ${id}`);
      const now = this.store.get("tether", id)!.fields.granted;
      this.store.setFields("tether", id, { granted: { ...now, [network]: true } });
    });
    return target;
  }

  async balance(id: string, network: Network): Promise<string> {
    return String(await balanceOf(await this.target(id, network), this.address(id)));
  }

  async fund(id: string, network: Network, wei: bigint): Promise<void> {
    const target = await this.target(id, network);
    if (!target.local) throw new Refusal(409, `There is no faucet on ${network}: it is not a chain of this service.`);
    await this.#give(id, target, wei);
  }

  async #give(id: string, target: Target, wei: bigint, once?: string): Promise<void> {
    if (wei > 0n) await target.local?.give(this.address(id), wei, once);
  }
}
