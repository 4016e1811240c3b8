// @ts-check
/**
 * A copy of the repository with all mutants in its sources, none of them active. It is built: processes that tests start run `dist`, and so
 * they meet the mutants, too.
 */
import { cpSync, mkdirSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "../lib/prepare.mjs";
import { succeed } from "../lib/processes.mjs";

const left = /^(\.git|node_modules|\.consortium|release|dist-plugin)$|^plugin\/pulumi-resource-consortium/;

/** @param {string} copy a folder to make @param {Map<string, string>} sources */
export async function sandbox(copy, sources) {
  cpSync(root, copy, { recursive: true, preserveTimestamps: true, filter: (from) => !left.test(relative(root, from)) });
  // Packages of the repository are links to its folders: to those of the copy.
  mkdirSync(join(copy, "node_modules"));
  for (const entry of readdirSync(join(root, "node_modules"), { withFileTypes: true })) {
    const original = join(root, "node_modules", entry.name);
    symlinkSync(entry.isSymbolicLink() ? readlinkSync(original) : original, join(copy, "node_modules", entry.name));
  }
  for (const [file, text] of sources) writeFileSync(join(copy, file), text);
  const compiler = join("node_modules", "typescript-7", "bin", "tsc");
  await succeed(process.execPath, [compiler, "--build", "--noCheck", "console", "fleet"], { cwd: copy });
}
