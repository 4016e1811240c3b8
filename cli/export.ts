import { type Command } from "commander";
import { connectionHelp, withClient } from "./connection";
import { definitionOf } from "./export/definition";
import { readConsortium } from "./export/read";
import { yamlOf } from "./export/yaml";

interface Flags {
  consortium: string;
  adopt?: boolean;
}

export function define(command: Command): void {
  command
    .requiredOption("--consortium <name or id>", "which consortium")
    .option("--adopt", "make programs adopt the existing objects, each by its id")
    .addHelpText(
      "after",
      "\nPrints the network file (docs/network-files.md) of an existing consortium, with its members, environments and\n" +
        "nodes, and changes nothing. With --adopt, `pulumi up` of that file adopts the network without changing it.\n" +
        `Credentials and tethers cannot be adopted: the file says so if there are any.\n${connectionHelp}`,
    )
    .action((flags: Flags) => exportNetwork(flags));
}

async function exportNetwork({ consortium, adopt = false }: Flags): Promise<void> {
  await withClient(async (client) => {
    const exported = definitionOf(await readConsortium(client, consortium), { adopt });
    process.stdout.write(yamlOf(exported, { adopt }));
    for (const { path, text } of exported.remarks)
      console.error(["note", ...(path.length > 0 ? [path.join(".")] : []), text].join(": "));
  });
}
