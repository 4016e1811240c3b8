import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { terraformMapping, terraformResources } from "../../../plugin/terraform";
import { definitions } from "../../../provider/resources";
import { fillCacheFolder } from "../../../tools/lib/cache.mjs";
import { cacheRoot } from "../../../tools/lib/pulumi-cli.mjs";
import { root } from "../support/stack";
import { type World, world, writesOf } from "../support/world";

/*
 * Configurations of Terraform become programs, by the converter of Pulumi's Terraform bridge and the mapping that the plugin answers. A
 * program adopts what there is as `pulumi import --from terraform` does, with the ids of Terraform's state, and changes nothing.
 */

jest.setTimeout(1_800_000); // the first time, the converter is built

const execute = promisify(execFile);
const sources = join(__dirname, "from-terraform");

/** The converter, in the user's cache. */
async function converter(): Promise<string> {
  const hash = createHash("sha256");
  for (const file of ["main.go", "go.mod", "go.sum"]) hash.update(readFileSync(join(sources, file)));
  const home = join(cacheRoot(), `from-terraform-${hash.digest("hex").slice(0, 12)}`);
  const program = join(home, "from-terraform");
  await fillCacheFolder(home, {
    what: "The converter from Terraform",
    isWhole: () => existsSync(program),
    async fill(draft) {
      const env = { ...process.env, GOWORK: "off", CGO_ENABLED: "0" };
      const args = ["build", "-trimpath", "-mod=readonly", "-buildvcs=false", "-o", join(draft, "from-terraform"), "."];
      await execute("go", args, { cwd: sources, env, maxBuffer: 2 ** 26 });
    },
  });
  return program;
}

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

/** What the program says of a resource in each language. */
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
    expect(program).toMatch(/ust-have|testFeatures|test_features|TestFeatures/);
  });
});

/** The state of a stack as Terraform would have it, as the converter makes an import of it: only the ids. */
const importOf = (resources: { type: string; urn: string; id: string }[]) => ({
  resources: resources
    .filter(({ type }) => type.startsWith("consortium:index:"))
    .map(({ type, urn, id }) => ({ type, name: urn.split("::").at(-1), id })),
});

const programs: [configuration: string, language: "python" | "yaml", count: number][] = [
  ["count", "python", 6],
  ["environments", "python", 3],
  ["variables", "yaml", 3],
  ["everything", "yaml", 12],
  ["module", "python", 2],
];

test("each configuration is one of these", () => {
  expect(programs.map(([name]) => name).sort()).toEqual(readdirSync(join(sources, "configurations")).sort());
});

describe.each(programs)("%s, in %s", (configuration, language, count) => {
  let w: World;
  let program: string;
  beforeAll(async () => {
    program = await converted(configuration, language);
    w = await world("", { language, plugin: true, schema, ledger: false, limits: { consortia: 2 } });
    w.stack.program(program);
    await w.stack.ok(["up", "--yes", "--skip-preview"]); // in Terraform's place
    expect((await w.stack.resources()).filter(({ type }) => type.startsWith("consortium:index:"))).toHaveLength(count);
  });

  test("with the ids of the state, another stack has the same, and previews no change", async () => {
    const found = importOf(await w.stack.resources());
    await w.stack.ok(["stack", "init", "adopting"]);
    w.stack.env.PULUMI_STACK = "adopting";
    w.stack.write("import.json", JSON.stringify(found));
    w.service.clearCalls();
    if (configuration === "module") {
      // The import knows no modules, as Pulumi's does not: the program takes over what has the name.
      await w.stack.ok(["up", "--yes", "--skip-preview"], { CONSORTIUM_ADOPT: "true" });
    } else {
      const flags = ["--yes", "--protect=false", "--generate-code=false"];
      await w.stack.ok(["import", "--file", "import.json", ...flags]);
    }
    expect(writesOf(w.service)).toEqual([]);
    const preview = await w.stack.preview();
    expect(preview).toMatchObject({ code: 0 });
    // The service does not show the details of a configuration: they are sent once more.
    expect(preview.text).toMatch(configuration === "everything" ? /1 to update\n +\d+ unchanged/ : /\d+ unchanged/);
    expect(preview.text).not.toMatch(/to (create|delete|replace)/);
    expect(writesOf(w.service)).toEqual([]);
  });
});
