import { parse, stringify } from "yaml";
import { ownKeys } from "../../../provider/constants";
import { type NetworkDefinition } from "../../../sdk";
import { plainResources } from "../../../sdk/network/programs";
import { yamlForAll } from "../../../sdk/yaml/write";
import { misreadable } from "../../fleet/made";
import { setEnvironment } from "../../support/service";
import { good, written } from "./problems";
import { beside, raft, registered, trade } from "./registered";

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

/** The value of an expression, with the id `NAME-id` for each resource. */
function evaluated(value: unknown, all: Record<string, Plain>): unknown {
  if (Array.isArray(value)) return value.map((one) => evaluated(one, all));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [
        key === "fn::secret" ? "secret" : key.replaceAll("$$", "$"),
        evaluated(one, all),
      ]),
    );
  if (typeof value !== "string") return value;
  const [, variable = "", output = ""] = /^\$\{(\w+)\.(\w+)\}$/.exec(value) ?? [];
  if (variable === "") return value.replaceAll("$$", "$");
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
