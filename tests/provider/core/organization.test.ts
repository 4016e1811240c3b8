import { createHash } from "node:crypto";
import { type z } from "zod";
import { ApiError } from "../../../provider/api";
import { askForOrganization, lookAround, whose } from "../../../provider/api/organization";
import { network, send } from "../../support/network";
import { Engine, errorOf } from "../../support/engine";
import { bases, storeOf } from "../../support/bases";
import { made, type World } from "../../support/lifecycle";
import { newProcess, setEnvironment, start, startAnother } from "../../support/service";

/* The organization of the key: until it is known, nothing counts as gone, and nothing is created, changed or deleted. */

type Listed = { id: string; owner?: string; state?: string };
const missing = new ApiError({ kind: "missing", call: "GET", errorMessage: "no" });

/** The consortia that a key sees, each with the `org_id` of its members. */
const looking = (consortia: Listed[], members: Record<string, (string | undefined)[]> = {}, told?: string) =>
  lookAround(
    (collection) => {
      if (collection === "/consortia") return Promise.resolve(consortia);
      const listed = members[collection.split("/")[2]!];
      if (!listed) return Promise.reject(missing);
      return Promise.resolve(listed.map((org_id, at) => ({ id: `m${at}`, org_id })));
    },
    () => Promise.resolve(told),
  );

test.each<[string, ...Parameters<typeof whose>, ReturnType<typeof whose>]>([
  ["its own consortium", "one", "one", ["one", "two"], "two", "own"],
  ["where nobody knows the key's organization", undefined, "two", [undefined, "two"], "two", "own"],
  ["where nobody knows the owner", "one", undefined, ["one", "two"], "two", "own"],
  ["where it is no member", "one", "two", ["two", "three"], "two", "own"],
  ["another's, and its own there", "one", "two", ["two", "one"], "one", "own"],
  ["another's, and the others' there", "one", "two", ["two", "one"], "three", "others"],
  ["another's, where nobody knows whose", "one", "two", ["two", "one"], undefined, "unknown"],
])("whose something is: %s", (_, own, owner, members, member, is) => {
  expect(whose(own, owner, members, member)).toBe(is);
});

describe("the organization that a key shows", () => {
  const one = { id: "c1", owner: "one" };
  const two = { id: "c2", owner: "two" };

  test.each<[string, Listed[], Record<string, (string | undefined)[]>, string | undefined]>([
    ["nothing at all", [], {}, undefined],
    ["consortia without owners", [{ id: "c1" }], { c1: [undefined] }, undefined],
    ["its own, with its own members", [one, { id: "c3", owner: "one" }], { c1: ["one", "one"] }, "one"],
    ["its own, without members", [one], { c1: [] }, "one"],
    ["its own, and one of others", [two, one], { c1: ["one"], c2: ["two", "one"] }, "one"],
    [
      "its own that is shared, and one that is not",
      [one, { id: "c3", owner: "one" }],
      { c1: ["one", "two"], c3: ["one"] },
      "one",
    ],
    ["only what is shared", [one, two], { c1: ["one", "two"], c2: ["two", "one"] }, undefined],
    ["one of others, where it sees only its own member", [two], { c2: ["one"] }, undefined],
    ["members without organizations", [one], { c1: ["one", undefined] }, undefined],
    ["members that cannot be listed", [one], {}, undefined],
  ])("%s", async (_title, consortia, members, organization) => {
    const seen = await looking(consortia, members);
    expect([...seen.consortia]).toEqual(consortia.map(({ id, owner }) => [id, owner]));
    expect(seen.organization).toBe(organization);
    expect((await looking(consortia, members, "three")).organization).toBe("three");
  });

  const theirs = { _id: "u0other", org_id: "two" };
  const members = (...of: string[]): object[] => of.map((org_id, at) => ({ _id: `m${at}`, org_id }));
  test.each<[string, Record<string, object[]>, string | undefined]>([
    ["its own list of keys", { "/apikeys": [theirs, { _id: "u0key", org_id: "one" }] }, "one"],
    ["keys of others alone", { "/apikeys": [theirs] }, undefined],
    ["the one organization of its user", { "/orgs": [{ _id: "one", cognito_client_secret: "s" }] }, "one"],
    ["several organizations of its user", { "/orgs": [{ _id: "one" }, { _id: "two" }] }, undefined],
    ["memberships of one", { "/memberships": members("one", "one") }, "one"],
    ["memberships of several", { "/memberships": members("one", "two") }, undefined],
    ["memberships without organizations", { "/memberships": [{ _id: "m1" }] }, undefined],
    [
      "several organizations of its user, and memberships of one",
      { "/orgs": [{ _id: "one" }, { _id: "two" }], "/memberships": members("two") },
      "two",
    ],
    ["nothing", {}, undefined],
  ])("a service that shows %s tells", async (_title, lists, organization) => {
    const list = <T>(collection: string, schema: z.ZodType<T>): Promise<T[]> =>
      collection in lists
        ? Promise.resolve(lists[collection]!.map((one) => schema.parse(one)))
        : Promise.reject(missing);
    expect(await askForOrganization("u0key-c2VjcmV0", list)).toBe(organization);
  });
});

const kinds = ["consortium", "node", "appCred"] as const;

let organizations = 0;

/** A key of another organization, with a consortium of its own or without. */
async function foreign({ service, time }: World, owns: boolean): Promise<string> {
  const name = `theirs ${++organizations}`;
  const { apiKey } = service.addOrganization(name);
  setEnvironment({ CONSORTIUM_API_KEY: apiKey });
  if (owns) await network({ ...service, apiKey, baseUrl: service.baseUrl }, time);
  newProcess();
  service.clearCalls();
  return service.organizations.find((one) => one.name === name)!.id;
}

describe.each([
  ["which has consortia", true, true, true],
  ["of which the service tells", true, false, true],
  ["which has consortia, where the service tells nothing else", false, true, true],
  ["of which nothing tells", false, false, false],
])("a key of another organization, %s", (_title, extended, owns, tells) => {
  test.each(kinds)("%s: refresh, change, replacement and destroy fail; nothing is changed or dropped", async (kind) => {
    const here = await made(kind, { answers: { extended } });
    const { engine, service, writes, net } = here;
    const base = bases[kind](net);
    const before = structuredClone(engine.kept);
    const own = service.organizations[0]!.id;
    const theirs = await foreign(here, owns);
    const why = tells
      ? new RegExp(
          `was made with organization ${own}, but the API key from environment variable CONSORTIUM_API_KEY belongs to organization ${theirs}`,
        )
      : new RegExp(
          `CONSORTIUM_CONFIRM_DELETED=${own}.*was made with organization ${own}, but the API key .* shows no consortium at all`,
        );
    await expect(engine.refresh()).rejects.toThrow(why);
    for (const change of [{ name: "other" }, { extra: { x: 1 } }]) {
      newProcess();
      expect(errorOf(await engine.up({ ...base, ...change }))).toMatch(why);
    }
    await expect(engine.destroy()).rejects.toThrow(why);
    expect(engine.kept).toEqual(before);
    expect(writes()).toEqual([]);
  });

  test("a stack with a consortium gets no second one", async () => {
    const here = await made("consortium", { answers: { extended } });
    const { engine, writes } = here;
    await foreign(here, owns);
    const other = new Engine("consortium");
    const outcomes = await Promise.all([
      engine.up(bases.consortium(here.net)), // the engine asks for the one that is there already, too
      other.up({ name: "second" }),
    ]);
    for (const outcome of outcomes) expect(errorOf(outcome)).toMatch(/(was made with|belong to) organization/);
    expect(writes()).toEqual([]);
  });
});

describe("a key that the state has not seen", () => {
  test.each(kinds)("%s: a rotated key that shows the consortium works, and the state records it", async (kind) => {
    const { engine, service, net, calls } = await made(kind);
    newProcess({ CONSORTIUM_API_KEY: service.rotateKey("local") });
    expect(await engine.refresh()).toBe("there");
    const known = (engine.outputs.__kept as { keys: string[] }).keys;
    expect(known).toHaveLength(2);
    storeOf(service, kind).remove(engine.kept!.id);
    newProcess();
    calls();
    if (kind !== "appCred" && kind !== "consortium") {
      expect(await engine.refresh()).toBe("gone");
      expect(calls().filter((call) => call === "GET /consortia")).toEqual([]);
      expect(await engine.up(bases[kind](net))).toEqual({ then: "created" });
    }
  });

  test("a rotated key after everything was deleted: the error names both causes, and how to confirm the deletion for one run", async () => {
    const { engine, service } = await made("consortium", { answers: { extended: false } });
    for (const { id } of service.store.consortia.list()) service.store.consortia.remove(id);
    newProcess({ CONSORTIUM_API_KEY: service.rotateKey("local") });
    const organization = service.organizations[0]!.id;
    await expect(engine.refresh()).rejects.toThrow(
      /Unset CONSORTIUM_API_KEY.*for one run.*which this stack has not seen before, shows no consortium.*another organization, or everything was deleted/,
    );
    newProcess({ CONSORTIUM_CONFIRM_DELETED: "o-of-somebody-else" });
    await expect(engine.refresh()).rejects.toThrow(/CONSORTIUM_CONFIRM_DELETED/);
    newProcess({ CONSORTIUM_CONFIRM_DELETED: organization });
    expect(await engine.refresh()).toBe("gone");
  });

  test("at an address where the organization has other objects: nothing counts as gone, unless that is confirmed", async () => {
    const { engine, service } = await made("consortium");
    const organization = service.organizations[0]!.id;
    const other = await startAnother({ answers: { extended: false } });
    const elsewhere = await send(other, "POST", "/consortia", { name: "elsewhere" });
    other.store.consortia.patch(String(elsewhere._id), { owner: organization });
    other.clearCalls();
    await expect(engine.refresh()).rejects.toThrow(
      /Set the earlier address; .*this address, which is new to the stack/,
    );
    newProcess();
    expect(errorOf(await engine.up({ name: "another name" }))).toMatch(/new to the stack/);
    expect(other.calls.filter(({ method }) => method !== "GET")).toEqual([]);
    newProcess({ CONSORTIUM_CONFIRM_DELETED: organization });
    expect(await engine.refresh()).toBe("gone");
  });
});

test("a new key that lists only consortia shared by several organizations is refused, until the settings name its organization", async () => {
  const here = await made("membership", { answers: { extended: false } });
  const { engine, service, net, writes } = here;
  service.store.memberships.patch(net.otherMembershipId, { org_id: "o-invited" });
  const own = service.organizations[0]!.id;
  newProcess({ CONSORTIUM_API_KEY: service.rotateKey("local") });
  await expect(engine.refresh()).rejects.toThrow(/\[unclear-organization:/);
  service.store.memberships.remove(engine.kept!.id);
  await expect(engine.refresh()).rejects.toThrow(
    new RegExp(
      `consortium:organization ${own}.*lists only consortia that several organizations share.*Nothing was changed`,
    ),
  );
  await expect(engine.destroy()).rejects.toThrow(/\[unclear-organization:/);
  expect(writes()).toEqual([]);
  newProcess({ CONSORTIUM_ORGANIZATION: own });
  expect(await engine.refresh()).toBe("gone");
});

test("a consortium that this run made tells the organization of everything in it, without a call", async () => {
  const { service, calls } = await start();
  const [consortium, environment] = [new Engine("consortium"), new Engine("environment")];
  await consortium.up({ name: "c" });
  const inputs = { consortiumId: consortium.kept!.id, name: "e", provider: "quorum", consensusType: "raft" };
  expect(await environment.up(inputs)).toEqual({ then: "created" });
  expect(environment.outputs.__kept).toMatchObject({ organizations: [service.organizations[0]!.id] });
  expect(calls().filter((call) => /apikeys|orgs|memberships/.test(call))).toEqual([]);
});

describe("a state that does not say its organization", () => {
  const forgetting = (engine: Engine): void => void (engine.kept!.outputs.__kept = { version: 2 });

  test.each(kinds)("%s: learns its organization at the first read", async (kind) => {
    const { engine, service } = await made(kind);
    forgetting(engine);
    expect(await engine.refresh()).toBe("there");
    expect(engine.outputs.__kept).toMatchObject({ organizations: [service.organizations[0]!.id] });
  });

  test.each(kinds)("%s: a key of another organization changes nothing", async (kind) => {
    const here = await made(kind);
    forgetting(here.engine);
    await foreign(here, false);
    await expect(here.engine.refresh()).rejects.toThrow(
      /either the key belongs to another organization, or everything was deleted/,
    );
    await expect(here.engine.destroy()).rejects.toThrow(/Nothing was changed/);
    expect(here.engine.kept).toBeDefined();
  });
});

describe("the organization that the settings require", () => {
  test("is another one, in an empty stack: nothing is created", async () => {
    const { service, calls, time } = await start();
    await network(service, time);
    newProcess({ CONSORTIUM_ORGANIZATION: "o-other" });
    calls();
    const outcome = await new Engine("consortium").up({ name: "c" });
    expect(errorOf(outcome)).toMatch(
      /must be o-other \(environment variable CONSORTIUM_ORGANIZATION\).*belongs to organization/,
    );
    expect(calls().filter((call) => !call.startsWith("GET "))).toEqual([]);
  });

  test("has nothing yet, and the service does not tell: nothing is created until the setting is gone", async () => {
    const { service, calls } = await start({ answers: { extended: false } });
    const own = service.organizations[0]!.id;
    const named = { name: "c" };
    newProcess({ CONSORTIUM_ORGANIZATION: own });
    expect(errorOf(await new Engine("consortium").up(named))).toMatch(
      /first consortium without this setting.*must be .*shows no consortium.*\[unclear-organization:/,
    );
    expect(calls().filter((call) => !call.startsWith("GET "))).toEqual([]);
    newProcess({ CONSORTIUM_ORGANIZATION: undefined });
    const engine = new Engine("consortium");
    expect(await engine.up(named)).toEqual({ then: "created" });
    expect(engine.outputs.owner).toBe(own);
    newProcess({ CONSORTIUM_ORGANIZATION: own });
    expect(await new Engine("consortium").up({ name: "d" })).toEqual({ then: "created" });
  });
});

test("neither the key nor a hash of it without salt is in the state", async () => {
  const { engine, service } = await made("consortium");
  const state = JSON.stringify(engine.kept);
  expect(state).not.toContain(service.apiKey);
  for (const text of [service.apiKey, `${service.apiKey}\n${service.baseUrl}`]) {
    expect(state).not.toContain(createHash("sha256").update(text).digest("hex").slice(0, 32));
  }
});
