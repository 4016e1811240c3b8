export * from "./classes/generated";
export {
  EnvironmentConsensusType,
  EnvironmentProvider,
  GetNodeLogsClient,
  type ProviderArgs,
  TetherServiceNetwork,
} from "./generated";
export * from "./lookups/generated";
export type {
  NetworkConsortium,
  NetworkCredential,
  NetworkDefinition,
  NetworkEnvironment,
  NetworkLimits,
  NetworkMember,
  NetworkNode,
  NetworkTether,
} from "./network/generated";
export {
  type NetworkConsortiumResources,
  type NetworkEnvironmentOutputs,
  type NetworkEnvironmentResources,
  type NetworkOutputs,
} from "./network/make";
export {
  Network,
  NetworkDefinitionError,
  type NetworkFileOptions,
  type NetworkOptions,
  type NetworkProblem,
} from "./network/network";
export { Provider } from "./provider";
export { CredentialRefused } from "./runtime/credential-refused";
export {
  type AnyCredential,
  type AnyNode,
  connect,
  type ConnectOptions,
  type KnownCredential,
  type KnownNode,
  runtimeUrl,
  type Via,
} from "./runtime/connect";
export { type Verification, verifyReport, type VerifyOptions } from "./runtime/verify";
export {
  Configuration,
  type ConfigurationArgs,
  Consortium,
  type ConsortiumArgs,
  Destination,
  type DestinationArgs,
  Environment,
  type EnvironmentArgs,
  EnvironmentZone,
  type EnvironmentZoneArgs,
  Membership,
  type MembershipArgs,
  Node,
  type NodeArgs,
  Service,
  type ServiceArgs,
  TetherService,
  type TetherServiceArgs,
} from "./resources";
