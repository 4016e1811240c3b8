import { type NetworkDefinition } from "../../../sdk";
import { contentsKey } from "../../../provider/constants";
import { planned } from "../../../sdk/network/network";
import { partsOf } from "../../../sdk/network/parts";
import { raft } from "./registered";

/** Logical names, and the earlier ones, which become aliases. */

function names(definition: NetworkDefinition, name = "trade") {
  const { consortia, formerly } = planned(name, definition, undefined);
  const all = consortia.map((consortium) => ({
    consortium: consortium.names,
    members: consortium.members.map((one) => one.names),
    environments: consortium.environments.map((one) => one.names),
    nodes: consortium.environments.flatMap(({ nodes }) => nodes.map((one) => one.names)),
    credentials: consortium.environments.flatMap(({ credentials }) => credentials.map((one) => one.names)),
    tethers: consortium.environments.flatMap(({ tether }) => (tether ? [tether.names] : [])),
  }));
  return { formerly, all, first: all[0]! };
}

const prod = { ...raft, nodes: { acme: 1 } };

test("an entry that was never renamed has one name", () => {
  const { first } = names({ members: ["acme"], environments: { prod } });
  expect(first).toEqual({
    consortium: ["trade"],
    members: [["trade/acme"]],
    environments: [["trade/prod"]],
    nodes: [["trade/prod/acme-1"]],
    credentials: [["trade/prod/acme"]],
    tethers: [],
  });
});

test("a member takes its counted nodes and its credential along", () => {
  const { first } = names({
    members: { apex: { formerly: ["acme", "ace"] } },
    environments: { prod: { ...raft, nodes: { apex: 1 } } },
  });
  expect(first.members).toEqual([["trade/apex", "trade/acme", "trade/ace"]]);
  expect(first.nodes).toEqual([["trade/prod/apex-1", "trade/prod/acme-1", "trade/prod/ace-1"]]);
  expect(first.credentials).toEqual([["trade/prod/apex", "trade/prod/acme", "trade/prod/ace"]]);
});

test("an environment takes along everything in it, even entries that have another key now, too", () => {
  const tether = { tetherId: "tether0001", network: "rinkeby", intervalHours: 1 } as const;
  const live = { ...raft, formerly: "prod", nodes: { acme: { main: { formerly: "first" } } }, tether };
  const { first } = names({ members: ["acme"], environments: { live } });
  expect(first.environments).toEqual([["trade/live", "trade/prod"]]);
  expect(first.nodes).toEqual([["trade/live/main", "trade/live/first", "trade/prod/main", "trade/prod/first"]]);
  expect(first.tethers).toEqual([["trade/live", "trade/prod"]]);
});

test("a credential of a mapping has names of its own", () => {
  const credentials = { reports: { member: "acme", formerly: "report" }, acme: null };
  const { first } = names({ members: { acme: { formerly: "ace" } }, environments: { prod: { ...prod, credentials } } });
  expect(first.credentials).toEqual([
    ["trade/prod/reports", "trade/prod/report"],
    ["trade/prod/acme", "trade/prod/ace"],
  ]);
});

describe("several consortia", () => {
  test("the one that used to be alone has the network's name", () => {
    const { all } = names({
      consortia: { trade: { members: ["acme"] }, spice: { members: ["acme"], formerly: "herbs" } },
    });
    expect(all.map(({ consortium }) => consortium)).toEqual([["trade"], ["trade/spice", "trade/herbs"]]);
    expect(all.map(({ members }) => members)).toEqual([[["trade/acme"]], [["trade/spice/acme", "trade/herbs/acme"]]]);
  });

  test("its first name does not depend on the network's former name, so formerly can be removed", () => {
    const consortia = { trade: { members: ["acme"] } };
    const before = names({ formerly: "trade", consortia }, "commerce");
    expect(before.formerly).toEqual(["trade"]);
    // The parent's own alias makes `trade/acme` of `commerce/acme`.
    expect(before.first.members).toEqual([["commerce/trade/acme", "commerce/acme"]]);
    expect(names({ consortia }, "commerce").first.members).toEqual([["commerce/trade/acme"]]);
  });
});

test("a renamed network passes on the earlier names of its environments and nodes, so that none seems lost", () => {
  const environments = { live: { ...prod, formerly: "prod" } };
  const plan = planned("coffee", { formerly: "trade", members: ["acme"], environments }, undefined);
  const told = (className: string) => {
    const part = partsOf(plan).find((one) => one.className === className);
    return (part!.args[contentsKey] as string[][])[0];
  };
  const earlier = ["coffee/live", "coffee/prod", "trade/live", "trade/prod"];
  expect(told("Consortium")).toEqual(expect.arrayContaining(earlier));
  expect(told("Environment")).toEqual(expect.arrayContaining(earlier.map((name) => `${name}/acme-1`)));
});

test("a part has its earlier names, without its own", () => {
  const nodes = { acme: { main: { formerly: "first" }, next: null } };
  const members = { apex: { formerly: "ace" }, acme: null };
  const parts = partsOf(planned("trade", { members, environments: { prod: { ...raft, nodes } } }, undefined));
  const formerly = (name: string) => parts.find(({ planned: { names } }) => names[0] === name)!.formerly;
  expect(["trade", "trade/acme", "trade/apex"].map(formerly)).toEqual([[], [], ["trade/ace"]]);
  expect(["trade/prod/main", "trade/prod/next"].map(formerly)).toEqual([["trade/prod/first"], []]);
});
