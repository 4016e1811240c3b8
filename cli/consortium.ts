#!/usr/bin/env node
import { createRequire } from "node:module";
import { Command } from "commander";
import { printableLines } from "../provider/api/printable";

/** A subcommand: adds its arguments, options and action. */
export type Define = (command: Command) => void;

/** Each is one file, loaded only when it is asked for. */
const commands: Record<string, { summary: string; load: () => Promise<{ define: Define }> }> = {
  serve: { summary: "run a whole Consortium service on this machine", load: () => import("./serve.js") },
  export: { summary: "write the network file of a consortium that exists", load: () => import("./export.js") },
  sweep: { summary: "delete what test runs left behind", load: () => import("./sweep.js") },
  fleet: { summary: "many organizations and networks from one file", load: () => import("./fleet.js") },
  report: { summary: "write what a Pulumi preview would do, as Markdown", load: () => import("./report.js") },
  fund: { summary: "give a tether service of a local service money", load: () => import("./fund.js") },
};

async function main(): Promise<void> {
  const { version } = createRequire(__filename)("pulumi-consortium/package.json") as { version: string };
  const program = new Command("consortium")
    .description("Tools for private blockchain consortia")
    .version(version)
    .showHelpAfterError("(see consortium --help)");
  const asked = process.argv.slice(2).filter((word) => word in commands);
  for (const [name, { summary, load }] of Object.entries(commands)) {
    const command = program.command(name).description(summary);
    if (asked.includes(name)) (await load()).define(command);
  }
  await program.parseAsync();
}

main().catch((error: unknown) => {
  console.error(printableLines(`consortium: ${error instanceof Error ? error.message : String(error)}`));
  process.exitCode = 1;
});
