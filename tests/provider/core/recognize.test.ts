import { type ConsortiumClient, type Identified } from "../../../provider/api";
import { Collection } from "../../../provider/core/collection";
import { type Definition, pathOf, type Props } from "../../../provider/core/definition";
import { isTwin, looksSame, newObjects } from "../../../provider/core/lifecycle/recognize";
import { newSession } from "../../../provider/core/session";
import { definitions } from "../../../provider/resources";

/* What may be the result of a create whose answer was lost: nothing that the service shows may contradict it. */

type Kind = "environment" | "node" | "service" | "consortium" | "appCred";

const owned = { consortiumId: "c", environmentId: "e", membershipId: "m" };
const asked: Record<Kind, Props> = {
  environment: { consortiumId: "c", name: "e", provider: "quorum", consensusType: "raft", description: "d" },
  node: { ...owned, name: "n" },
  service: { ...owned, name: "s", service: "ipfs" },
  consortium: { name: "trade" },
  appCred: { ...owned, name: "a" },
};
const shown: Record<Kind, Props> = {
  environment: { name: "e", provider: "quorum", consensus_type: "raft", description: "d" },
  node: { name: "n", membership_id: "m" },
  service: { name: "s", service: "ipfs", membership_id: "m" },
  consortium: { name: "trade" },
  appCred: { name: "a", membership_id: "m" },
};

interface Case {
  /** What the program asks for besides. */
  inputs?: Props;
  /** What the service shows besides. */
  item?: Props;
  /** By the service's clock: when it was asked for. */
  since?: string;
  /** The organization that the settings require. */
  organization?: string;
  /** The organizations of what the stack has. */
  organizations?: string[];
  /** How it is known already: it was there before, this run made it, or the stack has it. */
  known?: "before" | "made" | "ofStack";
}

async function judged(kind: Kind, { inputs = {}, item = {}, known, ...rest }: Case): Promise<string> {
  const definition: Definition = definitions[kind];
  const all = { ...asked[kind], ...inputs };
  const one: Identified = { id: "x1", ...shown[kind], ...item };
  const settings = { organization: rest.organization === undefined ? undefined : { id: rest.organization } };
  const client = { list: () => Promise.resolve([one]), http: { settings } } as unknown as ConsortiumClient;
  const session = newSession(client);
  const { organizations } = rest;
  const object = { what: "c", consortiumId: "c", id: "c", path: "/c", ownership: { keys: ["k"], organizations } };
  if (organizations) session.run.remember(object);
  const collection = Collection.of(session, definition, all);
  if (known === "made") collection.recordMade(one);
  if (known === "ofStack") session.run.shown.add(pathOf(definition, all, "x1"));
  const before = new Set(known === "before" ? ["x1"] : ["x0"]);
  const since = (): number | undefined => (rest.since === undefined ? undefined : Date.parse(rest.since));
  const { ours, others } = (await newObjects({ collection, inputs: all, before, since }))!;
  expect(ours.length + others.length).toBeLessThanOrEqual(1);
  return others[0]?.why ?? (ours.length > 0 ? "ours" : "nothing");
}

const at = (time: string): string => `2026-01-01T00:00:${time}Z`;

test.each<[string, Kind, Case, string]>([
  ["all is as it was asked for", "environment", {}, "ours"],
  ["it was there before", "environment", { known: "before" }, "nothing"],
  ["this run has made it for another resource", "environment", { known: "made" }, "nothing"],
  ["the stack has it", "environment", { known: "ofStack" }, "nothing"],
  ["it has another name", "environment", { item: { name: "other" } }, "nothing"],
  ["its name is written in another way", "environment", { item: { name: "E" } }, "ours"],
  ["something is written in another way", "environment", { item: { consensus_type: "RAFT" } }, "ours"],
  ["something is not shown", "environment", { item: { description: undefined } }, "ours"],
  ["something differs", "environment", { item: { provider: "geth" } }, 'its provider is "geth"'],
  [
    "two differ",
    "environment",
    { item: { provider: "geth", description: "x" } },
    'its provider is "geth"; its description is "x"',
  ],
  ["the service chose something", "environment", { item: { chain_id: 7 } }, "ours"],
  ["it chose as it was asked to", "environment", { inputs: { chainId: 7 }, item: { chain_id: 7 } }, "ours"],
  ["it chose otherwise", "environment", { inputs: { chainId: 7 }, item: { chain_id: 8 } }, "its chainId is 8"],
  ["an id is written in another way", "node", { item: { membership_id: "M" } }, 'its membershipId is "M"'],
  [
    "an object has more",
    "service",
    { inputs: { details: { a: { b: 1 } } }, item: { details: { a: { b: 1, c: 2 } } } },
    "ours",
  ],
  [
    "an object differs",
    "service",
    { inputs: { details: { a: { b: 1 } } }, item: { details: { a: { b: 2 } } } },
    "its details is another one",
  ],
  [
    "an object is none",
    "service",
    { inputs: { details: { a: { b: 1 } } }, item: { details: { a: 1 } } },
    "its details is another one",
  ],
  [
    "a part of an object differs",
    "service",
    { inputs: { details: { a: 1, b: 2 } }, item: { details: { a: 1, b: 3 } } },
    "its details is another one",
  ],
  [
    "a part of an object is nothing",
    "service",
    { inputs: { details: { a: { b: 1 } } }, item: { details: { a: null } } },
    "its details is another one",
  ],
  ["nor is there one", "service", { inputs: { details: { a: 1 } }, item: { details: null } }, "ours"],
  ["what is extra is the same, as text", "node", { inputs: { extra: { rack: 5 } }, item: { rack: "5" } }, "ours"],
  [
    "what is extra is no number",
    "node",
    { inputs: { extra: { rack: true } }, item: { rack: "true" } },
    "its rack is another one",
  ],
  ["what is extra is not shown", "node", { inputs: { extra: { rack: 5 } }, item: { rack: "" } }, "ours"],
  [
    "what is extra differs",
    "node",
    { inputs: { extra: { rack: 5, row: 1 } }, item: { rack: "6" } },
    "its rack is another one",
  ],
  ["nobody knows whose it is to be", "consortium", { item: { owner: "o2" } }, "ours"],
  [
    "it belongs to the organization of the settings",
    "consortium",
    { item: { owner: "o1" }, organization: "o1" },
    "ours",
  ],
  ["it belongs to another one", "consortium", { item: { owner: "o2" }, organization: "o1" }, "its owner is o2"],
  [
    "the settings decide",
    "consortium",
    { item: { owner: "o2" }, organization: "o1", organizations: ["o2"] },
    "its owner is o2",
  ],
  [
    "it belongs to one that the stack may belong to",
    "consortium",
    { item: { owner: "o2" }, organizations: ["o1", "o2"] },
    "ours",
  ],
  [
    "it belongs to none of those",
    "consortium",
    { item: { owner: "o3" }, organizations: ["o1", "o2"] },
    "its owner is o3",
  ],
  ["its owner is not shown", "consortium", { organization: "o1" }, "ours"],
  ["it is not told when it was made", "node", { since: at("10.5") }, "ours"],
  ["it is not told when it was asked for", "node", { item: { created_at: at("09") } }, "ours"],
  [
    "it was made in the second in which it was asked for",
    "node",
    { item: { created_at: at("10") }, since: at("10.5") },
    "ours",
  ],
  ["it was made just then", "node", { item: { created_at: at("10.500") }, since: at("10.5") }, "ours"],
  [
    "it was made in the second before",
    "node",
    { item: { created_at: at("09") }, since: at("10.5") },
    `it was created at ${at("09")}, before this run asked for one`,
  ],
  [
    "it was made a millisecond before",
    "node",
    { item: { created_at: at("10.499") }, since: at("10.5") },
    `it was created at ${at("10.499")}, before this run asked for one`,
  ],
  ["a credential is alike", "appCred", {}, "ours"],
  ["a credential is another member's", "appCred", { item: { membership_id: "m2" } }, "nothing"],
  ["a credential shows no name", "appCred", { item: { name: undefined } }, "nothing"],
])("where %s (%s)", async (_, kind, given, verdict) => {
  expect(await judged(kind, given)).toBe(verdict);
});

test("where the service lists none, or nobody knows what was there before, nothing is known of new ones", async () => {
  const client = { list: () => Promise.reject(new Error("not asked")) } as unknown as ConsortiumClient;
  const collection = Collection.of(newSession(client), definitions.appCred, asked.appCred);
  const create = { collection, inputs: asked.appCred, before: undefined, since: () => undefined };
  expect(await newObjects(create)).toBeUndefined();
  expect(isTwin(collection, { id: "u1", membership_id: "m", name: "a" }, asked.appCred)).toBe(true);
});

test.each<[string, Props, Props, boolean]>([
  ["all", { name: "a", size: 1 }, { name: "a", size: 1 }, true],
  [
    "all but what always differs",
    { state: "x", created_at: "1", username: "u1" },
    { state: "y", created_at: "2", username: "u2" },
    true,
  ],
  ["all but what holds the id", { url: "https://u/x1" }, { url: "https://u/x2" }, true],
  ["all but what holds the id of one", { url: "https://u/x1" }, { url: "https://u" }, true],
  ["not a value", { name: "a" }, { name: "b" }, false],
  ["not a value that one lacks", { name: "a" }, {}, false],
  ["not one that the other lacks", {}, { name: "a" }, false],
])("two objects look the same in %s", (_, one, other, same) => {
  expect(looksSame({ id: "x1", ...one }, { id: "x2", ...other })).toBe(same);
});
