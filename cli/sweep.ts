import { constants } from "node:os";
import { type Command, InvalidArgumentError } from "@commander-js/extra-typings";
import { type ConsortiumClient } from "../provider/api";
import { environmentName } from "../provider/api/environment";
import { printable } from "../provider/api/printable";
import { durationSeconds } from "../provider/constants";
import { newSession } from "../provider/core/session";
import { stepsOf } from "../provider/pulumi/verbs";
import { coded, codeOf, type ErrorCode, UserError } from "../provider/errors";
import { counted, messageOf } from "../provider/plain";
import { definitions } from "../provider/resources";
import { isUtility } from "../provider/resources/service";
import { deletionOrder, type Found, fullIdOf, inside, readOwn } from "../provider/resources/tree";
import { connectionHelp, withClient } from "./shared/connection";
import { confirm, type FlagsOf, print, say, stopSignals } from "./shared/terminal";

const options = (command: Command) =>
  command
    .option("--prefix <text>", "prefix of the names that may be deleted; required without --id", prefix)
    .option("--older-than <duration>", "minimum age, such as 90m, 2h or 1d; required without --id", duration)
    .option("--id <id...>", "exactly the objects with these ids, and everything in them")
    .option("--undated", "also objects that match by name if the service does not show their age (credentials)")
    .option("--yes", "do not ask for confirmation")
    .option("--json", "print one JSON document");

type Flags = FlagsOf<typeof options>;

export function define(command: Command): void {
  options(command)
    .addHelpText(
      "after",
      "\nFinds leftovers of test runs: matching consortia, environments and services with everything in them, and elsewhere\n" +
        "every other object that matches by itself. Zones that others use stay, and so do utility services, which all\n" +
        "members share. With --id, exactly the objects that a warning named. Without --yes, asks for confirmation; without\n" +
        `a terminal, only lists. ${connectionHelp}\n` +
        `${environmentName("organization")} names the organization that the key must belong to.\n` +
        "Exit code 1: something could not be deleted.",
    )
    .action((flags) => sweep(flags, command));
}

async function sweep(flags: Flags, command: Command): Promise<void> {
  const { prefix, olderThan, id, undated = false, yes = false, json = false } = flags;
  const byName = prefix !== undefined && olderThan !== undefined;
  if (id ? (prefix ?? olderThan) !== undefined : !byName)
    command.error("error: specify what to delete: either --prefix and --older-than, or --id");
  await withClient(async (client) => {
    const now = Date.now();
    const tree = await readOwn(newSession(client));
    const chosen = id ? exactly(tree, id) : leftovers(tree, { prefix: prefix!, before: now - olderThan!, undated });
    const lines = treeLines(tree, chosen, now);
    if (!json) print(lines.length > 0 ? lines : "Nothing matches.");
    const cleared = await decide(client, chosen, { yes, json });
    if (json) print(asJson(chosen, cleared));
    for (const [item, reason] of cleared.kept) say(`left: ${titleOf(item)}, because ${reason}`);
    for (const { item, error, code } of cleared.failed) say([`not deleted: ${titleOf(item)}: ${coded(error, code)}`]);
    if (cleared.failed.length > 0) process.exitCode = 1;
  });
}

async function decide(
  client: ConsortiumClient,
  { going }: Leftovers,
  { yes, json }: { yes: boolean; json: boolean },
): Promise<Cleared> {
  const nothing: Cleared = { deleted: [], kept: new Map(), failed: [] };
  if (going.size === 0) return nothing;
  const objects = counted(going.size, "object");
  if (!yes && (json || !(await confirm(`Delete ${objects}?`)))) {
    if (!json) print(`Nothing was deleted of ${objects}: --yes deletes without asking.`);
    return nothing;
  }
  const deleted: Found[] = [];
  const onSignal = (signal: NodeJS.Signals): void => {
    say(
      `Stopped. Known to be deleted: ${deleted.length} of ${objects}. To delete the rest, run the same command again.`,
    );
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of stopSignals) process.on(signal, onSignal);
  try {
    const cleared = await clear(client, going, (line) => say(line), deleted);
    if (!json) print(`Deleted ${cleared.deleted.length} of ${objects}.`);
    return cleared;
  } finally {
    for (const signal of stopSignals) process.off(signal, onSignal);
  }
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

interface Cleared {
  deleted: Found[];
  /** What uses an object, and how. */
  kept: Map<Found, string>;
  failed: { item: Found; error: string; code?: ErrorCode }[];
}

/** The service deletes these with everything in them (spec 4.1). */
const takesAlong = ({ kind }: Found): boolean => kind === "environment" || kind === "service";

/** The service deletes a consortium even with these in it. A founding member can only be deleted this way. */
const goesAlong = ({ kind }: Found): boolean => ["membership", "invitation", "consortiumZone"].includes(kind);

const allInside = ({ inside }: Found): Found[] => inside.flatMap((one) => [one, ...allInside(one)]);

/**
 * Deletes the objects, waits until each is gone, and continues after failures.
 * @param deleted gets those that are gone, as it goes on
 */
export async function clear(
  client: ConsortiumClient,
  going: ReadonlySet<Found>,
  say: (line: string) => void,
  deleted: Found[] = [],
): Promise<Cleared> {
  const session = newSession(client, { say, isAsked: true }); // of everything in the list
  const byParent = new Set([...going].filter(takesAlong).flatMap(allInside));
  const kept: Cleared["kept"] = new Map();
  let failed: Cleared["failed"] = [];

  const clearOne = async (item: Found): Promise<void> => {
    const still = failed.filter((failure) => !goesAlong(failure.item) && isIn(failure.item, item));
    if (still.length > 0) {
      const error = `not tried, because ${still.map((failure) => titleOf(failure.item)).join(", ")} could not be deleted.`;
      failed.push({ item, error });
      return;
    }
    try {
      const state = { ...item.place, ...item.props, name: foundName(item) };
      const used = await stepsOf(definitions[item.kind]).delete(session, item.id, state);
      if (used !== undefined) return void kept.set(item, used);
      const along = failed.map((failure) => failure.item).filter((one) => isIn(one, item));
      const gone = [item, ...(takesAlong(item) ? allInside(item) : along)];
      failed = failed.filter((failure) => !along.includes(failure.item));
      for (const one of item.kind === "consortium" ? item.inside : []) if (kept.delete(one)) gone.push(one);
      deleted.push(...gone);
      for (const one of gone) say(`deleted ${titleOf(one)}`);
    } catch (error) {
      if (error instanceof UserError && error.why !== undefined) return void kept.set(item, error.why);
      failed.push({ item, error: messageOf(error), code: codeOf(error) });
    }
  };

  for (const kind of deletionOrder) {
    const now = [...going].filter((item) => item.kind === kind && !byParent.has(item));
    await Promise.all(now.map(clearOne));
  }
  return { deleted, kept, failed };
}

/** Whether an object is in its parent, belongs to the member, or contains an object that does. */
function isIn(item: Found, owner: Found): boolean {
  const here = item.props.membershipId === owner.id || Object.values(item.place).includes(owner.id);
  return here || item.inside.some((child) => child.props.membershipId === owner.id);
}

const foundName = ({ props }: Found): string => props.name ?? props.orgName ?? "";

/** For people: `node "n1" (n5f0a9)`. */
export const titleOf = (item: Found): string => {
  const name = foundName(item);
  return `${definitions[item.kind].title} ${name === "" ? "" : `"${printable(name)}" `}(${printable(fullIdOf(item))})`;
};

/** What makes an object a leftover. */
interface Match {
  prefix: string;
  /** Milliseconds since 1970. Objects created later are too young. */
  before: number;
  /** Whether a name is enough if the service does not show the age. */
  undated: boolean;
}

interface Leftovers {
  going: ReadonlySet<Found>;
  /** Objects that match by name but stay, and why. */
  kept: ReadonlyMap<Found, string>;
}

/**
 * Chooses what to delete: a matching consortium, environment or service with everything in it, and elsewhere each object by itself. A
 * member is deleted only if everything that it owns is deleted, because the service deletes that with the member.
 */
export function leftovers(consortia: readonly Found[], match: Match): Leftovers {
  const going = new Set<Found>();
  const kept = new Map<Found, string>();
  const takeAll = (item: Found): void => {
    going.add(item);
    item.inside.forEach(takeAll);
  };
  const verdict = (item: Found, mayBeUndated = match.undated): boolean => {
    if (item.ofOthers !== undefined || !foundName(item).startsWith(match.prefix)) return false;
    const created = Date.parse(item.props.createdAt ?? "");
    if (Number.isNaN(created) && !mayBeUndated) kept.set(item, "the service does not show its age (--undated)");
    return Number.isNaN(created) ? mayBeUndated : created <= match.before;
  };

  const take = (item: Found): void => {
    if (!verdict(item)) item.inside.forEach(take);
    else if (isUtility(item.props)) kept.set(item, "the members of its environment share it (--id deletes it)");
    else takeAll(item);
  };

  for (const consortium of consortia) {
    if (verdict(consortium)) {
      takeAll(consortium);
      continue;
    }
    for (const one of consortium.inside) if (one.kind !== "membership") take(one);
    const environments = inside(consortium, "environment");
    for (const member of inside(consortium, "membership")) {
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
  // Not every service refuses to delete a configuration that a node has.
  const others = consortia.flatMap(allInside).filter((one) => !going.has(one));
  for (const one of [...going].filter(({ kind }) => kind === "configuration")) {
    const user = others.find(({ props }) => Object.values(props).includes(one.id));
    if (user && going.delete(one)) kept.set(one, `${titleOf(user)} uses it`);
  }
  return { going, kept };
}

/** The objects with these ids, each with everything in it. @throws Error that names the ids that do not exist */
export function exactly(consortia: readonly Found[], ids: readonly string[]): Leftovers {
  const going = new Set<Found>();
  const found = new Set<string>();
  const walk = (item: Found, taken: boolean): void => {
    const id = fullIdOf(item);
    const isMeant = item.ofOthers === undefined && ids.includes(id);
    if (isMeant) found.add(id);
    if (taken || isMeant) going.add(item);
    for (const child of item.inside) walk(child, taken || isMeant);
  };
  for (const consortium of consortia) walk(consortium, false);
  const missing = ids.filter((id) => !found.has(id));
  if (missing.length === 0) return { going, kept: new Map() };
  throw new UserError(
    "not-found",
    `The service lists nothing of this organization with the id ${missing.join(", ")}. Nothing was deleted: check the id and the key, or delete it in the console.`,
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
  return `${counted(count, unit)} old`;
}

/** The tree of what is deleted, with its parents, even if these stay. */
function treeLines(tree: readonly Found[], { going, kept }: Leftovers, now: number, depth = 0): string[] {
  return tree.flatMap((item) => {
    const below = treeLines(item.inside, { going, kept }, now, depth + 1);
    const reason = kept.get(item);
    if (!going.has(item) && reason === undefined && below.length === 0) return [];
    const fate = going.has(item) ? age(item, now) : reason === undefined ? "stays" : `stays: ${reason}`;
    return [`${"  ".repeat(depth)}${titleOf(item)}, ${fate}`, ...below];
  });
}

const summaryOf = (item: Found) => {
  const { kind, props, place } = item;
  return { kind, id: fullIdOf(item), name: foundName(item), createdAt: props.createdAt, ...place };
};

/** For programs: everything that was found, and what happened to it. */
function asJson({ going, kept }: Leftovers, { deleted, kept: used, failed }: Cleared): string {
  return JSON.stringify({
    found: [...going].map(summaryOf),
    kept: [...kept, ...used].map(([item, reason]) => ({ ...summaryOf(item), reason })),
    deleted: deleted.map(fullIdOf),
    failed: failed.map(({ item, error, code }) => ({ ...summaryOf(item), error, code })),
  });
}
