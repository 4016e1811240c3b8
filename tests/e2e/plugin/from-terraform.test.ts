import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { ModuleKind, ScriptTarget, transpileModule } from "typescript";
import { terraformMapping, terraformResources } from "../../../plugin/terraform";
import { definitions } from "../../../provider/resources";
import { generatedSdk } from "../support/languages/sdk";
import { goProgram } from "../support/go";
import { root } from "../support/stack";
import { type World, world, writesOf } from "../support/world";

/*
 * Configurations of Terraform become programs, by the converter of Pulumi's Terraform bridge and the mapping that the plugin answers. A
 * program adopts what there is as `pulumi import --from terraform` does, with the ids of Terraform's state, and changes nothing.
 */

jest.setTimeout(1_800_000); // the first time, the converter is built

const execute = promisify(execFile);
const sources = join(__dirname, "from-terraform");

const converter = (): Promise<string> =>
  goProgram({ what: "The converter from Terraform", name: "from-terraform", module: sources, files: ["main.go"] });

const schema = join(root, "schemas/schema.json");
const languages = { typescript: "index.ts", python: "__main__.py", go: "main.go", yaml: "Main.yaml" };
type Language = keyof typeof languages;

/** The program in one language. @throws what the converter says */
async function converted(configuration: string, language: Language): Promise<string> {
  const target = mkdtempSync(join(tmpdir(), "consortium-terraform-"));
  const mapping = join(target, "kaleido.json");
  writeFileSync(mapping, JSON.stringify(terraformMapping()));
  const args = [join(sources, "configurations", configuration), schema, mapping, target, language];
  await execute(await converter(), args);
  return readFileSync(join(target, languages[language]), "utf8");
}

/** The resource's part of the program in each language. */
const made: Record<Language, (type: string) => string> = {
  typescript: (type) => `new consortium.${type}(`,
  python: (type) => `consortium.${type}(`,
  go: (type) => `consortium.New${type}(ctx, `,
  yaml: (type) => `type: consortium:${type}\n`,
};

describe("all eleven resources", () => {
  test.each(Object.keys(languages) as Language[])("in %s", async (language) => {
    const program = await converted("everything", language);
    for (const { kind } of Object.values(terraformResources))
      expect(program).toContain(made[language](definitions[kind].type));
    if (language === "typescript") expect(program).toContain('from "pulumi-consortium-sdk"');
  });
});

test("the data source has no counterpart, and the converter says which function is missing", async () => {
  await expect(converted("data-source", "typescript")).rejects.toThrow(
    "unknown function 'consortium:index:getPrivatestackBridge'",
  );
});

/** The import of a state by `pulumi import --from terraform`: each object by its id alone, here with the names of the program. */
const importOf = (resources: { type: string; urn: string; id: string }[]) => ({
  resources: resources
    .filter(({ type }) => type.startsWith("consortium:index:"))
    .map(({ type, urn, id }) => ({ type, name: urn.split("::").at(-1), id })),
});

const asCommonJs = (text: string): string =>
  transpileModule(text, { compilerOptions: { module: ModuleKind.CommonJS, target: ScriptTarget.ES2022 } }).outputText;

let compiledSdk: Promise<string> | undefined;
/** The package that Pulumi generates for TypeScript, compiled once. */
async function compileSdk(): Promise<string> {
  const sdk = await generatedSdk("nodejs", schema);
  const target = mkdtempSync(join(tmpdir(), "consortium-sdk-"));
  for (const file of readdirSync(sdk, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"))) {
    const compiled = join(target, file.replace(/ts$/, "js"));
    mkdirSync(dirname(compiled), { recursive: true });
    writeFileSync(compiled, asCommonJs(readFileSync(join(sdk, file), "utf8")));
  }
  const about = JSON.parse(readFileSync(join(sdk, "package.json"), "utf8")) as object;
  writeFileSync(join(target, "package.json"), JSON.stringify({ ...about, main: "index.js" }));
  return target;
}

/** As docs/terraform.md says: a resource called `consortium` has the name of the package in these languages. */
const renamed = (program: string): string =>
  program.replace("const consortium = new", "const trade = new").replaceAll(/\bconsortium\.id\b/g, "trade.id");

/*
 * Beyond this converter, which is older than the one in today's CLI: modules, which it leaves out; a `count` that is a variable; loops in
 * Python and YAML.
 */
const programs: [configuration: string, language: "typescript" | "yaml", count: number][] = [
  ["count", "typescript", 6],
  ["environments", "typescript", 3],
  ["splats", "typescript", 6],
  ["variables", "yaml", 3],
  ["everything", "yaml", 12],
];

test("each configuration is one of these, or cannot be converted", () => {
  const names = [...new Set(programs.map(([name]) => name)), "data-source"];
  expect(names.sort()).toEqual(readdirSync(join(sources, "configurations")).sort());
});

describe.each(programs)("%s, in %s", (configuration, language, count) => {
  let w: World;
  beforeAll(async () => {
    const program = await converted(configuration, language);
    const how = language === "yaml" ? { language, inline: true } : {};
    w = await world("", { ...how, plugin: true, ledger: false });
    if (language === "typescript")
      cpSync(await (compiledSdk ??= compileSdk()), join(w.stack.folder, "node_modules/pulumi-consortium-sdk"), {
        recursive: true,
      });
    w.stack.program(language === "yaml" ? program : asCommonJs(renamed(program)));
    await w.stack.ok(["up", "--yes", "--skip-preview"]); // in Terraform's place
    expect(importOf(await w.stack.resources()).resources).toHaveLength(count);
  });

  test("with the ids of the state, another stack gets the same objects, and previews no change", async () => {
    const found = importOf(await w.stack.resources());
    await w.stack.ok(["stack", "init", "adopting"]);
    w.stack.env.PULUMI_STACK = "adopting";
    w.stack.write("import.json", JSON.stringify(found));
    w.service.clearCalls();
    await w.stack.ok(["import", "--file", "import.json", "--yes", "--protect=false", "--generate-code=false"]);
    const preview = await w.stack.preview();
    expect(preview).toMatchObject({ code: 0 });
    // The service does not show the details of a configuration: they are sent once more.
    expect(preview.text).toMatch(configuration === "everything" ? /1 to update\n +\d+ unchanged/ : /\d+ unchanged/);
    expect(preview.text).not.toMatch(/to (create|delete|replace)/);
    expect(writesOf(w.service)).toEqual([]);
  });
});
