import { type ConsortiumClient } from "../../../provider/api";
import { type ErrorKind } from "../../../provider/api/api-error";
import { Http } from "../../../provider/api/http";
import { type Session, newSession } from "../../../provider/core/session";
import { times } from "../../../provider/core/times";
import {
  contentsOf,
  deletionOrder,
  type Found,
  fullIdOf,
  inside,
  kindsWithin,
  listed,
  placeWithin,
  readOrganization,
  readOwn,
} from "../../../provider/resources/tree";
import { settingsFor } from "../../support/peer";
import { VirtualTime } from "../../support/virtual-time";

/* What a service shows of an organization, as a tree: what it lists, lacks, or does not let this key see. */

type Item = Record<string, unknown>;
type Answers = Record<string, Item[] | ErrorKind>;

const http = new Http(settingsFor("https://x/api/v1"));
const e1 = "/consortia/c1/environments/e1";

/** A service that lists this, and nothing in all other places. */
function service(answers: Answers, own?: string) {
  const clock = new VirtualTime();
  const asked: string[] = [];
  const list = (where: string): Promise<Item[]> => {
    asked.push(where);
    const answer = answers[where] ?? [];
    if (typeof answer !== "string") return Promise.resolve(answer);
    const status = answer === "denied" ? 403 : 404;
    return Promise.reject(http.error({ kind: answer, status, call: `GET ${where}`, errorMessage: "no" }));
  };
  const client = { list, organizationOfKey: () => Promise.resolve(own) } as unknown as ConsortiumClient;
  const session: Session = newSession(client, { clock });
  return { session, asked, clock };
}

/** The tree as its ids. */
const outline = (all: readonly Found[]): object =>
  Object.fromEntries(all.map((one) => [`${one.kind} ${one.id}`, outline(one.inside)]));

const whole: Answers = {
  "/consortia": [{ id: "c1", name: "trade", owner: "o1" }],
  "/consortia/c1/environments": [{ id: "e1", name: "main" }],
  "/consortia/c1/memberships": [{ id: "m1", org_name: "acme", org_id: "o1" }],
  [`${e1}/nodes`]: [{ id: "n1", name: "node", membership_id: "m1" }],
  [`${e1}/appcreds`]: [{ id: "u1" }],
  [`${e1}/services`]: [
    { id: "s1", service: "documentstore" },
    { id: "s2", service: "dataexchange" },
    { id: "s3", service: "ipfs" },
  ],
  "/documentstore/s1/destinations": [{ id: "inbox", name: "inbox" }],
  "/ipfs/s3/destinations": [{ id: "none", name: "none" }],
};

test("all of it, each with what is in it; only services that can have destinations are asked for them", async () => {
  const { session, asked } = service(whole);
  expect(outline(await readOrganization(session))).toEqual({
    "consortium c1": {
      "environment e1": {
        "node n1": {},
        "appCred u1": {},
        "service s1": { "destination inbox": {} },
        "service s2": {},
        "service s3": {},
      },
      "membership m1": {},
    },
  });
  expect(asked.filter((where) => where.endsWith("/destinations"))).toEqual([
    "/documentstore/s1/destinations",
    "/dataexchange/s2/destinations",
  ]);
});

test("only what is wanted is asked for", async () => {
  const { session, asked } = service(whole);
  const only = ({ id }: Found): boolean => id !== "s1";
  const found = await readOrganization(session, { kinds: ["environment", "service", "destination"], only });
  expect(outline(found)).toEqual({ "consortium c1": { "environment e1": { "service s2": {}, "service s3": {} } } });
  expect(asked).toEqual([
    "/consortia",
    "/consortia/c1/environments",
    `${e1}/services`,
    "/dataexchange/s2/destinations",
  ]);
});

test("the oldest come first, then by name, then by id", async () => {
  const nodes = [
    { id: "4", name: "b", created_at: "2026-01-01T00:00:00Z" },
    { id: "5", name: "a", created_at: "2026-01-02T00:00:00Z" },
    { id: "3", name: "a", created_at: "2026-01-01T00:00:00Z" },
    { id: "1", name: "b" },
    { id: "2", name: "a" },
    { id: "0", name: "a" },
  ];
  const { session } = service({ [`${e1}/nodes`]: nodes });
  const found = await listed(session, "node", { consortiumId: "c1", environmentId: "e1" });
  expect(found!.map(({ id }) => id)).toEqual(["0", "2", "1", "3", "4", "5"]);
  const members = [
    { id: "1", org_name: "b" },
    { id: "2", org_name: "a" },
  ];
  const others = service({ "/consortia/c1/memberships": members }).session;
  expect((await listed(others, "membership", { consortiumId: "c1" }))!.map(({ id }) => id)).toEqual(["2", "1"]);
});

test("what was in something that is gone is empty; consortia that are missing are an error, and so is a refusal", async () => {
  const { session } = service({
    "/consortia": "missing",
    [`${e1}/nodes`]: "missing",
    "/consortia/c1/environments": "denied",
  });
  expect(await listed(session, "node", { consortiumId: "c1", environmentId: "e1" })).toEqual([]);
  await expect(listed(session, "consortium")).rejects.toMatchObject({ kind: "missing" });
  await expect(listed(session, "environment", { consortiumId: "c1" })).rejects.toMatchObject({ kind: "denied" });
});

test("a kind that every service has is no kind that this one may lack, but for credentials", async () => {
  const lacking: Answers = { ...whole, [`${e1}/appcreds`]: "unsupported" };
  const [consortium] = await readOrganization(service(lacking).session);
  expect(inside(consortium!, "environment")[0]!.unlisted).toEqual(["appCred"]);
  const without = service({ ...whole, [`${e1}/nodes`]: "unsupported" }).session;
  await expect(readOrganization(without)).rejects.toMatchObject({ kind: "unsupported" });
});

describe("what is beyond the specification", () => {
  const e2 = "/consortia/c1/environments/e2";
  const both = { ...whole, "/consortia/c1/environments": [{ id: "e1" }, { id: "e2" }] };
  const zonesOf = (answers: Answers) => {
    const here = service({ ...both, ...answers });
    const read = async () => {
      const [consortium] = await readOrganization(here.session, {
        kinds: ["environment", "environmentZone"],
        maxAgeMs: 0,
      });
      return inside(consortium!, "environment").map((one) => one.unlisted ?? one.inside.map(({ id }) => id));
    };
    const zones = () => here.asked.splice(0).filter((where) => where.endsWith("/zones")).length;
    return { ...here, read, zones };
  };

  test("a service may lack: it is asked for once, and after a while again", async () => {
    const { read, zones, clock } = zonesOf({ [`${e1}/zones`]: "unsupported", [`${e2}/zones`]: "unsupported" });
    expect([await read(), zones()]).toEqual([[["environmentZone"], ["environmentZone"]], 1]);
    clock.pass(times.lackingMs - 1);
    expect([await read(), zones()]).toEqual([[["environmentZone"], ["environmentZone"]], 0]);
    clock.pass(1);
    expect([(await read()).length, zones()]).toEqual([2, 1]);
  });

  test("a 404 says so where its place is there, and nothing was listed elsewhere", async () => {
    const lacking = zonesOf({ [`${e1}/zones`]: "missing", [`${e2}/zones`]: "missing" });
    expect([await lacking.read(), lacking.zones()]).toEqual([[["environmentZone"], ["environmentZone"]], 1]);
    const partly = zonesOf({ [`${e1}/zones`]: [{ id: "z1", name: "a" }], [`${e2}/zones`]: "missing" });
    expect([await partly.read(), partly.zones()]).toEqual([[["z1"], []], 2]);
  });

  test.each([
    ["is gone", [{ id: "e2" }]],
    ["is deleted", [{ id: "e1", state: "deleted" }, { id: "e2" }]],
  ])("a 404 says nothing of it where its place %s meanwhile", async (_, later) => {
    const environments = "/consortia/c1/environments";
    const answers: Answers = { ...both, [`${e2}/zones`]: [{ id: "z2", name: "b" }] };
    const here = service(answers);
    Object.defineProperty(answers, `${e1}/zones`, {
      get: () => {
        answers[environments] = later;
        here.clock.pass(1);
        return "missing";
      },
    });
    const [consortium] = await readOrganization(here.session, {
      kinds: ["environment", "environmentZone"],
      maxAgeMs: 0,
    });
    expect(inside(consortium!, "environment").map((one) => one.unlisted ?? one.inside.map(({ id }) => id))).toEqual([
      [],
      ["z2"],
    ]);
  });

  test("what this key may not see is not known, and asked for in each place", async () => {
    for (const kind of ["denied", "conflict"] as const) {
      const { read, zones } = zonesOf({ [`${e1}/zones`]: kind, [`${e2}/zones`]: [{ id: "z2", name: "b" }] });
      expect([await read(), zones()]).toEqual([[["environmentZone"], ["z2"]], 2]);
    }
  });

  test("one place at a time is asked, until one tells", async () => {
    const [e2, e3] = ["e2", "e3"].map((id) => `/consortia/c1/environments/${id}/zones`) as [string, string];
    const environments = ["e1", "e2", "e3"].map((id) => ({ id }));
    const here = service({
      "/consortia": [{ id: "c1" }],
      "/consortia/c1/environments": environments,
      [`${e1}/zones`]: "denied",
      [e2]: "unsupported",
      [e3]: "unsupported",
    });
    await readOrganization(here.session, { kinds: ["environment", "environmentZone"], maxAgeMs: 0 });
    expect(here.asked.filter((where) => where.endsWith("/zones"))).toEqual([`${e1}/zones`, e2]);
  });

  test("any other failure is one, unless somebody wants to know of it", async () => {
    const { read, session } = zonesOf({ [`${e1}/zones`]: "server" });
    await expect(read()).rejects.toMatchObject({ kind: "server" });
    const failures: string[] = [];
    const [consortium] = await readOrganization(session, {
      kinds: ["environment", "environmentZone"],
      failed: ({ id }) => void failures.push(id),
    });
    expect([failures, inside(consortium!, "environment").length]).toEqual([["e1"], 2]);
  });
});

describe("the only consortium", () => {
  const all = [
    { id: "c1", name: "trade" },
    { id: "c2", name: "trade" },
    { id: "c3", name: "c1" },
    { id: "c4", name: "spice" },
    { id: "c5" },
  ];
  const chosen = async (nameOrId: string, consortia: Item[] = all) =>
    (await readOrganization(service({ "/consortia": consortia }).session, { kinds: [] }, nameOrId)).map(({ id }) => id);

  test.each([
    ["c1", "c1"],
    ["spice", "c4"],
    ["c5", "c5"],
  ])("%s is %s", async (nameOrId, id) => expect(await chosen(nameOrId)).toEqual([id]));

  test.each<[string, Item[], string]>([
    ["trade", all, 'Several consortia have the name "trade": c1, c2. Give the id of one: --consortium c1'],
    ["spices", all, 'There is no consortium "spices"; did you mean "spice"?'],
    ["zzzzzz", [{ id: "c5" }, { id: "c6", name: "b" }], 'There is no consortium "zzzzzz"; there are c5, b'],
    ["spice", [], "The organization of this API key has no consortium."],
  ])("%s of %j is none", async (nameOrId, consortia, message) => {
    await expect(chosen(nameOrId, consortia)).rejects.toThrow(message);
  });
});

describe("what the organization of the key may take or delete", () => {
  const shared: Answers = {
    ...whole,
    "/consortia/c1/memberships": [
      { id: "m1", org_name: "acme", org_id: "o1" },
      { id: "m2", org_name: "globex", org_id: "o2" },
    ],
    [`${e1}/nodes`]: [{ id: "n1", membership_id: "m1" }, { id: "n2", membership_id: "m2" }, { id: "n3" }],
    [`${e1}/appcreds`]: [],
    [`${e1}/services`]: [],
  };
  test.each<[string, string | undefined, object, string | undefined]>([
    [
      "all of its own",
      "o1",
      { "environment e1": { "node n1": {}, "node n2": {}, "node n3": {} }, "membership m1": {}, "membership m2": {} },
      undefined,
    ],
    ["in another's, what is its own", "o2", { "environment e1": { "node n2": {} }, "membership m2": {} }, "o1"],
    [
      "all where nobody knows whose the key is",
      undefined,
      { "environment e1": { "node n1": {}, "node n2": {}, "node n3": {} }, "membership m1": {}, "membership m2": {} },
      undefined,
    ],
  ])("%s", async (_, own, contents, ofOthers) => {
    const [consortium] = await readOwn(service(shared, own).session);
    expect(outline(consortium!.inside)).toEqual(contents);
    expect([consortium!.ofOthers, inside(consortium!, "environment")[0]!.ofOthers]).toEqual([ofOthers, ofOthers]);
  });
});

test("kinds in the order of their deletion, and where they are", async () => {
  expect(deletionOrder.indexOf("node")).toBeLessThan(deletionOrder.indexOf("environment"));
  expect(deletionOrder.indexOf("destination")).toBeLessThan(deletionOrder.indexOf("service"));
  expect(deletionOrder.at(-1)).toBe("consortium");
  expect([kindsWithin("service"), kindsWithin("node")]).toEqual([["destination"], []]);
  const owner = { kind: "service", id: "s1", props: { service: "ipfs" } } as const;
  expect([placeWithin(owner), placeWithin({ ...owner, kind: "node" })]).toEqual([
    { serviceId: "s1", serviceType: "ipfs" },
    {},
  ]);
  expect(fullIdOf({ kind: "destination", id: "in", place: { serviceId: "s1" } })).toBe("s1/in");
  expect(fullIdOf({ kind: "node", id: "n1", place: {} })).toBe("n1");
  const consortium: Found = { kind: "consortium", id: "c1", place: {}, props: {}, inside: [] };
  expect(outline((await contentsOf(service(whole).session, consortium, {})).inside)).toHaveProperty(["environment e1"]);
});
