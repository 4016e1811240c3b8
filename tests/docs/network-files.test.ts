import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "@commander-js/extra-typings";
import { define } from "../../cli/export";
import { inText } from "../sdk/network/problems";
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

test("pages have network files", () => expect(files.length).toBeGreaterThan(5));

test.each(files.filter(({ text }) => text !== wrong.text))("the network file of $where is valid", ({ text }) => {
  expect(inText(text)).toEqual([]);
});

test("the invalid one has the errors that the page shows", () => {
  const [title, ...lines] = shown.text.trim().split("\n");
  expect(inText(wrong.text)).toEqual(lines.map((line) => line.trim()));
  expect(title).toBe(`The network file network.yaml has ${lines.length} problems; nothing was created:`);
});

test.each(["examples/network-file/network.yaml", "templates/network-file/network.yaml"])("%s is valid", (file) => {
  const text = readFileSync(join(root, file), "utf8").replaceAll("${PROJECT}", "trade");
  expect(inText(text)).toEqual([]);
});

test("the page names the options of consortium export", () => {
  const command = new Command();
  define(command);
  for (const { long } of command.options) expect(page.text).toContain(long);
});
