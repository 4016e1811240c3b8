import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runInThisContext } from "node:vm";
import { examples as schemaExamples } from "../../plugin/schema/examples";
import { languages } from "../../plugin/schema/languages";
import * as sdk from "../../sdk";
import { Stack } from "../support/double/stack";
import { start } from "../support/service";
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

test.each(["dynamic", "plugin"] as const)(
  "%s: what docs/coverage.md gives as extra is sent as it is",
  async (adapter) => {
    const [block] = examples("ts").filter(({ where }) => where.startsWith("docs/coverage.md"));
    const text = block!.text.replace(/^import (.*) from "pulumi-consortium";$/m, "const $1 = sdk;");
    const run = runInThisContext(`(sdk) => {${text.replaceAll(/^export /gm, "")}}`) as (of: typeof sdk) => void;
    const { service } = await start();
    const stack = new Stack(adapter);
    const program = () => run(sdk);
    expect(await stack.up(program)).toMatchObject({ errors: [] });
    const { body } = service.calls.find(({ method, route }) => method === "POST" && route.endsWith("/nodes"))!;
    const extra = { maintenance_window: { day: "sunday", hour: 3 } };
    expect(body).toEqual({ membership_id: stack.of("harbour").id, name: "harbour-1", size: "small", ...extra });
    expect((await stack.up(program)).steps.filter((step) => !step.startsWith("same"))).toEqual([]);

    await stack.destroy();
    service.faults.add({
      kind: "status",
      status: 400,
      method: "POST",
      route: /\/nodes$/,
      times: Infinity,
      errorMessage: "maintenance_window is not allowed",
    });
    expect((await stack.up(program)).errors[0]!.message).toContain("maintenance_window is not allowed");
  },
);
