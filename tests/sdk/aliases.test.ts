import { type Alias, type Input, output, type ProviderResource, type Resource } from "@pulumi/pulumi";
import { Consortium, Node, Provider } from "../../sdk";
import { program } from "../support/program";
import { setEnvironment } from "../support/service";

/* Each alias has its counterpart on the other provider; that the engine then finds the state: tests/e2e/plugin/moving.test.ts. */

const within = { consortiumId: "c-id", environmentId: "e-id", membershipId: "m-id" };
const [dynamic, plugin] = ["pulumi-nodejs:dynamic/consortium:", "consortium:index:"];
const urn = (types: string, name: string): string => `urn:pulumi:old::project::${types}::${name}`;

describe.each([
  ["the plugin", "true", plugin, dynamic],
  ["the dynamic provider", "false", dynamic, plugin],
])("on %s", (_, onPlugin, own, other) => {
  beforeEach(() => setEnvironment({ CONSORTIUM_PLUGIN: onPlugin }));

  const parents = { own: `test:index:C$${own}Consortium`, other: `test:index:C$${other}Consortium` };
  const rows: [string, Input<string | Alias>, unknown][] = [
    ["a URN", urn(`${own}Consortium$${own}Node`, "a::b"), urn(`${other}Consortium$${other}Node`, "a::b")],
    ["a URN of the other", urn(`${other}Node`, "n"), urn(`${own}Node`, "n")],
    ["a URN that is an output", output(urn(`${own}Node`, "n")), urn(`${other}Node`, "n")],
    ["a URN that is a promise", Promise.resolve(urn(`${own}Node`, "n")), urn(`${other}Node`, "n")],
    ["a name", { name: "old" }, { name: "old", type: `${other}Node` }],
    ["a name that is an output", { name: output("old") }, { name: "old", type: `${other}Node` }],
    ["an alias that is a promise", Promise.resolve({ name: "old" }), { name: "old", type: `${other}Node` }],
    ["a type", { type: `${own}Membership` }, { type: `${other}Membership` }],
    ["a type that is an output", { type: output(`${own}Membership`) }, { type: `${other}Membership` }],
    ["the type of somebody else", { type: "my:own:Node", name: "x" }, { type: "my:own:Node", name: "x" }],
    ["a project", { project: "before" }, { project: "before", type: `${other}Node` }],
    ["a stack", { stack: "before" }, { stack: "before", type: `${other}Node` }],
    ["no parent", { parent: undefined }, { noparent: true, type: `${other}Node` }],
    ["a parent's URN", { parent: urn(parents.own, "c") }, { parenturn: urn(parents.other, "c"), type: `${other}Node` }],
    [
      "one that is an output",
      { parent: output(urn(parents.own, "c")) },
      { parenturn: urn(parents.other, "c"), type: `${other}Node` },
    ],
    [
      "all of them",
      { name: "old", parent: urn("a:b:C", "c"), stack: "s", project: "p" },
      { name: "old", parenturn: urn("a:b:C", "c"), stack: "s", project: "p", type: `${other}Node` },
    ],
  ];

  test.each(rows)("%s", async (_, alias, counterpart) => {
    const { of } = await program();
    const { aliases } = await of(new Node("n", within, { aliases: [alias] }));
    expect(aliases).toHaveLength(3);
    expect(aliases[1]).toEqual(counterpart);
    expect(aliases[2]).toMatch(`::${other}Node::n`);
  });

  test("a parent that is a resource of this package comes from the other provider, too", async () => {
    const { of } = await program();
    const parent: Resource = new Consortium("c");
    const { aliases } = await of(new Node("n", within, { aliases: [{ parent }] }));
    expect(aliases[1]).toEqual({
      type: `${other}Node`,
      parenturn: expect.stringMatching(`::${other}Consortium::c$`) as string,
    });
  });

  test("aliases of a Provider", async () => {
    const { of } = await program();
    const acme: ProviderResource = new Provider("acme", { apiKey: "k" }, { aliases: [{ name: "old" }] });
    const { aliases } = await of(acme);
    const provider = onPlugin === "true" ? "pulumi-nodejs" : "consortium";
    expect(aliases.slice(1)).toEqual([
      { name: "old", type: `pulumi:providers:${provider}` },
      expect.stringMatching(`::pulumi:providers:${provider}::acme$`),
    ]);
  });
});
