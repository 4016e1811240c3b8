#!/usr/bin/env node
import { Command } from "@commander-js/extra-typings";
import { version } from "../provider/version";
import { UserError } from "../provider/errors";
import { commandOf, type CommandPackage, type Definition } from "./shared/packages";
import { fail, pointToHelp } from "./shared/terminal";

interface CommandEntry {
  summary: string;
  load: CommandPackage | (() => Promise<Definition>);
}

/** By heading of the help. Each command is a file, or a package of its own, which is loaded only if the command line names it. */
const commands: Record<string, Record<string, CommandEntry>> = {
  "A network:": {
    check: { summary: "check whether a network is usable", load: () => import("./check.js") },
    map: { summary: "draw a network, a stack or a plan as a picture", load: () => import("./map.js") },
    console: { summary: "show a network live in the browser", load: "consortium-console" },
    export: { summary: "write the network file of an existing consortium", load: () => import("./export.js") },
    sweep: { summary: "delete leftovers of test runs", load: () => import("./sweep.js") },
  },
  "A run:": {
    report: { summary: "render a Pulumi preview as Markdown", load: () => import("./report.js") },
    doctor: { summary: "find out why a run does not work", load: () => import("./doctor.js") },
    probe: { summary: "find out how your service answers", load: () => import("./probe.js") },
    fleet: { summary: "manage many organizations and networks from one file", load: "consortium-fleet" },
  },
  "The embedded service:": {
    serve: { summary: "run an embedded Consortium service on this machine", load: "consortium-service" },
    fund: { summary: "fund a tether service's account on the embedded service", load: () => import("./fund.js") },
    accept: { summary: "accept an invitation on the embedded service", load: () => import("./accept.js") },
  },
  "Help and installation:": {
    plugin: { summary: "install the provider plugin for the Pulumi CLI", load: () => import("./plugin.js") },
    completion: { summary: "print a script that completes commands in a shell", load: () => import("./completion.js") },
  },
};

/** Runs a command line. @param args without node and the script */
export async function main(args: string[]): Promise<void> {
  const program = new Command("consortium").description("Tools for private blockchain consortia").version(version);
  const all = Object.entries(commands).flatMap(([heading, group]) =>
    Object.entries(group).map(([name, entry]) => ({ heading, name, ...entry })),
  );
  for (const { heading, name, summary, load } of all) {
    const command = program.command(name).description(summary).helpGroup(heading);
    // The script has the options of all commands.
    const isForAll = args[0] === "completion";
    if (!args.includes(name) && !isForAll) continue;
    const loading = typeof load === "string" ? commandOf(load, name) : load();
    const definition = await (isForAll ? loading.catch(() => undefined) : loading); // a package that is not installed
    definition?.define(command);
  }
  const help = new Command("help").description("display help for command").helpGroup("Help and installation:");
  help.helpOption(false).argument("[command]");
  program.addHelpCommand(help);
  pointToHelp(program, "consortium");
  await program.parseAsync(args, { from: "user" });
}

/** A reader that stops early, such as `head`, is not an error; lost output is. */
function unwritten(error: NodeJS.ErrnoException): never {
  if (error.code !== "EPIPE")
    fail(new UserError("invalid-file", `could not write the output: ${error.message}.`, { cause: error }));
  process.exit();
}

if (require.main === module) {
  process.stdout.on("error", unwritten);
  const args = process.argv.slice(2);
  void main(args).catch((error: unknown) => fail(error, { json: args.includes("--json") }));
}
