import { type NetworkModel, type PinModel } from "pulumi-consortium/internal/page";

/*
 * The messages between the console's server and its page: plain JSON, types only. They never contain an API key or a password,
 * except for `Made`, the only answer that shows a new one.
 */

/** The sections that a page can watch. The server requests only watched ones. */
export type Section =
  | "network"
  | "maps"
  | "keys"
  | "testing"
  | `environment/${string}`
  | `log/${string}`
  | `tether/${string}`
  | `pins/${string}/${number}`;

/** From the page: everything that it watches now; nothing while it is hidden. */
export interface Watch {
  watch: Section[];
}

/** Why a poll failed: no connection, no answer in time, the key was refused, or the service reported a failure. */
export type Trouble = "unreachable" | "slow" | "refused" | "failing";

/** From the server: the new contents of a section, or why there are none. */
export interface Shown {
  section: Section;
  value?: unknown;
  problem?: string;
  /** With `problem`: its kind, if the service is the reason. */
  trouble?: Trouble;
  /** Whether the poll is slow and has no answer yet. */
  late?: true;
  /** With `problem` or `late`: when the section was last read, in ms since 1970. */
  since?: number;
}

/** From the server, after each poll: sections that were not sent again are unchanged. */
export interface Looked {
  /** When the poll began, in ms since 1970. */
  at: number;
  /** Time until the next poll, in ms. */
  next: number;
}

export interface NetworkView {
  /** Name of the organization, if the service shows it. */
  organization?: string;
  baseUrl: string;
  /** Whether it is the embedded service, which can also do the manual tasks of the hosted console. */
  embedded: boolean;
  /** Length of an hour of a tether's interval on an embedded service, in ms. */
  tetherHour?: number;
  mayChange: boolean;
  /** The stacks: `project/stack`, and when their state was read or exported, in ms since 1970. */
  stacks: { name: string; at: number }[];
  model: NetworkModel;
}

/** The map of each consortium, by its id, as SVG. */
export type MapsView = Record<string, string>;

export interface EnvironmentView {
  /** The times of the polls, in seconds since 1970, and each node's heights at these times. */
  times: number[];
  heights: Record<string, (number | null)[]>;
  blocks: BlockView[];
  /** Why no blocks are shown. */
  noBlocks?: string;
}

export interface BlockView {
  number: number;
  hash: string;
  /** Seconds since 1970. */
  time: number;
  transactions: TransactionView[];
}

export interface TransactionView {
  hash: string;
  from: string;
  /** Absent if it created a contract. */
  to?: string;
  valueWei: string;
}

export interface TetherView {
  /** At most 50, newest first. `pins/<tether>/<end>` is the page of those before `end`. */
  pins: PinModel[];
  /** Average cost of the last pins; absent if not known. */
  pinCostWei?: string;
}

export interface KeyView {
  id: string;
  name: string;
  created_at?: string;
}

export interface TestingView {
  routes: string[];
  faults: { id: string; rule: FaultView; seen: number; hits: number }[];
  calls: CallView[];
}

export interface FaultView {
  kind: string;
  method?: string;
  route?: string;
  status?: number;
  ms?: number;
}

export interface CallView {
  /** Grows from call to call. */
  number: number;
  method: string;
  path: string;
  status?: number;
  at: number;
  fault?: string;
}

/** The page's POST requests, each with its body and its answer. */
export interface Actions {
  verify: { ask: { tether: string; index: number }; answer: Verdict };
  "sign-out": { ask: object; answer: object };
  "make-key": { ask: { name: string }; answer: Made };
  "revoke-key": { ask: { id: string }; answer: object };
  "order-tether": { ask: { environment?: string }; answer: { id: string } };
  "fund-tether": { ask: { tether: string; network: string; wei: string }; answer: { balanceWei?: string } };
  "make-credential": {
    ask: { consortium: string; environment: string; membership: string; name?: string };
    answer: Made;
  };
  "add-fault": { ask: Record<string, unknown>; answer: object };
  "remove-fault": { ask: { id: string }; answer: object };
}

/** A new secret, which is shown only once. */
export interface Made {
  name: string;
  secret: string;
}

export interface Verdict {
  verified: boolean;
  text: string;
}
