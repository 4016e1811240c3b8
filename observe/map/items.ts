import {
  type Change,
  type ConsortiumModel,
  type EnvironmentModel,
  displayName,
  kinds,
  type NodeModel,
  type ObjectModel,
  type OtherModel,
  type TetherModel,
} from "../../inventory/model";
import { type Condition, conditionOf } from "../../provider/api/states";
import { type Kind, type LedgerHolder } from "../../provider/constants";
import { inEther } from "../../provider/plain";

/** A box of the map: one object, or a count of many. */
export interface MapItem {
  /** Unique in the map. */
  key: string;
  kind: Kind | "chain" | "nothing";
  /** Ids of the objects that it represents. */
  ids: string[];
  label: string;
  /** Below the label. */
  details: string[];
  /** The full text, for screen readers and tooltips. */
  title: string;
  tone: Tone;
  /** Results of a plan or a comparison. */
  marks: Mark[];
}

export const itemKey = (kind: MapItem["kind"], id: string): string => `${kind}:${id}`;

/** One object by itself. */
export const itemOf = (kind: Kind, object: ObjectModel, owner?: string): MapItem => ({
  key: itemKey(kind, object.id),
  kind,
  ids: [object.id],
  label: displayName(object),
  details: linesOf(kind, object, owner),
  title: inWords(kind, object, owner),
  tone: toneOf(kind, object),
  marks: marksOf(object),
});

/** A box that is not an object of the service. */
export const note = (kind: "chain" | "nothing", id: string, label: string, details: string[] = []): MapItem => ({
  key: itemKey(kind, id),
  kind,
  ids: [],
  label,
  details,
  title: [label, ...details].join(", "),
  tone: "plain",
  marks: [],
});

/** The color and sign of a condition; `plain` if there is nothing to say. */
export type Tone = "good" | "waiting" | "bad" | "plain";

/** Marks of an object besides its state. */
type Mark = Change | "drift" | "not in stacks";

const tones: Record<Condition, Tone> = {
  ready: "good",
  pending: "waiting",
  empty: "waiting",
  going: "waiting",
  stopped: "plain",
  over: "plain",
  unknown: "plain",
  failed: "bad",
  gone: "bad",
};
/** A tether works only while it is active. */
const tethers: Record<string, Tone> = {
  active: "good",
  initial: "waiting",
  configured: "waiting",
  deployed: "waiting",
};

/** A state in words: the service's own, unless it misleads. */
export const stateInWords = (state: string): string => (state === "setup" ? "set up" : state);

export function toneOf(kind: Kind, object: ObjectModel): Tone {
  const state = "state" in object ? object.state : undefined;
  if (state === undefined) return "plain";
  if (kind === "tetherService") return tethers[state] ?? "bad";
  const condition = conditionOf(state);
  return (kind === "node" || kind === "service") && condition === "stopped" ? "bad" : tones[condition];
}

export const marksOf = ({ change, drift, managed }: ObjectModel): Mark[] => [
  ...(change ? [change] : []),
  ...(drift && drift.length > 0 ? (["drift"] as const) : []),
  ...(managed === "not in stacks" ? [managed] : []),
];

/** A symbol beside each word, so that no mark depends on color alone. */
export const signs: Record<Mark, string> = {
  create: "+",
  update: "~",
  replace: "±",
  delete: "−",
  drift: "≠",
  "not in stacks": "✎",
};

/** A mark as a class of CSS and Mermaid. */
export const classOf = (mark: Mark): string => mark.replaceAll(" ", "-");

/** A number of objects: `1 node`, `3 nodes`. */
export const counted = (count: number, kind: Kind): string => `${count} ${kinds[kind].title}${count === 1 ? "" : "s"}`;

/** Losses along with an object. */
const losses: Record<Uncapitalize<LedgerHolder>, string> & Partial<Record<Kind, string>> = {
  consortium: "⚠ DESTROYS ALL ITS LEDGERS",
  environment: "⚠ DESTROYS ITS LEDGER",
  service: "⚠ DESTROYS WHAT IT KEEPS",
};

/** Lines below the name of an object. */
function linesOf(kind: Kind, object: ObjectModel, owner?: string): string[] {
  const line = factsOf(kind, object, owner)
    .filter((fact) => fact !== undefined && fact !== "")
    .join(" · ");
  const goes = object.change === "replace" || object.change === "delete";
  const loss = goes && !object.kept ? losses[kind] : undefined;
  return [...(line === "" ? [] : [line]), ...(loss === undefined ? [] : [loss])];
}

/** Facts that identify an object for a reader. */
function otherFacts({ kind, facts, state }: OtherModel, owner: string | undefined): (string | undefined)[] {
  const { region, cloud, type, service, email, setupComplete } = facts;
  const told = [kind === "configuration" ? type : undefined, region, cloud, service, email].map((one) =>
    one === undefined ? undefined : String(one),
  );
  const setUp = setupComplete === false ? "not set up" : undefined;
  const title = service === undefined ? kinds[kind].title : undefined; // its type says what it is
  return [title, ...told, owner, setUp, kind === "service" || state !== "active" ? state : undefined];
}

function factsOf(kind: Kind, object: ObjectModel, owner: string | undefined): (string | undefined)[] {
  if ("facts" in object) return otherFacts(object, owner);
  switch (kind) {
    case "environment": {
      const { provider, consensusType, chainId, state } = object as EnvironmentModel;
      const chain = chainId === undefined ? undefined : `chain ${chainId}`;
      return [provider, consensusType, chain, state && stateInWords(state)];
    }
    case "node":
      return [owner, (object as NodeModel).state];
    case "tetherService": {
      const { network, state, balanceWei } = object as TetherModel;
      return [kinds[kind].title, network, state, balanceWei === undefined ? undefined : inEther(balanceWei)];
    }
    case "consortium": {
      const { state } = object as ConsortiumModel;
      return [state && stateInWords(state)];
    }
    default: // an active member needs no details
      return "state" in object && object.state !== "active" ? [object.state] : [];
  }
}

/** Everything known about an object, in one sentence. */
function inWords(kind: Kind, object: ObjectModel, owner?: string): string {
  const { managed, change, kept, drift = [], id } = object;
  const name = displayName(object);
  const account = (object as TetherModel).account;
  const role = (object as NodeModel).role;
  const { urls } = "facts" in object ? object : {};
  return [
    `${kinds[kind].title} ${name}${owner === undefined ? "" : ` of ${owner}`}`,
    ...(kind === "node" ? [(object as NodeModel).state, role] : factsOf(kind, object, undefined)).filter(
      (fact) => fact !== kinds[kind].title,
    ),
    account && `account ${account}`,
    ...Object.values(urls ?? {}).map((url) => `at ${url}`),
    name === id ? undefined : `id ${id}`,
    managed === "not in stacks" ? managed : managed && `managed by stack ${managed.stack} as ${managed.name}`,
    change && `the plan will ${change} it${kept ? ", and it stays in the service" : ""}`,
    ...drift,
  ]
    .filter((part) => part !== undefined && part !== "")
    .join("; ");
}
