import { type Command, Option } from "commander";
import { Document, isNode, isPair, type Pair, Scalar, visit } from "yaml";
import { printable, printableLines } from "../provider/api/printable";
import { pluginPrefix } from "../provider/constants";
import { definitions } from "../provider/resources";
import { newSession } from "../provider/core/session";
import { type Found, inside, type ListedKind, readOrganization } from "../provider/resources/tree";
import { definitionOf, type Exported, isSupported, keysOf, type Remark } from "./export/definition";
import { connectionHelp, withClient } from "./shared/connection";

interface Flags {
  consortium?: string;
  adopt?: boolean;
  import?: boolean;
}

export function define(command: Command): void {
  command
    .option("--consortium <name or id>", "consortium to export (default with --import: all)")
    .option("--adopt", "make programs adopt the existing objects, each by its id")
    .addOption(new Option("--import", "write the file for `pulumi import --file` instead").conflicts("adopt"))
    .addHelpText(
      "after",
      "\nPrints the network file (docs/network-files.md) of an existing consortium, with its members, environments and\n" +
        "nodes, and changes nothing. With --adopt, `pulumi up` of that file adopts the network without changing it.\n" +
        "Credentials and tethers cannot be adopted: the file says so if there are any.\n\n" +
        "With --import, prints the file for `pulumi import --file`, credentials included, for programs on the provider\n" +
        `plugin (docs/operations.md#import).\n${connectionHelp}`,
    )
    .action((flags: Flags) => exportNetwork(flags, command));
}

async function exportNetwork({ consortium, adopt = false, ...flags }: Flags, command: Command): Promise<void> {
  if (consortium === undefined && !flags.import)
    command.error("error: required option '--consortium <name or id>' not specified");
  await withClient(async (client) => {
    const found = await readOrganization(newSession(client), {}, consortium);
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

const editors = " yaml-language-server: $schema=./node_modules/pulumi-consortium/schemas/network.schema.json";
const adopting =
  " `pulumi up` adopts the object that each `adopt:` names, and changes nothing. Run `pulumi preview` first.";

/** The text of a network file, with the remarks as comments. */
export function yamlOf({ definition, remarks }: Exported, { adopt }: { adopt: boolean }): string {
  const document = new Document(definition);
  for (const { path, text } of remarks) {
    const owner = document.getIn(path.slice(0, -1), true);
    const items: unknown[] =
      typeof owner === "object" && owner !== null && "items" in owner ? (owner.items as unknown[]) : [];
    const pair = items.find(
      (item): item is Pair => isPair(item) && isNode(item.key) && item.key.toString() === String(path.at(-1)),
    );
    if (pair && isNode(pair.key))
      pair.key.commentBefore = [pair.key.commentBefore, ` ${text}`].filter(Boolean).join("\n");
  }
  const general = remarks.filter(({ path }) => path.length === 0).map(({ text }) => ` ${text}`);
  document.commentBefore = [editors, ...(adopt ? [adopting] : []), ...general].join("\n");
  visit(document, {
    Scalar: (_, scalar) => {
      const { value } = scalar;
      if (typeof value === "string" && printableLines(value) !== value) scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  // Texts that need escapes are in double quotes now, where YAML reads escapes.
  return printableLines(document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: 1_000_000 }));
}

/** The file that `pulumi import --file` takes. */
export interface BulkImport {
  resources: {
    type: string;
    /** The variable in the code that Pulumi writes. */
    name: string;
    logicalName: string;
    id: string;
  }[];
}

/** Everything in these consortia, owners first, under the logical names of their network files. */
export function bulkImportOf(found: readonly Found[]): { bulk: BulkImport; remarks: Remark[] } {
  const keys = keysOf(found, "network");
  const bulk = new Bulk();
  for (const consortium of found) bulk.network(consortium, keys.get(consortium.id)!);
  return { bulk: { resources: bulk.resources }, remarks: bulk.remarks };
}

class Bulk {
  readonly resources: BulkImport["resources"] = [];
  readonly remarks: Remark[] = [];
  readonly #names = new Set<string>();

  network(consortium: Found, name: string): void {
    this.#add("consortium", name, [consortium.id]);
    const members = inside(consortium, "membership");
    const memberKeys = keysOf(members, "member");
    for (const { id } of members) this.#add("membership", `${name}/${memberKeys.get(id)!}`, [consortium.id, id]);
    for (const kind of ["consortiumZone", "invitation"] as const) this.#inside(kind, name, [consortium.id], consortium);
    const environments = inside(consortium, "environment");
    const keys = keysOf(environments, "environment");
    for (const one of environments) this.#environment(one, `${name}/${keys.get(one.id)!}`, consortium.id);
  }

  #environment(environment: Found, name: string, consortiumId: string): void {
    const { provider, consensusType, enableTether } = environment.props;
    if (!isSupported(environment)) {
      this.#remark(
        name,
        `left out with everything in it: the client "${provider}" with "${consensusType}" is not supported`,
      );
      return;
    }
    const within = [consortiumId, environment.id];
    this.#add("environment", name, within);
    if (enableTether)
      this.#remark(name, "a tether is enabled: the service does not show which one. Add it to the file by its id.");
    for (const kind of ["environmentZone", "configuration", "node", "appCred", "service"] as const)
      this.#inside(kind, name, within, environment);
  }

  /** The objects of a kind, each with what is in it. */
  #inside(kind: ListedKind, name: string, within: readonly string[], owner: Found): void {
    const { title, inputs, onImport } = definitions[kind];
    const items = inside(owner, kind);
    const keys = keysOf(items, title);
    for (const item of items) {
      const own = `${name}/${keys.get(item.id)!}`;
      if ("membershipId" in inputs.shape && kind !== "destination" && item.props.membershipId === undefined) {
        this.#remark(own, `${item.id} is left out: the service does not show a member that owns it`);
        continue;
      }
      this.#add(kind, own, [...within, item.id]);
      if (kind === "configuration") this.#remark(own, onImport!);
      if (kind === "service") this.#inside("destination", own, [...within, item.id], item);
    }
  }

  /** Objects of different kinds may have one logical name, but code needs a variable for each. */
  #add(kind: ListedKind, logicalName: string, path: readonly string[]): void {
    const id = path.at(-1)!;
    const taken = this.#names.has(inCode(logicalName).toLowerCase());
    const name = inCode(taken ? `${logicalName}-${id}` : logicalName);
    this.#names.add(name.toLowerCase());
    const { type } = definitions[kind];
    this.resources.push({ type: pluginPrefix + type, name, logicalName, id: path.map(encodeURIComponent).join("/") });
  }

  #remark(name: string, text: string): void {
    this.remarks.push({ path: [name], text: printable(text) });
  }
}

/** A variable name that every language accepts. */
const inCode = (name: string): string => name.replace(/[^A-Za-z0-9]+/g, "_").replace(/^(?=\d)/, "n");
