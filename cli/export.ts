import { type Command, Option } from "commander";
import { connectionHelp, withClient } from "./shared/connection";
import { bulkImportOf } from "./export/bulk";
import { definitionOf, type Remark } from "./export/definition";
import { readConsortium, readOrganization } from "./export/read";
import { yamlOf } from "./export/yaml";

interface Flags {
  consortium?: string;
  adopt?: boolean;
  import?: boolean;
}

export function define(command: Command): void {
  command
    .option("--consortium <name or id>", "which consortium (with --import, default: all)")
    .option("--adopt", "make programs adopt the existing objects, each by its id")
    .addOption(new Option("--import", "write the file for `pulumi import --file` instead").conflicts("adopt"))
    .addHelpText(
      "after",
      "\nPrints the network file (docs/network-files.md) of an existing consortium, with its members, environments and\n" +
        "nodes, and changes nothing. With --adopt, `pulumi up` of that file adopts the network without changing it.\n" +
        "Credentials and tethers cannot be adopted: the file says so if there are any.\n\n" +
        "With --import, prints what `pulumi import --file` takes, credentials included, for programs on the provider\n" +
        `plugin (docs/operations.md#import).\n${connectionHelp}`,
    )
    .action((flags: Flags) => exportNetwork(flags, command));
}

async function exportNetwork({ consortium, adopt = false, ...flags }: Flags, command: Command): Promise<void> {
  if (consortium === undefined && !flags.import)
    command.error("error: required option '--consortium <name or id>' not specified");
  await withClient(async (client) => {
    if (flags.import) {
      const found = consortium === undefined ? readOrganization(client) : [await readConsortium(client, consortium)];
      const { bulk, remarks } = bulkImportOf(await found);
      process.stdout.write(`${JSON.stringify(bulk, undefined, 2)}\n`);
      return note(remarks);
    }
    const exported = definitionOf(await readConsortium(client, consortium!), { adopt });
    process.stdout.write(yamlOf(exported, { adopt }));
    note(exported.remarks);
  });
}

function note(remarks: readonly Remark[]): void {
  for (const { path, text } of remarks)
    console.error(["note", ...(path.length > 0 ? [path.join(".")] : []), text].join(": "));
}
