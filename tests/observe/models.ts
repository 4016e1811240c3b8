import {
  type ConsortiumModel,
  type EnvironmentModel,
  limitsUsed,
  type MembershipModel,
  type NetworkModel,
  type NodeModel,
} from "../../inventory/model";
import { readStack, type StackRead } from "../../inventory/stack";

/** Handmade models, for code that only reads them. */

/** A stack with these resources, without drift. */
export const stackOf = (
  ...resources: [type: string, name: string, id: string, inputs: object, kept?: object, more?: object][]
): StackRead =>
  readStack({
    deployment: {
      resources: resources.map(([type, name, id, inputs, kept, more]) => {
        const outputs = { ...inputs, __kept: { version: 2, asked: inputs, ...kept } };
        return { urn: `urn:pulumi:dev::net::consortium:index:${type}::${name}`, id, inputs, outputs, ...more };
      }),
    },
  });

export const memberOf = (index: number, more: Partial<MembershipModel> = {}): MembershipModel => ({
  id: `m${index}`,
  orgName: `Member ${index}`,
  state: "active",
  ...more,
});

export const nodeOf = (environment: number, index: number, more: Partial<NodeModel> = {}): NodeModel => ({
  id: `e${environment}n${index}`,
  name: `node-${environment}-${index}`,
  membershipId: `m${index}`,
  state: "started",
  role: "validator",
  ...more,
});

export const environmentOf = (
  index: number,
  nodes: NodeModel[],
  more: Partial<EnvironmentModel> = {},
): EnvironmentModel => ({
  id: `e${index}`,
  name: `environment ${index}`,
  provider: "quorum",
  consensusType: "ibft",
  state: "live",
  chainId: 1000 + index,
  nodes,
  credentials: [],
  others: [],
  ...more,
});

export function networkOf(consortium: Partial<ConsortiumModel>, more: Partial<NetworkModel> = {}): NetworkModel {
  const consortia = [
    { id: "c1", name: "Trade", state: "setup", memberships: [], environments: [], others: [], ...consortium },
  ];
  return { source: "live", limits: limitsUsed(consortia), consortia, tethers: [], ...more };
}

/** Environments with so many nodes each, of so many members. */
export const largeNetwork = (environments: number, nodes: number, members: number): NetworkModel =>
  networkOf({
    memberships: Array.from({ length: members }, (_, index) => memberOf(index)),
    environments: Array.from({ length: environments }, (_, at) =>
      environmentOf(
        at,
        Array.from({ length: nodes }, (_, index) =>
          nodeOf(at, index, { membershipId: `m${(at * nodes + index) % members}` }),
        ),
        { credentials: [{ id: `a${at}`, membershipId: "m0" }] },
      ),
    ),
  });
