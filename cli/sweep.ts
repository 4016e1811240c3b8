import { type Command, InvalidArgumentError } from "commander";
import { type ConsortiumClient } from "../provider/api";
import { environmentName } from "../provider/api/environment";
import { printable } from "../provider/api/printable";
import { durationSeconds } from "../provider/constants";
import { Collection } from "../provider/core/collection";
import { deleteObject } from "../provider/core/lifecycle/delete";
import { messageOf } from "../provider/core/user-error";
import { definitions } from "../provider/resources";
import { type Found, type ListedKind, plainSession, readOrganization } from "../provider/resources/tree";
import { connectionHelp, withClient } from "./shared/connection";
import { confirm } from "./shared/terminal";

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
  if (seconds === undefined) throw new InvalidArgumentError("It must be a duration such as 90m, 2h or 1d12h.");
  return seconds * 1_000;
}

export interface Failure {
  item: Found;
  error: string;
}

export interface Cleared {
  deleted: Found[];
  failed: Failure[];
}

/** Children before parents. What is in an environment goes with it (spec 4.1). */
const order: readonly ListedKind[] = ["node", "appCred", "environment", "membership", "consortium"];

/** Deletes the objects, waits until each is gone, and continues after failures. */
export async function clear(
  client: ConsortiumClient,
  going: ReadonlySet<Found>,
  say: (line: string) => void,
): Promise<Cleared> {
  const session = plainSession(client, { say });
  const byParent = new Set([...going].filter(({ kind }) => kind === "environment").flatMap(({ inside }) => inside));
  const deleted: Found[] = [];
  let failed: Failure[] = [];

  const clearOne = async (item: Found): Promise<void> => {
    // A founding member may only go with its consortium, so it does not keep the consortium.
    const still = failed.filter((failure) => failure.item.kind !== "membership" && isIn(failure.item, item));
    if (still.length > 0) {
      const error = `not tried, since ${still.map((failure) => titleOf(failure.item)).join(", ")} could not be deleted.`;
      failed.push({ item, error });
      return;
    }
    try {
      const state = { ...item.place, name: foundName(item) };
      await deleteObject(Collection.of(session, definitions[item.kind], state), item.id, state);
      const along = failed.map((failure) => failure.item).filter((one) => isIn(one, item));
      const gone = [item, ...(item.kind === "environment" ? item.inside : along)];
      failed = failed.filter((failure) => !along.includes(failure.item));
      deleted.push(...gone);
      for (const one of gone) say(`deleted ${titleOf(one)}`);
    } catch (error) {
      failed.push({ item, error: printable(messageOf(error)) });
    }
  };

  for (const kind of order) {
    const now = [...going].filter((item) => item.kind === kind && !byParent.has(item));
    await Promise.all(now.map(clearOne));
  }
  return { deleted, failed };
}

/** Whether something is in a parent, or belongs to a member, or holds what does. */
function isIn(item: Found, owner: Found): boolean {
  const here = item.props.membershipId === owner.id || Object.values(item.place).includes(owner.id);
  return here || item.inside.some((child) => child.props.membershipId === owner.id);
}

export const foundName = ({ props }: Found): string => props.name ?? props.orgName ?? "";

/** How a person calls it: `node "n1" (n5f0a9)`. */
export const titleOf = (item: Found): string => {
  const name = foundName(item);
  return `${definitions[item.kind].title} ${name === "" ? "" : `"${printable(name)}" `}(${printable(item.id)})`;
};

/** What makes an object a leftover. */
export interface Match {
  prefix: string;
  /** Ms since 1970: what was created after that is too young. */
  before: number;
  /** Whether a name is enough where the service shows no age. */
  undated: boolean;
}

export interface Leftovers {
  going: ReadonlySet<Found>;
  /** What matches by name and age but stays, and why. */
  kept: ReadonlyMap<Found, string>;
}

/**
 * Chooses what goes: a consortium or environment that matches, with all that is in it; elsewhere each object by itself.
 * A member goes only if everything that it owns does, since the service lets go of that with the member.
 */
export function leftovers(consortia: readonly Found[], match: Match): Leftovers {
  const going = new Set<Found>();
  const kept = new Map<Found, string>();
  const takeAll = (item: Found): void => {
    going.add(item);
    item.inside.forEach(takeAll);
  };
  const verdict = (item: Found, mayBeUndated = match.undated): boolean => {
    if (!foundName(item).startsWith(match.prefix)) return false;
    const created = Date.parse(item.props.createdAt ?? "");
    if (Number.isNaN(created) && !mayBeUndated) kept.set(item, "the service does not show its age (--undated)");
    return Number.isNaN(created) ? mayBeUndated : created <= match.before;
  };

  for (const consortium of consortia) {
    if (verdict(consortium)) {
      takeAll(consortium);
      continue;
    }
    const environments = consortium.inside.filter(({ kind }) => kind === "environment");
    for (const environment of environments) {
      if (verdict(environment)) takeAll(environment);
      else for (const child of environment.inside) if (verdict(child)) going.add(child);
    }
    for (const member of consortium.inside.filter(({ kind }) => kind === "membership")) {
      if (!verdict(member)) continue;
      const own = environments.flatMap(({ inside }) => inside).filter((one) => one.props.membershipId === member.id);
      const others = own.filter((one) => !going.has(one) && !(one.props.createdAt === undefined && verdict(one, true)));
      if (others.length > 0) {
        kept.set(member, `it owns ${others.map(titleOf).join(", ")}`);
        continue;
      }
      going.add(member);
      for (const one of own) {
        going.add(one);
        kept.delete(one);
      }
    }
  }
  return { going, kept };
}

/** The objects of these ids, each with all that is in it. @throws Error that names those that are not there, before anything is deleted */
export function exactly(consortia: readonly Found[], ids: readonly string[]): Leftovers {
  const going = new Set<Found>();
  const found = new Set<string>();
  const walk = (item: Found, taken: boolean): void => {
    const isMeant = ids.includes(item.id);
    if (isMeant) found.add(item.id);
    if (taken || isMeant) going.add(item);
    for (const child of item.inside) walk(child, taken || isMeant);
  };
  for (const consortium of consortia) walk(consortium, false);
  const missing = ids.filter((id) => !found.has(id));
  if (missing.length === 0) return { going, kept: new Map() };
  throw new Error(
    `The service lists nothing with the id ${missing.join(", ")}. Nothing was deleted: check the id and the key, or delete it in the console.`,
  );
}

/** How long ago, in the largest unit that fits: "3 hours old". */
export function age(item: Found, now: number): string {
  const seconds = (now - Date.parse(item.props.createdAt ?? "")) / 1000;
  if (Number.isNaN(seconds)) return "age unknown";
  const units: [number, string][] = [
    [86_400, "day"],
    [3_600, "hour"],
    [60, "minute"],
  ];
  const [length, unit] = units.find(([size]) => seconds >= size) ?? [1, "second"];
  const count = Math.max(0, Math.floor(seconds / length));
  return `${count} ${unit}${count === 1 ? "" : "s"} old`;
}

/** The tree of what goes, with the parents that stay, so that one sees where it is. */
export function treeLines(tree: readonly Found[], { going, kept }: Leftovers, now: number, depth = 0): string[] {
  return tree.flatMap((item) => {
    const below = treeLines(item.inside, { going, kept }, now, depth + 1);
    const reason = kept.get(item);
    if (!going.has(item) && reason === undefined && below.length === 0) return [];
    const fate = going.has(item) ? age(item, now) : reason === undefined ? "stays" : `stays: ${reason}`;
    return [`${"  ".repeat(depth)}${titleOf(item)}, ${fate}`, ...below];
  });
}

const summaryOf = (item: Found) => {
  const { kind, id, props, place } = item;
  return { kind, id, name: foundName(item), createdAt: props.createdAt, ...place };
};

/** For programs: everything that was found, and what became of it. */
export function asJson({ going, kept }: Leftovers, { deleted, failed }: Cleared): string {
  const text = JSON.stringify({
    found: [...going].map(summaryOf),
    kept: [...kept].map(([item, reason]) => ({ ...summaryOf(item), reason })),
    deleted: deleted.map(({ id }) => id),
    failed: failed.map(({ item, error }) => ({ ...summaryOf(item), error })),
  });
  return printable(text);
}
