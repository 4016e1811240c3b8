/*
 * Generated from the resource definitions (provider/resources/) by `npm run generate`. Do not edit.
 * Plain types instead of inferred ones: programs that use them compile and start without loading the schemas.
 */
import { type Input } from "@pulumi/pulumi";
import { type Args, type Shown } from "./properties";

/** Each client, with the consensus protocols that it runs. */
export interface ConsensusOf {
  quorum: "raft" | "ibft";
  geth: "poa";
}

/** A business network that several organizations run together. An organization owns at most 2 consortia. */
export interface ConsortiumProperties {
  /** Name of the consortium. Default: the name of the resource. */
  name: string;
  /** What it is for, in words for people. Default: none. */
  description?: string;
  /** `true` adopts the one with this name, if there is one; an id adopts that one or fails. Default: `false`: a name that is taken is an error. */
  adopt?: boolean | string;
  /** Fields for the create call beyond those documented here, under the service's own names, sent as they are. */
  extra?: Record<string, unknown>;
  /** Id of the organization that owns it. */
  owner: string;
  /** State last seen, in the service's own words. */
  state: string;
  /** Counter that rises with every change, from `0`. */
  revision: string;
  /** When it was created: ISO 8601, UTC. */
  createdAt: string;
}

export type ConsortiumFields = Args<ConsortiumProperties, never, "name" | "description" | "adopt" | "extra">;

/** What the service's lists show of `Consortium`. */
export type ConsortiumListed = Shown<ConsortiumProperties, "name" | "description" | "owner" | "state" | "revision" | "createdAt">;

/** The part of one business in a consortium: it owns nodes and credentials. */
export interface MembershipProperties {
  /** Id of the consortium it belongs to; in programs also `consortium`, the resource. */
  consortiumId: string;
  /** Name of the business. Default: the name of the resource. */
  orgName: string;
  /** `true` adopts the one with this name, if there is one; an id adopts that one or fails. Default: `false`: a name that is taken is an error. */
  adopt?: boolean | string;
  /** Fields for the create call beyond those documented here, under the service's own names, sent as they are. */
  extra?: Record<string, unknown>;
  /** Id of the organization behind it. */
  orgId: string;
  /** State last seen, in the service's own words. */
  state: string;
  /** Fewest nodes it has to own in an environment. */
  minimumNodes: number;
  /** Most nodes it may own in an environment. */
  maximumNodes: number;
  /** Counter that rises with every change, from `0`. */
  revision: string;
  /** When it was created: ISO 8601, UTC. */
  createdAt: string;
}

export type MembershipFields = Args<MembershipProperties, never, "orgName" | "adopt" | "extra">;

/** What the service's lists show of `Membership`. */
export type MembershipListed = Shown<MembershipProperties, "orgName" | "orgId" | "state" | "minimumNodes" | "maximumNodes" | "revision" | "createdAt">;

/** A blockchain network: one ledger, with a client and a consensus protocol. A consortium has at most 3 environments. */
export interface EnvironmentProperties<Client extends keyof ConsensusOf = keyof ConsensusOf> {
  /** Id of the consortium it belongs to; in programs also `consortium`, the resource. */
  consortiumId: string;
  /** Client that the nodes run: `quorum` or `geth`. */
  provider: Client;
  /** Consensus protocol: `raft` or `ibft` with `quorum`; `poa` with `geth`. */
  consensusType: ConsensusOf[Client];
  /** Name of the environment. Default: the name of the resource. */
  name: string;
  /** What it is for, in words for people. Default: none. */
  description?: string;
  /** Chain id of the ledger. Default: the service chooses one. */
  chainId: number;
  /** `true` adopts the one with this name, if there is one; an id adopts that one or fails. Default: `false`: a name that is taken is an error. */
  adopt?: boolean | string;
  /** Fields for the create call beyond those documented here, under the service's own names, sent as they are. */
  extra?: Record<string, unknown>;
  /** State last seen, in the service's own words. */
  state: string;
  /** Region it runs in. */
  region: string;
  /** Release of the service's software that it runs. */
  releaseId: string;
  /** Seconds between blocks. */
  blockPeriod: number;
  /** Delay before the first block, as the service shows it. */
  initialDelay: number;
  /** Hours without use after which the service may pause it. */
  idleHours: number;
  /** Whether a tether service is enabled for it. */
  enableTether: boolean;
  /** Counter that rises with every change, from `0`. */
  revision: string;
  /** When it was created: ISO 8601, UTC. */
  createdAt: string;
}

export type EnvironmentFields<Client extends keyof ConsensusOf = keyof ConsensusOf> = Args<EnvironmentProperties<Client>, "provider" | "consensusType", "name" | "description" | "chainId" | "adopt" | "extra">;

/** What the service's lists show of `Environment`. */
export type EnvironmentListed = Shown<EnvironmentProperties, "provider" | "consensusType" | "name" | "description" | "chainId" | "state" | "region" | "releaseId" | "blockPeriod" | "initialDelay" | "idleHours" | "enableTether" | "revision" | "createdAt">;

/** A blockchain node that one member runs in an environment. An environment has at most 4 nodes. */
export interface NodeProperties {
  /** Id of the consortium it belongs to; in programs also `consortium`, the resource. */
  consortiumId: string;
  /** Id of the environment it belongs to; in programs also `environment`, the resource. */
  environmentId: string;
  /** Id of the member that owns it. In programs also `membership`, the resource. */
  membershipId: string;
  /** Name of the node. Default: the name of the resource. */
  name: string;
  /** `true` adopts the one with this name, if there is one; an id adopts that one or fails. Default: `false`: a name that is taken is an error. */
  adopt?: boolean | string;
  /** Fields for the create call beyond those documented here, under the service's own names, sent as they are. */
  extra?: Record<string, unknown>;
  /** Part it plays in the consensus, such as `validator`. */
  role: string;
  /** State last seen, in the service's own words. */
  state: string;
  /** Client that it runs, from its environment. */
  provider: string;
  /** Consensus protocol, from its environment. */
  consensusType: string;
  /** Runtime endpoints: `rpc` (JSON-RPC over HTTPS) and `wss` (WebSocket). They open with an AppCred of the same member and environment. */
  urls: { rpc: string; wss: string };
  /** Identifier of the node on the blockchain network, hex. */
  nodeKey: string;
  /** Address of the node's own account, hex. */
  publicAddress: string;
  /** Addresses of the validators that it knows. */
  validators: string[];
  /** Accounts that the node holds for its users. */
  userAccounts: string[];
  /** Counter that rises with every change, from `0`. */
  revision: string;
  /** When it was created: ISO 8601, UTC. */
  createdAt: string;
}

export type NodeFields = Args<NodeProperties, never, "name" | "adopt" | "extra">;

/** What the service's lists show of `Node`. */
export type NodeListed = Shown<NodeProperties, "membershipId" | "name" | "role" | "state" | "provider" | "consensusType" | "revision" | "createdAt">;

/** User name and password that open the runtime endpoints of one member's nodes in one environment, and nothing else. */
export interface AppCredProperties {
  /** Id of the consortium it belongs to; in programs also `consortium`, the resource. */
  consortiumId: string;
  /** Id of the environment it belongs to; in programs also `environment`, the resource. */
  environmentId: string;
  /** Id of the member whose nodes it opens. In programs also `membership`, the resource. */
  membershipId: string;
  /** Name of the credential. Default: the name of the resource. */
  name: string;
  /** Any values; when one changes, a new pair is made, and the old one deleted after that. Default: none. */
  keepers?: Record<string, unknown>;
  /** Fields for the create call beyond those documented here, under the service's own names, sent as they are. */
  extra?: Record<string, unknown>;
  /** User name of the pair; also the id. */
  username: string;
  /** How it authenticates: `basic_auth`. */
  authType: string;
  /** Password of the pair. The service shows it only once, when the pair is made. */
  password: string;
  /** Value of the `Authorization` header: `Basic …`. */
  basicAuthHeader: string;
  /** Counter that rises with every change, from `0`. */
  revision: string;
}

export type AppCredFields = Args<AppCredProperties, never, "name" | "keepers" | "extra">;

/** Pins the state of an environment's ledger to a public chain. The service itself is made in the console; this configures it, deploys its contract once a network, and starts and stops it. */
export interface TetherServiceProperties {
  /** Id of the tether service; in programs also `consoleUrl`, whose last 10 characters are it. */
  tetherId: string;
  /** Public chain that the state is pinned to: `mainnet` or `rinkeby`. */
  network: "mainnet" | "rinkeby";
  /** Hours between two pins: whole, at least 1. */
  intervalHours: number;
  /** Whether it pins. Default: `true`. */
  active: boolean;
  /** Balance in wei that the account needs on the network before the contract is deployed there. Default: more than zero. */
  minimumBalanceWei?: string;
  /** How long to wait for funds while the account has less than that, such as `30m`. Default: it does not wait, and fails before anything is spent. `customTimeouts` do not shorten it. */
  waitForFunds?: string;
  /** Fields for the body of `deploy`, sent as they are. */
  extra?: Record<string, unknown>;
  /** Address that pays for the pins on the public chain. */
  account: string;
  /** Balance of the account in wei, as read at the last change. */
  balanceWei: string;
  /** How far it is: `configured`, `deployed`, `active` or `inactive`. */
  state: string;
  /** Networks that its contract was deployed to by this resource. */
  deployedNetworks: string[];
}

export type TetherServiceFields = Args<TetherServiceProperties, "tetherId" | "network" | "intervalHours", "active" | "waitForFunds" | "extra"> & {
  /** Balance in wei that the account needs on the network before the contract is deployed there. Default: more than zero. */
  minimumBalanceWei?: Input<string | number>;
};

/** What a class has to know of its resource: the handler it names, what it shows, what of that the service's lists do not show, and which of it is secret. */
export const facts = {
  Consortium: {"handler":"consortium","outputs":["name","description","adopt","extra","owner","state","revision","createdAt"],"unlisted":[],"secrets":[]},
  Membership: {"handler":"membership","outputs":["consortiumId","orgName","adopt","extra","orgId","state","minimumNodes","maximumNodes","revision","createdAt"],"unlisted":[],"secrets":[]},
  Environment: {"handler":"environment","outputs":["consortiumId","provider","consensusType","name","description","chainId","adopt","extra","state","region","releaseId","blockPeriod","initialDelay","idleHours","enableTether","revision","createdAt"],"unlisted":[],"secrets":[]},
  Node: {"handler":"node","outputs":["consortiumId","environmentId","membershipId","name","adopt","extra","role","state","provider","consensusType","urls","nodeKey","publicAddress","validators","userAccounts","revision","createdAt"],"unlisted":["urls","nodeKey","publicAddress","validators","userAccounts"],"secrets":[]},
  AppCred: {"handler":"appCred","outputs":["consortiumId","environmentId","membershipId","name","keepers","extra","username","authType","password","basicAuthHeader","revision"],"unlisted":["password","basicAuthHeader"],"secrets":["password","basicAuthHeader"]},
  TetherService: {"handler":"tetherService","outputs":["tetherId","network","intervalHours","active","minimumBalanceWei","waitForFunds","extra","account","balanceWei","state","deployedNetworks"],"unlisted":["account","balanceWei","state","deployedNetworks"],"secrets":[]},
} as const;
