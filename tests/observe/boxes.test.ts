import {
  type ConsortiumModel,
  type NetworkModel,
  type ObjectModel,
  type OtherModel,
  type TetherModel,
} from "../../inventory/model";
import { mapOf, type MapGroup, type NetworkMap } from "../../observe/map/graph";
import { itemOf, type MapItem } from "../../observe/map/items";
import { type Box, layoutOf } from "../../observe/map/layout";
import { mermaidOf } from "../../observe/map/mermaid";
import { svgOf } from "../../observe/map/svg";
import { type Kind } from "../../provider/constants";
import { environmentOf, largeNetwork, memberOf, networkOf, nodeOf } from "./models";

/* The boxes of a map: what is written in them, when they fold, and where they stand. */

const some = (count: number, make: (index: number) => unknown): never =>
  Array.from({ length: count }, (_, index) => make(index)) as never;

describe("what is written", () => {
  const other = (kind: OtherModel["kind"], more: Partial<OtherModel> = {}): [Kind, OtherModel] => [
    kind,
    { kind, id: "o1", name: "one", facts: {}, ...more },
  ];
  const tether = (more: Partial<TetherModel>): [Kind, TetherModel] => ["tetherService", { id: "t1", ...more }];
  const live = "quorum · ibft · chain 1001 · live";
  const one = "environment environment 1; quorum; ibft; chain 1001; live; id e1";
  const itDeletes = "the plan will delete it";
  const differs: Partial<ObjectModel> = { change: "update", drift: ["a", "b"], managed: "not in stacks" };
  const service = { state: "started", facts: { service: "ipfs" }, urls: { http: "h", ws: "w" } };
  test.each<[[Kind, ObjectModel, string?], details: string[], title: string, tone: MapItem["tone"]]>([
    [["node", nodeOf(1, 0), "Acme"], ["Acme · started"], "node node-1-0 of Acme; started; validator; id e1n0", "good"],
    [["node", nodeOf(1, 0, { state: undefined, role: "" })], [], "node node-1-0; id e1n0", "plain"],
    [["node", nodeOf(1, 0, { name: "e1n0", state: "stopped" })], ["stopped"], "node e1n0; stopped; validator", "bad"],
    [["environment", environmentOf(1, [])], [live], one, "good"],
    [
      ["environment", environmentOf(1, [], { chainId: undefined, state: "paused", change: "delete" })],
      ["quorum · ibft · paused", "⚠ DESTROYS ITS LEDGER"],
      "environment environment 1; quorum; ibft; paused; id e1; the plan will delete it",
      "plain",
    ],
    [
      ["environment", environmentOf(1, [], { change: "delete", kept: true })],
      [live],
      `${one}; ${itDeletes}, and it stays in the service`,
      "good",
    ],
    [
      ["environment", environmentOf(1, [], differs)],
      [live],
      `${one}; not in stacks; the plan will update it; a; b`,
      "good",
    ],
    [
      ["consortium", { ...networkOf({}).consortia[0]!, change: "replace" }],
      ["set up", "⚠ DESTROYS ALL ITS LEDGERS"],
      "consortium Trade; set up; id c1; the plan will replace it",
      "good",
    ],
    [["membership", memberOf(0)], [], "member Member 0; id m0", "good"],
    [
      ["membership", memberOf(0, { state: "pending", managed: { stack: "net/dev", urn: "u", name: "m" } })],
      ["pending"],
      "member Member 0; pending; id m0; managed by stack net/dev as m",
      "waiting",
    ],
    [["membership", memberOf(0, { state: undefined })], [], "member Member 0; id m0", "plain"],
    [["appCred", { id: "u1" }, "Acme"], [], "credential u1 of Acme", "plain"],
    [
      tether({ network: "rinkeby", state: "active", balanceWei: "0", account: "0xa" }),
      ["tether · rinkeby · active · 0 ether"],
      "tether t1; rinkeby; active; 0 ether; account 0xa",
      "good",
    ],
    [tether({ state: "configured" }), ["tether · configured"], "tether t1; configured", "waiting"],
    [tether({ state: "missing" }), ["tether · missing"], "tether t1; missing", "bad"],
    [
      other("service", { ...service, change: "delete" }),
      ["ipfs · started", "⚠ DESTROYS WHAT IT KEEPS"],
      "service one; ipfs; started; at h; at w; id o1; the plan will delete it",
      "good",
    ],
    [other("service", { state: "active" }), ["service · active"], "service one; active; id o1", "good"],
    [other("service", { state: "stopped" }), ["service · stopped"], "service one; stopped; id o1", "bad"],
    [
      other("configuration", { state: "active", facts: { type: "node_config" } }),
      ["configuration · node_config"],
      "configuration one; node_config; id o1",
      "good",
    ],
    [
      other("environmentZone", { state: "stopped", facts: { type: "kaleido", region: "r", cloud: "aws" } }),
      ["zone · r · aws · stopped"],
      "zone one; r; aws; stopped; id o1",
      "plain",
    ],
    [
      other("destination", { facts: { setupComplete: false } }),
      ["destination · not set up"],
      "destination one; not set up; id o1",
      "plain",
    ],
    [other("destination", { facts: { setupComplete: true } }), ["destination"], "destination one; id o1", "plain"],
  ])("%j: %j", ([kind, object, owner], details, title, tone) => {
    expect(itemOf(kind, object, owner)).toMatchObject({ details, title, tone });
  });

  test.each<[Partial<ObjectModel>, string[]]>([
    [{}, []],
    [{ drift: [] }, []],
    [{ managed: { stack: "s", urn: "u", name: "n" } }, []],
    [{ change: "create", drift: ["a"], managed: "not in stacks" }, ["create", "drift", "not in stacks"]],
  ])("the marks of %j", (more, marks) => {
    const item = itemOf("node", nodeOf(1, 0, more));
    expect(item.marks).toEqual(marks);
    const svg = svgOf(mapOf(networkOf({ environments: [environmentOf(1, [nodeOf(1, 0, more)])] })));
    for (const mark of ["create", "drift", "not in stacks"])
      expect(svg.includes(` ${mark}</text>`) || svg.includes(` ${mark}  `)).toBe(marks.includes(mark));
  });

  test.each<[string, Partial<NetworkModel>, string]>([
    ["its title", { title: "net/dev", organization: "o1" }, "net/dev"],
    ["its organization", { organization: "o1" }, "organization o1"],
    ["nothing else", {}, "network"],
  ])("a map is called by %s", (_, more, title) => expect(mapOf(networkOf({}, more)).title).toBe(title));

  const labels = (name: string, more: object = {}): string[] => {
    const svg = svgOf(mapOf(networkOf({ environments: [environmentOf(1, [nodeOf(1, 0, { name, ...more })])] })));
    return [...svg.matchAll(/data-kind="node".*?<text[^>]*>([^<]*)</g)].map(([, text = ""]) => text);
  };
  test.each([
    ["30 characters", "x".repeat(30), "x".repeat(30)],
    ["31 characters", "x".repeat(31), `${"x".repeat(30)}…`],
    ["15 characters that are twice as wide", "東".repeat(15), "東".repeat(15)],
    ["16 of them", "東".repeat(16), `${"東".repeat(15)}…`],
  ])("a name of %s", (_, name, text) => expect(labels(name)).toEqual([text]));
});

describe("what folds", () => {
  const first = (consortium: Partial<ConsortiumModel>): MapGroup => mapOf(networkOf(consortium)).groups[0]!;
  const told = (items: MapItem[]) => items.map(({ label, details }) => [label, ...details].join(" | "));
  const one = { memberships: [memberOf(0), memberOf(1)] };
  const nodesOf = (count: number, more: (index: number) => object) =>
    environmentOf(
      1,
      some(count, (index) => nodeOf(1, index, { membershipId: "m0", ...more(index) })),
    );

  test("16 nodes are boxes; 17 are a count for each owner and state", () => {
    const { groups } = first({ ...one, environments: [nodesOf(16, () => ({}))] });
    expect(groups[0]!.items).toHaveLength(16);
    const more = (index: number) => (index < 3 ? { membershipId: "m1" } : index === 3 ? { state: "stopped" } : {});
    const { items } = first({ ...one, environments: [nodesOf(17, more)] }).groups[0]!;
    expect(told(items)).toEqual([
      "3 nodes | Member 1 · started",
      "1 node | Member 0 · stopped",
      "13 nodes | Member 0 · started",
    ]);
    expect(items.map(({ title }) => title.split(":")[1]!.split(",").length)).toEqual([3, 1, 13]);
    expect(items[2]!.title).toMatch(/^13 nodes: node-1-4, .*node-1-15, 1 more$/);
    expect(items[2]!.ids).toHaveLength(13);
  });

  test("12 of one owner are all named; 17 of 17 owners are a count for each state", () => {
    const twelve = (index: number) => (index < 12 ? {} : { state: "stopped" });
    const [named] = first({ ...one, environments: [nodesOf(17, twelve)] }).groups[0]!.items;
    expect(named!.title).toMatch(/node-1-11$/);
    const memberships = some(17, (index) => memberOf(index));
    const each = (index: number) => ({ membershipId: `m${index}`, ...(index === 0 && { state: "stopped" }) });
    const { items } = first({ memberships, environments: [nodesOf(17, each)] }).groups[0]!;
    expect(told(items)).toEqual(["1 node | Member 0 · stopped", "16 nodes | started"]);
    const { rows } = first({ memberships, environments: [nodesOf(17, each)] });
    expect(rows).toEqual({ [items[0]!.key]: "membership:m0" }); // what several own is in no row
  });

  test("8 members without nodes are boxes; 9 are a count, besides those that change", () => {
    const members = (count: number) =>
      some(count, (index) => memberOf(index, index === 0 ? { change: "update" } : { change: "create" }));
    expect(first({ memberships: members(9) }).items).toHaveLength(9);
    expect(told(first({ memberships: members(10) }).items)).toEqual(["Member 0", "9 members without nodes"]);
    const byHand = some(9, (index) => memberOf(index, { managed: "not in stacks" }));
    expect(told(first({ memberships: byHand }).items)).toEqual(["9 members without nodes"]);
  });

  test("60 members with nodes are boxes; the 61st is a count", () => {
    const owners = (count: number) => ({
      memberships: some(count, (index) => memberOf(index)),
      environments: [
        environmentOf(
          1,
          some(count, (index) => nodeOf(1, index)),
        ),
      ],
    });
    expect(first(owners(60)).items.map(({ ids }) => ids.length)).toEqual(Array(60).fill(1));
    expect(told(first(owners(62)).items).slice(-2)).toEqual(["Member 59", "2 members"]);
  });

  test("4 zones are boxes; 5 are a count, whatever else is there", () => {
    const zones = (count: number): OtherModel[] =>
      some(count, (index) => ({ kind: "consortiumZone", id: `z${index}`, name: `z${index}`, facts: {} }));
    const invitation = { kind: "invitation" as const, id: "i", name: "third", facts: {} };
    expect(first({ others: [...zones(4), invitation] }).items).toHaveLength(5);
    expect(told(first({ others: [...zones(5), invitation] }).items)).toEqual(["5 zones", "third | invitation"]);
  });

  test("5 services of an environment are counts, with lines from their owners; 5 configurations have none", () => {
    const others = (kind: OtherModel["kind"]): OtherModel[] =>
      some(5, (index) => ({ kind, id: `${kind}${index}`, name: "x", facts: {}, membershipId: `m${index % 2}` }));
    const environments = [environmentOf(1, [], { others: [...others("service"), ...others("configuration")] })];
    const { edges } = mapOf(networkOf({ ...one, environments }));
    expect(edges.map(({ from, to }) => [from, to.split(" ")[0]])).toEqual([
      ["membership:m0", "service:e1"],
      ["membership:m1", "service:e1"],
    ]);
  });

  test("12 lines are drawn; with 13, the consortium is a table", () => {
    const lines = (count: number) =>
      mapOf(networkOf({ ...one, environments: [nodesOf(count, (index) => ({ membershipId: `m${index % 2}` }))] }));
    expect([lines(12).edges.length, lines(12).groups[0]!.rows]).toEqual([12, undefined]);
    expect([lines(13).edges.length, Object.keys(lines(13).groups[0]!.rows!).length]).toEqual([0, 13]);
  });

  test("what is empty says so, and only that", () => {
    const zone = { kind: "consortiumZone" as const, id: "z", name: "ohio", facts: {} };
    expect(told(first({}).items)).toEqual(["nothing in it"]);
    for (const inside of [{ others: [zone] }, { memberships: [memberOf(0)] }, { environments: [environmentOf(1, [])] }])
      expect(told(first(inside).items)).not.toContain("nothing in it");
    expect(told(first({ environments: [environmentOf(1, [])] }).groups[0]!.items)).toEqual(["no nodes"]);
    const named = environmentOf(1, [], { credentials: [{ id: "u", membershipId: "m0" }, { id: "v" }] });
    const [credentials] = first({ ...one, environments: [named] }).groups[0]!.items;
    expect([credentials!.label, credentials!.title]).toEqual(["2 credentials", "2 credentials: u of Member 0, v"]);
  });

  test("each public chain once, in order, and only those that are pinned to", () => {
    const tethers = ["rinkeby", "mainnet", undefined, "rinkeby"].map((network, at) => ({ id: `t${at}`, network }));
    const { items, edges } = mapOf(networkOf({}, { tethers }));
    expect(told(items)).toEqual([
      ...["t0 | tether · rinkeby", "t1 | tether · mainnet", "t2 | tether", "t3 | tether · rinkeby"],
      ...["mainnet | public chain", "rinkeby | public chain"],
    ]);
    expect(edges.map(({ from, to, kind }) => `${from} ${kind} ${to}`)).toEqual([
      "tetherService:t0 pins chain:rinkeby",
      "tetherService:t1 pins chain:mainnet",
      "tetherService:t3 pins chain:rinkeby",
    ]);
  });

  test("a forge draws 500 lines in Mermaid and 50,000 characters, and no more", () => {
    const pins = (count: number) =>
      mermaidOf(mapOf(networkOf({}, { tethers: some(count, (index) => ({ id: `t${index}`, network: "n" })) })));
    expect([pins(500), pins(501)]).toEqual([expect.any(String), undefined]);
    const tethers = (count: number): TetherModel[] => some(count, (index) => ({ id: `${"x".repeat(29)}${index}` }));
    expect(mermaidOf(mapOf(networkOf({}, { tethers: tethers(2_000) })))).toBeUndefined();
  });
});

const tethers = [
  { id: "t0", network: "rinkeby", environmentId: "e0" },
  { id: "t9", network: "mainnet", state: "configured" },
];
const consortiumOf = (index: number): ConsortiumModel => ({
  ...networkOf({ memberships: [memberOf(index)], environments: [environmentOf(index, [])] }).consortia[0]!,
  id: `c${index}`,
});
const maps: [string, () => NetworkMap][] = [
  ["one node", () => mapOf({ ...largeNetwork(1, 1, 1), tethers })],
  ["lines", () => mapOf({ ...largeNetwork(3, 4, 4), tethers })],
  ["many members", () => mapOf({ ...largeNetwork(1, 12, 40), tethers })],
  ["a table", () => mapOf({ ...largeNetwork(3, 12, 12), tethers })],
  ["no tether", () => mapOf(largeNetwork(2, 2, 2))],
  ["members alone", () => mapOf(networkOf({ memberships: [memberOf(0), memberOf(1)] }))],
  ["environments alone", () => mapOf(networkOf({ environments: [environmentOf(1, []), environmentOf(2, [])] }))],
  ["a long name", () => mapOf(networkOf({ name: "x".repeat(30), memberships: [memberOf(0)] }))],
  ["two consortia", () => mapOf({ ...networkOf({}), consortia: [0, 1].map(consortiumOf), tethers })],
  ["tethers alone", () => mapOf({ ...networkOf({}), consortia: [], tethers })],
];

describe.each(maps)("where the boxes of a network stand: %s", (_, make) => {
  const map = make();
  const { boxes, ways, ...whole } = layoutOf(map);
  const groups = map.groups.flatMap((one) => [one, ...one.groups]);
  const all = [...map.items, ...groups, ...groups.flatMap(({ items }) => items)];
  const boxOf = ({ key }: { key: string }): Box => boxes.get(key)!;
  const right = ({ x, width }: Box) => x + width;
  const bottom = ({ y, height }: Box) => y + height;
  const contents = ({ items, groups: inner }: MapGroup) => [...items, ...inner].map(boxOf);

  test("the picture holds them all, and no more", () => {
    expect(boxes.size).toBe(all.length);
    const placed = all.map(boxOf);
    expect(Math.min(...placed.map(({ x }) => x))).toBe(0);
    expect(Math.min(...placed.map(({ y }) => y))).toBeGreaterThanOrEqual(0);
    expect(whole.width).toBeCloseTo(Math.max(...placed.map(right)));
    expect(whole.height).toBeCloseTo(Math.max(...placed.map(bottom)));
  });

  test("what is in a box has room around it", () => {
    for (const group of groups) {
      const [outer, inner] = [boxOf(group), contents(group)];
      for (const { x, y, width, height } of inner) {
        expect(x - outer.x).toBeGreaterThanOrEqual(13.99);
        expect(right(outer) - x - width).toBeGreaterThanOrEqual(13.99);
        expect(bottom(outer) - y - height).toBeGreaterThanOrEqual(13.99);
      }
    }
    for (const group of map.groups)
      expect(bottom(boxOf(group)) - Math.max(...contents(group).map(bottom))).toBeCloseTo(14);
  });

  test("those beside or above each other keep a distance", () => {
    for (const { items } of groups) {
      const column = items.map(boxOf).filter(({ x }) => x === boxOf(items[0]!).x);
      column.slice(1).forEach(({ y }, at) => expect(y - bottom(column[at]!)).toBeGreaterThanOrEqual(9.99));
    }
    for (const group of map.groups.filter(({ rows }) => rows === undefined)) {
      group.groups.slice(1).forEach((one, at) => {
        expect(boxOf(one).y - bottom(boxOf(group.groups[at]!))).toBeGreaterThanOrEqual(13.99);
      });
      for (const inner of group.groups)
        for (const member of group.items) expect(boxOf(inner).x - right(boxOf(member))).toBeGreaterThanOrEqual(71.99);
    }
    const inside = Math.max(0, ...map.groups.map(boxOf).map(right));
    for (const chain of map.items.filter(({ kind }) => kind === "chain"))
      if (inside > 0) expect(boxOf(chain).x - inside).toBeCloseTo(72);
  });

  test("lines begin at the right of one and end at the left of the other", () => {
    map.edges.forEach(({ from, to, kind }, at) => {
      const [a, b] = [boxes.get(from)!, boxes.get(to)!];
      const way = ways[at]!;
      expect(way[0]).toEqual([right(a), a.y + a.height / 2]);
      expect(way.at(-1)).toEqual([b.x, b.y + b.height / 2]);
      expect(way.length % 3).toBe(1);
      const edge = Math.max(0, ...map.groups.map(boxOf).map(right));
      if (kind === "pins") expect(way.some(([x, y]) => x === Math.max(edge, right(a)) && y === way[0]![1])).toBe(true);
    });
  });

  test("texts are in their boxes, beside the sign, and above what is inside", () => {
    const svg = svgOf(map);
    const around = layoutOf(map);
    expect(around.boxes).toEqual(boxes);
    const drawn = new Map([...svg.matchAll(/data-key="([^"]*)".*?<\/g>/g)].map(([text, key = ""]) => [key, text]));
    for (const item of all) {
      const [box, text] = [boxOf(item), drawn.get(item.key)!];
      const places = [...text.matchAll(/<text class="\w+" x="([\d.-]+)" y="([\d.-]+)"/g)];
      expect(places.length).toBeGreaterThan(0);
      const [, x, y] = /class="sign" d="M([\d.-]+),([\d.-]+)/.exec(text) ?? [];
      expect(x === undefined).toBe(item.tone === "plain");
      let above = box.y + 7 + (item.kind === "chain" ? 8 : 0);
      for (const [, left, base] of places) {
        expect(Number(left) - box.x).toBeCloseTo(item.tone === "plain" ? 12 : 28, 0);
        if (x !== undefined) expect(Number(left) - Number(x)).toBeGreaterThan(6);
        if (x !== undefined) expect(Number(x)).toBeGreaterThan(box.x + 5);
        if (y !== undefined) expect(Number(y)).toBeGreaterThan(box.y + 5);
        expect(Number(base)).toBeGreaterThan(above);
        above = Number(base);
      }
      const inside = "groups" in item ? contents(item as MapGroup) : [];
      expect(above).toBeLessThan(Math.min(bottom(box) - 7, ...inside.map((one) => one.y)));
      const [, outline = ""] = /<path class="shape" d="([^"]*)"/.exec(text)!;
      const edges = edgesOf(outline);
      const lid = item.kind === "chain" ? 6 : 0;
      expect(edges.map((edge) => Math.round(edge))).toEqual(
        [box.x, box.y + lid, right(box), bottom(box) - lid].map((edge) => Math.round(edge)),
      );
    }
  });
});

/** Left, upper, right and lower edge of the points of an outline. */
function edgesOf(outline: string): number[] {
  const points: [number, number][] = [];
  let [x, y] = [0, 0];
  for (const [, command, text = ""] of outline.matchAll(/([MhvlaczZ])([^MhvlaczZ]*)/g)) {
    const given = text.match(/-?[\d.]+/g)?.map(Number) ?? [];
    const [a = 0, b = 0] = command === "a" ? given.slice(5) : given;
    if (command === "M") [x, y] = [a, b];
    else if (command === "h") x += a;
    else if (command === "v") y += a;
    else if (command === "a") [x, y] = [x + a, y + b];
    else if (command === "l")
      for (let at = 0; at < given.length; at += 2) [x, y] = [x + given[at]!, y + given[at + 1]!];
    points.push([x, y]);
  }
  const [all, up] = [points.map(([one]) => one), points.map(([, one]) => one)];
  return [Math.min(...all), Math.min(...up), Math.max(...all), Math.max(...up)];
}

test.each([
  ["started", /^M[^M]*a5,5[^M]*z$/],
  ["initializing", /^M[^M]*a5,5[^M]*zM[^M]*a2\.5,2\.5[^M]*z$/],
  ["failed", /^M[^M]*l6,11h-12z$/],
  [undefined, undefined],
])("the sign of a node that is %s, its replacement, and its lines", (state, sign) => {
  const nodes = [nodeOf(1, 0, { state, change: "replace" })];
  const map = mapOf(networkOf({ memberships: [memberOf(0)], environments: [environmentOf(1, nodes)] }, { tethers }));
  const svg = svgOf(map);
  const [node = ""] = /data-kind="node".*?<\/g>/.exec(svg)!;
  const found = /class="sign" d="([^"]*)"/.exec(node)?.[1];
  if (sign === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(sign);
  const [shape, outline] = ["shape", "outline"].map((name) =>
    edgesOf(new RegExp(`class="${name}" d="([^"]*)"`).exec(node)![1]!),
  );
  expect(outline!.map((edge, at) => Math.round(edge - shape![at]!))).toEqual([-4, -4, 4, 4]);
  const text = mermaidOf(map)!;
  expect([text.match(/ --- /g)?.length, text.match(/ -\.-> /g)?.length]).toEqual([1, 2]);
});

test("one consortium stands below the other, and both are as wide as the widest", () => {
  const [one] = networkOf({ memberships: [memberOf(0)] }).consortia;
  const two = { ...one!, id: "c2", name: "a name that is much longer" };
  const { boxes, width } = layoutOf(mapOf({ ...networkOf({}), consortia: [one!, two] }));
  const [upper, lower] = [boxes.get("consortium:c1")!, boxes.get("consortium:c2")!];
  expect(lower.y).toBeCloseTo(upper.y + upper.height + 14);
  expect([upper.width, lower.width]).toEqual([width, width]);
});
