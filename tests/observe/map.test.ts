import { execFileSync } from "node:child_process";
import { mapsOf } from "../../console/server/maps";
import { LiveNetwork } from "../../inventory/live";
import { type NetworkModel } from "../../inventory/model";
import { mapOf } from "../../observe/map/graph";
import { type MapItem } from "../../observe/map/items";
import { type Box, layoutOf } from "../../observe/map/layout";
import { mermaidOf } from "../../observe/map/mermaid";
import { svgOf } from "../../observe/map/svg";
import { ConsortiumClient, resolveSettings } from "../../provider/api";
import { populated, quick } from "../service/helpers";
import { patiently } from "../support/jest/patience";
import { environmentOf, largeNetwork, memberOf, networkOf, nodeOf } from "./models";

/** Names and texts of elements, read by an independent parser. */
const parser = `
import sys, json, xml.dom.minidom as m
d = m.parseString(sys.stdin.buffer.read())
e = d.getElementsByTagName("*")
t = [x.firstChild.data for x in e if x.tagName in ("text", "title") and x.firstChild]
print(json.dumps({"tags": sorted(set(x.tagName for x in e)), "texts": t, "attributes": sorted(set(a for x in e for a in x.attributes.keys()))}))`;
interface Parsed {
  tags: string[];
  texts: string[];
  attributes: string[];
}
const parsed = (input: string): Parsed =>
  JSON.parse(execFileSync("python3", ["-c", parser], { input, encoding: "utf8" })) as Parsed;

const hostile = [
  ...["<img src=x onerror=alert(1)>", '"] --> x', "</text><script>", "`**b**`", "&lt;b&gt;", "#quot;", "end", "1. one"],
  ...["fa:fa-ban", "$$x^2$$", "%%{init}%%", "a\\nb\\N", "]]>", "click n1 callback"],
];

/** Each name stands for an object of another kind in turn. */
const hostileNetwork = (names = hostile): NetworkModel => {
  const nodes = names.map((name, at) => nodeOf(1, at, { id: `n${at} ${name}`, name }));
  const memberships = names.map((orgName, at) => memberOf(at, { orgName }));
  const environments = [environmentOf(1, nodes, { name: hostile[0]!, provider: hostile[2]! })];
  const tethers = [{ id: hostile[1]!, environmentId: "e1", network: hostile[0]!, state: hostile[2]! }];
  return networkOf({ name: hostile[0]!, memberships, environments }, { title: hostile[2]!, tethers });
};

describe("names with special meanings are shown as text", () => {
  const quiet = ["aria-hidden", "aria-label", "class", "d", "data-from", "data-id", "data-key", "data-kind", "data-to"];

  test.each([hostile.slice(0, 7), hostile.slice(7)])("in SVG: %s …", (...names) => {
    const { tags, texts, attributes } = parsed(svgOf(mapOf(hostileNetwork(names))));
    expect(tags).toEqual(["g", "path", "style", "svg", "text", "title"]);
    expect(texts).toEqual(expect.arrayContaining(names));
    expect(attributes).toEqual([...quiet, "height", "role", "viewBox", "width", "x", "xmlns", "y"]);
  });

  test("in Mermaid", () => {
    const text = mermaidOf(mapOf(hostileNetwork()))!;
    const labels = [...text.matchAll(/"([^"]*)"/g)].map(([, label = ""]) => label);
    const read = labels
      .flatMap((label) => label.split("<br/>"))
      .map((label) => label.replace(/#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code))));
    expect(read.join("\n")).not.toMatch(/\$\$|\\n|fa:fa-/); // a formula, a line break and an icon, even as numbers
    expect(read.map((one) => one.replaceAll("\u2060", ""))).toEqual(expect.arrayContaining(hostile));
    expect(labels.join("").replaceAll("<br/>", "")).toMatch(
      /^([\p{L}\p{N} #;·…⚠±−≠✎]|(?<=[\p{L}\p{N}])-(?=[\p{L}\p{N}]))*$/u,
    );
    // Only lines of a flowchart that we write.
    const ours =
      /^(flowchart LR|\s*n\d+(\(\[|\[\(|\[|>|\{\{)"[^"]*"(\]\)|\)\]|\]|\}\})|\s*subgraph n\d+\["[^"]*"\]|\s*end| {2}n\d+ (---|-\.->) n\d+| {2}class(Def)? .*|)$/;
    expect(text.split("\n").filter((line) => !ours.test(line))).toEqual([]);
  });
});

describe("large networks", () => {
  test("6 environments of 4 nodes and 40 members take less than a second; a change of states moves no box", () => {
    const before = process.cpuUsage();
    const model = largeNetwork(6, 4, 40);
    svgOf(mapOf(model));
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1e6).toBeLessThan(patiently(1)); // CPU time of this process: other processes are busy, too
    const placed = layoutOf(mapOf(model));
    model.consortia[0]!.environments[0]!.nodes[0]!.state = "stopped";
    expect(svgOf(mapOf(model))).toContain("tone-bad");
    expect(layoutOf(mapOf(model))).toEqual(placed);
  });
});

test("tethers are in the environment that their reports are about", async () => {
  const ids = ["tether0001", "tether0002"];
  const { service, send, environment } = await populated({ timing: quick, tethers: ids.map((id) => ({ id })) });
  for (const id of ids) {
    await send("POST", `/tether/${id}/targetNetwork`, { network: "rinkeby" });
    await send("POST", `/tether/${id}/interval`, { interval: 1 });
    for (const act of ["deploy", "activate"]) await send("POST", `/tether/${id}/${act}`, {});
  }
  const given = { apiKey: service.apiKey, baseUrl: service.baseUrl };
  const client = new ConsortiumClient(resolveSettings({ env: {}, given }));
  const { tethers } = await new LiveNetwork(client).look({ tethers: ids });
  await client.close();
  expect(tethers.map(({ environmentId }) => environmentId)).toEqual([environment, environment]);
});

test("two tethers that pin one environment are in it, also on the console's map; a tether of another one is outside", () => {
  const environments = [environmentOf(1, [nodeOf(1, 1)]), environmentOf(2, [nodeOf(2, 1)])];
  const tethers = ["t1", "t2"].map((id) => ({ id, environmentId: "e1", network: "rinkeby" }));
  const model = networkOf({ environments }, { tethers: [...tethers, { id: "t3" }] });
  const map = mapOf(model);
  const ofTethers = (items: MapItem[]) =>
    items.filter(({ kind }) => kind === "tetherService").flatMap(({ ids }) => ids);
  expect(map.groups[0]!.groups.map(({ items }) => ofTethers(items))).toEqual([["t1", "t2"], []]);
  expect(ofTethers(map.items)).toEqual(["t3"]);
  const svg = mapsOf(model).c1!;
  expect(["t1", "t2", "t3"].map((id) => svg.includes(`"#/tethers/${id}"`))).toEqual([true, true, false]);
});

describe("positions of boxes", () => {
  const tall = (environments: number, nodes: number, members: number) => {
    const model = largeNetwork(environments, nodes, members);
    const inside = { id: "t0", network: "rinkeby", environmentId: "e0" };
    model.tethers = [inside, { id: "t9", network: "mainnet" }];
    return mapOf(model);
  };
  const linked = [
    [1, 1, 1],
    [3, 4, 4],
    [1, 12, 40],
  ] as const;
  const tables = [
    [3, 12, 12],
    [6, 4, 40],
    [3, 10, 3],
    [12, 12, 500],
  ] as const;

  test("members keep their order, with nodes and without", () => {
    const memberships = [1, 2, 3, 10].map((index) => memberOf(index));
    const map = mapOf(networkOf({ memberships, environments: [environmentOf(1, [nodeOf(1, 10), nodeOf(1, 2)])] }));
    expect(map.groups[0]!.items.map(({ label }) => label)).toEqual(memberships.map(({ orgName }) => orgName));
  });

  test.each(linked)("%s environments of %s nodes and %s members: no line crosses another's box", (...size) => {
    const map = tall(...size);
    const { boxes, ways } = layoutOf(map);
    const environments = map.groups.flatMap((one) => one.groups);
    const all = [map, ...map.groups, ...environments].flatMap(({ items }) => items);
    const crossed = map.edges.flatMap(({ from, to }, at) => {
      const own = environments.filter(({ items }) => items.some(({ key }) => key === from || key === to));
      const foreign = [...all, ...environments].filter(
        ({ key }) => ![from, to, ...own.map((o) => o.key)].includes(key),
      );
      const points = pointsOn(ways[at]!);
      return foreign
        .filter(({ key }) => points.some((point) => isWithin(point, boxes.get(key)!)))
        .map(({ key }) => key);
    });
    expect(crossed).toEqual([]);
    expect(ways.every((way) => way.length > 0)).toBe(true);
  });

  test.each(tables)("%s environments of %s nodes and %s members: rows of members, and no lines", (...size) => {
    const map = tall(...size);
    const { boxes } = layoutOf(map);
    const [consortium] = map.groups;
    const members = consortium!.items.filter(({ kind }) => kind === "membership").map(({ key }) => boxes.get(key)!);
    expect(map.edges.filter(({ kind }) => kind === "owns")).toEqual([]);
    expect(mermaidOf(map)).not.toContain(" --- ");
    for (const [at, column] of consortium!.groups.entries()) {
      const outer = boxes.get(column.key)!;
      const left = at === 0 ? Math.max(...members.map(({ x, width }) => x + width)) : rightOf(at - 1);
      expect(outer.x).toBeGreaterThan(left);
      expect(column.items.filter(({ key }) => !isInside(boxes.get(key)!, outer))).toEqual([]);
      for (const { key } of column.items) {
        const owner = consortium!.rows![key];
        const below = members.findIndex(({ y }) => y > boxes.get(key)!.y);
        const row = members[(below === -1 ? members.length : below) - 1];
        if (owner === undefined) expect(boxes.get(key)!.y).toBeGreaterThan(members.at(-1)!.y);
        else expect(row).toBe(boxes.get(owner));
      }
    }
    function rightOf(at: number): number {
      const { x, width } = boxes.get(consortium!.groups[at]!.key)!;
      return x + width;
    }
  });

  test("a tether in a table names its chain, because it has no line", () => {
    const map = tall(3, 12, 12);
    expect(map.edges).toEqual([expect.objectContaining({ from: "tetherService:t9" })]);
    expect(map.groups[0]!.groups[0]!.items.at(-1)!.details[0]).toContain("rinkeby");
  });

  const isInside = (box: Box, outer: Box): boolean =>
    box.x > outer.x &&
    box.y > outer.y &&
    box.x + box.width < outer.x + outer.width &&
    box.y + box.height < outer.y + outer.height;

  type Point = readonly [number, number];
  /** Points of cubic Bézier curves. */
  function pointsOn(way: readonly Point[]): Point[] {
    const points: Point[] = [];
    for (let at = 0; at + 3 < way.length; at += 3) {
      const [a, b, c, d] = way.slice(at, at + 4) as [Point, Point, Point, Point];
      for (let step = 0; step <= 40; step++) {
        const [t, u] = [step / 40, 1 - step / 40];
        const mix = (axis: 0 | 1) =>
          u ** 3 * a[axis] + 3 * u * u * t * b[axis] + 3 * u * t * t * c[axis] + t ** 3 * d[axis];
        points.push([mix(0), mix(1)]);
      }
    }
    return points;
  }
  const isWithin = ([x, y]: Point, box: { x: number; y: number; width: number; height: number }): boolean =>
    x > box.x + 0.1 && x < box.x + box.width - 0.1 && y > box.y + 0.1 && y < box.y + box.height - 0.1;
});

test("a plan's changes are shown by shape and word, and lost ledgers prominently", () => {
  const environments = [
    environmentOf(1, [nodeOf(1, 1, { change: "create" })], { change: "replace" }),
    environmentOf(2, [nodeOf(2, 1, { change: "update" })], { change: "delete", kept: true }),
  ];
  const svg = svgOf(mapOf(networkOf({ environments })));
  const { texts } = parsed(svg);
  expect(texts).toEqual(expect.arrayContaining(["+ create", "~ update", "± replace", "− delete"]));
  expect(texts.filter((text) => text.includes("DESTROYS ITS LEDGER"))).toHaveLength(1); // the other one is kept
  expect(svg).toMatch(/class="outline"/);
});

test("a page can set the links of boxes, and leave out the style", () => {
  const link = ({ kind, ids }: MapItem) => (kind === "node" ? undefined : `#${ids[0]}`);
  const svg = svgOf(mapOf(largeNetwork(1, 1, 1)), { link, style: false });
  expect(svg).toContain('<a href="#e0"><g class="item environment');
  expect(svg).toContain('<a href="#e0" tabindex="-1"><g class="item node tone-good" role="img"'); // it would hide that
  expect(svg).not.toContain("<style");
});
