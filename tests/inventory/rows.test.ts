import { type NetworkModel, objectsOf } from "../../inventory/model";
import { modelOf, type Row } from "../../inventory/rows";

/** How rows of any source become a model: parents, names, order, and what is left out. */

const about = { source: "stack", title: "net/prod" } as const;
const managed = (name: string) => ({ stack: "net/prod", urn: `urn:${name}`, name });
const row = (kind: Row["kind"], id: string | undefined, props: object = {}, more: Partial<Row> = {}): Row => ({
  kind,
  ...(id !== undefined && { id }),
  props: { ...props },
  ...more,
});
const model = (...rows: Row[]): NetworkModel => modelOf(rows, about);
/** Each object as `kind id < id of what it is in`. */
const places = (rows: Row[], source: NetworkModel["source"] = "stack"): string[] =>
  objectsOf(modelOf(rows, { source })).map(
    ({ kind, object, within }) => `${kind} ${object.id}${within ? ` < ${within.id}` : ""}`,
  );
const only = (one: Row) => {
  const { consortia, tethers } = model(one);
  return objectsOf({ consortia, tethers }).find(({ kind }) => kind === one.kind)!.object;
};

describe("the parent of an object", () => {
  const two = [row("consortium", "c1", {}, { managed: managed("trade") }), row("consortium", "c2")];

  const inStack = (name: string, more?: Partial<Row>) =>
    row("environment", "e", {}, { managed: managed(name), ...more });
  test.each<[string, Row, parent: string]>([
    ["has the id that it names", row("environment", "e", { consortiumId: "c2" }), "c2"],
    ["is shown by that id if nothing else shows it", row("environment", "e", { consortiumId: "c9" }), "c9"],
    [
      "is the resource that the id comes from",
      inStack("x", { sources: { consortiumId: ["urn:other", "urn:trade"] } }),
      "c1",
    ],
    ["is the one that its name begins with", inStack("trade/prod"), "c1"],
    ["is known later if its name only looks alike", inStack("trader/prod"), "known later"],
    ["is known later if it is in no stack", row("environment", "e"), "known later"],
    ["is known later if it is not in stacks", inStack("", { managed: "not in stacks" }), "known later"],
  ])("%s", (_, one, parent) => expect(places([...two, one])).toContain(`environment e < ${parent}`));

  test("is the only one, for an object in a stack", () => {
    expect(places([row("consortium", "c1"), inStack("x")])).toEqual(["consortium c1", "environment e < c1"]);
    expect(places([inStack("x")])).toEqual(["consortium known later", "environment e < known later"]);
    expect(places([row("consortium", "c1"), row("environment", "e")])).toContain("environment e < known later");
  });

  test("has the longest name that the object's name begins with", () => {
    const names = ["trade", "trade/a", "trade/a/b"];
    for (const order of [names, [...names].reverse()]) {
      const rows = order.map((name) => row("consortium", `id of ${name}`, {}, { managed: managed(name) }));
      expect(places([...rows, inStack("trade/a/b/c")])).toContain("environment e < id of trade/a/b");
    }
  });

  test("of a zone is its environment or its consortium", () => {
    const inside = { consortiumId: "c", environmentId: "e" };
    const rows = [row("consortium", "c"), row("environment", "e", inside)];
    expect(places([...rows, row("environmentZone", "z", inside), row("consortiumZone", "y", inside)])).toEqual([
      "consortium c",
      "consortiumZone y < c",
      "environment e < c",
      "environmentZone z < e",
    ]);
  });
});

describe("the order", () => {
  const named = (id: string, name: string): Row => row("node", id, { name, environmentId: "e", consortiumId: "c" });
  const rows = [row("consortium", "c"), row("environment", "e", { consortiumId: "c" })];
  const nodes = [named("3", "n10"), named("2", "n2"), named("5", "n1"), named("4", "n1")];
  const ids = (source: NetworkModel["source"]) =>
    places([...rows, ...nodes], source).flatMap((place) => /^node (\d)/.exec(place)?.[1] ?? []);

  test("is by name, with numbers by their value, then by id", () => expect(ids("live")).toEqual(["4", "5", "2", "3"]));

  test("is the author's in a network file", () => expect(ids("network file")).toEqual(["3", "2", "5", "4"]));

  test("of other kinds is by kind first", () => {
    const inside = { consortiumId: "c", environmentId: "e" };
    const others = [
      row("environmentZone", "z", { ...inside, name: "a" }),
      row("configuration", "g", { ...inside, name: "b" }),
      row("service", "s2", { ...inside, name: "d" }),
      row("service", "s1", { ...inside, name: "c" }),
    ];
    expect(places([...rows, ...others]).slice(2)).toEqual(
      ["service s1", "service s2", "configuration g", "environmentZone z"].map((one) => `${one} < e`),
    );
  });
});

describe("the model of an object", () => {
  const inside = { consortiumId: "c", environmentId: "e" };

  test.each<[string, object, object]>([
    ["both addresses", { urls: { rpc: "r", wss: "w" } }, { urls: { rpc: "r", wss: "w" } }],
    ["rpc alone", { urls: { rpc: "r" } }, { urls: { rpc: "r" } }],
    ["wss alone", { urls: { wss: "w" } }, { urls: { wss: "w" } }],
    ["no address", { urls: { rpc: { secret: "x" } } }, {}],
    ["validators, only if they are text", { validators: ["a", { secret: "x" }, 1] }, { validators: ["a"] }],
    ["invalid validators", { validators: "a" }, {}],
    ["plain values", { state: "started", blockHeight: 0 }, { state: "started", blockHeight: 0 }],
    ["a secret or unknown value", { state: { secret: "x" }, role: null }, {}],
    ["properties that its kind does not have", { password: "x" }, {}],
  ])("%s of a node", (_, props, shown) => {
    const { id, name, membershipId, ...rest } = only(row("node", "n", { ...inside, ...props })) as never as Record<
      string,
      unknown
    >;
    expect({ id, name, membershipId }).toEqual({ id: "n", name: "n", membershipId: undefined });
    expect(rest).toEqual(shown);
  });

  test("its owner, which an environment and a consortium do not have", () => {
    const member = row("membership", "m", { consortiumId: "c" }, { managed: managed("m") });
    const inStack = (kind: Row["kind"]) => row(kind, `of ${kind}`, inside, { managed: managed(`x ${kind}`) });
    const { consortia, tethers } = model(
      member,
      ...(["consortium", "environment", "node", "appCred", "tetherService"] as const).map(inStack),
    );
    const owned = objectsOf({ consortia, tethers }).filter(({ object }) => "membershipId" in object);
    expect(owned.map(({ kind, object }) => [kind, (object as { membershipId?: string }).membershipId])).toEqual([
      ["node", "m"],
      ["appCred", "m"],
    ]);
  });

  test("remarks, if there are any", () => {
    const remarks = { change: "update", kept: true, drift: ["x"], unseen: "u", unlisted: ["node"] } as const;
    expect(only(row("consortium", "c", {}, { ...remarks, drift: ["x"], unlisted: ["node"] }))).toMatchObject(remarks);
    const none = only(row("consortium", "c", {}, { kept: false, drift: [] }));
    for (const name of ["change", "kept", "drift", "unseen", "unlisted", "managed"])
      expect(none).not.toHaveProperty(name);
  });

  test("a member's name, or its name in the program, or the id", () => {
    const names = (props: object, more?: Partial<Row>) =>
      (only(row("membership", "m", { consortiumId: "c", ...props }, more)) as { orgName: string }).orgName;
    expect(names({ orgName: "Acme", name: "x" }, { managed: managed("p") })).toBe("Acme");
    expect(names({}, { managed: managed("p") })).toBe("p");
    expect(names({})).toBe("m");
  });

  test("a destination's id contains its service's id; one that is not created yet has its name", () => {
    const given = { ...inside, serviceId: "s" };
    expect(only(row("destination", "inbox", given)).id).toBe("s/inbox");
    expect(only(row("destination", undefined, given, { managed: managed("inbox") })).id).toBe("inbox");
    expect(only(row("service", "s", inside)).id).toBe("s");
  });

  test("a service: plain facts, addresses that are text, and its state and its owner, if it has them", () => {
    const props = { ...inside, name: "docs", service: "documentstore", size: { secret: "x" } };
    const own = { state: "started", membershipId: "m" };
    const shown = { id: "s", kind: "service", name: "docs", facts: { service: "documentstore" } };
    expect(only(row("service", "s", { ...props, ...own, urls: { http: "h", ws: { secret: "x" } } }))).toEqual({
      ...shown,
      ...own,
      urls: { http: "h" },
    });
    expect(only(row("service", "s", props))).toEqual(shown);
  });
});

describe("the environment that a tether pins", () => {
  const environment = (id: string, name: string): Row => row("environment", id, {}, { managed: managed(name) });
  const tether = (name: string, props: object = {}): Row =>
    row("tetherService", `t-${name}`, props, { managed: managed(name) });
  const pinned = (...rows: Row[]) =>
    model(row("consortium", "c", {}, { managed: managed("net") }), ...rows).tethers.map((one) => one.environmentId);

  test.each<[string, Row[], (string | undefined)[]]>([
    ["has its name", [environment("e1", "net/a"), environment("e2", "net/b"), tether("net/b/tether")], ["e2"]],
    ["is the only one", [environment("e1", "a"), tether("x")], ["e1"]],
    ["is not known among two", [environment("e1", "a"), environment("e2", "b"), tether("x")], [undefined]],
    ["is not known for two tethers", [environment("e1", "a"), tether("x"), tether("y")], [undefined, undefined]],
    ["is in the model", [environment("e1", "a"), row("tetherService", "t", { environmentId: "e1" })], ["e1"]],
    ["is not in the model", [environment("e1", "a"), row("tetherService", "t", { environmentId: "e9" })], [undefined]],
  ])("%s", (_, rows, expected) => expect(pinned(...rows)).toEqual(expected));

  test("a tether has the id that the service gave it", () => {
    const ids = (props: object) => model(row("tetherService", "t", props)).tethers.map(({ id }) => id);
    expect([ids({ tetherId: "service's" }), ids({})]).toEqual([["service's"], ["t"]]);
  });
});

test("limits: objects that a plan deletes no longer count", () => {
  const inside = { consortiumId: "c", environmentId: "e" };
  const { limits } = model(
    row("consortium", "c"),
    row("consortium", "d", {}, { change: "delete" }),
    row("environment", "e", inside),
    row("environment", "f", inside, { change: "delete" }),
    row("node", "n", inside, { change: "update" }),
    row("node", "o", inside, { change: "delete" }),
  );
  expect(limits.map(({ kind, of, used }) => [kind, of, used])).toEqual([
    ["consortia", undefined, 1],
    ["environments", "c", 1],
    ["nodes", "e", 1],
  ]);
});
