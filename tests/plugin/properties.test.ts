import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { CheckRequest, DiffRequest, DiffResponse } from "@pulumi/pulumi/proto/provider_pb";
import { checkConfig, Configuration, diffConfig, failures } from "../../plugin/configuration";
import { fromEngine, hasUnknown, toEngine } from "../../plugin/properties";
import { type Props } from "../../provider/core/definition";
import { unknown } from "../../provider/core/values";
import { type z } from "zod";
import { terraformMapping, terraformResources } from "../../plugin/terraform";
import { definitions } from "../../provider/resources";
import { Protocol } from "../support/protocol";

describe("properties", () => {
  /** Properties as they travel between the engine and the plugin, and the settings of a provider that are made of them. */

  const signature = "4dabf18193072939515e22adb298388d";
  const secret = (value: unknown) => ({ [signature]: "1b47061264138c4ac30d75fd1eb44270", value });
  const output = (value?: unknown, more: object = {}) => ({
    [signature]: "d0e6a833031e9bbcd3f4e8bde6ca49a4",
    ...(value !== undefined && { value }),
    ...more,
  });
  const other = { [signature]: "c44067f5952c0a294b673a41bacd8c17", hash: "h" };
  const struct = (props: object) => Struct.fromJavaScript(props as never);

  test.each<[unknown, boolean]>([
    [unknown, true],
    ["text", false],
    [null, false],
    [{ a: ["b", unknown] }, true],
    [{ a: ["b"] }, false],
    [output(), true],
    [output("a"), false],
    [output({ a: unknown }), true],
    [secret(unknown), true],
    [secret("a"), false],
    [other, false],
  ])("%j has an unknown value: %j", (value, has) => expect(hasUnknown(value)).toBe(has));

  test.each<[string, object, object, unknown[], string[]]>([
    ["plain values", { a: 1, b: [null, "x"] }, { a: 1, b: [null, "x"] }, [], []],
    ["a secret", { a: secret("s"), b: 1 }, { a: "s", b: 1 }, [["a"]], ["a"]],
    [
      "parts that are secret",
      { a: { b: secret("s"), c: [1, secret(2)] } },
      { a: { b: "s", c: [1, 2] } },
      [
        ["a", "b"],
        ["a", "c", 1],
      ],
      ["a"],
    ],
    ["a secret in a secret, told once", { a: secret({ b: secret("s") }) }, { a: { b: "s" } }, [["a"]], ["a"]],
    ["an output", { a: output("v") }, { a: "v" }, [], []],
    ["a secret output", { a: output("v", { secret: true }) }, { a: "v" }, [["a"]], ["a"]],
    ["an output that is said not to be secret", { a: output("v", { secret: false }) }, { a: "v" }, [], []],
    ["a secret in an output", { a: output({ b: secret("s") }) }, { a: { b: "s" } }, [["a", "b"]], ["a"]],
    ["a value with another signature", { a: other }, { a: other }, [], []],
  ])("from the engine: %s", (_, wire, props, paths, secrets) => {
    expect(fromEngine(struct(wire))).toEqual({ props, paths, secrets });
  });

  test("from the engine: nothing", () => expect(fromEngine(undefined)).toEqual({ props: {}, paths: [], secrets: [] }));

  test.each<[string, Props, (string | (string | number)[])[], object]>([
    ["no secrets, and no undefined values", { a: 1, b: undefined }, [], { a: 1 }],
    ["a secret by its name", { a: 1, b: 2 }, ["a"], { a: secret(1), b: 2 }],
    ["a part by its path", { a: { b: [1, 2] } }, [["a", "b", 1]], { a: { b: [1, secret(2)] } }],
    ["a whole and a part of it, in any order", { a: { b: 1 } }, [["a", "b"], "a"], { a: secret({ b: 1 }) }],
    ["the same twice", { a: 1 }, ["a", ["a"]], { a: secret(1) }],
    ["null, which is a value", { a: null }, ["a"], { a: secret(null) }],
    ["a missing property", { a: { b: 1 } }, ["c", ["a", "c"], ["a", "b", "c"], []], { a: { b: 1 } }],
  ])("to the engine: %s", (_, props, secrets, wire) => {
    expect(toEngine(props, secrets).toJavaScript()).toEqual(wire);
  });

  test("failures: a property that is secret, or within a secret, is not named, and its value is masked", () => {
    const issues = [
      { property: "apiKey", reason: "apiKey: canary is wrong" },
      { property: "details.password", reason: "wrong" },
      { property: "region", reason: "not canary" },
    ];
    const found = failures(issues, { props: { apiKey: "canary", region: "eu" }, secrets: ["apiKey", "details"] });
    expect(found.map((one) => [one.getProperty(), one.getReason()])).toEqual([
      ["", "apiKey: [secret] is wrong [invalid-argument: docs/troubleshooting.md#invalid-argument]"],
      ["", "wrong [invalid-argument: docs/troubleshooting.md#invalid-argument]"],
      ["region", "not [secret] [invalid-argument: docs/troubleshooting.md#invalid-argument]"],
    ]);
  });

  test.each<[string, object, object, string[]]>([
    ["the same", { region: "eu" }, { region: "eu" }, []],
    [
      "another value, one that is new and one that has left",
      { region: "eu", a: 1, c: 3 },
      { region: "us", b: 2, c: 3 },
      ["a", "region", "b"],
    ],
    ["prefixes, which a provider of dynamic resources has", { "consortium:region": "eu" }, { region: "eu" }, []],
    [
      "additions of the engine and SDKs",
      { version: "1", own: true },
      { version: "2", __internal: {}, pluginDownloadURL: "u" },
      [],
    ],
    ["an addition beside another value", { region: "eu", own: true }, { region: "us", own: false }, ["region"]],
    ["a formatted value", { region: "eu" }, { region: " eu" }, []],
  ])("a provider's difference: %s", (_, olds, news, changed) => {
    const request = new DiffRequest();
    request.setOlds(struct(olds));
    request.setNews(struct(news));
    const response = diffConfig(request);
    expect(response.getDiffsList()).toEqual(changed);
    const { DIFF_NONE, DIFF_SOME } = DiffResponse.DiffChanges;
    expect(response.getChanges()).toBe(changed.length > 0 ? DIFF_SOME : DIFF_NONE);
    expect(response.getReplacesList()).toEqual([]);
  });

  test("a key is secret in a provider's inputs, even if the program did not mark it", () => {
    const request = new CheckRequest();
    request.setUrn("urn:pulumi:dev::p::pulumi:providers:consortium::acme");
    request.setNews(struct({ apiKey: "canary", region: secret("eu") }));
    expect(checkConfig(request).getInputs()!.toJavaScript()).toEqual({
      own: true,
      apiKey: secret("canary"),
      region: secret("eu"),
    });
  });

  const urn = (name: string) => `urn:pulumi:dev::p::pulumi:providers:consortium::${name}`;
  test.each<[string, object, string | undefined]>([
    [urn("acme"), {}, "acme"],
    [urn("default"), {}, ""],
    ["", {}, undefined],
  ])("the provider %s with %j has the name %j", (of, props, name) =>
    expect(new Configuration(of, { ...props }).name).toBe(name),
  );
});

describe("the mapping for Terraform", () => {
  /** The mapping for Pulumi's converter from Terraform. (tests/e2e/plugin/from-terraform.test.ts lets a converter use it.) */

  interface Shape {
    type: number;
    element?: object;
  }
  interface Mapping {
    name: string;
    version: string;
    provider: Record<"resources" | "dataSources", Record<string, Record<string, Shape>>> & {
      schema: Record<string, Shape>;
    };
    dataSources: object;
    config: Record<string, { name: string }>;
    resources: Record<string, { tok: string; fields: Record<string, { name: string }> }>;
  }
  const mapping = terraformMapping() as Mapping;

  let protocol: Protocol;
  beforeAll(async () => (protocol = await Protocol.start()));
  afterAll(() => protocol.close());

  test("the engine learns that the plugin knows the provider, and its mapping", async () => {
    for (const key of ["terraform", "tf"]) {
      const answer = await protocol.mapping(key, "kaleido");
      expect(answer).toMatchObject({ providers: ["kaleido"], provider: "kaleido" });
      expect(JSON.parse(answer.data)).toEqual(mapping);
    }
    expect(await protocol.mapping("terraform", "")).toMatchObject({ provider: "kaleido" }); // as older converters ask
    expect(await protocol.mapping("terraform", "aws")).toMatchObject({ provider: "", data: "" });
    expect(await protocol.mapping("kubernetes", "kaleido")).toEqual({ providers: [], provider: "", data: "" });
  });

  const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

  test.each(Object.entries(terraformResources))(
    "%s: each argument has a property here, or none by design",
    (type, one) => {
      const { inputs, outputs } = definitions[one.kind];
      const { fields } = mapping.resources[type]!;
      for (const [name, argument] of Object.entries(one.arguments)) {
        const here = fields[name]?.name ?? camel(name);
        const [key = ""] = here.split(".");
        const known = argument.is === "computed" ? { ...inputs.shape, ...outputs.shape } : inputs.shape;
        expect([type, name, key in known]).toEqual([type, name, argument.to !== ""]);
      }
      // Terraform has every argument that is required here.
      const needed = Object.entries<z.ZodType>(inputs.shape).filter(
        ([, schema]) => !schema.safeParse(undefined).success,
      );
      const given = Object.entries(one.arguments).map(([name]) => fields[name]?.name ?? camel(name));
      expect(needed.map(([key]) => key).filter((key) => !given.includes(key))).toEqual([]);
    },
  );

  test("the data source has no lookup here: its function, which a converted program calls, is refused by name", async () => {
    expect(mapping.dataSources).toEqual({
      kaleido_privatestack_bridge: { tok: "consortium:index:getPrivatestackBridge", fields: {} },
    });
    expect(mapping.provider.dataSources.kaleido_privatestack_bridge).toMatchObject({
      service_id: { type: 4, required: true },
      appcred_secret: { type: 4, optional: true, sensitive: true },
      config_json: { type: 4, computed: true },
    });
    await expect(protocol.invoke("getPrivatestackBridge", {})).rejects.toMatchObject({
      details: expect.stringContaining("This plugin has no function consortium:index:getPrivatestackBridge") as string,
    });
  });
});
