// @ts-check
/** The lines that a change adds or touches. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/prepare.mjs";
import { run } from "../lib/processes.mjs";
import { UserError } from "../lib/terminal.mjs";

/** @typedef {(...args: string[]) => Promise<string | undefined>} Git undefined if it fails */

/** @param {string} cwd @returns {Git} */
const gitIn =
  (cwd) =>
  async (...args) => {
    const { code, stdout } = await run("git", args, { cwd });
    return code === 0 ? stdout : undefined;
  };

/** The commit to compare a branch with: where it left main; on main itself, the previous commit. @param {Git} git */
async function base(git) {
  const head = (await git("rev-parse", "HEAD"))?.trim();
  for (const main of ["origin/main", "main"]) {
    const left = (await git("merge-base", "HEAD", main))?.trim();
    if (left && left !== head) return left;
  }
  return (await git("rev-parse", "--verify", "--quiet", "HEAD^"))?.trim();
}

/**
 * @param {string} [since] a commit; without one, `base` decides
 * @param {string} [folder] the clone
 * @returns {Promise<{ since: string | undefined, lines: Map<string, Set<number>> }>} of each file, counted from 0, those not yet committed too
 */
export async function changedLines(since, folder = root) {
  const git = gitIn(folder);
  const from = since ?? (await base(git));
  /** @type {Map<string, Set<number>>} */
  const lines = new Map();
  if (from === undefined) return { since: from, lines };
  const diff = await git(
    "diff",
    "--unified=0",
    "--no-color",
    "--no-ext-diff",
    "--find-renames",
    "--diff-filter=AMR",
    from,
  );
  if (diff === undefined) throw new UserError(`git knows no commit ${from}: name one that is in this clone.`);
  let file = "";
  for (const line of diff.split("\n")) {
    if (line.startsWith("+++ b/")) file = line.slice("+++ b/".length);
    const [, start, count = "1"] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (start === undefined) continue;
    const own = lines.get(file) ?? new Set();
    for (let at = 0; at < Number(count); at += 1) own.add(Number(start) - 1 + at);
    lines.set(file, own);
  }
  for (const added of ((await git("ls-files", "--others", "--exclude-standard")) ?? "").split("\n").filter(Boolean))
    lines.set(added, new Set(readFileSync(join(folder, added), "utf8").split("\n").keys()));
  return { since: from, lines };
}
