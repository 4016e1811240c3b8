import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { validate } from "dockerfile-utils";
import { parse } from "yaml";
import { examples as schemaExamples } from "../../plugin/schema/examples";
import { languages } from "../../plugin/schema/languages";
import { temporary } from "../fleet/made";
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

const folder = temporary();

beforeAll(() => {
  // The workspace links the package there, too.
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["*"] }));
});

/** `README.md:42` becomes `README.md-42.ts`; programs in JavaScript are ESM. */
const fileOf = ({ where, language }: Block) =>
  `${where.replaceAll("/", "-").replace(":", "-")}.${language === "ts" ? "ts" : "mjs"}`;

test("examples and templates use the settings of examples/tsconfig.json", () => {
  const settings = (file: string): string => readFileSync(join(root, file), "utf8");
  const files = ["examples", "templates"].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => join(folder, name, "tsconfig.json")),
  );
  const own = files.filter((file) => existsSync(join(root, file)));
  expect(own.length).toBeGreaterThan(4);
  for (const file of own) expect([file, settings(file)]).toEqual([file, settings("examples/quickstart/tsconfig.json")]);
});

test("the programs in the documentation compile against the build", () => {
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
});

/** What Docker's schema and the linter say of an example's file. */
function composeProblems(text: string) {
  const file = join(folder, "compose.yaml");
  writeFileSync(file, text);
  const linter = join(root, "node_modules/dclint/bin/dclint.cjs");
  // Docker wants single quotes, Prettier double ones.
  const options = ["--max-warnings", "0", "--disable-rule", "require-quotes-in-ports"];
  return spawnSync(process.execPath, [linter, file, ...options], { encoding: "utf8" });
}
const example = (file: string): string => readFileSync(join(root, "examples", file), "utf8");

test.each(["docker/compose.yaml", ".devcontainer/compose.yaml"])("%s keeps to Docker's schema", (file) => {
  expect(composeProblems(example(file))).toMatchObject({ status: 0, stderr: "" });
  expect(composeProblems(example(file).replace("volumes:", "volume:"))).toMatchObject({ status: 1 });
});

test.each(["docker/service.Dockerfile", "docker/pulumi.Dockerfile"])("a linter finds nothing in %s", (file) => {
  const problems = (text: string) => validate(text).map(({ message }) => message);
  expect(problems(example(file))).toEqual([]);
  expect(problems(example(file).replace("RUN ", "RUM "))).toEqual(["Unknown instruction: RUM"]);
});

test("the development container takes a service of its compose files", () => {
  const { dockerComposeFile, ...container } = JSON.parse(example(".devcontainer/devcontainer.json")) as {
    dockerComposeFile: string[];
    service: string;
    runServices: string[];
  };
  const [first, second] = dockerComposeFile.map((file) => parse(example(join(".devcontainer", file))) as Compose);
  expect(Object.keys(second!.services)).toEqual([container.service]);
  expect(Object.keys(first!.services)).toEqual(expect.arrayContaining([container.service, ...container.runServices]));
});

interface Compose {
  services: Record<string, object>;
}
