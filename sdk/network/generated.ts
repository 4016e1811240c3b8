/*
 * Generated from the schema of network files (sdk/network/schema.ts) by `npm run generate`. Do not edit.
 * Plain types instead of inferred ones: programs that use them compile and start without loading the schema.
 */
import { type Client, type ConsensusFor } from "../generated";

/** One ledger: client, consensus, nodes by member, credentials, tether, and the services beside it. A consortium has at most 3 environments. */
export type NetworkEnvironment = NetworkEnvironmentSettings & {
  [C in Client]: {
    /** Client that the nodes run: `quorum`, `geth`, `pantheon` (Besu), `fabric` or `corda`. A value that is not known, and is meant: `other:<value>`. */
    provider: C;
    /** Consensus protocol: `raft` or `ibft` with `quorum`; `poa` with `geth`; `ibft` or `poa` with `pantheon`. A value that is not known, and is meant: `other:<value>`. */
    consensusType: ConsensusFor<C>;
  };
}[Client];

/** Properties of most entries. */
interface NetworkEntry {
  /** `true` adopts the object with this name if it exists; an id adopts exactly that object or fails. Default: `adopt` of the network. */
  adopt?: boolean | string;
  /** Previous key, or a list of them, so that a rename replaces nothing. Can stay forever. Default: none. */
  formerly?: string | string[];
  /** Additional fields for the create call, under the service's own names, sent unchanged. */
  extra?: Record<string, unknown>;
}

/** A region of a cloud. */
interface NetworkZone {
  /** Region of the cloud, by the cloud's own name, such as `us-east-2`. */
  region: string;
  /** Cloud that it is in. The service decides which values are allowed; seen: `aws`, `azure`. */
  cloud: string;
  /** Who runs its machines: `kaleido` is the service itself. The service decides which values are allowed; seen: `kaleido`. Default: `kaleido`. */
  type?: string;
  /** Name of the zone. Default: its key. */
  name?: string;
}

/** Contents of a consortium. */
interface NetworkContents {
  /** Participating businesses: a list of keys, or a mapping of keys to settings. Default: none. */
  members?: string[] | Record<string, NetworkMember | null>;
  /** Zones in which environments of the consortium may run, by key. Default: none. */
  zones?: Record<string, NetworkConsortiumZone>;
  /** Invited businesses of other organizations, by key: the e-mail address, or settings. Default: none. */
  invitations?: Record<string, string | NetworkInvitation>;
  /** Ledgers by key. At most 3 in a consortium. Default: none. */
  environments?: Record<string, NetworkEnvironment>;
}

/** One business of the consortium. */
export interface NetworkMember extends NetworkEntry {
  /** Name of the business. Default: its key. */
  orgName?: string;
  /** Whether Pulumi refuses to delete or replace it. Default: the option `protect` of the network. */
  protect?: boolean;
}

/** The other settings of an environment. */
export interface NetworkEnvironmentSettings extends NetworkEntry {
  /** Name of the environment. Default: its key. */
  name?: string;
  /** Description for people. Default: none. */
  description?: string;
  /** Chain id of the ledger. Default: the service chooses one. */
  chainId?: number;
  /** Release of the service's software that it runs. An upgrade takes minutes for each node and cannot be undone. Default: the service chooses the newest. */
  releaseId?: string;
  /** Whether it is paused: it makes no blocks, and its nodes do not answer. `false` resumes it, even if the service has paused it. A new environment always starts running; the next update pauses it. Default: the service pauses it when it is idle, and leaves it so. */
  paused?: boolean;
  /** Seconds between blocks. Default: the service chooses, by the consensus protocol. */
  blockPeriod?: number;
  /** Accounts with a balance from the first block, by address: each an object with its `balance`, or just the balance, in wei as text. They are not read back. Default: none. */
  prefundedAccounts?: Record<string, { balance: string } | string>;
  /** Whether its nodes may be in several regions. Default: `false`. */
  multiRegion?: boolean;
  /** Experimental features, by the service's own names. They are not read back. Default: none. */
  testFeatures?: Record<string, unknown> | string;
  /** Nodes by member: a count (`2` makes `<member>-1` and `<member>-2`), a list of names, or a mapping of names to settings. At most 4 in all. Default: none. */
  nodes?: Record<string, number | string[] | Record<string, NetworkNode | null>>;
  /** Default settings of the nodes. Default: none. */
  nodeDefaults?: NetworkNodeDefaults;
  /** Credentials: a list of members, or a mapping of names to settings; `[]` for none. Default: one for each member with nodes here. */
  credentials?: string[] | Record<string, NetworkCredential | null>;
  /** Pins the ledger to a public chain. Default: no tether. */
  tether?: NetworkTether;
  /** Zones in which nodes and services of this environment may run, by key: they refer to one with `zone`. Default: none. */
  zones?: Record<string, NetworkEnvironmentZone>;
  /** Configurations by key: nodes refer to them with `nodeConfig`, `kms` and the like. Default: none. */
  configurations?: Record<string, NetworkConfiguration>;
  /** Services beside the ledger, by key. Default: none. */
  services?: Record<string, NetworkService>;
  /** Whether Pulumi refuses to delete or replace it or anything in it. Default: the option `protect` of the network. */
  protect?: boolean;
}

/** A whole network: one consortium with its members and environments, or several consortia. */
export interface NetworkDefinition extends NetworkContents {
  /** Name of the network, the first part of all logical names. Default: the name of the file. */
  name?: string;
  /** Previous name of the network, or a list of them, so that a rename replaces nothing. Can stay forever. Default: none. */
  formerly?: string | string[];
  /** `true`: every entry adopts the object with its name, unless it says otherwise. Default: `false`. */
  adopt?: boolean;
  /** Limits of the organization. Default: the service's limits. */
  limits?: NetworkLimits;
  /** The consortium: its name, or its settings. Default: one with the name of the network. */
  consortium?: string | NetworkConsortiumHead;
  /** Several consortia by key, instead of `consortium`, `members`, `zones`, `invitations` and `environments`. An organization owns at most 2 consortia. */
  consortia?: Record<string, NetworkConsortium | null>;
}

/** Limits that the definition is validated against. Raise them if your organization has higher ones. */
export interface NetworkLimits {
  /** Maximum number of consortia per organization. Default: 2. */
  consortiaPerOrganization?: number;
  /** Maximum number of environments per consortium. Default: 3. */
  environmentsPerConsortium?: number;
  /** Maximum number of nodes per environment. Default: 4. */
  nodesPerEnvironment?: number;
}

/** Settings of the consortium itself. */
export interface NetworkConsortiumHead {
  /** Name of the consortium. Default: the name of the network. */
  name?: string;
  /** Description for people. Default: none. */
  description?: string;
  /** `true` adopts the object with this name if it exists; an id adopts exactly that object or fails. Default: `adopt` of the network. */
  adopt?: boolean | string;
  /** Whether Pulumi refuses to delete or replace it. Default: the option `protect` of the network. */
  protect?: boolean;
  /** Additional fields for the create call, under the service's own names, sent unchanged. */
  extra?: Record<string, unknown>;
}

/** A region of a cloud where environments of the consortium may run. One that exists already is shared: adopt it. */
export interface NetworkConsortiumZone extends NetworkEntry, NetworkZone {
  /** Whether Pulumi refuses to delete or replace it. Default: the option `protect` of the network. */
  protect?: boolean;
}

/** Invites a business of another organization to the consortium. */
export interface NetworkInvitation extends NetworkEntry {
  /** Address that the invitation is sent to. */
  email: string;
  /** Name of the business. Default: its key. */
  orgName?: string;
  /** Whether Pulumi refuses to delete or replace it. Default: the option `protect` of the network. */
  protect?: boolean;
}

/** One node. Its key is its logical name within the environment. `nodeDefaults` has the settings that it lacks. */
export interface NetworkNode extends NetworkEntry, NetworkNodeDefaults {
  /** Name of the node. Default: its key. */
  name?: string;
  /** Whether Pulumi refuses to delete or replace it. Default: `protect` of its environment. */
  protect?: boolean;
}

/** Default settings of the nodes of the environment. */
export interface NetworkNodeDefaults {
  /** Role in the consensus. The service decides which values are allowed; seen: `validator`. Default: the service chooses. */
  role?: string;
  /** Size of the machine. The service decides which values are allowed; seen: `small`. Default: the service chooses. */
  size?: string;
  /** Key of the environment's zone that it runs in, instead of `zoneId`. Default: the service chooses. */
  zone?: string;
  /** Id of the environment's zone that it runs in. Default: the service chooses. */
  zoneId?: string;
  /** Key of the configuration of its key management, instead of `kmsId`. Default: the service chooses. */
  kms?: string;
  /** Id of the configuration of its key management. Default: the service chooses. */
  kmsId?: string;
  /** Key of the configuration of its metrics, instead of `opsmetricId`. Default: the service chooses. */
  opsmetric?: string;
  /** Id of the configuration of its metrics. Default: the service chooses. */
  opsmetricId?: string;
  /** Key of the configuration of its backups, instead of `backupId`. Default: the service chooses. */
  backup?: string;
  /** Id of the configuration of its backups. Default: the service chooses. */
  backupId?: string;
  /** Key of the configuration of its networking, instead of `networkingId`. Default: the service chooses. */
  networking?: string;
  /** Id of the configuration of its networking. Default: the service chooses. */
  networkingId?: string;
  /** Key of the configuration of the client, such as its gas price, instead of `nodeConfigId`. Default: the service chooses. */
  nodeConfig?: string;
  /** Id of the configuration of the client, such as its gas price. Default: the service chooses. */
  nodeConfigId?: string;
  /** Key of the configuration of its application firewall, instead of `bafId`. Default: the service chooses. */
  baf?: string;
  /** Id of the configuration of its application firewall. Default: the service chooses. */
  bafId?: string;
  /** Database that its client keeps the ledger in. The service decides which values are allowed. Default: the service chooses. */
  databaseType?: string;
}

/** Username and password for the nodes of one member in this environment. */
export interface NetworkCredential {
  /** Key of the member whose nodes it opens. Default: its own key. */
  member?: string;
  /** Name of the credential. If the service cannot rename it, the run ends with an error, and the next run creates a new pair. Default: its key when the credential was created. */
  name?: string;
  /** Arbitrary values. When one changes, a new pair is created, then the old one is deleted. Default: none. */
  keepers?: Record<string, unknown>;
  /** Arbitrary values. When one is added or changed, the service regenerates the password in place: same username, and the old password stops working at once. Not every service can. Default: none. */
  rotateWhenChanged?: Record<string, unknown>;
  /** Whether Pulumi refuses to delete or replace it. Default: `protect` of its environment. */
  protect?: boolean;
  /** Previous key, or a list of them, so that a rename replaces nothing. Can stay forever. Default: none. */
  formerly?: string | string[];
  /** Additional fields for the create call, under the service's own names, sent unchanged. */
  extra?: Record<string, unknown>;
}

/** Pins the ledger of the environment to a public chain, once all its nodes are running. Set `tetherId` or `consoleUrl`. */
export interface NetworkTether {
  /** Id of the tether service, ordered in the console: 10 characters. */
  tetherId?: string;
  /** Its console address, which ends in the id, instead of `tetherId`. */
  consoleUrl?: string;
  /** Public chain that the state is pinned to: `mainnet` or `rinkeby`, or `local` on the embedded service. A value that is not known, and is meant: `other:<value>`. */
  network: "mainnet" | "rinkeby" | "local" | `other:${string}`;
  /** Hours between two pins: a whole number, at least 1. */
  intervalHours: number;
  /** Whether it pins. Default: `true`. */
  active?: boolean;
  /** Balance in wei that the account needs on the network before the contract is deployed there. Default: more than zero. */
  minimumBalanceWei?: string | number;
  /** How long to wait for funds while the balance is too low, such as `30m`. `customTimeouts` do not shorten it. Default: do not wait, and fail before anything is spent. */
  waitForFunds?: string;
  /** Whether Pulumi refuses to delete or replace it. Default: `protect` of its environment. */
  protect?: boolean;
  /** Additional fields for the body of `deploy`, sent unchanged. */
  extra?: Record<string, unknown>;
}

/** A region of a cloud where nodes and services of the environment may run. One that exists already is shared: adopt it. */
export interface NetworkEnvironmentZone extends NetworkEntry, NetworkZone {
  /** Id of the bridge that connects it with machines of your own. Default: none. */
  bridgeId?: string;
  /** Whether Pulumi refuses to delete or replace it. Default: `protect` of its environment. */
  protect?: boolean;
}

/** Settings that nodes refer to, such as those of their client. */
export interface NetworkConfiguration extends NetworkEntry {
  /** Key of the member that owns it. */
  member: string;
  /** What it sets, by the service's own name. The service decides which values are allowed; seen: `node_config`. */
  type: string;
  /** Name of the configuration. Default: its key. */
  name?: string;
  /** The settings, by the names of the type: `{ gas_price: "1" }` of a `node_config`. They are not read back. A value `{ env: NAME }` is read from the environment variable, and is secret. Default: none. */
  details?: Record<string, unknown> | string;
  /** Whether Pulumi refuses to delete or replace it. Default: `protect` of its environment. */
  protect?: boolean;
}

/** A service beside the ledger, such as `ipfs`. */
export interface NetworkService extends NetworkEntry {
  /** Key of the member that owns it. */
  member: string;
  /** Type of the service. The service decides which values are allowed; seen: `idregistry`, `ipfs`, `documentstore`, `dataexchange`, `hdwallet`, `app2app`, `tether`. */
  service: string;
  /** Name of the service. Default: its key. */
  name?: string;
  /** Key of the environment's zone that it runs in, instead of `zoneId`. Default: the service chooses. */
  zone?: string;
  /** Id of the environment's zone that it runs in. Default: the service chooses. */
  zoneId?: string;
  /** Size of the machine. The service decides which values are allowed; seen: `small`. Default: the service chooses. */
  size?: string;
  /** Settings, under the names of the service's type. Settings that the service adds do not count as a change. A value `{ env: NAME }` is read from the environment variable, and is secret. Default: the service chooses. */
  details?: Record<string, unknown> | string;
  /** Destinations of a `documentstore` or `dataexchange`: a key, a list of keys, or a mapping of keys to settings. Default: none. */
  destinations?: string | string[] | Record<string, NetworkDestination | null>;
  /** Whether Pulumi refuses to delete or replace it. Default: `protect` of its environment. */
  protect?: boolean;
}

/** Receives documents or messages for the service's member. */
export interface NetworkDestination extends NetworkEntry {
  /** Name of the destination, which is also its id. Default: its key when the destination was created. */
  name?: string;
  /** Whether the service keeps the keys of the destination. Default: `true`. */
  kaleidoManaged?: boolean;
  /** Key of the `idregistry` service with which the membership is registered first, instead of `idRegistryId`. Default: it is registered already. */
  idRegistry?: string;
  /** Id of the `idregistry` service with which the membership is registered first. Default: it is registered already. */
  idRegistryId?: string;
  /** Whether the membership is verified first with a test certificate of the service, unless it is verified. Default: `false`. */
  testCertificate?: boolean;
  /** Whether Pulumi refuses to delete or replace it. Default: `protect` of its environment. */
  protect?: boolean;
}

/** One of several consortia, with its members and environments. */
export interface NetworkConsortium extends NetworkEntry, NetworkContents {
  /** Name of the consortium. Default: its key. */
  name?: string;
  /** Description for people. Default: none. */
  description?: string;
  /** Whether Pulumi refuses to delete or replace it. Default: the option `protect` of the network. */
  protect?: boolean;
}
