import * as runtime from "../../provider/dynamic/runtime";
import * as sdk from "../../sdk";
import { output, secret, type CustomResource } from "@pulumi/pulumi";
import { Consortium, Node, Provider, type ProviderArgs } from "../../sdk";
import { program, type Registered, valueOf } from "../support/program";
import { setEnvironment, start } from "../support/service";
import { type Kind } from "../support/engine";

describe("a Provider", () => {
  /* An explicit Provider: the provider process gets its inputs as configuration. */

  /** Its registration, with `stack` as the stack's configuration. */
  async function inputsOf(args: ProviderArgs, stack: Record<string, string> = {}): Promise<Registered> {
    const config = Object.entries(stack).map(([key, value]) => [`consortium:${key}`, value]);
    const { registered } = await program({}, Object.fromEntries(config) as Record<string, string>);
    await valueOf(new Provider("acme", args).urn);
    return registered[0]!;
  }

  test("belongs to the package pulumi-nodejs, with full keys and a secret key", async () => {
    const { type, inputs } = await inputsOf({
      apiKey: "k",
      region: "eu",
      baseUrl: "http://x/api/v1",
      maxConcurrency: 3,
      requestTimeout: 9,
    });
    expect(type).toBe("pulumi:providers:pulumi-nodejs");
    expect(inputs).toEqual({
      "consortium:apiKey": { secret: "k" },
      "consortium:region": "eu",
      "consortium:baseUrl": "http://x/api/v1",
      "consortium:maxConcurrency": "3",
      "consortium:requestTimeout": "9",
      "consortium:own": "apiKey,region,baseUrl,maxConcurrency,requestTimeout",
    });
  });

  test.each([output("k"), secret("k"), Promise.resolve("k")])("a key as an output stays secret: %#", async (apiKey) => {
    expect((await inputsOf({ apiKey })).inputs["consortium:apiKey"]).toEqual({ secret: "k" });
  });

  test.each([
    ["the dynamic provider", "false", "consortium:"],
    ["the plugin, by its own names", "true", ""],
  ])("settings that it is not given come from the stack, and are not its own: on %s", async (_, plugin, prefix) => {
    setEnvironment({ CONSORTIUM_PLUGIN: plugin });
    const stack = { apiKey: "stack", region: "ko", maxConcurrency: "4" };
    const { inputs } = await inputsOf({ apiKey: "k", region: undefined }, stack);
    const wanted = { apiKey: { secret: "k" }, region: "ko", maxConcurrency: "4", own: "apiKey" };
    expect(inputs).toEqual(Object.fromEntries(Object.entries(wanted).map(([key, value]) => [prefix + key, value])));
  });

  /* Which provider the classes are on (through the real CLI: tests/e2e/plugin). */

  const within = { consortiumId: "c-id", environmentId: "e-id", membershipId: "m-id" };
  const stack = (plugin: string): Record<string, string> => ({ "consortium:plugin": plugin });

  async function typesWith(config: Record<string, string>): Promise<string[]> {
    const { registered } = await program({}, config);
    const provider = new Provider("acme", { apiKey: "k", region: "eu" });
    await valueOf(new Node("n", within, { provider }).urn);
    await valueOf(new Consortium("c").urn);
    return registered.map(({ type }) => type);
  }

  const onPlugin = ["pulumi:providers:consortium", "consortium:index:Node", "consortium:index:Consortium"];
  const onDynamic = onPlugin.map((type) =>
    type.replace("consortium:index:", "pulumi-nodejs:dynamic/consortium:").replace(/:consortium$/, ":pulumi-nodejs"),
  );

  test.each([
    [undefined, {}, onDynamic],
    [undefined, stack("true"), onPlugin],
    [undefined, stack("false"), onDynamic],
    ["true", {}, onPlugin],
    ["true", stack("false"), onPlugin],
    ["false", stack("true"), onDynamic],
    ["", stack("true"), onPlugin],
  ])("CONSORTIUM_PLUGIN=%s, configuration %j", async (variable, config, types) => {
    setEnvironment({ CONSORTIUM_PLUGIN: variable });
    expect((await typesWith(config)).sort()).toEqual([...types].sort());
  });

  test.each([
    ["1", {}, "Environment variable CONSORTIUM_PLUGIN"],
    [undefined, stack("yes"), "Stack configuration consortium:plugin"],
  ])("a value other than true and false is one clear error: %s, %j", async (variable, config, where) => {
    setEnvironment({ CONSORTIUM_PLUGIN: variable });
    await program({}, config);
    const value = variable ?? "yes";
    expect(() => new Consortium("c")).toThrow(`${where} is "${value}": it must be true or false.`);
  });

  test("an error of the SDK shows where in the program the resource is", async () => {
    await program();
    const limit = Error.stackTraceLimit;
    let thrown: unknown;
    try {
      new Consortium("");
    } catch (error) {
      thrown = error;
    }
    expect((thrown as Error).stack).toContain("provider.test.ts");
    expect(Error.stackTraceLimit).toBe(limit);
  });
});

describe("mistakes", () => {
  /* Programs with one mistake: the class at once, or else the check of a preview, names it and says what to do. */

  /** The classes, without the types that would not let the mistakes be written down. */
  type Class = new (name: string, args?: object, opts?: object) => CustomResource;
  const { AppCred, Consortium, Environment, Membership, Node, Provider, TetherService } = sdk as unknown as Record<
    "AppCred" | "Consortium" | "Environment" | "Membership" | "Node" | "Provider" | "TetherService",
    Class
  >;
  const ids = { consortiumId: "c1", environmentId: "e1", membershipId: "m1" };
  const pinned = { tetherId: "0123456789", network: "rinkeby", intervalHours: 1 };
  const inConsortium = { consortiumId: "c1", provider: "quorum", consensusType: "raft" };

  test.each<[string, () => CustomResource, RegExp]>([
    [
      "half of a character, which Pulumi could not hand on",
      () => new Environment("x", { ...inConsortium, description: "half \ud83d" }),
      /Environment x: description: it contains half of a character/,
    ],
    [
      "an unknown argument",
      () => new Node("x", { ...ids, plan: "large" }),
      /^property plan: Node has no argument "plan".*extra/,
    ],
    [
      "a misspelt parent",
      () => new Membership("x", { consortim: new Consortium("one", {}) }),
      /^property consortim: .*did you mean "consortium"\?/,
    ],
    [
      "a misspelt setting of a Provider: without it, another key would be used",
      () => new Provider("x", { apikey: "k" }),
      /^Provider x has no argument "apikey"; did you mean "apiKey"\? \[unknown-argument: /,
    ],
    [
      "a parent that is given twice",
      () => new Membership("x", { consortium: new Consortium("one", {}), consortiumId: "c1" }),
      /^Membership x: consortium and consortiumId are both given/,
    ],
    [
      "a tether that is given twice",
      () => new TetherService("x", { ...pinned, consoleUrl: "https://x/0123456789" }),
      /^TetherService x: tetherId and consoleUrl are both given/,
    ],
    [
      "Pulumi's option import of an object that can be adopted: names adopt",
      () => new Membership("x", { consortiumId: "c1" }, { import: "m1" }),
      /^Membership x: Pulumi's option import does not work .* adopt: "m1" instead; .*`consortium export --adopt`/,
    ],
    [
      "Pulumi's option import of a credential: says that a new one is made",
      () => new AppCred("x", ids, { import: "a1" }),
      /^AppCred x: Pulumi's option import .* leave the import out to create a new one/,
    ],
    [
      "Pulumi's option import of a tether: says that its id is enough",
      () => new TetherService("x", pinned, { import: "0123456789" }),
      /^TetherService x: Pulumi's option import .* leave the import out, because its tetherId identifies it/,
    ],
  ])("%s is refused before any call", async (_, make, message) => {
    const { service } = await start();
    expect(await complaintOf(make)).toMatch(message);
    expect(service.calls).toEqual([]);
  });

  test.each(["Membership", "Environment", "Node", "AppCred", "TetherService"] as const)(
    "%s without arguments, as in JavaScript, names the required ones",
    async (name) => {
      const Unplaced = (
        sdk as unknown as Record<string, Class & { get: (name: string, id: string) => CustomResource }>
      )[name]!;
      const why = new RegExp(`^${name} x: missing arguments: pass at least the parent, e\\.g\\. {`);
      expect(await complaintOf(() => new Unplaced("x"))).toMatch(why);
      // A tether is in no other object.
      if (name !== "TetherService") expect(await complaintOf(() => Unplaced.get("x", "id"))).toMatch(why);
    },
  );

  async function complaintOf(make: () => CustomResource): Promise<string> {
    const { of } = await program();
    try {
      const { type, inputs } = await of(make());
      const [, first = "", rest = ""] = /:(\w)(\w+)$/.exec(type)!;
      const { failures } = await runtime[`${first.toLowerCase()}${rest}` as Kind].check({}, inputs);
      return failures.map(({ property, reason }) => `property ${property}: ${reason}`).join("\n");
    } catch (error) {
      return (error as Error).message;
    }
  }
});
