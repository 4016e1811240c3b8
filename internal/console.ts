/* The parts that the package consortium-console is built from. Not for programs: it may change with every version. */
import type * as connections from "../sdk/runtime/node-connections";

export { connectionHelp, exportStack } from "../cli/shared/connection";
export { fail, type FlagsOf, stopSignals, targetOption, textOf, wholeNumber } from "../cli/shared/terminal";
export { type PlacedCredential, credentialsFor } from "../inventory/credentials";
export { LiveNetwork, mayAnswer } from "../inventory/live";
export {
  type ConsortiumModel,
  type EnvironmentModel,
  type NetworkModel,
  type TetherModel,
  environmentsOf,
  tethersOf,
} from "../inventory/model";
export { type StackRead, readStack } from "../inventory/stack";
export { Pins, type Targets, chainFor } from "../inventory/tethers";
export { mapOf } from "../observe/map/graph";
export type { MapItem } from "../observe/map/items";
export { svgOf } from "../observe/map/svg";
export { ConsortiumClient, type Settings, isApiError, path, resolveSettings } from "../provider/api";
export { printableLines } from "../provider/api/printable";
export { UndiciTransport } from "../provider/api/transport";
export { tetherNetworks } from "../provider/constants";
export { codedMessage, UserError } from "../provider/errors";
export { secondsOf } from "../provider/profiles";

/** A connection to a node. */
export interface NodeConnection {
  send(method: string, params: unknown[]): Promise<unknown>;
  destroy(): void;
}

/** Connects to a node. It is loaded when it is first called, because it loads ethers. */
export async function overHttp(...args: Parameters<typeof connections.overHttp>): Promise<NodeConnection> {
  const { overHttp } = await import("../sdk/runtime/node-connections.js");
  return overHttp(...args);
}
