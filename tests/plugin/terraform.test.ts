import { type z } from "zod";
import { terraformMapping, terraformResources } from "../../plugin/terraform";
import { definitions } from "../../provider/resources";
import { version } from "../../provider/version";
import { Protocol } from "../support/protocol";

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

test("names the package, its eleven resources and its settings", () => {
  expect(mapping).toMatchObject({ name: "consortium", version });
  const all = Object.values(definitions).map(({ type }) => `consortium:index:${type}`);
  expect(all).toEqual(expect.arrayContaining(Object.values(mapping.resources).map(({ tok }) => tok)));
  expect(Object.keys(mapping.resources)).toHaveLength(11);
  expect(Object.keys(mapping.provider.resources)).toEqual(Object.keys(mapping.resources));
  expect(mapping.config).toMatchObject({ api: { name: "baseUrl" }, api_key: { name: "apiKey" } });
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
    const needed = Object.entries<z.ZodType>(inputs.shape).filter(([, schema]) => !schema.safeParse(undefined).success);
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

test("a value has the type that Terraform gives it", () => {
  const { kaleido_environment: environment, kaleido_node: node } = mapping.provider.resources;
  expect(environment).toMatchObject({
    name: { type: 4, required: true },
    chain_id: { type: 2, optional: true },
    multi_region: { type: 1, optional: true },
    prefunded_accounts: { type: 6, element: { schema: { type: 4 } } },
  });
  expect(node).toMatchObject({ urls: { type: 6, computed: true } });
  expect(mapping.provider.resources.kaleido_app_creds).toMatchObject({ password: { sensitive: true } });
});
