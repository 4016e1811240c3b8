/*
 * Generated from the resource definitions (provider/resources/) and the settings (plugin/schema/) by `npm run generate`.
 * Do not edit.
 * Plain types instead of inferred ones: programs that use them compile and start without loading the schemas.
 */
import { type Input, type Output } from "@pulumi/pulumi";

/** Required and optional arguments. */
export type Args<P, Needed extends keyof P, Optional extends keyof P> = {
  [K in Needed]: Input<P[K]>;
} & { [K in Optional]?: Input<Exclude<P[K], undefined>> };

/** All outputs of a resource. */
export type Outputs<P> = { readonly [K in keyof P]-?: Output<P[K]> };

/** Each client, with the consensus protocols that it runs. */
export interface ConsensusOf {
  quorum: "raft" | "ibft";
  geth: "poa";
  pantheon: "ibft" | "poa";
  fabric: "raft" | "ibft" | "poa";
  corda: "raft" | "ibft" | "poa";
}

/** A value that is not known, and is meant. */
export type Other = `other:${string}`;

/** A client that is known, or meant. */
export type Client = keyof ConsensusOf | Other;

/** The consensus protocols of a client. */
export type ConsensusFor<C extends Client> = ConsensusOf[C extends keyof ConsensusOf ? C : keyof ConsensusOf] | Other;

/** The parents of objects in an environment. */
interface Placed {
  /** Id of the consortium that it belongs to. Programs can pass the resource as `consortium` instead. */
  consortiumId: string;
  /** Id of the environment that it belongs to. Programs can pass the resource as `environment` instead. */
  environmentId: string;
}

/** A region of a cloud. */
interface Zone {
  /** Name of the zone. Default: the name of the resource. */
  name: string;
  /** Region of the cloud, by the cloud's own name, such as `us-east-2`. */
  region: string;
  /** Cloud that it is in. The service decides which values are allowed; seen: `aws`, `azure`. */
  cloud: string;
  /** Who runs its machines: `kaleido` is the service itself. The service decides which values are allowed; seen: `kaleido`. Default: `kaleido`. */
  type: string;
  /** `true` adopts the zone of this region and cloud if it exists; an id adopts exactly that object or fails. Default: `false`: one that exists already is an error. */
  adopt?: boolean | string;
  /** Additional fields for the create call, under the service's own names, sent unchanged. */
  extra?: Record<string, unknown>;
}

/** Common arguments of objects. */
interface Asked {
  /** `true` adopts the object with this name if it exists; an id adopts exactly that object or fails. Default: `false`: a name that is already taken is an error. */
  adopt?: boolean | string;
  /** Additional fields for the create call, under the service's own names, sent unchanged. */
  extra?: Record<string, unknown>;
}

/** Properties that the service records of each object. */
interface Recorded {
  /** Last known state, in the service's own words. */
  state: string;
  /** Revision counter: starts at `0` and increases with every change. */
  revision: string;
  /** Creation time: ISO 8601, UTC. */
  createdAt: string;
}

/** A business network that several organizations run together. An organization owns at most 2 consortia. */
export interface ConsortiumProperties extends Asked, Recorded {
  /** Name of the consortium. Default: the name of the resource. */
  name: string;
  /** Description for people. Default: none. */
  description?: string;
  /** Id of the organization that owns it. */
  owner: string;
}

export interface ConsortiumFields extends Args<ConsortiumProperties, never, "name" | "description" | "adopt" | "extra"> {}

/** The membership of one business in a consortium. It owns nodes and credentials. */
export interface MembershipProperties extends Asked, Recorded {
  /** Id of the consortium that it belongs to. Programs can pass the resource as `consortium` instead. */
  consortiumId: string;
  /** Name of the business. Default: the name of the resource. */
  orgName: string;
  /** Id of the organization that it represents. */
  orgId: string;
  /** Minimum number of nodes that it must own in an environment. */
  minimumNodes: number;
  /** Maximum number of nodes that it may own in an environment. */
  maximumNodes: number;
}

export interface MembershipFields extends Args<MembershipProperties, never, "orgName" | "adopt" | "extra"> {}

/** Where environments of a consortium may run: a region of a cloud. One that exists already with the same region and cloud is shared: adopt it with `adopt: true`. */
export interface ConsortiumZoneProperties extends Zone, Recorded {
  /** Id of the consortium that it belongs to. Programs can pass the resource as `consortium` instead. */
  consortiumId: string;
}

export interface ConsortiumZoneFields extends Args<ConsortiumZoneProperties, "region" | "cloud", "name" | "type" | "adopt" | "extra"> {}

/** Invites a business of another organization to a consortium, by e-mail. The business becomes a member when it accepts; the run does not wait for that. An invitation that is gone is not sent again once the consortium has that member. One that was declined or revoked, or has expired, is not sent again by itself: previews say so, and `pulumi up --replace` with its URN sends another one. */
export interface InvitationProperties extends Asked, Recorded {
  /** Id of the consortium that it belongs to. Programs can pass the resource as `consortium` instead. */
  consortiumId: string;
  /** Name of the business. Default: the name of the resource. */
  orgName: string;
  /** Address that the invitation is sent to. */
  email: string;
}

export interface InvitationFields extends Args<InvitationProperties, "email", "orgName" | "adopt" | "extra"> {}

/** A blockchain network: one ledger, with a client and a consensus protocol. A consortium has at most 3 environments. */
export interface EnvironmentProperties<C extends Client = Client> extends Asked, Recorded {
  /** Id of the consortium that it belongs to. Programs can pass the resource as `consortium` instead. */
  consortiumId: string;
  /** Client that the nodes run: `quorum`, `geth`, `pantheon` (Besu), `fabric` or `corda`. A value that is not known, and is meant: `other:<value>`. */
  provider: C;
  /** Consensus protocol: `raft` or `ibft` with `quorum`; `poa` with `geth`; `ibft` or `poa` with `pantheon`. A value that is not known, and is meant: `other:<value>`. */
  consensusType: ConsensusFor<C>;
  /** Name of the environment. Default: the name of the resource. */
  name: string;
  /** Description for people. Default: none. */
  description?: string;
  /** Chain id of the ledger. Default: the service chooses one. */
  chainId: number;
  /** Release of the service's software that it runs. An upgrade takes minutes for each node and cannot be undone. Default: the service chooses the newest. */
  releaseId: string;
  /** Whether it is paused: it makes no blocks, and its nodes do not answer. `false` resumes it, even if the service has paused it. A new environment always starts running; the next update pauses it. Default: the service pauses it when it is idle, and leaves it so. */
  paused: boolean;
  /** Seconds between blocks. Default: the service chooses, by the consensus protocol. */
  blockPeriod: number;
  /** Accounts with a balance from the first block, by address: each an object with its `balance`, or just the balance, in wei as text. They are not read back. Default: none. */
  prefundedAccounts?: Record<string, { balance: string }>;
  /** Whether its nodes may be in several regions. Default: `false`. */
  multiRegion?: boolean;
  /** Experimental features, by the service's own names. They are not read back. Default: none. */
  testFeatures?: Record<string, unknown>;
  /** Region it runs in. */
  region: string;
  /** Hours after its creation in which the service does not pause it. */
  initialDelay: number;
  /** Hours without a transaction after which the service may pause it. */
  idleHours: number;
  /** Whether a tether service is enabled for it. */
  enableTether: boolean;
}

export interface EnvironmentFields<C extends Client = Client> extends Args<EnvironmentProperties<C>, "provider" | "consensusType", "name" | "description" | "chainId" | "releaseId" | "paused" | "blockPeriod" | "multiRegion" | "adopt" | "extra"> {
  /** Accounts with a balance from the first block, by address: each an object with its `balance`, or just the balance, in wei as text. They are not read back. Default: none. */
  prefundedAccounts?: Input<Record<string, { balance: string } | string>>;

  /** Experimental features, by the service's own names. They are not read back. Default: none. */
  testFeatures?: Input<Record<string, unknown> | string>;
}

/** Where nodes and services of an environment may run: a region of a cloud. One that exists already with the same region and cloud is shared: adopt it with `adopt: true`. */
export interface EnvironmentZoneProperties extends Placed, Zone, Recorded {
  /** Id of the bridge that connects it with machines of your own. Default: none. */
  bridgeId?: string;
}

export interface EnvironmentZoneFields extends Args<EnvironmentZoneProperties, "region" | "cloud", "name" | "type" | "bridgeId" | "adopt" | "extra"> {}

/** Settings for one member's nodes. Each has a type: a node refers to one for its client, one for its keys, one for its backups. */
export interface ConfigurationProperties extends Placed, Asked, Recorded {
  /** Id of the membership that owns it. Programs can pass the resource as `membership` instead. */
  membershipId: string;
  /** What it sets, by the service's own name. The service decides which values are allowed; seen: `node_config`. */
  type: string;
  /** Name of the configuration. Default: the name of the resource. */
  name: string;
  /** The settings, by the names of the type: `{ gas_price: "1" }` of a `node_config`. They are not read back. Default: none. */
  details?: Record<string, unknown>;
}

export interface ConfigurationFields extends Args<ConfigurationProperties, "type", "name" | "adopt" | "extra"> {
  /** The settings, by the names of the type: `{ gas_price: "1" }` of a `node_config`. They are not read back. Default: none. */
  details?: Input<Record<string, unknown> | string>;
}

/** A blockchain node that one member runs in an environment. An environment has at most 4 nodes. */
export interface NodeProperties extends Placed, Asked, Recorded {
  /** Id of the membership that owns it. Programs can pass the resource as `membership` instead. */
  membershipId: string;
  /** Name of the node. Default: the name of the resource. */
  name: string;
  /** Role in the consensus. The service decides which values are allowed; seen: `validator`. Default: the service chooses. */
  role: string;
  /** Size of the machine. The service decides which values are allowed; seen: `small`. Default: the service chooses. */
  size: string;
  /** Id of the environment's zone that it runs in. Programs can pass the resource as `zone` instead. Default: the service chooses. */
  zoneId: string;
  /** Id of the configuration of its key management. Programs can pass the resource as `kms` instead. Default: the service chooses. */
  kmsId: string;
  /** Id of the configuration of its metrics. Programs can pass the resource as `opsmetric` instead. Default: the service chooses. */
  opsmetricId: string;
  /** Id of the configuration of its backups. Programs can pass the resource as `backup` instead. Default: the service chooses. */
  backupId: string;
  /** Id of the configuration of its networking. Programs can pass the resource as `networking` instead. Default: the service chooses. */
  networkingId: string;
  /** Id of the configuration of the client, such as its gas price. Programs can pass the resource as `nodeConfig` instead. Default: the service chooses. */
  nodeConfigId: string;
  /** Id of the configuration of its application firewall. Programs can pass the resource as `baf` instead. Default: the service chooses. */
  bafId: string;
  /** Database that its client keeps the ledger in. The service decides which values are allowed. Default: the service chooses. */
  databaseType: string;
  /** Client that it runs, from its environment. */
  provider: string;
  /** Consensus protocol, from its environment. */
  consensusType: string;
  /** Runtime endpoints: `rpc` (JSON-RPC over HTTPS) and `wss` (WebSocket). They require an AppCred of the same member and environment. */
  urls: { rpc: string; wss: string };
  /** Identifier of the node on the blockchain network, hex. */
  nodeKey: string;
  /** Address of the node's own account, hex. */
  publicAddress: string;
  /** Addresses of the validators that it knows. */
  validators: string[];
  /** Accounts that the node holds for its users. */
  userAccounts: string[];
  /** First account that the node holds for its users. */
  firstUserAccount: string;
  /** Port that a hybrid deployment gives it. */
  hybridPortAllocation: number;
}

export interface NodeFields extends Args<NodeProperties, never, "name" | "role" | "size" | "zoneId" | "kmsId" | "opsmetricId" | "backupId" | "networkingId" | "nodeConfigId" | "bafId" | "databaseType" | "adopt" | "extra"> {}

/** Username and password for the runtime endpoints of one member's nodes in one environment, and nothing else. */
export interface AppCredProperties extends Placed {
  /** Id of the membership whose nodes it opens. Programs can pass the resource as `membership` instead. */
  membershipId: string;
  /** Name of the credential. If the service cannot rename it, the run ends with an error, and the next run creates a new pair. Default: the name of the resource. */
  name: string;
  /** Arbitrary values. When one changes, a new pair is created, then the old one is deleted. Default: none. */
  keepers?: Record<string, unknown>;
  /** Arbitrary values. When one is added or changed, the service regenerates the password in place: same username, and the old password stops working at once. Not every service can. Default: none. */
  rotateWhenChanged?: Record<string, unknown>;
  /** Additional fields for the create call, under the service's own names, sent unchanged. */
  extra?: Record<string, unknown>;
  /** Username of the pair; also the id. */
  username: string;
  /** Authentication type: `basic_auth`. */
  authType: string;
  /** Password of the pair. The service shows it only once, when the pair is created. */
  password: string;
  /** Value of the `Authorization` header: `Basic …`. */
  basicAuthHeader: string;
  /** Revision counter: starts at `0` and increases with every change. */
  revision: string;
}

export interface AppCredFields extends Args<AppCredProperties, never, "name" | "keepers" | "rotateWhenChanged" | "extra"> {}

/** A service beside the ledger of an environment, such as `ipfs`. A utility service, such as `idregistry`, exists once for all members: adopt the existing one with `adopt: true`. */
export interface ServiceProperties extends Placed, Recorded {
  /** Id of the membership that owns it. Programs can pass the resource as `membership` instead. */
  membershipId: string;
  /** Type of the service. The service decides which values are allowed; seen: `idregistry`, `ipfs`, `documentstore`, `dataexchange`, `hdwallet`, `app2app`, `tether`. */
  service: string;
  /** Name of the service. Default: the name of the resource. */
  name: string;
  /** Id of the environment's zone that it runs in. Programs can pass the resource as `zone` instead. Default: the service chooses. */
  zoneId: string;
  /** Size of the machine. The service decides which values are allowed; seen: `small`. Default: the service chooses. */
  size: string;
  /** Settings, under the names of the service's type. Settings that the service adds do not count as a change. Default: the service chooses. */
  details: Record<string, unknown>;
  /** `true` adopts the service with this name, or the utility service of this type, if it exists; an id adopts exactly that object or fails. Default: `false`: a name that is already taken is an error. */
  adopt?: boolean | string;
  /** Additional fields for the create call, under the service's own names, sent unchanged. */
  extra?: Record<string, unknown>;
  /** `member` for a service of one member, `utility` for one that all members share. */
  serviceType: string;
  /** Addresses of the service, by name of the endpoint. */
  urls: Record<string, string>;
  /** Port that a hybrid deployment gives it. */
  hybridPortAllocation: number;
}

export interface ServiceFields extends Args<ServiceProperties, "service", "name" | "zoneId" | "size" | "adopt" | "extra"> {
  /** Settings, under the names of the service's type. Settings that the service adds do not count as a change. Default: the service chooses. */
  details?: Input<Record<string, unknown> | string>;
}

/** Receives a member's documents or messages: a name in its `documentstore` or `dataexchange` service. The member must be verified, and registered with an id registry of the environment. */
export interface DestinationProperties extends Asked {
  /** Id of the consortium that it belongs to. Programs can pass the resource as `consortium` instead. */
  consortiumId: string;
  /** Id of the service's environment. Programs can pass the resource as `environment` instead. Default: the service's environment. */
  environmentId?: string;
  /** Id of the service that it belongs to. Programs can pass the resource as `service` instead. */
  serviceId: string;
  /** Type of that service: `documentstore` or `dataexchange`. */
  serviceType: string;
  /** Name of the destination, which is also its id. Default: the name of the resource. */
  name: string;
  /** Whether the service keeps the keys of the destination. Default: `true`. */
  kaleidoManaged: boolean;
  /** Id of the membership that owns the service. Programs can pass the resource as `membership` instead. Default: the service's membership, if the service is given as a resource. */
  membershipId?: string;
  /** Id of the `idregistry` service with which the membership is registered first. Programs can pass the resource as `idRegistry` instead. Default: it is registered already. */
  idRegistryId?: string;
  /** Whether the membership is verified first with a test certificate of the service, unless it is verified. Default: `false`. */
  testCertificate?: boolean;
  /** Address that others send to. */
  uri: string;
  /** Whether everything that it depends on exists. */
  setupComplete: boolean;
}

export interface DestinationFields extends Args<DestinationProperties, never, "name" | "kaleidoManaged" | "membershipId" | "idRegistryId" | "testCertificate" | "adopt" | "extra"> {}

/** Pins the state of an environment's ledger to a public chain. The service itself is created in the console; this resource configures it, deploys its contract once per network, and starts and stops it. */
export interface TetherServiceProperties {
  /** Id of the tether service, ordered in the console: 10 characters. Programs can pass its console address as `consoleUrl` instead, which ends in the id. */
  tetherId: string;
  /** Public chain that the state is pinned to: `mainnet` or `rinkeby`, or `local` on the embedded service. A value that is not known, and is meant: `other:<value>`. */
  network: "mainnet" | "rinkeby" | "local" | `other:${string}`;
  /** Hours between two pins: a whole number, at least 1. */
  intervalHours: number;
  /** Whether it pins. Default: `true`. */
  active: boolean;
  /** Balance in wei that the account needs on the network before the contract is deployed there. Default: more than zero. */
  minimumBalanceWei?: string;
  /** How long to wait for funds while the balance is too low, such as `30m`. `customTimeouts` do not shorten it. Default: do not wait, and fail before anything is spent. */
  waitForFunds?: string;
  /** Additional fields for the body of `deploy`, sent unchanged. */
  extra?: Record<string, unknown>;
  /** Address that pays for the pins on the public chain. */
  account: string;
  /** Balance of the account in wei, as of the last change. */
  balanceWei: string;
  /** Progress: `configured`, `deployed`, `active` or `inactive`. */
  state: string;
  /** Networks to which this resource deployed the contract. */
  deployedNetworks: string[];
}

export interface TetherServiceFields extends Args<TetherServiceProperties, "tetherId" | "network" | "intervalHours", "active" | "waitForFunds" | "extra"> {
  /** Balance in wei that the account needs on the network before the contract is deployed there. Default: more than zero. */
  minimumBalanceWei?: Input<string | number>;
}

export const EnvironmentProvider = { Quorum: "quorum", Geth: "geth", Pantheon: "pantheon", Fabric: "fabric", Corda: "corda" } as const;
export const EnvironmentConsensusType = { Raft: "raft", Ibft: "ibft", Poa: "poa" } as const;
export const TetherServiceNetwork = { Mainnet: "mainnet", Rinkeby: "rinkeby", Local: "local" } as const;
export const GetNodeLogsClient = { Geth: "geth", Constellation: "constellation" } as const;

export const settingNames = ["apiKey","region","baseUrl","maxConcurrency","requestTimeout","allowHttp","organization","log","logLevel"] as const;

export interface ProviderArgs {
  /** API key of the organization; kept encrypted in the state. */
  apiKey: Input<string>;
  /** Region of the service: `us`, `eu`, `ap` or `ko`. Default: `us`. */
  region?: Input<"us" | "eu" | "ap" | "ko" | "us1" | "eu1">;
  /** Base address, which ends in `/api/v1`. Default: the region's. */
  baseUrl?: Input<string>;
  /** Maximum number of requests in flight. Default: 8. */
  maxConcurrency?: Input<number>;
  /** Seconds that one request may take. Default: 30. */
  requestTimeout?: Input<number>;
  /** Whether the key may cross a network in clear text, to a base address that begins with `http://`. Default: `false`. */
  allowHttp?: Input<boolean>;
  /** Id of the organization that the key must belong to. Default: the one that the state was made with. */
  organization?: Input<string>;
  /** File that gets a JSON line for each call to the service, without secrets. Default: none. */
  log?: Input<string>;
  /** Contents of that file: `errors`, `calls`, `bodies` (calls, with ids, states, times and messages), or `full` (whole bodies, which may hold secrets). Default: `bodies`. */
  logLevel?: Input<string>;
}

/** Facts for the class of each resource: its handler, its outputs, and which of them are secret. */
export const classes = {
  Consortium: {"handler":"consortium","outputs":["name","description","adopt","extra","state","owner","revision","createdAt"],"secrets":[]},
  Membership: {"handler":"membership","outputs":["consortiumId","orgName","adopt","extra","state","orgId","minimumNodes","maximumNodes","revision","createdAt"],"secrets":[]},
  ConsortiumZone: {"handler":"consortiumZone","outputs":["consortiumId","name","region","cloud","type","adopt","extra","state","revision","createdAt"],"secrets":[]},
  Invitation: {"handler":"invitation","outputs":["consortiumId","orgName","email","adopt","extra","state","revision","createdAt"],"secrets":[]},
  Environment: {"handler":"environment","outputs":["consortiumId","provider","consensusType","name","description","chainId","releaseId","paused","blockPeriod","prefundedAccounts","multiRegion","testFeatures","adopt","extra","state","region","initialDelay","idleHours","enableTether","revision","createdAt"],"secrets":[]},
  EnvironmentZone: {"handler":"environmentZone","outputs":["consortiumId","environmentId","name","region","cloud","type","bridgeId","adopt","extra","state","revision","createdAt"],"secrets":[]},
  Configuration: {"handler":"configuration","outputs":["consortiumId","environmentId","membershipId","type","name","details","adopt","extra","state","revision","createdAt"],"secrets":["details"]},
  Node: {"handler":"node","outputs":["consortiumId","environmentId","membershipId","name","role","size","zoneId","kmsId","opsmetricId","backupId","networkingId","nodeConfigId","bafId","databaseType","adopt","extra","state","provider","consensusType","urls","nodeKey","publicAddress","validators","userAccounts","firstUserAccount","hybridPortAllocation","revision","createdAt"],"secrets":[]},
  AppCred: {"handler":"appCred","outputs":["consortiumId","environmentId","membershipId","name","keepers","rotateWhenChanged","extra","username","authType","password","basicAuthHeader","revision"],"secrets":["password","basicAuthHeader"]},
  Service: {"handler":"service","outputs":["consortiumId","environmentId","membershipId","service","name","zoneId","size","details","adopt","extra","state","serviceType","urls","hybridPortAllocation","revision","createdAt"],"secrets":[]},
  Destination: {"handler":"destination","outputs":["consortiumId","environmentId","serviceId","serviceType","name","kaleidoManaged","membershipId","idRegistryId","testCertificate","adopt","extra","uri","setupComplete"],"secrets":[]},
  TetherService: {"handler":"tetherService","outputs":["tetherId","network","intervalHours","active","minimumBalanceWei","waitForFunds","extra","account","balanceWei","state","deployedNetworks"],"secrets":[]},
} as const;
