import type { Network } from "../store/entities";
import { Refusal } from "../errors";
import type { Chain, Chains } from "../ledger/chains";
import { callRemote, credentialsOf, RpcError } from "../ledger/rpc";

/** Different from the public networks' ids, so that transactions for a local chain are invalid there. */
const chainIds: Record<Network, number> = { mainnet: 900_001, rinkeby: 900_004, local: 900_005 };

export const isTarget = (key: string) => key.startsWith("target-");
const keyOf = (network: Network) => `target-${network}`;

export interface Target {
  network: Network;
  chainId: number;
  /** The local chain, which can create money; undefined for an external network. */
  local: Chain | undefined;
  call<T>(method: string, params?: unknown[]): Promise<T>;
}

export class Targets {
  constructor(
    private readonly chains: Chains,
    private readonly addresses: Partial<Record<Network, string | undefined>>,
    private readonly origin: () => string,
  ) {}

  async get(network: Network, signal?: AbortSignal): Promise<Target> {
    const address = this.addresses[network];
    if (address === undefined) {
      const chain = await this.chain(network);
      return { network, chainId: chainIds[network], local: chain, call: chain.call };
    }
    const call = <T>(method: string, params?: unknown[]) =>
      callRemote<T>(address, method, params, signal).catch((error: Error) => {
        if (error instanceof RpcError) throw error;
        throw new Refusal(502, `The network ${network} does not answer: ${error.message}.`);
      });
    return { network, chainId: Number(await call<string>("eth_chainId")), local: undefined, call };
  }

  chain(network: Network): Promise<Chain> {
    return this.chains.get({ key: keyOf(network), chainId: chainIds[network], accounts: 0 });
  }

  isLocal = (network: Network) => this.addresses[network] === undefined;

  /** The address for reading a network, without secrets. */
  url(network: Network): string {
    const address = this.addresses[network];
    return address === undefined ? `${this.origin()}/target/${network}` : shown(address);
  }
}

/** Omits path and query as well, because providers put keys there. */
function shown(address: string): string {
  const { origin, pathname, search } = new URL(credentialsOf(address).url);
  return pathname === "/" && search === "" ? origin : `${origin}/…`;
}
