import { type Command, InvalidArgumentError } from "commander";
import { ConsortiumClient } from "../provider/api";
import { confirm } from "./sweep/ask";
import { clear, type Cleared } from "./sweep/clear";
import { exactly, type Leftovers, leftovers } from "./sweep/leftovers";
import { asJson, treeLines } from "./sweep/report";
import { type Item, readTree, titleOf } from "./sweep/tree";

interface Flags {
  prefix?: string;
  /** Milliseconds. */
  olderThan?: number;
  id?: string[];
  undated?: boolean;
  yes?: boolean;
  json?: boolean;
}

export function define(command: Command): void {
  command
    .option("--prefix <text>", "how the names of what may be deleted begin", prefix)
    .option("--older-than <duration>", "how long ago it was created, such as 90m, 2h or 1d", duration)
    .option("--id <id...>", "exactly the objects of these ids, with all that is in them")
    .option("--undated", "also what matches by name and whose age the service does not show (credentials)")
    .option("--yes", "delete it without asking")
    .option("--json", "print one document of JSON")
    .addHelpText(
      "after",
      "\nFinds what test runs left behind: consortia and environments that match, with all that is in them, and elsewhere\n" +
        "memberships, nodes and credentials that match by themselves. With --id, exactly what a warning named. Without --yes\n" +
        "it asks, or only lists where nobody is at the terminal. The service and the key are taken from CONSORTIUM_BASE_URL\n" +
        "(or CONSORTIUM_REGION) and CONSORTIUM_API_KEY; CONSORTIUM_ORGANIZATION says whose key it has to be.\n" +
        "Exit code 1: something could not be deleted.",
    )
    .action((flags: Flags) => sweep(flags, command));
}

async function sweep(flags: Flags, command: Command): Promise<void> {
  const { prefix, olderThan, id, undated = false, yes = false, json = false } = flags;
  const byName = prefix !== undefined && olderThan !== undefined;
  if (id ? (prefix ?? olderThan) !== undefined : !byName)
    command.error("error: say what may be deleted: either --prefix and --older-than, or --id");
  const client = new ConsortiumClient();
  try {
    await client.requireOrganization();
    const now = Date.now();
    const tree = await readTree(client);
    const chosen = id ? exactly(tree, id) : leftovers(tree, { prefix: prefix!, before: now - olderThan!, undated });
    if (!json) list(tree, chosen, now);
    const cleared = await decide(client, chosen, { yes, json });
    if (json) console.log(asJson(chosen, cleared));
    for (const { item, error } of cleared.failed) console.error(`not deleted: ${titleOf(item)}: ${error}`);
    if (cleared.failed.length > 0) process.exitCode = 1;
  } finally {
    await client.close();
  }
}

function list(tree: Item[], chosen: Leftovers, now: number): void {
  const lines = treeLines(tree, chosen, now);
  console.log(lines.length > 0 ? lines.join("\n") : "Nothing was found that matches.");
}

async function decide(
  client: ConsortiumClient,
  { going }: Leftovers,
  { yes, json }: { yes: boolean; json: boolean },
): Promise<Cleared> {
  const nothing: Cleared = { deleted: [], failed: [] };
  if (going.size === 0) return nothing;
  const objects = `${going.size} object${going.size === 1 ? "" : "s"}`;
  const asked = !yes && !json;
  const terminal = { input: process.stdin, output: process.stderr };
  if (!yes && !(asked && (await confirm(`Delete ${objects}?`, terminal)))) {
    if (asked) console.log(`Nothing was deleted of ${objects}: --yes deletes without asking.`);
    return nothing;
  }
  const cleared = await clear(client, going, (line) => console.error(line));
  if (!json) console.log(`Deleted ${cleared.deleted.length} of ${objects}.`);
  return cleared;
}

function prefix(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("An empty prefix would match everything.");
  return text;
}

const unitMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function duration(text: string): number {
  if (!/^(\d+(\.\d+)?[smhd])+$/.test(text)) throw new InvalidArgumentError("Write it like 90m, 2h or 1d12h.");
  const parts = [...text.matchAll(/([\d.]+)([smhd])/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * unitMs[unit!]!, 0);
}
