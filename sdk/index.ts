export { AppCred, type AppCredArgs } from "./app-cred";
export { Consortium, type ConsortiumArgs } from "./consortium";
export { Environment, type EnvironmentArgs } from "./environment";
export { EnvironmentConsensusType, EnvironmentProvider, GetNodeLogsClient, TetherServiceNetwork } from "./generated";
export * from "./lookups/generated";
export { Membership, type MembershipArgs } from "./membership";
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
export { type NetworkConsortiumResources, type NetworkEnvironmentResources } from "./network/make";
export { Network, type NetworkFileOptions, type NetworkOptions } from "./network/network";
export { type NetworkEnvironmentOutputs, type NetworkOutputs } from "./network/outputs";
export { NetworkDefinitionError, type NetworkProblem } from "./network/problems";
export { Node, type NodeArgs } from "./node";
export { type ProviderArgs } from "./generated";
export { Provider } from "./provider";
export { CredentialRefused } from "./runtime/credential-refused";
export {
  type AnyLogin,
  type AnyNode,
  connect,
  type ConnectOptions,
  type KnownLogin,
  type KnownNode,
  runtimeUrl,
  type Via,
} from "./runtime/connect";
export { TetherService, type TetherServiceArgs } from "./tether-service";
export { type Verification, verifyReport, type VerifyOptions } from "./runtime/verify";
