import { type Command, InvalidArgumentError } from "commander";
import { type ConsortiumClient } from "../provider/api";
import { environmentName } from "../provider/api/environment";
import { durationSeconds } from "../provider/constants";
import { type Found, plainSession, readOrganization } from "../provider/resources/tree";
import { confirm } from "./shared/confirm";
import { connectionHelp, withClient } from "./shared/connection";
import { clear, type Cleared } from "./sweep/clear";
import { exactly, type Leftovers, leftovers, titleOf } from "./sweep/leftovers";
import { asJson, treeLines } from "./sweep/listing";

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
    .option("--prefix <text>", "prefix of the names that may be deleted", prefix)
    .option("--older-than <duration>", "minimum age, such as 90m, 2h or 1d", duration)
    .option("--id <id...>", "exactly the objects with these ids, and everything in them")
    .option("--undated", "also objects that match by name and whose age the service does not show (credentials)")
    .option("--yes", "do not ask for confirmation")
    .option("--json", "print one JSON document")
    .addHelpText(
      "after",
      "\nFinds leftovers of test runs: matching consortia and environments with everything in them, and elsewhere matching\n" +
        "memberships, nodes and credentials. With --id, exactly the objects that a warning named. Without --yes, it asks\n" +
        `for confirmation, or only lists without a terminal. ${connectionHelp}\n` +
        `${environmentName("organization")} names the organization that the key must belong to.\n` +
        "Exit code 1: something could not be deleted.",
    )
    .action((flags: Flags) => sweep(flags, command));
}

async function sweep(flags: Flags, command: Command): Promise<void> {
  const { prefix, olderThan, id, undated = false, yes = false, json = false } = flags;
  const byName = prefix !== undefined && olderThan !== undefined;
  if (id ? (prefix ?? olderThan) !== undefined : !byName)
    command.error("error: specify what to delete: either --prefix and --older-than, or --id");
  await withClient(async (client) => {
    const now = Date.now();
    const tree = await readOrganization(plainSession(client));
    const chosen = id ? exactly(tree, id) : leftovers(tree, { prefix: prefix!, before: now - olderThan!, undated });
    if (!json) list(tree, chosen, now);
    const cleared = await decide(client, chosen, { yes, json });
    if (json) console.log(asJson(chosen, cleared));
    for (const { item, error } of cleared.failed) console.error(`not deleted: ${titleOf(item)}: ${error}`);
    if (cleared.failed.length > 0) process.exitCode = 1;
  });
}

function list(tree: Found[], chosen: Leftovers, now: number): void {
  const lines = treeLines(tree, chosen, now);
  console.log(lines.length > 0 ? lines.join("\n") : "Nothing matches.");
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

/** Milliseconds. */
function duration(text: string): number {
  const withoutDays = text.replace(/(\d+(?:\.\d+)?)d/g, (_, days) => `${Number(days) * 24}h`);
  const seconds = durationSeconds(withoutDays);
  if (seconds === undefined) throw new InvalidArgumentError("Write it like 90m, 2h or 1d12h.");
  return seconds * 1_000;
}
