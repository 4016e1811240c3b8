/* The part of consortium-console that runs in a browser: plain data, without Node.js. Not for programs. */
export {
  type ConsortiumModel,
  type EnvironmentModel,
  type Managed,
  type NetworkModel,
  type NodeModel,
  type ObjectModel,
  type OtherModel,
  type PinModel,
  type Placed,
  type Remarks,
  type TetherModel,
  conditionOf,
  displayName,
  environmentsOf,
  kinds,
  objectsOf,
  tethersOf,
} from "../inventory/model";
export { type Tone, stateInWords, toneOf } from "../observe/map/items";
export { mapCss } from "../observe/map/style";
export { type Kind } from "../provider/constants";
export { inEther, weiOf } from "../provider/plain";
