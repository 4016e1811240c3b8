// @ts-check
/** docs/reference/commands.md: arguments and options of the commands, as their own help has them. */
import { createRequire } from "node:module";
import { Command } from "commander";
import { table, withPart } from "./markdown.mjs";
import { built } from "./types.mjs";

const require = createRequire(import.meta.url);

/** The page about each command. `serve` and `fleet` have reference pages of their own. @type {Record<string, string>} */
const pages = {
  accept: "reference/embedded-service.md#two-organizations-in-one-consortium",
  check: "check.md",
  completion: "settings.md#completion-in-a-shell",
  console: "console.md",
  doctor: "troubleshooting.md",
  export: "network-files.md#an-existing-network",
  fund: "tethers.md#on-the-embedded-service",
  map: "map.md",
  probe: "probe.md",
  report: "gitops.md#the-report",
  sweep: "testing.md#cleaning-up-after-tests",
};

const code = (/** @type {unknown} */ text) => `\`${String(text)}\``;

/** @param {{ description: string, argChoices?: readonly string[], defaultValue?: unknown, defaultValueDescription?: string, envVar?: string }} of */
function about({ description, argChoices, defaultValue, defaultValueDescription, envVar }) {
  const [meaning = "", inWords] = description.split(/ \(default: (.*)\)$/);
  const choices = argChoices ? `: ${argChoices.map(code).join(", ")}` : "";
  const env = envVar ? `; also ${code(envVar)}` : "";
  const plain = defaultValue === undefined ? "" : code(defaultValue);
  const value = inWords ?? defaultValueDescription ?? plain;
  return `${meaning}${choices}${env}${value ? ` (default: ${value})` : ""}`;
}

/** @param {string} name @param {string} page */
function section(name, page) {
  const command = new Command(name);
  const { define } = name === "console" ? require("consortium-console/command") : built(`cli/${name}.js`);
  define(command);
  const rows = [
    ...command.registeredArguments.map((one) => `- ${code(one.name())}: ${about(one)}`),
    ...command.options.map((one) => `- ${code(one.flags)}: ${about(one)}`),
  ];
  return `## ${code(name)}\n\n[How to use it](../${page}).\n\n${rows.join("\n")}`;
}

/** @returns {string} docs/reference/commands.md */
export const commandsPage = () => `<!-- Generated from cli/ and console/command/ by \`npm run generate\`. -->

# Commands

Arguments and options of \`npx --no-install consortium <command>\`. \`--help\` prints the same. \`serve\` has its flags in
[Settings of the embedded service](embedded-service.md#flags), and \`fleet\` in the [fleet reference](fleet.md).

${Object.entries(pages)
  .map(([name, page]) => section(name, page))
  .join("\n\n")}
`;

/** What `consortium probe` asks: docs/maintainers/hosted.md. @param {(file: string) => string} read @returns {Record<string, string>} */
export function hostedPage(read) {
  const page = "docs/maintainers/hosted.md";
  /** @type {{ facts: Record<string, { fact: string, sure: string, provider: string }> }} */
  const { facts } = built("cli/probe/facts.js");
  const rows = Object.values(facts).map(({ fact, sure, provider }) => [fact, sure, provider]);
  const head = ["fact", "how sure", "what the provider does"];
  return { [page]: withPart(page, read(page), "cli/probe/facts.ts", table(head, rows)) };
}
