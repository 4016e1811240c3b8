import { basename, extname } from "node:path";
import { kindOf, unmarked } from "../provider/constants";
import { check, readFile } from "../sdk/network/load";
import { type Part, partsOf, Shown } from "../sdk/network/parts";
import { type NetworkModel } from "./model";
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
  return modelOf(partsOf(plan).map(rowOf), { source: "network file", title });
}

/** The id of a part is its logical name, except that a destination has its key and a tether its own id. */
function rowOf({ className, planned: { key, names }, args, dependsOn }: Part): Row {
  const known = Object.entries(args).flatMap(([name, value]) => {
    const plain = unmarked(valueOf(value));
    return ["string", "number", "boolean"].includes(typeof plain) ? [[name, plain]] : [];
  });
  const props = { name: key, ...(Object.fromEntries(known) as Row["props"]) };
  const row = { kind: kindOf(className)!, id: names[0]!, props };
  if (className === "Destination") return { ...row, id: key };
  if (className !== "TetherService") return row;
  const { tetherId: id = names[0]! } = props as { tetherId?: string };
  return { ...row, id, props: { ...props, environmentId: dependsOn?.[0]?.planned.names[0] } };
}

/** An output of another part is the argument that it will be given, or its id. */
const valueOf = (value: unknown): unknown =>
  value instanceof Shown
    ? value.output === "id"
      ? value.by.planned.names[0]
      : valueOf(value.by.args[value.output])
    : value;
