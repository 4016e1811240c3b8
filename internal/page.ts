/* The part of consortium-console that runs in a browser: plain data, without Node.js. Not for programs. */
export {
  type Condition,
  type ConsortiumModel,
  type EnvironmentModel,
  type Managed,
  type NetworkModel,
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
export { mapCss } from "../observe/map/style";
export { inEther, weiOf } from "../provider/plain";
