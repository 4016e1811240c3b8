import type { FieldsOf, Network } from "./entities";

interface Wanted {
  /** Default: a random one. */
  id?: string;
  funds?: Partial<Record<Network, string | undefined>> | undefined;
}

/** A tether service as it is ordered: neither configured nor deployed. Its account gets 1 ether on rinkeby, unless other funds are given. */
export function newTether(owner: string, binding: Pick<FieldsOf["tether"], "environmentName">, { id, funds }: Wanted) {
  const given = Object.entries(funds ?? {}).filter(([, wei]) => wei !== undefined);
  const balances = { mainnet: "0", rinkeby: "1000000000000000000", ...Object.fromEntries(given) };
  const fields = {
    ...{ active: false, activated: false, balances },
    ...{ deployments: { mainnet: 0, rinkeby: 0 }, reports: 0, ...binding },
  };
  return { kind: "tether" as const, id, parent: owner, organization: owner, fields };
}
