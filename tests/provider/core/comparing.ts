import { type Definition, type Props } from "../../../provider/core/definition";
import { diff, type DiffResult } from "../../../provider/core/diff";
import { fresh, type StateParts, stateOf } from "../../../provider/core/state";
import { definitions } from "../../../provider/resources";

/* States of earlier runs, compared with what a program asks for now. */

type Kind = keyof typeof definitions;

interface Base {
  asked: Props;
  /** What the service shows besides. */
  shown: Props;
}

const place = { consortiumId: "c", environmentId: "e" };
const owned = { ...place, membershipId: "m" };
const zone = { ...place, name: "z", region: "r1", cloud: "aws", type: "kaleido" };
export const bases = {
  node: {
    asked: { ...owned, name: "n" },
    shown: { state: "started", role: "validator", size: "small", urls: { rpc: "r" } },
  },
  environment: {
    asked: { consortiumId: "c", name: "e", provider: "quorum", consensusType: "raft" },
    shown: { state: "live", createdAt: "2024-01-01T00:00:00Z", chainId: 7, releaseId: "r1", paused: false },
  },
  service: { asked: { ...owned, name: "s", service: "ipfs" }, shown: { state: "started", urls: { http: "u" } } },
  configuration: { asked: { ...owned, name: "g", type: "kms", details: { a: "1" } }, shown: { state: "started" } },
  appCred: { asked: { ...owned, name: "a" }, shown: { password: "p", username: "u" } },
  environmentZone: { asked: zone, shown: { state: "started" } },
  invitation: { asked: { consortiumId: "c", orgName: "o", email: "a@b.example" }, shown: { state: "sent" } },
  destination: {
    asked: { ...owned, serviceId: "s", serviceType: "documentstore", name: "in", kaleidoManaged: true },
    shown: {},
  },
  tetherService: {
    asked: { tetherId: "tether0001", network: "local", intervalHours: 1, active: true },
    shown: { state: "active", deployedNetworks: ["local"] },
  },
} satisfies Partial<Record<Kind, Base>>;
export type Based = keyof typeof bases;
export const shared = { how: "shared" } as const;

export interface Last {
  /** What the program asked for, besides the base. */
  asked?: Props;
  /** What the service answered then, and shows still if nothing else is said. */
  answered?: Props;
  shown?: Props;
  parts?: Partial<StateParts>;
}

export const definitionOf = (kind: Based): Definition => definitions[kind];

/** The state of an object that the service shows as it was asked for. */
export function stateLike(kind: Based, { asked = {}, answered = {}, shown = {}, parts = {} }: Last): Props {
  const base: Base = bases[kind];
  const all = { ...base.asked, ...asked };
  const first = { ...base.shown, ...all, ...answered };
  return stateOf(definitionOf(kind), { ...fresh(all, first), shown: { ...first, ...shown }, ...parts });
}

/** What differs where the last run was so, and the program now asks for this. */
export const compared = (kind: Based, last: Last, change: Props): DiffResult => {
  const inputs: Props = { ...bases[kind].asked, ...last.asked, ...change };
  return diff(definitionOf(kind), "id1", stateLike(kind, last), inputs);
};
