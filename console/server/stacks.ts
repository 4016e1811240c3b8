import type { NetworkModel } from "../../observe/model";

/** What stacks say of the network. */
export interface Stacks {
  /** `project/stack` of each. */
  names: string[];
  /** Tether services that they configure. */
  tethers: string[];
  /** Credentials that they hold in clear. */
  logins: { environmentId: string; membershipId: string; username: string; password: string }[];
  /** The network with what they manage marked. */
  marked(model: NetworkModel): NetworkModel;
}

export const noStacks: Stacks = { names: [], tethers: [], logins: [], marked: (model) => model };
