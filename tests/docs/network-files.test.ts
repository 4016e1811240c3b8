import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { define } from "../../cli/export";
import { Network } from "../../sdk";
import { inText, written } from "../sdk/network/problems";
import { Stack } from "../support/double/stack";
import { start } from "../support/service";
import { examples, pages, root } from "./markdown";

const page = pages.find(({ file }) => file === "docs/network-files.md")!;
const isProgram = (text: string): boolean => /^runtime:/m.test(text);
const files = examples("yaml").filter(
  ({ where, text }) => /^(README|docs\/network-files)\.md/.test(where) && !isProgram(text),
);
const shown = page.blocks.find(({ language, text }) => language === "text" && text.includes("network.yaml:"))!;
const wrong = page.blocks[page.blocks.indexOf(shown) - 1]!;

beforeAll(() => void (process.env.VAULT_TOKEN = "hush"));
afterAll(() => delete process.env.VAULT_TOKEN);

test("there are such files", () => expect(files.length).toBeGreaterThan(5));

test.each(files.filter(({ text }) => text !== wrong.text))("the network file of $where is right", ({ text }) => {
  expect(inText(text)).toEqual([]);
});

test("the wrong one is wrong in the way that the page shows", () => {
  const [title, ...lines] = shown.text.trim().split("\n");
  expect(inText(wrong.text)).toEqual(lines.map((line) => line.trim()));
  expect(title).toBe(`The network file network.yaml has ${lines.length} problems; nothing was created:`);
});

test.each(["examples/network-file/network.yaml", "templates/network-file/network.yaml"])("%s is right", (file) => {
  const text = readFileSync(join(root, file), "utf8").replaceAll("${PROJECT}", "trade");
  expect(inText(text)).toEqual([]);
});

describe.each(["dynamic", "plugin"] as const)("%s", (adapter) => {
  test("zones, configurations and services come and go as the page prints them", async () => {
    const { service } = await start();
    const file = written(files.find(({ text }) => text.includes("service: ipfs"))!.text, "trade.yaml");
    const stack = new Stack(adapter, { config: { "consortium:baseUrl": service.baseUrl } });
    const run = (): unknown => Network.fromFile(file).outputs;
    const { errors, steps } = await stack.up(run);
    expect(errors).toEqual([]);
    expect(steps.filter((step) => !/ (Consortium|Membership|Environment|Node|AppCred) /.test(step)).sort()).toEqual([
      ...["create Configuration trade/prod/gas", "create ConsortiumZone trade/ohio"],
      ...["create Destination trade/prod/papers/inbox", "create EnvironmentZone trade/prod/ohio"],
      ...["create Invitation trade/initech", "create Network trade", "create Service trade/prod/files"],
      ...["create Service trade/prod/ids", "create Service trade/prod/papers"],
    ]);
    const idOf = (name: string) => stack.of(name).id;
    expect(stack.of("trade/prod/main").outputs).toMatchObject({
      zoneId: idOf("trade/prod/ohio"),
      nodeConfigId: idOf("trade/prod/gas"),
      size: "small",
    });
    expect((await stack.up(run)).steps.filter((step) => !step.startsWith("same"))).toEqual([]);
    expect(await stack.destroy()).toMatchObject({ errors: [] });
  });
});

test("the page names the options of consortium export", () => {
  const command = new Command();
  define(command);
  for (const { long } of command.options) expect(page.text).toContain(long);
});
