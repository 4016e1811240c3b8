import { type ConsortiumClient, type Identified } from "../../../provider/api";
import { PartialList } from "../../../provider/api/api-error";
import { Http } from "../../../provider/api/http";
import { type Props } from "../../../provider/core/definition";
import {
  ownershipOfNew,
  proveBeforeCreate,
  proveOrganization,
  refuseUnlikeRequired,
  requireOwner,
  stateObjectOf,
} from "../../../provider/core/organization";
import { type Ownership, type StateObject, withKey } from "../../../provider/core/ownership";
import { newSession, type Session } from "../../../provider/core/session";
import { storedKey } from "../../../provider/core/state";
import { definitions } from "../../../provider/resources";
import { settingsFor } from "../../support/peer";
import { VirtualTime } from "../../support/virtual-time";

/* The proof of a key, step by step: what each list tells of it, and what is believed without one. */

interface Case {
  /** What the state records. */
  ownership?: Partial<Ownership>;
  object?: Partial<StateObject>;
  /** What the key lists; a part of it with `isPart`. */
  consortia?: Identified[];
  isPart?: boolean;
  members?: string[];
  /** The organization that the service tells. */
  told?: string;
  /** The one that the settings require. */
  required?: string;
  provider?: string;
  isThere?: boolean;
  confirmed?: boolean;
  prepare?: (session: Session) => void;
}

const here = settingsFor("https://x/api/v1");
const known = withKey({ keys: [] }, here).keys;
const elsewhere = withKey({ keys: [] }, settingsFor("https://y/api/v1")).keys;
const other = withKey({ keys: [] }, settingsFor("https://x/api/v1", { apiKey: "another-key" })).keys;

function world({ consortia = [], isPart = false, members = [], told, required, provider, prepare }: Case) {
  const calls: string[] = [];
  const settings = required === undefined ? here : settingsFor("https://x/api/v1", { organization: required });
  const clock = new VirtualTime();
  const client = {
    list: (where: string) => {
      calls.push(where);
      if (where !== "/consortia") return Promise.resolve(members.map((org_id, at) => ({ id: `m${at}`, org_id })));
      const part = new PartialList({ kind: "partial", call: "GET /consortia", errorMessage: "cut", items: consortia });
      return isPart ? Promise.reject(part) : Promise.resolve(consortia);
    },
    organizationOfKey: () => Promise.resolve(told),
    http: { ...new Http(settings), settings, serviceTime: () => undefined },
  } as unknown as ConsortiumClient;
  const session = newSession(client, { clock, ...(provider !== undefined && { provider }) });
  prepare?.(session);
  return { session, calls, clock };
}

const objectOf = ({ ownership = {}, object = {} }: Case): StateObject => ({
  what: 'node "n" (x)',
  consortiumId: "c",
  id: "x",
  path: "/x",
  ...object,
  ownership: { organizations: ["o"], keys: other, ...ownership },
});

async function proving(given: Case) {
  const { session, calls } = world(given);
  const object = objectOf(given);
  if (given.confirmed === true) jest.spyOn(session.run, "isConfirmed").mockReturnValue(true);
  const is = await proveOrganization(session, object, given.isThere).then(
    ({ organizations, keys }) => `${String(organizations)} ${keys.length}`,
    ({ message }: Error) => message,
  );
  return { is, calls, session };
}

const c = { id: "c", owner: "o" };

test.each<[string, Case, string | RegExp]>([
  ["that was proved before", { ownership: { keys: known } }, "o 1"],
  ["that another object there has proved", { prepare: ({ run }) => void run.proved.set("c", { keys: [] }) }, "o 2"],
  ["of which the service tells the organization", { told: "o" }, "o 2"],
  ["of one of several organizations", { ownership: { organizations: ["o", "p"] }, consortia: [c], told: "p" }, "p 2"],
  [
    "of another organization",
    { told: "p" },
    /was made with organization o, but the API key .* belongs to organization p .*Nothing was changed/,
  ],
  ["of another organization, which the user confirms", { told: "p", confirmed: true }, /belongs to organization p/],
  ["of another organization, and the object is there", { told: "p", isThere: true }, /belongs to organization p/],
  ["that shows the consortium, which nobody owns", { consortia: [{ id: "c" }] }, "o 2"],
  [
    "that shows another one",
    { consortia: [{ id: "d" }] },
    /does not show consortium c \(.*CONSORTIUM_CONFIRM_DELETED=o/,
  ],
  [
    "that shows another one of others",
    { ownership: { organizations: undefined }, consortia: [{ id: "d", owner: "p" }] },
    /does not show consortium c, but some of organization p/,
  ],
  ["that shows nothing", {}, /shows no consortium at all/],
  ["that shows nothing, and the user confirms that", { confirmed: true }, "o 1"],
  ["that shows nothing but the object itself", { isThere: true }, "o 1"],
  [
    "that shows its consortium, of which the state knows nothing",
    { ownership: { organizations: undefined }, consortia: [c] },
    "o 2",
  ],
  [
    "that shows it, and nobody knows anything",
    { ownership: { organizations: undefined }, consortia: [{ id: "c" }] },
    "undefined 2",
  ],
  [
    "that may be that of two",
    { consortia: [c], members: ["o", "p"] },
    /may belong to organization o or p: .*consortium:organization o/,
  ],
  [
    "that may be that of two, where the settings say which",
    { consortia: [c], members: ["o", "p"], required: "o" },
    "o 2",
  ],
  [
    "at another address with the organization, and not the consortium",
    { ownership: { keys: elsewhere }, told: "o", consortia: [{ id: "d", owner: "o" }] },
    /either this address, which is new to the stack, .*Set the earlier address/,
  ],
  ["at another address with both", { ownership: { keys: elsewhere }, told: "o", consortia: [c] }, "o 2"],
  [
    "of one of several, which shows the consortium no more",
    { ownership: { organizations: ["o", "p"] }, told: "o", consortia: [{ id: "d", owner: "o" }] },
    /either the key belongs to another organization/,
  ],
  ["with a part of the list that shows the consortium", { consortia: [c], isPart: true, told: "o" }, "o 2"],
  ["with a part of the list that does not", { consortia: [{ id: "d", owner: "o" }], isPart: true, told: "o" }, /cut/],
  [
    "of a tether that it shows",
    {
      object: { consortiumId: undefined, isShown: () => Promise.resolve(true) },
      ownership: { organizations: undefined },
    },
    "undefined 2",
  ],
  [
    "of a tether that it does not show",
    {
      object: { consortiumId: undefined, isShown: () => Promise.resolve(false) },
      consortia: [c],
      ownership: { organizations: undefined },
    },
    /does not show it .*CONSORTIUM_CONFIRM_DELETED=x/,
  ],
  [
    "of an object that nothing shows",
    { object: { consortiumId: undefined }, consortia: [c], ownership: { organizations: undefined } },
    /does not show it/,
  ],
])("a key %s", async (_, given, is) => {
  expect((await proving(given)).is).toMatch(is);
});

test("is proved once for a consortium, with the lists that are needed", async () => {
  const { calls, session } = await proving({ consortia: [c] });
  expect(calls).toEqual(["/consortia", "/consortia/c/memberships"]);
  expect(session.run.proved.get("c")?.organizations).toEqual(["o"]);
  const without = await proving({ told: "o", object: { consortiumId: undefined } });
  expect(without.session.run.proved.size).toBe(0);
  expect((await proving({ ownership: { keys: known } })).calls).toEqual([]);
});

describe("the organization that the settings require", () => {
  test.each<[string, Case, string | RegExp]>([
    ["is that of the state", { required: "o", ownership: { keys: known } }, "o 1"],
    [
      "is another one",
      { required: "p", ownership: { keys: known } },
      /was made with organization o, but the organization must be p \(.*Select the stack of p/,
    ],
    [
      "is another one, after a move",
      { required: "p", ownership: { keys: known, provider: "a" }, provider: "b" },
      /In the program, the provider "a" was replaced by the provider "b": give it the provider "a" again/,
    ],
    [
      "is another one, after a move from the default one",
      { required: "p", ownership: { keys: known, provider: "" }, provider: "b" },
      /the default provider was replaced by the provider "b"/,
    ],
    [
      "is another one, without a move",
      { required: "p", ownership: { keys: known, provider: "b" }, provider: "b" },
      /Select the stack of p/,
    ],
    ["is not that of the key", { required: "o", told: "p" }, /must be o/],
    [
      "is that of the key, of which the state knows nothing",
      { required: "o", told: "o", ownership: { organizations: undefined, keys: known } },
      "undefined 1",
    ],
    [
      "is not that of the key, of which the state knows nothing",
      { required: "o", told: "p", ownership: { organizations: undefined, keys: known } },
      /must be o/,
    ],
  ])("%s", async (_, given, is) => {
    expect((await proving(given)).is).toMatch(is);
  });

  test("refuses nothing, where none is required or the state tells none", () => {
    const object = objectOf({ ownership: { organizations: ["p"] } });
    expect(() => refuseUnlikeRequired(world({}).session, object)).not.toThrow();
    expect(() =>
      refuseUnlikeRequired(world({ required: "o" }).session, objectOf({ ownership: { organizations: undefined } })),
    ).not.toThrow();
    expect(() =>
      refuseUnlikeRequired(world({ required: "o" }).session, objectOf({ ownership: { organizations: ["p", "o"] } })),
    ).not.toThrow();
    expect(() => refuseUnlikeRequired(world({ required: "o" }).session, object)).toThrow(/must be o/);
  });

  test("is checked by the answer to a first create", () => {
    const { session } = world({ required: "o" });
    const made = (owner?: string) => ({ id: "c", state: { name: "c", owner } });
    expect(() => requireOwner(session, definitions.consortium, made("o"))).not.toThrow();
    expect(() => requireOwner(session, definitions.consortium, made("p"))).toThrow(
      /The consortium c that this run had made was deleted again/,
    );
  });
});

describe("before a create", () => {
  const seen =
    (ownership: Partial<Ownership>) =>
    ({ run }: Session): void =>
      run.remember(objectOf({ ownership }));

  test.each<[string, "consortium" | "node", Case, boolean | RegExp]>([
    ["all that the engine has shown is proved", "node", { prepare: seen({ keys: known }) }, true],
    ["nothing is made with a key of others", "node", { prepare: seen({}), told: "p" }, /belongs to organization p/],
    ["nothing is required", "consortium", {}, true],
    ["the key is that of the organization", "consortium", { required: "o", told: "o" }, true],
    ["the key is not", "consortium", { required: "o", told: "p" }, /must be o/],
    ["a first consortium tells", "consortium", { required: "o" }, false],
    ["nothing else does", "node", { required: "o" }, /must be o/],
    [
      "another consortium that nobody owns does not",
      "consortium",
      { required: "o", consortia: [{ id: "d" }] },
      /must be o/,
    ],
  ])("%s (%s)", async (_, kind, given, is) => {
    const proof = proveBeforeCreate(world(given).session, definitions[kind]);
    if (is instanceof RegExp) await expect(proof).rejects.toThrow(is);
    else expect(await proof).toBe(is);
  });

  test.each<[string, "consortium" | "node", Case, number]>([
    ["a consortium waits for the states", "consortium", {}, 300],
    ["not if there are some", "consortium", { prepare: seen({ keys: known }) }, 0],
    ["nothing else waits", "node", {}, 0],
  ])("%s", async (_, kind, given, ms) => {
    const { session, clock } = world(given);
    await proveBeforeCreate(session, definitions[kind]);
    expect(clock.now()).toBe(ms);
  });
});

describe("a new object", () => {
  const made = (state: Props) => ({ id: "c", state });
  test.each<[string, "consortium" | "node", Props, Case, string]>([
    ["is its owner's", "consortium", { owner: "p" }, { told: "o" }, "p 1"],
    [
      "is not, if it was adopted",
      "consortium",
      { owner: "p", [storedKey]: { version: 2, how: "adopted" } },
      { told: "o" },
      "o 1",
    ],
    ["is not, if it shows none", "consortium", {}, { told: "o" }, "o 1"],
    ["has no owner of its own", "node", { owner: "p" }, { told: "o" }, "o 1"],
    [
      "is that of what was proved",
      "node",
      {},
      { told: "o", prepare: ({ run }) => void run.proved.set("d", { organizations: ["q"], keys: known }) },
      "q 1",
    ],
    [
      "is that of a state with this key",
      "node",
      {},
      { told: "o", prepare: ({ run }) => run.remember(objectOf({ ownership: { organizations: ["q"], keys: known } })) },
      "q 1",
    ],
    [
      "is not that of a state with another key",
      "node",
      {},
      { told: "o", prepare: ({ run }) => run.remember(objectOf({ ownership: { organizations: ["q"] } })) },
      "o 1",
    ],
    [
      "is not that of a state that tells none",
      "node",
      {},
      {
        told: "o",
        prepare: ({ run }) => run.remember(objectOf({ ownership: { organizations: undefined, keys: known } })),
      },
      "o 1",
    ],
    ["is that of nobody, if nothing tells", "node", {}, {}, "undefined 1"],
  ])("%s (%s)", async (_, kind, state, given, is) => {
    const { session } = world(given);
    const { organizations, keys } = await ownershipOfNew(session, definitions[kind], made(state));
    expect(`${String(organizations)} ${keys.length}`).toBe(is);
    if (kind === "consortium") expect(session.run.proved.has("c")).toBe(is.startsWith("p"));
  });
});

test.each<[string, "consortium" | "node" | "tetherService", Props, Partial<StateObject>]>([
  ["a consortium is in itself", "consortium", { name: "n" }, { consortiumId: "x", path: "/consortia/x" }],
  [
    "a node is in its own",
    "node",
    { name: "n", consortiumId: "c", environmentId: "e" },
    { consortiumId: "c", path: "/consortia/c/environments/e/nodes/x" },
  ],
  [
    "a tether is in none",
    "tetherService",
    {},
    { consortiumId: undefined, isShown: expect.any(Function) as () => Promise<boolean> },
  ],
])("of a state, %s", (_, kind, state, object) => {
  const kept = { version: 2, organizations: ["o"], keys: ["k"], provider: "" };
  const found = stateObjectOf(definitions[kind], "x", { ...state, [storedKey]: kept });
  expect(found).toMatchObject({ ...object, id: "x", ownership: { organizations: ["o"], keys: ["k"], provider: "" } });
  expect(stateObjectOf(definitions[kind], "x", state).ownership).toEqual({ keys: [] });
});
