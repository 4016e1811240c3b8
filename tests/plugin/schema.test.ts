import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type z } from "zod";
import { type Definition } from "../../provider/core/definition";
import { metaOf } from "../../provider/core/field";
import { packageSchema } from "../../plugin/schema";
import { type PropertySpec } from "../../plugin/schema/types";
import { definitions } from "../../provider/resources";
import { dynamicPrefix } from "../../provider/constants";
import * as sdk from "../../sdk";

/* The package schema, compared with the definitions that it is made of. */

interface About {
  description: string;
  keywords: string[];
  license: string;
  version: string;
}
const about = JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8")) as About;
const schema = packageSchema(about);
const all: Definition[] = Object.values(definitions);
const of = (type: string) => schema.resources[`consortium:index:${type}`]!;

const fields = (object: z.ZodObject) => object.shape as Record<string, z.ZodType>;
const keysWith = (properties: Record<string, PropertySpec> = {}, mark: (one: PropertySpec) => unknown) =>
  Object.keys(properties).filter((key) => mark(properties[key]!));

test("names the package at its version", () => {
  expect(schema).toMatchObject({ name: "consortium", version: about.version, license: "Apache-2.0" });
  expect(schema).not.toHaveProperty("pluginDownloadURL");
  const repository = { url: "git+https://git.example/consortium.git" };
  expect(packageSchema({ ...about, repository })).toMatchObject({
    repository: "https://git.example/consortium",
    pluginDownloadURL: "https://git.example/consortium/releases/download/v${VERSION}",
  });
});

test("is the committed one, with the examples of all languages", () => {
  const committed = readFileSync(join(__dirname, "../../schemas/schema.json"), "utf8");
  expect(JSON.stringify(schema, null, 2).split("\n")).toEqual(committed.trimEnd().split("\n"));
});

describe.each(all)("$type", (definition) => {
  const { type, inputs, outputs } = definition;
  const given = Object.fromEntries(Object.entries(fields(inputs)).filter(([key]) => key !== "customTimeouts"));
  const everything: Record<string, z.ZodType> = { ...given, ...fields(outputs) };
  const spec = of(type);

  test("replaces, and is secret, if the definition says so", () => {
    const replacing = Object.keys(given).filter((key) => metaOf(given[key]!).onChange?.startsWith("replace"));
    for (const properties of [spec.inputProperties, spec.properties]) {
      expect(keysWith(properties, (one) => one.replaceOnChanges)).toEqual(replacing);
      expect(keysWith(properties, (one) => one.willReplaceOnChanges)).toEqual(replacing);
    }
    const secret = Object.keys(everything).filter((key) => metaOf(everything[key]!).secret);
    expect(keysWith(spec.properties, (one) => one.secret)).toEqual(secret);
  });

  test("has the dynamic resource as an alias", () => {
    expect(spec.aliases).toEqual([{ type: dynamicPrefix + type }]);
  });
});

test("the settings are the stack's, each with its variable; an explicit provider takes none from the environment", () => {
  const { variables } = schema.config;
  expect(variables.apiKey).toMatchObject({ secret: true, defaultInfo: { environment: ["CONSORTIUM_API_KEY"] } });
  expect(variables.maxConcurrency).toMatchObject({ defaultInfo: { environment: ["CONSORTIUM_MAX_CONCURRENCY"] } });
  const { inputProperties, properties } = schema.provider;
  expect(Object.keys(inputProperties!)).toEqual([...Object.keys(variables), "own"]); // our classes say what is their own
  expect(keysWith(inputProperties, (one) => one.defaultInfo ?? one.default)).toEqual([]);
  for (const some of [variables, inputProperties, properties])
    expect(keysWith(some, (one) => one.secret)).toEqual(["apiKey"]);
});

test("the registry's page about the configuration has every setting, with its variable", () => {
  const page = readFileSync(join(__dirname, "../../plugin/registry/installation-configuration.md"), "utf8");
  const rows = Object.entries(schema.config.variables).map(
    ([name, { defaultInfo }]) => new RegExp(`\\| \`consortium:${name}\` +\\| \`${defaultInfo!.environment[0]!}\``),
  );
  expect(rows.filter((row) => !row.test(page))).toEqual([]);
});

/** The types that a type refers to, directly or not. */
function named(value: unknown, found = new Set<string>()): Set<string> {
  for (const [, name] of JSON.stringify(value).matchAll(/"\$ref":"#\/types\/([^"]+)"/g)) {
    if (found.has(name!)) continue;
    expect(schema.types).toHaveProperty([name!]);
    named(schema.types[name!], found.add(name!));
  }
  return found;
}

test("every type exists, and is used", () => {
  expect([...named([schema.resources, schema.functions])].sort()).toEqual(Object.keys(schema.types).sort());
});

test("Network: outputs can be indexed, and secrets are separate", () => {
  const { inputProperties, properties, isComponent } = of("Network");
  expect(isComponent).toBe(true);
  expect(Object.keys(inputProperties!)).toEqual(
    expect.arrayContaining(["members", "environments", "consortia", "adopt", "limits"]),
  );
  expect(keysWith(inputProperties, (one) => !one.description)).toEqual([]);
  const shown = JSON.stringify([properties, ...[...named(properties)].map((name) => schema.types[name])]);
  expect(shown).toContain('"rpc"');
  expect(shown).not.toMatch(/Any"|oneOf|"password"/);
  expect(keysWith(properties, (one) => one.secret)).toEqual([]);
});

test("enums of the schema are constants of the classes' package, too, as code that an import writes uses them", () => {
  const enums = Object.entries(schema.types).flatMap(([name, spec]) => ("enum" in spec ? [{ name, spec }] : []));
  expect(enums.map(({ name }) => name)).toContain("consortium:index:EnvironmentProvider");
  for (const { name, spec } of enums) {
    const constants = (sdk as unknown as Record<string, unknown>)[name.split(":").at(-1)!];
    expect(constants).toEqual(Object.fromEntries(spec.enum.map(({ name, value }) => [name, value])));
  }
});
