import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { define } from "../../cli/report";
import { consortium } from "./command";
import { digest, step } from "./plans";

jest.setTimeout(30_000);

test("docs/gitops.md names every flag, and every reason to fail", () => {
  const command = new Command();
  define(command);
  const page = readFileSync(join(__dirname, "../../docs/gitops.md"), "utf8");
  const names = command.options.flatMap(({ long, argChoices }) => [long!, ...(argChoices ?? [])]);
  expect(names).toEqual(expect.arrayContaining(["--fail-on", "ledger-loss"]));
  expect(names.filter((name) => !page.includes(name))).toEqual([]);
});

describe("the command", () => {
  const folder = mkdtempSync(join(tmpdir(), "consortium-report-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  test("several stacks in one report, and --fail-on", async () => {
    const calm = file("calm.json", digest([]));
    const lossy = file("lossy.json", digest([step("delete", "Node", "n", { id: "n1" })]));
    const both = await consortium(
      ["report", calm, lossy, "--title", "Preview", "--fail-on", "ledger-loss", "errors"],
      {},
    );
    expect(both).toMatchObject({ code: 2, stdout: expect.stringMatching(/^## Preview\n\n### [^]*### /) as string });
    expect(await consortium(["report", calm, "--fail-on", "ledger-loss", "changes"], {})).toMatchObject({ code: 0 });
    expect(await consortium(["report", lossy], {})).toMatchObject({ code: 0 });
  });

  test.each([
    ["a file that is not there", ["nowhere.json"], /nowhere.json/],
    ["a limit that is none", ["--max", "x"], /a number of at least 1000/],
  ])("%s", async (_, args, why) => {
    const { code, stderr } = await consortium(["report", ...args], {});
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(why) as string });
  });
});
