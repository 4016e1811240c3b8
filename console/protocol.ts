import type { NetworkModel, PinModel } from "../inventory/model";

/*
 * What goes between the console's server and its page: plain JSON, types only. It never holds an API key or a password, but for
 * `Made`, the one answer that shows a new one.
 */

/** What a page may look at; the server asks for nothing that no page looks at. */
export type Section =
  | "network"
  | "maps"
  | "keys"
  | "testing"
  | `environment/${string}`
  | `log/${string}`
  | `tether/${string}`
  | `pins/${string}/${number}`;

/** From the page: all that it looks at now. Nothing, while it is hidden. */
export interface Watch {
  watch: Section[];
}

/** From the server: what a section shows now, or why it shows nothing new. */
export interface Shown {
  section: Section;
  value?: unknown;
  problem?: string;
  /** With `problem`: when the section was last read, in ms since 1970. */
  since?: number;
}

/** From the server, after each look: everything else is as it was sent. */
export interface Looked {
  /** When it began to look, in ms since 1970. */
  at: number;
  /** How long until it begins again, in ms. */
  next: number;
}

export interface NetworkView {
  /** Name of the organization, where the service says it. */
  organization?: string;
  baseUrl: string;
  /** Whether it is the embedded service, which can do what the hosted console does by hand. */
  embedded: boolean;
  /** Whether real chains stand behind the nodes of an embedded service. */
  ledger?: "on" | "off" | "missing";
  /** How long an hour of a tether's interval lasts on an embedded service, in ms. */
  tetherHour?: number;
  mayChange: boolean;
  /** The stacks that were looked at, as `project/stack`. */
  stacks: string[];
  model: NetworkModel;
}

/** The map of each consortium, by its id, as SVG. */
export type MapsView = Record<string, string>;

export interface EnvironmentView {
  /** When each node was looked at, in seconds since 1970, and its height then. */
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
  /** Absent: it made a contract. */
  to?: string;
  valueWei: string;
}

export interface TetherView {
  /** The newest first, 50 at most; `pins/<tether>/<count>` is the page that ends with so many. */
  pins: PinModel[];
  /** What a pin costs, from what the last ones have cost; absent where that is not known. */
  pinCostWei?: string;
  /** Where pins are verified; absent: it was not said. */
  targetUrl?: string;
  /** Why the last pin failed. */
  problem?: string;
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
  method: string;
  path: string;
  status?: number;
  at: number;
  fault?: string;
}

/** What the page may ask for by POST, each with its body and its answer. */
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

/** A secret that is shown now and never again. */
export interface Made {
  name: string;
  secret: string;
}

export interface Verdict {
  verified: boolean;
  text: string;
}
