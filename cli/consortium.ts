#!/usr/bin/env node
import { createRequire } from "node:module";
import { Command } from "commander";
import { fail } from "./shared/terminal";

/** Adds the arguments, options and action of a command. */
type Define = (command: Command) => void;

/** Each command is a file, which is loaded only if the command line names it. */
const commands: Record<string, { summary: string; load: () => Promise<{ define: Define }> }> = {
  serve: { summary: "run an embedded Consortium service on this machine", load: () => import("./serve.js") },
  console: { summary: "show a network live in the browser", load: () => import("./console.js") },
  export: { summary: "write the network file of an existing consortium", load: () => import("./export.js") },
  sweep: { summary: "delete leftovers of test runs", load: () => import("./sweep.js") },
  fleet: { summary: "manage many organizations and networks from one file", load: () => import("../fleet/command.js") },
  plugin: { summary: "install the provider plugin for the Pulumi CLI", load: () => import("./plugin.js") },
  map: { summary: "draw a network, a stack or a plan as a picture", load: () => import("./map.js") },
  check: { summary: "check whether a network is usable", load: () => import("./check.js") },
  probe: { summary: "find out how your service answers", load: () => import("./probe.js") },
  report: { summary: "render a Pulumi preview as Markdown", load: () => import("./report.js") },
  fund: { summary: "fund a tether service's account on the embedded service", load: () => import("./fund.js") },
  accept: { summary: "accept an invitation on the embedded service", load: () => import("./accept.js") },
};

/** Runs a command line. @param args without node and the script */
export async function main(args: string[]): Promise<void> {
  const { version } = createRequire(__filename)("pulumi-consortium/package.json") as { version: string };
  const program = new Command("consortium").description("Tools for private blockchain consortia").version(version);
  for (const [name, { summary, load }] of Object.entries(commands)) {
    const command = program.command(name).description(summary);
    if (args.includes(name)) (await load()).define(command);
  }
  pointToHelp(program, "consortium");
  await program.parseAsync(args, { from: "user" });
}

/** Makes errors in the arguments of a command point to its own help. */
function pointToHelp(command: Command, name: string): void {
  command.showHelpAfterError(`(see ${name} --help)`);
  for (const inner of command.commands) pointToHelp(inner, `${name} ${inner.name()}`);
}

if (require.main === module) void main(process.argv.slice(2)).catch((error: unknown) => fail(error));
