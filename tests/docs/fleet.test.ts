import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { define } from "../../cli/fleet";
import { readFleet } from "../../cli/fleet/file";
import { FleetFile } from "../../cli/fleet/schema";
import { pages } from "./markdown";

const page = pages.find(({ file }) => file === "docs/fleet.md")!;
const [network, ...fleets] = page.blocks.filter(({ language, text }) => language === "yaml" && !text.startsWith("# "));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "consortium-docs-fleet-"));
  mkdirSync(join(folder, "networks"));
  writeFileSync(join(folder, "networks/trade.yaml"), network!.text);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(fleets)("the fleet of $where is one", ({ text }) => {
  for (const pack of ["node_modules/pulumi-consortium/policy-pack", "policies"]) {
    mkdirSync(join(folder, pack), { recursive: true });
    writeFileSync(join(folder, pack, "PulumiPolicy.yaml"), "runtime: nodejs\n");
  }
  writeFileSync(join(folder, "rules.json"), "{}");
  const file = join(folder, "fleet.yaml");
  writeFileSync(file, text);
  const env = { ACME_API_KEY: "a", GLOBEX_API_KEY: "g", PULUMI_CONFIG_PASSPHRASE: "p" };
  expect(readFleet(file, { env }).stacks.length).toBeGreaterThan(0);
});

test("commands, options and keys are those that there are", () => {
  const program = new Command();
  define(program);
  const named = (pattern: RegExp) => [...new Set([...page.text.matchAll(pattern)].map(([, name]) => name!))].sort();
  expect(named(/^\| `fleet (\w+)/gm)).toEqual(program.commands.map((command) => command.name()).sort());
  const options = program.commands.flatMap((command) => command.options.map(({ long }) => long!));
  const own = [...new Set(options)].filter((option) => option !== "--out").sort();
  expect(named(/^\| `(--[\w-]+)/gm)).toEqual(own);
  expect(Object.keys(FleetFile.shape).filter((key) => !page.text.includes(`| \`${key}`))).toEqual([]);
});
