import { execFileSync, type StdioOptions } from "node:child_process";
import { realpathSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { printableLines } from "pulumi-consortium/internal/fleet";
import { earlierFleet } from "./file";
import { workFolderOf } from "./project";
import { type Fleet, type FleetStack } from "./schema";

/* Which stacks of a fleet changed since a commit, according to git. */

export interface Changes {
  /** Why each changed stack counts as changed. */
  reasons: Map<string, string>;
  /** Stacks that left the file. `renamed` is a new stack with the same settings: perhaps the same one under another name. */
  removed: { name: string; renamed?: string }[];
}

/** @throws if there is no git, no repository or no such commit */
export function changesSince(fleet: Fleet, given: string): Changes {
  const git = new Git(realpathSync(fleet.folder));
  const commit = git.commit(given);
  const files = git.changedSince(commit);
  const fileName = basename(fleet.file);
  const text = git.textAt(commit, fileName);
  const earlier = text === undefined ? undefined : earlierFleet(fleet.file, text);
  const before = new Map(earlier?.stacks.map((one) => [one.name, one]));

  const reasonOf = (stack: FleetStack): string | undefined => {
    if (earlier === undefined) return `${fileName} is new, or was no fleet file`;
    if (!before.has(stack.name)) return "it is new in the file";
    if (!isDeepStrictEqual(before.get(stack.name), stack)) return `its settings in ${fileName}`;
    if (!isDeepStrictEqual(sharedOf(earlier), sharedOf(fleet))) return `the settings of all stacks in ${fileName}`;
    const file = files.find(partsOf(stack, fleet, git.top));
    return file === undefined ? undefined : relative(git.top, file);
  };
  const reasons = new Map<string, string>();
  for (const stack of fleet.stacks) {
    const why = reasonOf(stack);
    if (why !== undefined) reasons.set(stack.name, why);
  }
  addDependents(fleet.stacks, reasons);

  const names = new Set(fleet.stacks.map(({ name }) => name));
  const added = fleet.stacks.filter(({ name }) => !before.has(name));
  const removed = [...before.values()].filter(({ name }) => !names.has(name));
  return {
    reasons,
    removed: removed.map((one) => ({ name: one.name, renamed: added.find((other) => isAlike(one, other))?.name })),
  };
}

/** The settings that apply to all stacks. */
const sharedOf = ({ project, id, backend, secretsProvider, passphrase, policyPacks }: Fleet) => ({
  project,
  id,
  backend,
  secretsProvider,
  passphrase,
  policyPacks,
});

const isAlike = (one: FleetStack, other: FleetStack): boolean =>
  isDeepStrictEqual({ ...one, name: "", dependsOn: [] }, { ...other, name: "", dependsOn: [] });

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
  const packs = fleet.policyPacks.flatMap(({ path, config }) => [path, ...(config === undefined ? [] : [config])]);
  const others = [...paths, ...packs, ...(definition === undefined ? [] : [definition])].flatMap((path) => [
    join(real(dirname(path)), basename(path)), // the link itself, if it is one
    real(path),
  ]);
  const generated = join(real(fleet.folder), relative(fleet.folder, workFolderOf(fleet)), `Pulumi.${name}.yaml`);
  return (file) => {
    if (file === generated || others.some((one) => isIn(file, one))) return true;
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

class Git {
  /** The folder of the repository, without links. */
  readonly top: string;

  constructor(private readonly folder: string) {
    this.top = this.#run(["rev-parse", "--show-toplevel"]).trim();
  }

  /** The id of a commit. */
  commit(given: string): string {
    if (!given.startsWith("-")) {
      const id = this.#try(["rev-parse", "--verify", "--quiet", `${given}^{commit}`]);
      if (id !== undefined) return id.trim();
    }
    const isShallow = this.#run(["rev-parse", "--is-shallow-repository"]).trim() === "true";
    throw new Error(
      `--changed-since: git knows no commit ${given} in ${this.top}. ` +
        (isShallow
          ? "This is a shallow clone, which lacks earlier commits: fetch them (`git fetch --unshallow`; fetch-depth: 0 of " +
            "actions/checkout; GIT_DEPTH: 0 of GitLab), or omit --changed-since to run all stacks."
          : "Name a commit, a tag or a branch that was fetched, such as origin/main; or omit --changed-since to run all stacks."),
    );
  }

  /** Absolute paths of all files that differ from a commit, committed or not. A renamed file counts under both names. */
  changedSince(commit: string): string[] {
    const changed = this.#run(["diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", commit, "--"], this.top);
    const added = this.#run(["ls-files", "--others", "--exclude-standard", "-z"], this.top);
    return `${changed}${added}`
      .split("\0")
      .filter(Boolean)
      .map((file) => join(this.top, file));
  }

  /** The text of a file of the folder in a commit; undefined if the commit does not have it. */
  textAt = (commit: string, file: string): string | undefined => this.#try(["show", `${commit}:./${file}`]);

  #try(args: string[]): string | undefined {
    try {
      return this.#run(args);
    } catch (error) {
      if (error instanceof GitFailed) return undefined;
      throw error;
    }
  }

  #run(args: string[], cwd = this.folder): string {
    try {
      const options = {
        cwd,
        env: process.env,
        maxBuffer: 2 ** 28,
        stdio: ["ignore", "pipe", "pipe"] satisfies StdioOptions,
      };
      return execFileSync("git", args, { ...options, encoding: "utf8" });
    } catch (cause) {
      const { code, stderr = "" } = cause as NodeJS.ErrnoException & { stderr?: string };
      if (code === "ENOENT")
        throw new Error("--changed-since needs git, and there is none on PATH. Install it, or omit the option.", {
          cause,
        });
      const why = printableLines(stderr.trim().replace(/^fatal: /, "")) || `git ${args[0]} failed`;
      throw new GitFailed(`--changed-since cannot ask git in ${cwd}: ${why}.`, { cause });
    }
  }
}

class GitFailed extends Error {}
