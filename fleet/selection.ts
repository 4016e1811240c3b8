import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { printableLines, UserError } from "pulumi-consortium/internal/fleet";
import { earlierFleet } from "./file";
import { workFolderOf } from "./project";
import { type Fleet, type FleetStack } from "./schema";
import { type Shard, stacksIn, stagesOf, titleOf } from "./shards";

/* Which stacks of a fleet a command runs for. */

export interface Wanted {
  /** Patterns of names. */
  only: readonly string[];
  /** The stacks of one stage, from 1. */
  stage?: number;
  shard?: Shard;
  /** Whether stacks must wait for those that they depend on. */
  isOrdered?: boolean;
  /** A commit. */
  changedSince?: string;
}

/** Forges pass this as the previous commit of a new branch or a manual pipeline: it selects all stacks. */
const isNoCommit = /^(0{40}|0{64})$/;

/**
 * Selects stacks.
 * @returns names: the stacks of all shards, in their stages
 * @throws if a pattern matches no stack, git cannot tell what has changed, or shards would run in no order
 */
export function selected(fleet: Fleet, { only, stage, shard, isOrdered, changedSince }: Wanted) {
  const named = only.length === 0 ? fleet.stacks : matching(fleet, only);
  const changes =
    changedSince === undefined || isNoCommit.test(changedSince) ? undefined : changesSince(fleet, changedSince);
  const all = changes ? named.filter(({ name }) => changes.reasons.has(name)) : named;
  if (isOrdered && shard && stage === undefined && stagesOf(all).length > 1)
    throw new UserError(
      "invalid-argument",
      `Add --stage to --shard ${titleOf(shard)}, or run this without --shard: stacks of ${fleet.file} depend on each other, and shards ` +
        "wait only for those of an earlier stage.",
    );
  const stages = stage === undefined ? [all] : stagesOf(all);
  const own = stages[(stage ?? 1) - 1] ?? [];
  const stacks = shard ? stacksIn(own, shard) : own;
  const namesOf = ({ name, organization }: FleetStack) => ({ stack: name, organization: organization.name });
  return { stacks, names: stages.map((some) => some.map(namesOf)), changes };
}

/** A pattern such as `acme-*`: a star matches anything. */
export function patternOf(pattern: string): RegExp {
  const parts = pattern.split("*").map((text) => text.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`);
}

/** The stacks that match one of the patterns. */
export function matching({ stacks, file }: Fleet, patterns: readonly string[]): FleetStack[] {
  const found = patterns.map((pattern) => {
    const own = stacks.filter(({ name }) => patternOf(pattern).test(name));
    if (own.length > 0) return own;
    const names = stacks.map(({ name }) => name).join(", ");
    throw new UserError("invalid-argument", `Choose from ${names}: ${file} has no stack like ${pattern}.`);
  });
  return stacks.filter((stack) => found.some((own) => own.includes(stack)));
}

/**
 * What changed since a commit.
 * @returns reasons: why each changed stack counts as changed; removed: stacks that left the file
 * @throws if there is no git, no repository or no such commit
 */
function changesSince(fleet: Fleet, given: string) {
  const folder = realpathSync(fleet.folder);
  const top = git(["rev-parse", "--show-toplevel"], folder).trim();
  const commit = idOf(given, top);
  const files = changedFiles(commit, top);
  const fileName = basename(fleet.file);
  const text = git(["show", `${commit}:./${fileName}`], folder, () => ""); // not a fleet
  const earlier = earlierFleet(fleet.file, text);
  const before = new Map(earlier?.stacks.map((one) => [one.name, one]));

  const reasonOf = (stack: FleetStack): string | undefined => {
    if (earlier === undefined) return `${fileName} is new, or was not a fleet file`;
    if (!before.has(stack.name)) return "it is new in the file";
    if (!isDeepStrictEqual(before.get(stack.name), stack)) return `its settings in ${fileName}`;
    if (!isDeepStrictEqual(sharedOf(earlier), sharedOf(fleet))) return `the settings of all stacks in ${fileName}`;
    const file = files.find(partsOf(stack, fleet, top));
    return file === undefined ? undefined : relative(top, file);
  };
  const reasons = new Map<string, string>();
  for (const stack of fleet.stacks) {
    const reason = reasonOf(stack);
    if (reason !== undefined) reasons.set(stack.name, reason);
  }
  // The loop also visits the names that it adds.
  for (const [name] of reasons)
    for (const stack of fleet.stacks)
      if (stack.dependsOn.includes(name) && !reasons.has(stack.name)) reasons.set(stack.name, `depends on ${name}`);
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
  /** The path in the fleet file, as a link, and as the target of the link. */
  const ways = (path: string): string[] => [
    join(real(fleet.folder), relative(fleet.folder, path)),
    join(real(dirname(path)), basename(path)),
    real(path),
  ];
  const packs = fleet.policyPacks.flatMap(({ path, config = path }) => [path, config]);
  const whole = [definition ?? [], paths, packs, join(workFolderOf(fleet), `Pulumi.${name}.yaml`)].flat().flatMap(ways);
  const all = [...whole, ...(program === undefined ? [] : ways(program))];
  return (file) => {
    // A file in git may contain others: a submodule, or a link to a folder.
    if (whole.some((one) => isIn(file, one)) || all.some((one) => isIn(one, file))) return true;
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

/** The output of git; `otherwise` if it fails. @throws if there is no git, or it fails */
function git(args: string[], cwd: string, otherwise?: () => string): string {
  const options = { cwd, env: process.env, maxBuffer: 2 ** 28, encoding: "utf8" } as const;
  const { error, status, stdout, stderr } = spawnSync("git", args, options);
  if (error && "code" in error && error.code === "ENOENT")
    throw refused("--changed-since needs git: install it, or add it to the PATH.");
  if (!error && status === 0) return stdout;
  if (otherwise) return otherwise();
  const said = printableLines(stderr.trim().replace(/^fatal: /, ""));
  throw refused(`--changed-since: git failed in ${cwd}: ${said || (error?.message ?? `git ${args[0]} failed`)}.`);
}

const refused = (message: string): UserError => new UserError("invalid-argument", message);

/** The id of a commit. */
function idOf(given: string, top: string): string {
  const unknown = () => {
    throw refused(
      `--changed-since: git knows no commit ${given} in ${top}. If this is a shallow clone, fetch earlier commits (fetch-depth: 0 of ` +
        "actions/checkout; GIT_DEPTH: 0 of GitLab). Otherwise, name a commit that was fetched, or omit the option to run all stacks.",
    );
  };
  return git(["rev-parse", "--verify", "--quiet", "--end-of-options", `${given}^{commit}`], top, unknown).trim();
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
