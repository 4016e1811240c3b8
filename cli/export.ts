import { type Command, Option } from "commander";
import { plainSession, readOrganization } from "../provider/resources/tree";
import { connectionHelp, withClient } from "./shared/connection";
import { bulkImportOf } from "./export/bulk";
import { definitionOf, type Remark } from "./export/definition";
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
    const found = await readOrganization(plainSession(client), {}, consortium);
    if (found.length === 0) throw new Error("The organization of this API key has no consortium.");
    if (flags.import) {
      const { bulk, remarks } = bulkImportOf(found);
      process.stdout.write(`${JSON.stringify(bulk, undefined, 2)}\n`);
      return note(remarks);
    }
    const exported = definitionOf(found[0]!, { adopt });
    process.stdout.write(yamlOf(exported, { adopt }));
    note(exported.remarks);
  });
}

function note(remarks: readonly Remark[]): void {
  for (const { path, text } of remarks)
    console.error(["note", ...(path.length > 0 ? [path.join(".")] : []), text].join(": "));
}
