import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { define } from "../../fleet/command";
import { readFleet } from "../../fleet/file";
import { FleetFile } from "../../fleet/schema";
import { temporary, writeIn } from "../fleet/made";
import { pages, root } from "./markdown";

const pageOf = (name: string) => pages.find(({ file }) => file === name)!;
const [page, reference] = [pageOf("docs/fleet.md"), pageOf("docs/reference/fleet.md")];
const [network, ...fleets] = page.blocks.filter(({ language }) => language === "yaml");

const folder = temporary();
writeIn(folder, "networks/trade.yaml", network!.text);

test.each(fleets)("the fleet of $where is valid", ({ text }) => {
  for (const pack of ["node_modules/pulumi-consortium/policy-pack", "policies"])
    writeIn(folder, `${pack}/PulumiPolicy.yaml`, "runtime: nodejs\n");
  writeIn(folder, "rules.json", "{}");
  // Some only show additions to the first one.
  const file = writeIn(folder, "fleet.yaml", text.includes("organizations:") ? text : fleets[0]!.text + text);
  expect(readFleet(file).stacks.length).toBeGreaterThan(0);
});

test("commands, options and keys exist", () => {
  const program = new Command();
  define(program);
  const named = (pattern: RegExp) =>
    [...new Set([...reference.text.matchAll(pattern)].map(([, name]) => name!))].sort();
  expect(named(/^- `fleet (\w+)/gm)).toEqual(
    program.commands
      .map((command) => command.name())
      .filter((name) => name !== "doctor")
      .sort(),
  ); // `consortium doctor <file>`
  const options = program.commands.flatMap((command) => command.options.map(({ long }) => long!));
  expect(named(/^- `(--[\w-]+)/gm)).toEqual([...new Set(options)].sort());
  expect(
    Object.keys(FleetFile.shape)
      .filter((key) => key !== "concurrency") // an earlier name
      .filter((key) => !reference.text.includes(`\n- \`${key}\`:`)),
  ).toEqual([]);
});

/** What they do on runners: tests/e2e/fleet/pipeline.test.ts. */
test("the pipelines of the example plan and run what has changed since the commit before, or fail", () => {
  const files = [".github/workflows/fleet.yml", ".gitlab-ci.yml", "ci/fleet.yml"];
  const texts = files.map((file) => readFileSync(join(root, "examples/fleet", file), "utf8"));
  const commands = texts.flatMap((text) => text.match(/npx --no-install consortium fleet (plan|up) .*$/gm) ?? []);
  expect(commands).toHaveLength(4);
  for (const command of commands) expect(command).toMatch(/ --changed-since "\$(SINCE|CI_COMMIT_BEFORE_SHA)"/);
  expect(texts[0]).toContain('stages="$(npx'); // in `echo`, a plan that fails would be none
});
