export { type TetherNetwork } from "../constants";
export { ConsortiumClient, type EnvironmentRequest } from "./client";
export { type Clock, type Deadline, noDeadline, systemClock } from "./clock";
export { ApiError, type ErrorKind, isApiError, PartialList, TransportError } from "./api-error";
export { Http, type Answer, type CallOptions, type HttpOptions, type Method } from "./http";
export { path } from "./paths";
export {
  ApiKey,
  regions,
  type Region,
  resolveSettings,
  type SettingName,
  settingNames,
  type Settings,
  SettingsError,
  type SettingSources,
} from "./settings";
export type { Transport, WireAnswer, WireRequest } from "./transport"; // with `type` within, bundles would load undici
export { version } from "../version";
export * from "./generated";
export { type Identified, NodeStatusObject, ReleaseObject, type TetherReport } from "./wire";
export type { TetherAccount } from "./tether";
