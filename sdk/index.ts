export { AppCred, type AppCredArgs } from "./app-cred";
export { Consortium, type ConsortiumArgs } from "./consortium";
export { Environment, type EnvironmentArgs } from "./environment";
export * from "./lookups";
export { Membership, type MembershipArgs } from "./membership";
export { Node, type NodeArgs } from "./node";
export { Provider, type ProviderArgs } from "./provider";
export { TetherService, type TetherServiceArgs } from "./tether-service";
