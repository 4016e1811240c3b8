/*
 * Generated from the schema of network files (sdk/network/schema.ts) by `npm run generate`. Do not edit.
 * Plain types instead of inferred ones: programs that use them compile and start without loading the schema.
 */

/** One ledger: client, consensus, nodes by member, credentials, and what pins it. A consortium has at most 3 environments. */
export type NetworkEnvironment = NetworkEnvironmentSettings &
  (
    | {
        /** Client that the nodes run: `quorum` or `geth`. */
        provider: "quorum";
        /** Consensus protocol: `raft` or `ibft` with `quorum`; `poa` with `geth`. */
        consensusType: "raft" | "ibft";
      }
    | {
        /** Client that the nodes run: `quorum` or `geth`. */
        provider: "geth";
        /** Consensus protocol: `raft` or `ibft` with `quorum`; `poa` with `geth`. */
        consensusType: "poa";
      }
  );

/** A whole network: one consortium with its members and environments, or several consortia. */
export interface NetworkDefinition {
  /** Name of the network, the first part of all logical names. Default: the name of the file. */
  name?: string;
  /** The name that the network had before it was renamed, or several, so that nothing is replaced. May stay for ever. Default: none. */
  formerly?: string | string[];
  /** `true`: everything adopts what has its name, unless an entry says otherwise. Default: `false`. */
  adopt?: boolean;
  /** Limits of the organization. Default: those of the service. */
  limits?: NetworkLimits;
  /** The consortium: its name, or its settings. Default: one with the name of the network. */
  consortium?: string | NetworkConsortiumHead;
  /** Businesses that take part: a list of keys, or a mapping of keys to settings. Default: none. */
  members?: string[] | Record<string, NetworkMember | null>;
  /** Ledgers by key. At most 3 in a consortium. Default: none. */
  environments?: Record<string, NetworkEnvironment>;
  /** Several consortia by key, instead of `consortium`, `members` and `environments`. An organization owns at most 2 consortia. */
  consortia?: Record<string, NetworkConsortium | null>;
}
/** Limits that the definition is checked against: raise them for an organization that has other ones. */
export interface NetworkLimits {
  /** Most consortia of the organization. Default: 2. */
  consortiaPerOrganization?: number;
  /** Most environments in a consortium. Default: 3. */
  environmentsPerConsortium?: number;
  /** Most nodes in an environment. Default: 4. */
  nodesPerEnvironment?: number;
}
/** What is said of the consortium itself. */
export interface NetworkConsortiumHead {
  /** Name of the consortium. Default: the name of the network. */
  name?: string;
  /** What it is for, in words for people. Default: none. */
  description?: string;
  /** `true` adopts the one with this name, if there is one; an id adopts that one or fails. Default: that of the network. */
  adopt?: boolean | string;
  /** Whether Pulumi refuses to delete or replace it. Default: the option `protect` of the network. */
  protect?: boolean;
  /** Fields for the create call beyond those documented here, under the service's own names, sent as they are. */
  extra?: Record<string, unknown>;
}
/** One business of the consortium. */
export interface NetworkMember {
  /** Name of the business. Default: its key. */
  orgName?: string;
  /** `true` adopts the one with this name, if there is one; an id adopts that one or fails. Default: that of the network. */
  adopt?: boolean | string;
  /** Whether Pulumi refuses to delete or replace it. Default: the option `protect` of the network. */
  protect?: boolean;
  /** The key that it had before it was renamed, or several, so that nothing is replaced. May stay for ever. Default: none. */
  formerly?: string | string[];
  /** Fields for the create call beyond those documented here, under the service's own names, sent as they are. */
  extra?: Record<string, unknown>;
}
export interface NetworkEnvironmentSettings {
  /** Name of the environment. Default: its key. */
  name?: string;
  /** What it is for, in words for people. Default: none. */
  description?: string;
  /** Chain id of the ledger. Default: the service chooses one. */
  chainId?: number;
  /** Nodes by member: a count (`2` makes `<member>-1` and `<member>-2`), a list of names, or a mapping of names to settings. At most 4 in all. Default: none. */
  nodes?: Record<string, number | string[] | Record<string, NetworkNode | null>>;
  /** Credentials: a list of members, or a mapping of names to settings; `[]` for none. Default: one for each member with nodes here. */
  credentials?: string[] | Record<string, NetworkCredential | null>;
  /** Pins the ledger to a public chain. Default: nothing does. */
  tether?: NetworkTether;
  /** `true` adopts the one with this name, if there is one; an id adopts that one or fails. Default: that of the network. */
  adopt?: boolean | string;
  /** Whether Pulumi refuses to delete or replace it or what is in it. Default: the option `protect` of the network. */
  protect?: boolean;
  /** The key that it had before it was renamed, or several, so that nothing is replaced. May stay for ever. Default: none. */
  formerly?: string | string[];
  /** Fields for the create call beyond those documented here, under the service's own names, sent as they are. */
  extra?: Record<string, unknown>;
}
/** One node. Its key is its logical name within the environment. */
export interface NetworkNode {
  /** Name of the node. Default: its key. */
  name?: string;
  /** `true` adopts the one with this name, if there is one; an id adopts that one or fails. Default: that of the network. */
  adopt?: boolean | string;
  /** Whether Pulumi refuses to delete or replace it. Default: that of its environment. */
  protect?: boolean;
  /** The key that it had before it was renamed, or several, so that nothing is replaced. May stay for ever. Default: none. */
  formerly?: string | string[];
  /** Fields for the create call beyond those documented here, under the service's own names, sent as they are. */
  extra?: Record<string, unknown>;
}
/** User name and password for the nodes of one member in this environment. */
export interface NetworkCredential {
  /** Key of the member whose nodes it opens. Default: its own key. */
  member?: string;
  /** Name of the credential. Default: its key as it was when the credential was made. */
  name?: string;
  /** Any values; when one changes, a new pair is made, and the old one deleted after that. Default: none. */
  keepers?: Record<string, unknown>;
  /** Whether Pulumi refuses to delete or replace it. Default: that of its environment. */
  protect?: boolean;
  /** The key that it had before it was renamed, or several, so that nothing is replaced. May stay for ever. Default: none. */
  formerly?: string | string[];
  /** Fields for the create call beyond those documented here, under the service's own names, sent as they are. */
  extra?: Record<string, unknown>;
}
/** Pins the ledger of the environment to a public chain, once all its nodes are there. Give `tetherId` or `consoleUrl`. */
export interface NetworkTether {
  /** Id of the tether service, which is ordered in the console: 10 characters. */
  tetherId?: string;
  /** Its address in the console instead, whose last 10 characters are the id. */
  consoleUrl?: string;
  /** Public chain that the state is pinned to: `mainnet` or `rinkeby`. */
  network: "mainnet" | "rinkeby";
  /** Hours between two pins: whole, at least 1. */
  intervalHours: number;
  /** Whether it pins. Default: `true`. */
  active?: boolean;
  /** Balance in wei that the account needs on the network before the contract is deployed there. Default: more than zero. */
  minimumBalanceWei?: string | number;
  /** How long to wait for funds while the account has less than that, such as `30m`. Default: it does not wait, and fails before anything is spent. `customTimeouts` do not shorten it. */
  waitForFunds?: string;
  /** Whether Pulumi refuses to delete or replace it. Default: that of its environment. */
  protect?: boolean;
  /** Fields for the body of `deploy`, sent as they are. */
  extra?: Record<string, unknown>;
}
/** One of several consortia, with what is in it. */
export interface NetworkConsortium {
  /** Name of the consortium. Default: its key. */
  name?: string;
  /** What it is for, in words for people. Default: none. */
  description?: string;
  /** `true` adopts the one with this name, if there is one; an id adopts that one or fails. Default: that of the network. */
  adopt?: boolean | string;
  /** Whether Pulumi refuses to delete or replace it. Default: the option `protect` of the network. */
  protect?: boolean;
  /** Fields for the create call beyond those documented here, under the service's own names, sent as they are. */
  extra?: Record<string, unknown>;
  /** The key that it had before it was renamed, or several, so that nothing is replaced. May stay for ever. Default: none. */
  formerly?: string | string[];
  /** Businesses that take part: a list of keys, or a mapping of keys to settings. Default: none. */
  members?: string[] | Record<string, NetworkMember | null>;
  /** Ledgers by key. At most 3 in a consortium. Default: none. */
  environments?: Record<string, NetworkEnvironment>;
}
