import { execFileSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { printableLines } from "pulumi-consortium/internal/fleet";
import { earlierFleet } from "./file";
import { workFolderOf } from "./project";
import { type Fleet, type FleetStack } from "./schema";

import { plannedShards, type Shard } from "./shards";

/* Which stacks of a fleet a command runs for. */

const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** `acme-*`: a star matches anything. */
const expressionOf = (pattern: string): RegExp => new RegExp(`^${pattern.split("*").map(literal).join(".*")}$`);

/** The stacks that match one of the patterns; all if there are none. @throws if a pattern matches no stack */
export function chosen({ stacks, file }: Pick<Fleet, "stacks" | "file">, patterns: readonly string[]): FleetStack[] {
  if (patterns.length === 0) return stacks;
  const expressions = patterns.map(expressionOf);
  const useless = patterns.find((_, at) => !stacks.some(({ name }) => expressions[at]!.test(name)));
  if (useless !== undefined)
    throw new Error(`${file} has no stack like ${useless}; there are ${stacks.map(({ name }) => name).join(", ")}.`);
  return stacks.filter(({ name }) => expressions.some((one) => one.test(name)));
}

export interface Wanted {
  /** Patterns of names. */
  only: readonly string[];
  shard?: Shard;
  /** A commit. */
  changedSince?: string;
}

export interface Selection {
  stacks: FleetStack[];
  /** How many there are in all shards. */
  inAll: number;
  changes?: Changes;
}

/** The wanted stacks. @throws if a pattern matches no stack, or git cannot tell what has changed */
export function selected(fleet: Fleet, { only, shard, changedSince }: Wanted): Selection {
  const named = chosen(fleet, only);
  const changes = changedSince === undefined ? undefined : changesSince(fleet, changedSince);
  const all = changes ? named.filter(({ name }) => changes.reasons.has(name)) : named;
  if (!shard) return { stacks: all, inAll: all.length, changes };
  const planned = plannedShards(fleet.stacks, all, shard.count).find((one) => one.shard.index === shard.index);
  return { stacks: planned?.stacks ?? [], inAll: all.length, changes };
}

/* Which stacks changed since a commit, according to git. */

interface Changes {
  /** Why each changed stack counts as changed. */
  reasons: Map<string, string>;
  /** Stacks that left the file. */
  removed: string[];
}

/** @throws if there is no git, no repository or no such commit */
function changesSince(fleet: Fleet, given: string): Changes {
  const folder = realpathSync(fleet.folder);
  const top = git(["rev-parse", "--show-toplevel"], folder).trim();
  const commit = idOf(given, top);
  const files = changedFiles(commit, top);
  const fileName = basename(fleet.file);
  const earlier = earlierOf(fleet, commit, folder);
  const before = new Map(earlier?.stacks.map((one) => [one.name, one]));

  const reasonOf = (stack: FleetStack): string | undefined => {
    if (earlier === undefined) return `${fileName} is new, or was no fleet file`;
    if (!before.has(stack.name)) return "it is new in the file";
    if (!isDeepStrictEqual(before.get(stack.name), stack)) return `its settings in ${fileName}`;
    if (!isDeepStrictEqual(sharedOf(earlier), sharedOf(fleet))) return `the settings of all stacks in ${fileName}`;
    const file = files.find(partsOf(stack, fleet, top));
    return file === undefined ? undefined : relative(top, file);
  };
  const reasons = new Map<string, string>();
  for (const stack of fleet.stacks) {
    const why = reasonOf(stack);
    if (why !== undefined) reasons.set(stack.name, why);
  }
  addDependents(fleet.stacks, reasons);
  fleet.stacks.forEach(({ name }) => before.delete(name));
  return { reasons, removed: [...before.keys()] };
}

/** The settings that apply to all stacks. */
const sharedOf = ({ project, id, backend, secretsProvider, passphrase, policyPacks }: Fleet) =>
  [project, id, backend, secretsProvider, passphrase, policyPacks] as const;

/** The settings of a stack, in the folder of its program. */
const settings = /^Pulumi\.(.+)\.ya?ml$/;

/** Files that decide which packages a program has, in its own folder or any above. */
const packageFile =
  /^(package(-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-(lock|workspace)\.yaml|bun\.lockb?|uv\.lock|go\.work(\.sum)?)$/;

/** Returns whether a file belongs to the stack. */
function partsOf(
  { name, definition, program, paths }: FleetStack,
  fleet: Fleet,
  top: string,
): (file: string) => boolean {
  const [own, home] = [program && real(program), real(program ?? fleet.folder)];
  const packs = fleet.policyPacks.flatMap(({ path, config = path }) => [path, config]);
  const others = [...paths, ...packs, ...(definition === undefined ? [] : [definition])].flatMap((path) => [
    join(real(dirname(path)), basename(path)), // the link itself, if it is one
    real(path),
  ]);
  others.push(join(real(fleet.folder), relative(fleet.folder, workFolderOf(fleet)), `Pulumi.${name}.yaml`));
  return (file) => {
    if (others.some((one) => isIn(file, one))) return true;
    if (packageFile.test(basename(file)) && isIn(home, dirname(file)) && isIn(file, top)) return true;
    if (own === undefined || !isIn(file, own)) return false;
    const [, stack] = (dirname(file) === own && settings.exec(basename(file))) || [];
    return (stack ?? name) === name && !isIn(file, join(own, ".consortium"));
  };
}

const isIn = (file: string, folder: string): boolean => file === folder || file.startsWith(join(folder, "/"));

/** The path without links, as git names files; of a file that no longer exists, the path itself. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Adds the stacks that depend on changed ones. */
function addDependents(stacks: readonly FleetStack[], reasons: Map<string, string>): void {
  for (let size = -1; size < reasons.size;) {
    size = reasons.size;
    for (const { name, dependsOn } of stacks) {
      const changed = dependsOn.find((one) => reasons.has(one));
      if (changed !== undefined && !reasons.has(name)) reasons.set(name, `depends on ${changed}`);
    }
  }
}

class GitFailed extends Error {}

/** @throws GitFailed */
function git(args: string[], cwd: string): string {
  try {
    return execFileSync("git", args, { cwd, env: process.env, maxBuffer: 2 ** 28, stdio: "pipe", encoding: "utf8" });
  } catch (cause) {
    const { code, stderr = "" } = cause as NodeJS.ErrnoException & { stderr?: string };
    if (code === "ENOENT") throw new Error("--changed-since needs git, and there is none on PATH.", { cause });
    const why = printableLines(stderr.trim().replace(/^fatal: /, "")) || `git ${args[0]} failed`;
    throw new GitFailed(`--changed-since cannot ask git in ${cwd}: ${why}.`, { cause });
  }
}

/** The id of a commit. */
function idOf(given: string, top: string): string {
  try {
    return git(["rev-parse", "--verify", "--quiet", "--end-of-options", `${given}^{commit}`], top).trim();
  } catch (cause) {
    if (!(cause instanceof GitFailed)) throw cause;
    throw new Error(
      `--changed-since: git knows no commit ${given} in ${top}. If this is a shallow clone, fetch earlier commits (fetch-depth: 0 of ` +
        "actions/checkout; GIT_DEPTH: 0 of GitLab). Otherwise, name a commit that was fetched, or omit the option to run all stacks.",
      { cause },
    );
  }
}

/** The fleet of that commit; undefined if it had none. */
function earlierOf({ file }: Fleet, commit: string, folder: string): Fleet | undefined {
  try {
    return earlierFleet(file, git(["show", `${commit}:./${basename(file)}`], folder));
  } catch (error) {
    if (error instanceof GitFailed) return undefined;
    throw error;
  }
}

/** Absolute paths of all files that differ from a commit, committed or not. A renamed file counts under both names. */
function changedFiles(commit: string, top: string): string[] {
  const changed = git(["diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", commit, "--"], top);
  const added = git(["ls-files", "--others", "--exclude-standard", "-z"], top);
  return `${changed}${added}`
    .split("\0")
    .filter(Boolean)
    .map((file) => join(top, file));
}
