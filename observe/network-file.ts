import { basename, extname } from "node:path";
import { tetherIdOf } from "../provider/facts";
import { check, readFile } from "../sdk/network/load";
import { type PlannedConsortium, type PlannedEnvironment } from "../sdk/network/plan";
import { type ConsortiumModel, type EnvironmentModel, limitsUsed, type NetworkModel, type TetherModel } from "./model";

/** A file holds plain values where a program may give what is known later. */
const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** The network that a network file describes, with logical names as ids. @throws NetworkDefinitionError with all its errors */
export async function modelOfNetworkFile(file: string): Promise<NetworkModel> {
  const definition = readFile(file);
  const title = typeof definition.name === "string" ? definition.name : basename(file, extname(file));
  const tethers: TetherModel[] = [];
  const { plan, what, problems } = check(title, definition, undefined);
  if (!plan) {
    const { NetworkDefinitionError } = await import("../sdk/network/problems.js"); // brings Pulumi's SDK with it
    throw new NetworkDefinitionError(what, problems);
  }
  const consortia = plan.consortia.map((one) => consortiumOf(one, tethers));
  return { source: "network file", title, limits: limitsUsed(consortia), consortia, tethers };
}

function consortiumOf(planned: PlannedConsortium, tethers: TetherModel[]): ConsortiumModel {
  const { names, args, members, environments } = planned;
  const ids = new Map(members.map((one) => [one.key, one.names[0]!]));
  return {
    ...{ id: names[0]!, name: text(args.name) ?? names[0]!, description: text(args.description) },
    memberships: members.map((one) => ({ id: one.names[0]!, orgName: text(one.args.orgName) ?? one.key })),
    environments: environments.map((one) => environmentOf(one, ids, tethers)),
  };
}

function environmentOf(
  { key, names, args, nodes, credentials, tether }: PlannedEnvironment,
  members: ReadonlyMap<string, string>,
  tethers: TetherModel[],
): EnvironmentModel {
  const facts = {
    ...{
      id: names[0]!,
      name: text(args.name) ?? key,
      chainId: typeof args.chainId === "number" ? args.chainId : undefined,
    },
    ...{ provider: text(args.provider), consensusType: text(args.consensusType) },
  };
  if (tether) {
    const { tetherId, consoleUrl, network, intervalHours } = tether.args;
    const id = tetherId ?? (consoleUrl === undefined ? tether.names[0]! : tetherIdOf(consoleUrl));
    tethers.push({ id, network, intervalHours });
  }
  return {
    ...facts,
    nodes: nodes.map((one) => ({
      ...{ id: one.names[0]!, name: text(one.args.name) ?? one.key, membershipId: members.get(one.member) },
    })),
    credentials: credentials.map((one) => ({
      ...{ id: one.names[0]!, name: text(one.args.name) ?? one.key, membershipId: members.get(one.member) },
    })),
    ...(tether && { tether: tethers.at(-1)!.id }),
  };
}
