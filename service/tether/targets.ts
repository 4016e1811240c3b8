import type { Network } from "../entities";
import { Refusal } from "../errors";
import type { Chains } from "../ledger/chains";
import { call } from "../ledger/rpc";

/** Not those of the public networks: what is signed for a chain on a laptop must be worth nothing there. */
const chainIds: Record<Network, number> = { mainnet: 900_001, rinkeby: 900_004 };

export const isTarget = (key: string) => key.startsWith("target-");
const keyOf = (network: Network) => `target-${network}`;

/** A network that tethers pin to, as it can be reached now. */
export interface Target {
  network: Network;
  url: string;
  chainId: number;
  /** Whether money can be made there. */
  local: boolean;
  call<T>(method: string, params?: unknown[]): Promise<T>;
}

/** The networks that tethers pin to: local chains, or what the user names. */
export class Targets {
  readonly #ids = new Map<Network, number>();

  constructor(
    private readonly chains: Chains,
    private readonly urls: Partial<Record<Network, string | undefined>>,
  ) {}

  async get(network: Network): Promise<Target> {
    const given = this.urls[network];
    if (given === undefined) {
      const chainId = chainIds[network];
      const chain = await this.chains.get({ key: keyOf(network), chainId, accounts: 1 });
      return { network, url: chain.url, chainId, local: true, call: chain.call };
    }
    try {
      const chainId = this.#ids.get(network) ?? Number(await call<string>(given, "eth_chainId"));
      this.#ids.set(network, chainId);
      return { network, url: given, chainId, local: false, call: (method, params) => call(given, method, params) };
    } catch (error) {
      throw new Refusal(502, `The network ${network} does not answer: ${(error as Error).message}.`);
    }
  }

  /** The address of one that can be reached without waiting. */
  url = (network: Network): string | undefined => this.urls[network] ?? this.chains.peek(keyOf(network))?.url;
}
