import { parse, stringify } from "yaml";
import { ownKeys, contentsKey } from "../../../provider/constants";
import { type NetworkDefinition } from "../../../sdk";
import { plainResources } from "../../../sdk/network/programs";
import { yamlForAll } from "../../../sdk/yaml/write";
import { misreadable } from "../../fleet/made";
import { setEnvironment } from "../../support/service";
import { good, written } from "./problems";
import { beside, raft, registered, trade } from "./registered";
import { planned } from "../../../sdk/network/network";
import { partsOf } from "../../../sdk/network/parts";

describe("plain resources", () => {
  /* A network file as plain resources: the ones that `Network` registers with the engine, with aliases to move from there. */

  interface Plain {
    type: string;
    name: string;
    properties: Record<string, unknown>;
    options: {
      aliases: string[];
      protect?: boolean;
      deleteBeforeReplace?: boolean;
      ignoreChanges?: string[];
      dependsOn?: string[];
    };
  }

  /** As the host of YAML reads it. */
  function plainOf(definition: unknown, network?: string): Record<string, Plain> {
    const file = written(stringify(definition), "trade.yaml");
    const resources = plainResources(file, network, { stack: "acme-prod", project: "fleet" });
    return parse(yamlForAll(resources), { version: "1.1" }) as Record<string, Plain>;
  }

  /** Text as it is read: `$$` is one dollar, and nothing is left to evaluate. */
  function literal(text: string): string {
    expect(text.replaceAll("$$", "")).not.toContain("${");
    return text.replaceAll("$$", "$");
  }

  /** The value of an expression, with the id `NAME-id` for each resource. */
  function evaluated(value: unknown, all: Record<string, Plain>): unknown {
    if (Array.isArray(value)) return value.map((one) => evaluated(one, all));
    if (typeof value === "object" && value !== null)
      return Object.fromEntries(
        Object.entries(value).map(([key, one]) => [
          key === "fn::secret" ? "secret" : literal(key),
          evaluated(one, all),
        ]),
      );
    if (typeof value !== "string") return value;
    const [, variable = "", output = ""] = /^\$\{(\w+)\.(\w+)\}$/.exec(value) ?? [];
    if (variable === "") return literal(value);
    const { name, properties } = all[variable]!;
    return output === "id" ? `${name}-id` : evaluated(properties[output], all);
  }

  const variants: [string, NetworkDefinition][] = [
    ["a usual one", parse(good) as NetworkDefinition],
    ["tether, roles, names, ids to adopt, fields of the service's own", trade],
    ["zones, configurations, services, destinations and invitations", beside],
    ["several consortia", { consortia: { a: { members: ["x"] }, b: { description: "B" } } }],
    ["everything that Pulumi YAML might read otherwise", misreadable],
    [
      "renamed parts",
      {
        formerly: "coffee",
        members: { apex: { formerly: ["acme"] } },
        environments: { live: { ...raft, formerly: "prod", nodes: { apex: { main: { formerly: "first" } } } } },
      },
    ],
  ];

  test.each(variants)("each resource as Network registers it: %s", async (_, definition) => {
    setEnvironment({ CONSORTIUM_PLUGIN: "true" });
    const { all } = await registered(definition);
    const plain = plainOf(definition);
    const own = (inputs: Record<string, unknown>) =>
      Object.fromEntries(Object.entries(inputs).filter(([key]) => !ownKeys.includes(key)));
    const wanted = all.filter(({ type }) => type !== "consortium:index:Network");
    const comparable = Object.values(plain).map(({ type, name, properties, options }) => ({
      type,
      name,
      inputs: evaluated(properties, plain),
      protect: options.protect ?? false,
      deleteBeforeReplace: options.deleteBeforeReplace ?? false,
      ignoreChanges: options.ignoreChanges ?? [],
      /** Dependencies that no property refers to. */
      dependsOn: (options.dependsOn ?? []).map((one) => plain[one.slice(2, -1)]!.name),
    }));
    const byName = <T extends { type: string; name: string }>(list: T[]) =>
      Object.fromEntries(list.map((one) => [`${one.type} ${one.name}`, one]));
    expect(byName(comparable)).toEqual(
      byName(
        wanted.map(({ type, name, inputs, protect, deleteBeforeReplace, ignoreChanges, dependencies }) => ({
          type,
          name,
          inputs: own(inputs),
          protect,
          deleteBeforeReplace,
          ignoreChanges,
          dependsOn: dependencies
            .filter(
              (urn) => type.endsWith(":TetherService") || (type.endsWith("tZone") && urn.includes("ConsortiumZone::")),
            )
            .map((urn) => urn.split("::").at(-1)),
        })),
      ),
    );
  });

  test("the aliases: in a Network or not, on either provider, under every former name", () => {
    const [node] = Object.values(plainOf(variants.at(-1)![1])).filter(({ type }) => type.endsWith(":Node"));
    const where = "urn:pulumi:acme-prod::fleet::";
    const types = ["consortium:index:Node", "pulumi-nodejs:dynamic/consortium:Node"];
    const names = ["trade", "coffee"].flatMap((network) =>
      // A network that is now one of several may have been the only one.
      [network, `${network}/coffee`].flatMap((consortium) =>
        ["live", "prod"].flatMap((key) => ["main", "first"].map((node) => `${consortium}/${key}/${node}`)),
      ),
    );
    const urns = names.flatMap((name) =>
      types.flatMap((type) => [`${where}${type}::${name}`, `${where}consortium:index:Network$${type}::${name}`]),
    );
    const own = `${where}consortium:index:Node::trade/live/main`;
    expect(node!.options.aliases.sort()).toEqual(urns.filter((urn) => urn !== own).sort());
  });

  const configurations = { keys: { member: "a", type: "kms", details: { token: [{ env: "CONSORTIUM_TEST_UNSET" }] } } };
  test.each([
    ["an empty value", { members: { acme: { extra: { zone: null } } } }],
    ["a key that looks like a call", { members: { acme: { extra: { "Fn::secret": "x" } } } }],
    ["the value of an environment variable", { members: ["a"], environments: { prod: { ...raft, configurations } } }],
  ])("a program in Node.js replaces what Pulumi YAML cannot express: %s", (_, definition) => {
    const file = written(stringify(definition));
    expect(plainResources(file, undefined, { stack: "s", project: "p" })).toBeUndefined();
  });

  test("the name in the stack precedes the file's, and names the consortium, too", () => {
    const { Consortium1: only } = plainOf({ name: "coffee", members: [] }, "tea");
    expect(only).toMatchObject({ name: "tea", properties: { name: "tea" } });
  });
});

describe("names", () => {
  /** Logical names, and the earlier ones, which become aliases. */
  const names = (definition: NetworkDefinition, name = "trade") =>
    Object.fromEntries(
      partsOf(planned(name, definition, undefined)).map(({ className, planned: { names } }) => [
        `${className} ${names[0]}`,
        names.slice(1),
      ]),
    );

  const prod = { ...raft, nodes: { acme: 1 } };

  test("a member takes its counted nodes and its credential along", () => {
    const environments = { prod: { ...raft, nodes: { apex: 1 } } };
    expect(names({ members: { apex: { formerly: ["acme", "ace"] } }, environments })).toMatchObject({
      "Membership trade/apex": ["trade/acme", "trade/ace"],
      "Node trade/prod/apex-1": ["trade/prod/acme-1", "trade/prod/ace-1"],
      "AppCred trade/prod/apex": ["trade/prod/acme", "trade/prod/ace"],
    });
  });

  test("an environment takes along everything in it, even entries that have another key now, too", () => {
    const tether = { tetherId: "tether0001", network: "rinkeby", intervalHours: 1 } as const;
    const { zones, services, ...inside } = beside.environments.prod;
    const live = {
      ...inside,
      formerly: "prod",
      nodes: { acme: { main: { formerly: "first" } } },
      tether,
      nodeDefaults: { zone: "us" },
      zones: { us: { ...zones.ohio, formerly: "ohio" } },
      services: {
        ids: services.ids,
        papers: { ...services.docs, zone: "us", formerly: "docs", destinations: { in: { formerly: "ohio" } } },
      },
    };
    const us = { ...beside.zones.ohio, formerly: "ohio" };
    expect(names({ ...beside, zones: { us }, environments: { live } })).toMatchObject({
      "ConsortiumZone trade/us": ["trade/ohio"],
      "Environment trade/live": ["trade/prod"],
      "Node trade/live/main": ["trade/live/first", "trade/prod/main", "trade/prod/first"],
      "TetherService trade/live": ["trade/prod"],
      "EnvironmentZone trade/live/us": ["trade/live/ohio", "trade/prod/us", "trade/prod/ohio"],
      "Configuration trade/live/gas": ["trade/prod/gas"],
      "Destination trade/live/papers/in": expect.arrayContaining(["trade/prod/docs/ohio"]) as string[],
    });
  });

  test("a credential of a mapping has names of its own", () => {
    const credentials = { reports: { member: "acme", formerly: "report" }, acme: null };
    const members = { acme: { formerly: "ace" } };
    expect(names({ members, environments: { prod: { ...prod, credentials } } })).toMatchObject({
      "AppCred trade/prod/reports": ["trade/prod/report"],
      "AppCred trade/prod/acme": ["trade/prod/ace"],
    });
  });

  test("of several consortia, the one that used to be alone has the network's name", () => {
    const spice = { members: ["acme"], formerly: "herbs" };
    expect(names({ consortia: { trade: { members: ["acme"] }, spice } })).toEqual({
      "Consortium trade": [],
      "Membership trade/acme": [],
      "Consortium trade/spice": ["trade/herbs"],
      "Membership trade/spice/acme": ["trade/herbs/acme"],
    });
  });

  test("its first name does not depend on the network's former name, so formerly can be removed", () => {
    const consortia = { trade: { members: ["acme"] } };
    expect(planned("commerce", { formerly: "trade", consortia }, undefined).formerly).toEqual(["trade"]);
    // The parent's own alias makes `trade/acme` of `commerce/acme`.
    const member = "Membership commerce/trade/acme";
    expect(names({ formerly: "trade", consortia }, "commerce")).toMatchObject({ [member]: ["commerce/acme"] });
    expect(names({ consortia }, "commerce")).toMatchObject({ [member]: [] });
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
    const credentials = { apex: null, ace: { member: "acme" } }; // the new one has the old name of the other
    const prod = { ...raft, nodes, credentials };
    const parts = partsOf(planned("trade", { members, environments: { prod } }, undefined));
    const formerly = (name: string) => parts.find(({ planned: { names } }) => names[0] === name)!.formerly;
    expect(["trade", "trade/acme", "trade/apex"].map(formerly)).toEqual([[], [], ["trade/ace"]]);
    expect(["trade/prod/main", "trade/prod/next"].map(formerly)).toEqual([["trade/prod/first"], []]);
    expect(["trade/prod/apex", "trade/prod/ace"].map(formerly)).toEqual([[], []]);
  });
});
