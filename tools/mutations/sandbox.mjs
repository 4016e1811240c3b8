// @ts-check
/**
 * Prepares the copy of the repository in which Stryker breaks the sources. It builds the copy: processes that tests start run `dist`, and
 * so they meet the mutants, too.
 */
import { chmodSync, mkdirSync, readdirSync, readlinkSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { run, succeed } from "../lib/processes.mjs";

const from = process.env.MUTATIONS ?? "";
const copy = process.cwd();

// Packages of the repository are links to its folders: to those of the copy.
mkdirSync(join(copy, "node_modules"));
for (const entry of readdirSync(join(from, "node_modules"), { withFileTypes: true })) {
  const original = join(from, "node_modules", entry.name);
  symlinkSync(entry.isSymbolicLink() ? readlinkSync(original) : original, join(copy, "node_modules", entry.name));
}

// Stryker copies what files contain, not that they can be executed.
for (const file of (await succeed("git", ["ls-files"], { cwd: from })).split("\n")) {
  const mode = statSync(join(from, file), { throwIfNoEntry: false })?.mode ?? 0;
  if (mode & 0o100) chmodSync(join(copy, file), mode);
}

const compiler = join("node_modules", "typescript-7", "bin", "tsc");
const { code, text } = await run(process.execPath, [compiler, "--build", "--noCheck", "console", "fleet"], {
  cwd: copy,
});
if (code !== 0) throw new Error(text);
