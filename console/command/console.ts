import { type Command } from "@commander-js/extra-typings";
import {
  resolveSettings,
  connectionHelp,
  exportStack,
  type FlagsOf,
  stopSignals,
  targetOption,
  textOf,
  wholeNumber,
} from "pulumi-consortium/internal/console";

export const usualPort = 4281;

const options = (command: Command) =>
  command
    .option("--port <port>", "port to listen on; another one if it is taken", wholeNumber(0, 65_535), usualPort)
    .option("--allow-changes", "also create credentials on a real service")
    .option("--tether <id...>", "tether services to show")
    .option("--stack <name...>", "stacks of the Pulumi project in this folder: shows the objects that they manage")
    .option("--stack-export <file...>", "outputs of pulumi stack export: shows the objects that those stacks manage")
    .addOption(targetOption("RPC URL of a public network, to verify pins"));

type Flags = FlagsOf<typeof options>;

export function define(command: Command): void {
  options(command)
    .addHelpText(
      "after",
      "\nServes a page that shows the network live, on this machine only, and prints a link that opens it once\n" +
        `(docs/console.md). Runs until Ctrl+C.\n${connectionHelp}`,
    )
    .action(serveConsole);
}

async function serveConsole({ stack = [], stackExport = [], ...flags }: Flags): Promise<void> {
  const { startConsole } = await import("../server/console.js");
  const { readExport } = await import("../server/stacks.js");
  for (const file of stackExport) {
    textOf(file); // the error says why it cannot be read
    readExport(file);
  }
  const settings = resolveSettings();
  const exported = stack.map(async (name) => [name, await exportStack(name, { secrets: true })] as const);
  const server = await startConsole({
    settings,
    port: flags.port,
    allowChanges: flags.allowChanges,
    tethers: flags.tether,
    targets: flags.target,
    stacks: Object.fromEntries(await Promise.all(exported)),
    stackExports: stackExport,
  });
  process.stdout.write(
    `Console of ${settings.baseUrl}\n\n  ${server.newLink()}\n\nThe link works once, within ten minutes, on this machine. Ctrl+C stops it.\n`,
  );
  const stop = () => void server.close();
  for (const signal of stopSignals) process.once(signal, stop);
}
