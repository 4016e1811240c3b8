import { basename, extname } from "node:path";
import { tetherIdOf } from "../provider/constants";
import { check, readFile } from "../sdk/network/load";
import { type PlannedConsortium } from "../sdk/network/plan";
import { type NetworkModel, type ObjectKind } from "./model";
import { modelOf, type Row } from "./rows";

/** The network that a network file describes, with logical names as ids. @throws NetworkDefinitionError with all its errors */
export async function modelOfNetworkFile(file: string): Promise<NetworkModel> {
  const definition = readFile(file);
  const title = typeof definition.name === "string" ? definition.name : basename(file, extname(file));
  const { plan, what, problems } = check(title, definition, undefined);
  if (!plan) {
    const { NetworkDefinitionError } = await import("../sdk/network/network.js"); // loads Pulumi's SDK
    throw new NetworkDefinitionError(what, problems);
  }
  return modelOf(plan.consortia.flatMap(rowsOf), { source: "network file", title });
}

function rowsOf({ names, args, members, environments }: PlannedConsortium): Row[] {
  const consortiumId = names[0]!;
  const ids = new Map(members.map((one) => [one.key, one.names[0]!]));
  return [
    { kind: "consortium", id: consortiumId, props: { name: consortiumId, ...known(args) } },
    ...members.map((one) => row("membership", one, { consortiumId, orgName: one.key })),
    ...environments.flatMap((environment) => {
      const within = { consortiumId, environmentId: environment.names[0]! };
      const { nodes, credentials, tether } = environment;
      return [
        row("environment", environment, { consortiumId }),
        ...nodes.map((one) => row("node", one, { ...within, membershipId: ids.get(one.member) })),
        ...credentials.map((one) => row("credential", one, { ...within, membershipId: ids.get(one.member) })),
        ...(tether ? [tetherRow(tether, within)] : []),
      ];
    }),
  ];
}

interface Part {
  key: string;
  names: readonly string[];
  args: object;
}

const row = (kind: ObjectKind, { key, names, args }: Part, props: Row["props"]): Row => ({
  kind,
  id: names[0]!,
  props: { name: key, ...props, ...known(args) },
});

function tetherRow(part: Part, within: Row["props"]): Row {
  const { tetherId, consoleUrl } = part.args as { tetherId?: string; consoleUrl?: string };
  const id = tetherId ?? (consoleUrl === undefined ? part.names[0]! : tetherIdOf(consoleUrl));
  return { ...row("tether", part, within), id };
}

/** A file has plain values where a program may have outputs. */
const known = (args: object): Row["props"] =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => ["string", "number"].includes(typeof value)));
