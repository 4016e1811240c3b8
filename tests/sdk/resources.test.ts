import {
  type CustomResource,
  output,
  type ResourceTransformation,
  secret,
  type Alias,
  type Input,
  type ProviderResource,
  type Resource,
} from "@pulumi/pulumi";
import { stub } from "../../provider/constants";
import { AppCred, Consortium, Environment, Membership, Node, Service, TetherService, Provider } from "../../sdk";
import { program, valueOf } from "../support/program";
import { setEnvironment } from "../support/service";

describe("resources", () => {
  /* Registrations of the classes with the engine: flat inputs, one small text, and their options. */

  const quorum = { provider: "quorum", consensusType: "raft" } as const;
  const pinned = { tetherId: "tether0001", network: "rinkeby", intervalHours: 1 } as const;

  /** One of each, with all parents given as resources, or all as ids. */
  function network(as: "resources" | "ids"): Record<string, CustomResource> {
    const c = new Consortium("c");
    const e = new Environment("e", as === "ids" ? { consortiumId: "c-id", ...quorum } : { consortium: c, ...quorum });
    const m = new Membership("m", as === "ids" ? { consortiumId: "c-id" } : { consortium: c });
    const parents =
      as === "ids"
        ? { consortiumId: output("c-id"), environmentId: "e-id", membershipId: "m-id" }
        : { environment: e, membership: m };
    return { c, e, m, n: new Node("n", parents), a: new AppCred("a", parents), t: new TetherService("t", pinned) };
  }

  const within = { consortiumId: "c-id", environmentId: "e-id", membershipId: "m-id" };
  const registered = {
    c: ["Consortium", "consortium", { name: "c" }],
    e: ["Environment", "environment", { name: "e", consortiumId: "c-id", ...quorum }],
    m: ["Membership", "membership", { orgName: "m", consortiumId: "c-id" }],
    n: ["Node", "node", { name: "n", ...within }],
    a: ["AppCred", "appCred", { name: "a", ...within }],
    t: ["TetherService", "tetherService", pinned],
  } as const;
  const table = (["resources", "ids"] as const).flatMap((as) =>
    Object.entries(registered).map(([key, [type, handler, inputs]]) => [type, as, { key, handler, inputs }] as const),
  );

  test.each(table)("%s with parents as %s: inputs, name, provider text", async (type, as, { key, handler, inputs }) => {
    const { of } = await program();
    const made = await of(network(as)[key]!);
    expect(made.type).toBe(`pulumi-nodejs:dynamic/consortium:${type}`);
    const inside = { c: "e", e: "n" }[key];
    const contents = inside !== undefined && { __environments: { classes: as === "ids" ? [] : [[inside]] } };
    expect(made.inputs).toEqual({ ...inputs, ...contents, __provider: stub(handler), __logicalName: key });
  });

  test.each(Object.keys(registered))("%s: the class knows its own resources, and no others", async (key) => {
    await program();
    const all = Object.values(network("ids"));
    const { [key]: one } = network("ids");
    const isInstance = (value: unknown): boolean => (one!.constructor as typeof CustomResource).isInstance(value);
    expect(all.filter((other) => isInstance(other)).map((other) => other.constructor)).toEqual([one!.constructor]);
    expect([undefined, null, {}, "text"].filter((other) => isInstance(other))).toEqual([]);
  });

  test.each([undefined, "given"])("name: %s", async (name) => {
    const { of } = await program();
    for (const one of [new Consortium("x", { name }), new Service("x", { ...within, name, service: "ipfs" })])
      expect((await of(one)).inputs.name).toBe(name ?? "x");
    expect((await of(new Membership("x", { consortiumId: "c", orgName: name }))).inputs.orgName).toBe(name ?? "x");
  });

  test("by default, no resource is dropped with its parent, and only nodes are deleted before their replacement", async () => {
    const { of } = await program();
    const made = network("resources");
    for (const [key, one] of Object.entries(made)) {
      expect(await of(one)).toMatchObject({ deletedWith: "", deleteBeforeReplace: key === "n" });
    }
    const own = new Node("own", { environment: made.e as Environment, membershipId: "m" }, { deletedWith: made.c });
    expect((await of(own)).deletedWith).toBe(await valueOf(made.c!.urn));
  });

  test("the outputs of a credential are secret, and so are values that the program marks", async () => {
    const { of } = await program();
    const marked = new AppCred("marked", within, { additionalSecretOutputs: ["username"] });
    expect((await of(marked)).secretOutputs).toEqual(["username", "password", "basicAuthHeader"]);
    for (const [key, one] of Object.entries(network("ids"))) {
      expect((await of(one)).secretOutputs).toEqual(key === "a" ? ["password", "basicAuthHeader"] : []);
    }
  });

  describe("customTimeouts", () => {
    test.each([
      ["90s", 90],
      ["10m", 600],
      ["1h30m", 5400],
      ["1.5m", 90],
      ["500ms", 0.5],
      [" 2h ", 7200],
    ])("%s is %d seconds in the inputs", async (text, seconds) => {
      const { of } = await program();
      const one = await of(new Node("x", within, { customTimeouts: { create: text, delete: "5s" } }));
      expect(one.inputs.customTimeouts).toEqual({ create: seconds, delete: 5 });
      expect(one.customTimeouts).toMatchObject({ create: text, delete: "5s" });
    });

    const wrong = ["", "soon", "10", "10 m", "5d", "m", "-5s", "1h x"];
    test.each(wrong)("%j is refused at once, with the resource and the verb", async (text) => {
      await program();
      expect(() => new Node("x", within, { customTimeouts: { update: text } })).toThrow(
        /x: customTimeouts\.update: ".*" is not a duration\. Write it like 90s, 10m or 1h30m/,
      );
    });

    test.each([{}, { create: "0s", delete: "0m" }])(
      "%j is not an input: it means the defaults",
      async (customTimeouts) => {
        const { of } = await program();
        expect((await of(new Node("x", within, { customTimeouts }))).inputs).not.toHaveProperty("customTimeouts");
      },
    );
  });

  test("secrets and time-outs that a transformation of the resource sets are honored", async () => {
    const { of } = await program();
    const set = { description: secret("hush"), extra: { plain: "seen", hidden: secret(7) } };
    const transformation: ResourceTransformation = ({ props, opts }) => ({
      props: { ...props, ...set },
      opts: { ...opts, customTimeouts: { create: "2s" } },
    });
    const { inputs, secretOutputs } = await of(new Consortium("x", {}, { transformations: [transformation] }));
    expect(inputs).toMatchObject({ __secrets: [["description"], ["extra", "hidden"]], customTimeouts: { create: 2 } });
    expect(secretOutputs).toContain("__hidden");
  });

  test.each([
    "https://console.kaleido.io/consortia/c/environments/e/tether/tether0001",
    "https://console.kaleido.io/x/tether0001/",
    "https://console.kaleido.io/x/tether0001/#",
    "tether0001",
  ])("a tether service by its address in the console: %s", async (consoleUrl) => {
    const { of } = await program();
    const { inputs } = await of(new TetherService("t", { consoleUrl, network: "mainnet", intervalHours: 2 }));
    expect(inputs).toMatchObject({ tetherId: "tether0001" });
    expect(inputs).not.toHaveProperty("consoleUrl");
  });

  const gets = {
    Consortium: () => Consortium.get("x", "their-id"),
    Node: () => Node.get("x", "their-id", { consortiumId: "c", environmentId: "e" }),
    TetherService: () => TetherService.get("x", "their-id"),
  };
  test.each(Object.entries(gets))("%s.get reads an object that this stack does not manage", async (type, get) => {
    const { of } = await program();
    const one = get();
    expect(await of(one)).toMatchObject({ read: true, type: `pulumi-nodejs:dynamic/consortium:${type}` });
    expect((await of(one)).inputs.__provider).toContain("pulumi-consortium/runtime");
    expect(await valueOf(one.id)).toBe("their-id");
  });

  test("the dynamic provider gets the paths of secrets; without secrets, nothing is added", async () => {
    const { of } = await program();
    const token = secret("t");
    const made = await of(
      new Consortium("c", {
        description: token,
        extra: { open: 1, deep: [{ token }], later: Promise.resolve("x"), plain: output("p") },
      }),
    );
    expect(made.inputs.__secrets).toEqual([["description"], ["extra", "deep", 0, "token"]]);
    const plain = await of(new Membership("m", { consortiumId: output("c"), extra: { a: output("b") } }));
    expect(plain.inputs).not.toHaveProperty("__secrets");
  });
});

describe("aliases", () => {
  /* Each alias has its counterpart on the other provider; that the engine then finds the state: tests/e2e/plugin/engine.test.ts. */

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
      ["a name", { name: "old" }, { name: "old", type: `${other}Node` }],
      ["an alias that is a promise", Promise.resolve({ name: "old" }), { name: "old", type: `${other}Node` }],
      ["a type", { type: `${own}Membership` }, { type: `${other}Membership` }],
      ["the type of somebody else", { type: "my:own:Node", name: "x" }, { type: "my:own:Node", name: "x" }],
      ["a project", { project: "before" }, { project: "before", type: `${other}Node` }],
      ["a stack", { stack: "before" }, { stack: "before", type: `${other}Node` }],
      ["no parent", { parent: undefined }, { noparent: true, type: `${other}Node` }],
      [
        "a parent's URN, an output",
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
});
