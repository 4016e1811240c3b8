import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { examples as schemaExamples } from "../../plugin/schema/examples";
import { languages } from "../../plugin/schema/languages";
import { type Block, examples, root } from "./markdown";

const options = {
  target: "ES2022",
  module: "Node16",
  moduleResolution: "Node16",
  types: ["node"],
  strict: true,
  allowImportingTsExtensions: true,
  allowJs: true,
  checkJs: true,
  skipLibCheck: true,
  noEmit: true,
};

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "consortium-docs-"));
  // The workspace links the package there, too.
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["*"] }));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** `README.md:42` becomes `README.md-42.ts`; programs in JavaScript are ESM. */
const fileOf = ({ where, language }: Block) =>
  `${where.replaceAll("/", "-").replace(":", "-")}.${language === "ts" ? "ts" : "mjs"}`;

test("examples and templates have the settings that examples/tsconfig.json checks them with", () => {
  const settings = (file: string): string => readFileSync(join(root, file), "utf8");
  const files = ["examples", "templates"].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => join(folder, name, "tsconfig.json")),
  );
  const own = files.filter((file) => existsSync(join(root, file)));
  expect(own.length).toBeGreaterThan(4);
  for (const file of own) expect([file, settings(file)]).toEqual([file, settings("examples/quickstart/tsconfig.json")]);
});

test("the programs in the documentation fit the types of the build", () => {
  const inSchema = Object.entries(schemaExamples).map(([type, { program }]) => {
    return { where: `schema/${type}`, language: "ts", text: languages.typescript(program) };
  });
  const programs = [...examples("ts", "js"), ...inSchema];
  expect(programs.length).toBeGreaterThan(4);
  writeFileSync(join(folder, "index.ts"), programs.find(({ where }) => where.startsWith("README.md"))!.text); // for docs/testing.md
  for (const block of programs) writeFileSync(join(folder, fileOf(block)), block.text);
  const tsc = join(root, "node_modules/typescript-7/bin/tsc");
  let complaints = "";
  try {
    execFileSync(process.execPath, [tsc, "-p", folder, "--pretty", "false"], { cwd: folder, encoding: "utf8" });
  } catch (error) {
    complaints = (error as { stdout: string }).stdout;
  }
  expect(complaints).toBe("");
}, 60_000);
