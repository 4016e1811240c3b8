import { type Command, Option } from "@commander-js/extra-typings";
import { Document, isMap, isNode } from "yaml";
import { type ConsortiumClient } from "../provider/api";
import { printable, printableLines } from "../provider/api/printable";
import { isGone } from "../provider/api/states";
import { pluginPrefix } from "../provider/constants";
import { UserError } from "../provider/errors";
import { definitions } from "../provider/resources";
import { newSession } from "../provider/core/session";
import {
  type Found,
  inside,
  kindsWithin,
  type ListedKind,
  readOrganization,
  readOwn,
} from "../provider/resources/tree";
import { textOf } from "../sdk/yaml/write";
import {
  definitionOf,
  type Exported,
  isSupported,
  keysOf,
  ofOtherOrganization,
  type Remark,
} from "./export/definition";
import { connectionHelp, withClient } from "./shared/connection";
import { jsonText, print, say } from "./shared/terminal";

interface Flags {
  consortium?: string;
  adopt?: boolean;
  import?: boolean;
  json?: boolean;
}

export function define(command: Command): void {
  command
    .option("--consortium <name or id>", "consortium to export (default: the only one; with --import: all)")
    .option("--adopt", "make programs adopt the existing objects, each by its id")
    .addOption(new Option("--import", "write the file for `pulumi import --file` instead").conflicts("adopt"))
    .addOption(
      new Option("--json", "print one JSON document: the network, and the remarks of the file").conflicts("import"),
    )
    .addHelpText(
      "after",
      "\nPrints the network file (docs/network-files.md) of an existing consortium, with its members, environments and\n" +
        "nodes, and changes nothing. With --adopt, `pulumi up` of that file adopts the network without changing it.\n" +
        "Credentials and tethers cannot be adopted: the file says so if there are any.\n\n" +
        "With --import, prints the file for `pulumi import --file`, credentials included, for programs on the provider\n" +
        `plugin (docs/adopt.md#import).\n${connectionHelp}`,
    )
    .action(exportNetwork);
}

async function exportNetwork({ consortium, adopt = false, ...flags }: Flags): Promise<void> {
  await withClient(async (client) => {
    const which = consortium ?? (flags.import ? undefined : await onlyConsortium(client));
    const session = newSession(client);
    const found = await (adopt || flags.import ? readOwn(session, which) : readOrganization(session, {}, which));
    if (found.length === 0) throw new UserError("not-found", "The organization of this API key has no consortium.");
    if (flags.import) {
      const { resources, remarks } = bulkImportOf(found);
      print(jsonText({ resources }));
      return note(remarks);
    }
    const exported = definitionOf(found[0]!, { adopt });
    if (flags.json) {
      const { definition: network, remarks: notes } = exported;
      print(jsonText({ network, notes }));
      return;
    }
    process.stdout.write(yamlOf(exported, { adopt }));
    note(exported.remarks);
  });
}

/** The id of the organization's only consortium; undefined if it has none. @throws Error that lists them if there are several */
async function onlyConsortium(client: ConsortiumClient): Promise<string | undefined> {
  const [only, ...others] = (await client.listConsortia()).filter((one) => !isGone(one));
  if (others.length === 0) return only?.id;
  const names = [only!, ...others].map(({ id, name }) => printable(String(name ?? id))).join(", ");
  throw new UserError(
    "invalid-argument",
    `Choose one with --consortium <name or id>: there are several consortia (${names}).`,
  );
}

function note(remarks: readonly Remark[]): void {
  for (const { path, text } of remarks) say([["note", ...(path.length > 0 ? [path.join(".")] : []), text].join(": ")]);
}

const editors = " yaml-language-server: $schema=./node_modules/pulumi-consortium/schemas/network.schema.json";
const adopting =
  " `pulumi up` adopts the object that each `adopt:` names, and changes nothing. Run `pulumi preview` first.";

/** The text of a network file, with the remarks as comments. */
export function yamlOf({ definition, remarks }: Exported, { adopt }: { adopt: boolean }): string {
  const document = new Document(definition);
  for (const { path, text } of remarks) {
    const owner = document.getIn(path.slice(0, -1), true);
    const pair = isMap(owner) ? owner.items.find(({ key }) => String(key) === path.at(-1)) : undefined;
    if (isNode(pair?.key)) pair.key.commentBefore = [pair.key.commentBefore, ` ${text}`].filter(Boolean).join("\n");
  }
  const general = remarks.filter(({ path }) => path.length === 0).map(({ text }) => ` ${text}`);
  document.commentBefore = [editors, ...(adopt ? [adopting] : []), ...general].join("\n");
  return textOf(document, (text) => printableLines(text) !== text);
}

/** The input of `pulumi import --file`. `name` is the variable in the code that Pulumi writes. */
type BulkImport = Record<"type" | "name" | "logicalName" | "id", string>[];

/** Everything in these consortia under the logical names of their network files. */
function bulkImportOf(consortia: readonly Found[]): { resources: BulkImport; remarks: Remark[] } {
  const resources: BulkImport = [];
  const remarks: Remark[] = [];
  const names = new Set<string>();
  const remark = (name: string, text: string) => void remarks.push({ path: [name], text: printable(text) });
  /** Objects of different kinds may have one logical name, but code needs a variable for each. */
  const add = (kind: ListedKind, logicalName: string, path: readonly string[]): void => {
    const taken = names.has(inCode(logicalName).toLowerCase());
    const name = inCode(taken ? `${logicalName}-${path.at(-1)}` : logicalName);
    names.add(name.toLowerCase());
    const type = pluginPrefix + definitions[kind].type;
    resources.push({ type, name, logicalName, id: path.map(encodeURIComponent).join("/") });
  };
  const addAll = (kind: ListedKind, items: readonly Found[], name: string, within: readonly string[]): void => {
    const keys = keysOf(items, kind);
    for (const item of items) {
      const [own, path] = [name + keys.get(item.id)!, [...within, item.id]];
      const left = leftOut(item);
      if (left !== undefined) {
        remark(own, left);
        continue;
      }
      add(kind, own, path);
      if (kind === "consortium" && item.ofOthers !== undefined) remark(own, ofOtherOrganization(item.ofOthers));
      if (item.props.enableTether)
        remark(own, "a tether is enabled: the service does not show which one. Add it to the file by its id.");
      if (kind === "configuration") remark(own, definitions[kind].steps!.onImport!);
      for (const inner of [...kindsWithin(kind)].reverse()) addAll(inner, inside(item, inner), `${own}/`, path);
    }
  };
  addAll("consortium", consortia, "", []);
  return { resources, remarks };
}

/** Why an object cannot be imported. */
function leftOut(item: Found): string | undefined {
  const { kind, id, props } = item;
  if (kind === "environment" && !isSupported(item))
    return `left out with everything in it: the client "${props.provider}" with "${props.consensusType}" is not supported`;
  const isOwned = "membershipId" in definitions[kind].inputs.shape && kind !== "destination";
  return isOwned && props.membershipId === undefined
    ? `${id} is left out: the service does not show which member owns it`
    : undefined;
}

/** A variable name that every language accepts. */
const inCode = (name: string): string => name.replace(/[^A-Za-z0-9]+/g, "_").replace(/^(?=\d)/, "n");
