/*
 * Generated from the resource definitions (provider/resources/) by `npm run generate`. Do not edit.
 * Plain types instead of inferred ones: programs that use them compile and start without loading the schemas.
 */
import { type Input, type Output } from "@pulumi/pulumi";

/** Each client, with the consensus protocols that it runs. */
export interface ConsensusOf {
  quorum: "raft" | "ibft";
  geth: "poa";
}

/** Arguments of `Consortium`, except its parents. A business network that several organizations run together. An organization owns at most 2 consortia. */
export interface ConsortiumFields {
  /** Name of the consortium. Default: the name of the resource. */
  name?: Input<string>;
  /** Description for people. Default: none. */
  description?: Input<string>;
  /** `true` adopts the object with this name if it exists; an id adopts exactly that object or fails. Default: `false`: a name that is already taken is an error. */
  adopt?: Input<boolean | string>;
  /** Additional fields for the create call, under the service's own names, sent unchanged. */
  extra?: Input<Record<string, unknown>>;
}

/** Properties of `Consortium`: its arguments, with parents as ids, and its outputs. */
export interface ConsortiumOutputs {
  /** Name of the consortium. Default: the name of the resource. */
  readonly name: Output<string>;
  /** Description for people. Default: none. */
  readonly description: Output<string | undefined>;
  /** `true` adopts the object with this name if it exists; an id adopts exactly that object or fails. Default: `false`: a name that is already taken is an error. */
  readonly adopt: Output<boolean | string | undefined>;
  /** Additional fields for the create call, under the service's own names, sent unchanged. */
  readonly extra: Output<Record<string, unknown> | undefined>;
  /** Id of the organization that owns it. */
  readonly owner: Output<string>;
  /** Last known state, in the service's own words. */
  readonly state: Output<string>;
  /** Revision counter: starts at `0` and increases with every change. */
  readonly revision: Output<string>;
  /** Creation time: ISO 8601, UTC. */
  readonly createdAt: Output<string>;
}

/** Arguments of `Membership`, except its parents. The membership of one business in a consortium. It owns nodes and credentials. */
export interface MembershipFields {
  /** Name of the business. Default: the name of the resource. */
  orgName?: Input<string>;
  /** `true` adopts the object with this name if it exists; an id adopts exactly that object or fails. Default: `false`: a name that is already taken is an error. */
  adopt?: Input<boolean | string>;
  /** Additional fields for the create call, under the service's own names, sent unchanged. */
  extra?: Input<Record<string, unknown>>;
}

/** Properties of `Membership`: its arguments, with parents as ids, and its outputs. */
export interface MembershipOutputs {
  /** Id of the consortium that it belongs to. Programs can pass the resource as `consortium` instead. */
  readonly consortiumId: Output<string>;
  /** Name of the business. Default: the name of the resource. */
  readonly orgName: Output<string>;
  /** `true` adopts the object with this name if it exists; an id adopts exactly that object or fails. Default: `false`: a name that is already taken is an error. */
  readonly adopt: Output<boolean | string | undefined>;
  /** Additional fields for the create call, under the service's own names, sent unchanged. */
  readonly extra: Output<Record<string, unknown> | undefined>;
  /** Id of the organization behind it. */
  readonly orgId: Output<string>;
  /** Last known state, in the service's own words. */
  readonly state: Output<string>;
  /** Minimum number of nodes that it must own in an environment. */
  readonly minimumNodes: Output<number>;
  /** Maximum number of nodes that it may own in an environment. */
  readonly maximumNodes: Output<number>;
  /** Revision counter: starts at `0` and increases with every change. */
  readonly revision: Output<string>;
  /** Creation time: ISO 8601, UTC. */
  readonly createdAt: Output<string>;
}

/** Arguments of `Environment`, except its parents. A blockchain network: one ledger, with a client and a consensus protocol. A consortium has at most 3 environments. */
export interface EnvironmentFields<Client extends keyof ConsensusOf = keyof ConsensusOf> {
  /** Client that the nodes run: `quorum` or `geth`. */
  provider: Input<Client>;
  /** Consensus protocol: `raft` or `ibft` with `quorum`; `poa` with `geth`. */
  consensusType: Input<ConsensusOf[Client]>;
  /** Name of the environment. Default: the name of the resource. */
  name?: Input<string>;
  /** Description for people. Default: none. */
  description?: Input<string>;
  /** Chain id of the ledger. Default: the service chooses one. */
  chainId?: Input<number>;
  /** `true` adopts the object with this name if it exists; an id adopts exactly that object or fails. Default: `false`: a name that is already taken is an error. */
  adopt?: Input<boolean | string>;
  /** Additional fields for the create call, under the service's own names, sent unchanged. */
  extra?: Input<Record<string, unknown>>;
}

/** Properties of `Environment`: its arguments, with parents as ids, and its outputs. */
export interface EnvironmentOutputs {
  /** Id of the consortium that it belongs to. Programs can pass the resource as `consortium` instead. */
  readonly consortiumId: Output<string>;
  /** Client that the nodes run: `quorum` or `geth`. */
  readonly provider: Output<"quorum" | "geth">;
  /** Consensus protocol: `raft` or `ibft` with `quorum`; `poa` with `geth`. */
  readonly consensusType: Output<"raft" | "ibft" | "poa">;
  /** Name of the environment. Default: the name of the resource. */
  readonly name: Output<string>;
  /** Description for people. Default: none. */
  readonly description: Output<string | undefined>;
  /** Chain id of the ledger. Default: the service chooses one. */
  readonly chainId: Output<number>;
  /** `true` adopts the object with this name if it exists; an id adopts exactly that object or fails. Default: `false`: a name that is already taken is an error. */
  readonly adopt: Output<boolean | string | undefined>;
  /** Additional fields for the create call, under the service's own names, sent unchanged. */
  readonly extra: Output<Record<string, unknown> | undefined>;
  /** Last known state, in the service's own words. */
  readonly state: Output<string>;
  /** Region it runs in. */
  readonly region: Output<string>;
  /** Release of the service's software that it runs. */
  readonly releaseId: Output<string>;
  /** Seconds between blocks. */
  readonly blockPeriod: Output<number>;
  /** Delay before the first block, as reported by the service. */
  readonly initialDelay: Output<number>;
  /** Idle hours after which the service may pause it. */
  readonly idleHours: Output<number>;
  /** Whether a tether service is enabled for it. */
  readonly enableTether: Output<boolean>;
  /** Revision counter: starts at `0` and increases with every change. */
  readonly revision: Output<string>;
  /** Creation time: ISO 8601, UTC. */
  readonly createdAt: Output<string>;
}

/** Arguments of `Node`, except its parents. A blockchain node that one member runs in an environment. An environment has at most 4 nodes. */
export interface NodeFields {
  /** Name of the node. Default: the name of the resource. */
  name?: Input<string>;
  /** `true` adopts the object with this name if it exists; an id adopts exactly that object or fails. Default: `false`: a name that is already taken is an error. */
  adopt?: Input<boolean | string>;
  /** Additional fields for the create call, under the service's own names, sent unchanged. */
  extra?: Input<Record<string, unknown>>;
}

/** Properties of `Node`: its arguments, with parents as ids, and its outputs. */
export interface NodeOutputs {
  /** Id of the consortium that it belongs to. Programs can pass the resource as `consortium` instead. */
  readonly consortiumId: Output<string>;
  /** Id of the environment that it belongs to. Programs can pass the resource as `environment` instead. */
  readonly environmentId: Output<string>;
  /** Id of the membership that owns it. Programs can pass the resource as `membership` instead. */
  readonly membershipId: Output<string>;
  /** Name of the node. Default: the name of the resource. */
  readonly name: Output<string>;
  /** `true` adopts the object with this name if it exists; an id adopts exactly that object or fails. Default: `false`: a name that is already taken is an error. */
  readonly adopt: Output<boolean | string | undefined>;
  /** Additional fields for the create call, under the service's own names, sent unchanged. */
  readonly extra: Output<Record<string, unknown> | undefined>;
  /** Role in the consensus, such as `validator`. */
  readonly role: Output<string>;
  /** Last known state, in the service's own words. */
  readonly state: Output<string>;
  /** Client that it runs, from its environment. */
  readonly provider: Output<string>;
  /** Consensus protocol, from its environment. */
  readonly consensusType: Output<string>;
  /** Runtime endpoints: `rpc` (JSON-RPC over HTTPS) and `wss` (WebSocket). They require an AppCred of the same member and environment. */
  readonly urls: Output<{ rpc: string; wss: string }>;
  /** Identifier of the node on the blockchain network, hex. */
  readonly nodeKey: Output<string>;
  /** Address of the node's own account, hex. */
  readonly publicAddress: Output<string>;
  /** Addresses of the validators that it knows. */
  readonly validators: Output<string[]>;
  /** Accounts that the node holds for its users. */
  readonly userAccounts: Output<string[]>;
  /** Revision counter: starts at `0` and increases with every change. */
  readonly revision: Output<string>;
  /** Creation time: ISO 8601, UTC. */
  readonly createdAt: Output<string>;
}

/** Arguments of `AppCred`, except its parents. Username and password for the runtime endpoints of one member's nodes in one environment, and nothing else. */
export interface AppCredFields {
  /** Name of the credential. Default: the name of the resource. */
  name?: Input<string>;
  /** Arbitrary values. When one changes, a new pair is created, then the old one is deleted. Default: none. */
  keepers?: Input<Record<string, unknown>>;
  /** Additional fields for the create call, under the service's own names, sent unchanged. */
  extra?: Input<Record<string, unknown>>;
}

/** Properties of `AppCred`: its arguments, with parents as ids, and its outputs. */
export interface AppCredOutputs {
  /** Id of the consortium that it belongs to. Programs can pass the resource as `consortium` instead. */
  readonly consortiumId: Output<string>;
  /** Id of the environment that it belongs to. Programs can pass the resource as `environment` instead. */
  readonly environmentId: Output<string>;
  /** Id of the membership whose nodes it opens. Programs can pass the resource as `membership` instead. */
  readonly membershipId: Output<string>;
  /** Name of the credential. Default: the name of the resource. */
  readonly name: Output<string>;
  /** Arbitrary values. When one changes, a new pair is created, then the old one is deleted. Default: none. */
  readonly keepers: Output<Record<string, unknown> | undefined>;
  /** Additional fields for the create call, under the service's own names, sent unchanged. */
  readonly extra: Output<Record<string, unknown> | undefined>;
  /** Username of the pair; also the id. */
  readonly username: Output<string>;
  /** Authentication type: `basic_auth`. */
  readonly authType: Output<string>;
  /** Password of the pair. The service shows it only once, when the pair is created. */
  readonly password: Output<string>;
  /** Value of the `Authorization` header: `Basic …`. */
  readonly basicAuthHeader: Output<string>;
  /** Revision counter: starts at `0` and increases with every change. */
  readonly revision: Output<string>;
}

/** Arguments of `TetherService`, except its parents. Pins the state of an environment's ledger to a public chain. The service itself is created in the console; this resource configures it, deploys its contract once per network, and starts and stops it. */
export interface TetherServiceFields {
  /** Id of the tether service. Programs can pass its console address as `consoleUrl` instead, which ends in the id. */
  tetherId: Input<string>;
  /** Public chain that the state is pinned to: `mainnet` or `rinkeby`. */
  network: Input<"mainnet" | "rinkeby">;
  /** Hours between two pins: a whole number, at least 1. */
  intervalHours: Input<number>;
  /** Whether it pins. Default: `true`. */
  active?: Input<boolean>;
  /** Balance in wei that the account needs on the network before the contract is deployed there. Default: more than zero. */
  minimumBalanceWei?: Input<string | number>;
  /** How long to wait for funds while the balance is too low, such as `30m`. Default: do not wait, and fail before anything is spent. `customTimeouts` do not shorten it. */
  waitForFunds?: Input<string>;
  /** Additional fields for the body of `deploy`, sent unchanged. */
  extra?: Input<Record<string, unknown>>;
}

/** Properties of `TetherService`: its arguments, with parents as ids, and its outputs. */
export interface TetherServiceOutputs {
  /** Id of the tether service. Programs can pass its console address as `consoleUrl` instead, which ends in the id. */
  readonly tetherId: Output<string>;
  /** Public chain that the state is pinned to: `mainnet` or `rinkeby`. */
  readonly network: Output<"mainnet" | "rinkeby">;
  /** Hours between two pins: a whole number, at least 1. */
  readonly intervalHours: Output<number>;
  /** Whether it pins. Default: `true`. */
  readonly active: Output<boolean>;
  /** Balance in wei that the account needs on the network before the contract is deployed there. Default: more than zero. */
  readonly minimumBalanceWei: Output<string | undefined>;
  /** How long to wait for funds while the balance is too low, such as `30m`. Default: do not wait, and fail before anything is spent. `customTimeouts` do not shorten it. */
  readonly waitForFunds: Output<string | undefined>;
  /** Additional fields for the body of `deploy`, sent unchanged. */
  readonly extra: Output<Record<string, unknown> | undefined>;
  /** Address that pays for the pins on the public chain. */
  readonly account: Output<string>;
  /** Balance of the account in wei, as of the last change. */
  readonly balanceWei: Output<string>;
  /** Progress: `configured`, `deployed`, `active` or `inactive`. */
  readonly state: Output<string>;
  /** Networks to which this resource deployed the contract. */
  readonly deployedNetworks: Output<string[]>;
}

/** What a class has to know of its resource: the handler it names, what it shows, and which of that is secret. */
export const facts = {
  Consortium: {
    handler: "consortium",
    outputs: ["name", "description", "adopt", "extra", "owner", "state", "revision", "createdAt"],
    secrets: [],
  },
  Membership: {
    handler: "membership",
    outputs: ["consortiumId", "orgName", "adopt", "extra", "orgId", "state", "minimumNodes", "maximumNodes", "revision", "createdAt"],
    secrets: [],
  },
  Environment: {
    handler: "environment",
    outputs: ["consortiumId", "provider", "consensusType", "name", "description", "chainId", "adopt", "extra", "state", "region", "releaseId", "blockPeriod", "initialDelay", "idleHours", "enableTether", "revision", "createdAt"],
    secrets: [],
  },
  Node: {
    handler: "node",
    outputs: ["consortiumId", "environmentId", "membershipId", "name", "adopt", "extra", "role", "state", "provider", "consensusType", "urls", "nodeKey", "publicAddress", "validators", "userAccounts", "revision", "createdAt"],
    secrets: [],
  },
  AppCred: {
    handler: "appCred",
    outputs: ["consortiumId", "environmentId", "membershipId", "name", "keepers", "extra", "username", "authType", "password", "basicAuthHeader", "revision"],
    secrets: ["password", "basicAuthHeader"],
  },
  TetherService: {
    handler: "tetherService",
    outputs: ["tetherId", "network", "intervalHours", "active", "minimumBalanceWei", "waitForFunds", "extra", "account", "balanceWei", "state", "deployedNetworks"],
    secrets: [],
  },
} as const;
