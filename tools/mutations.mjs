// @ts-check
/**
 * npm run mutations -- FILE [TESTS …] [--count N] [--seed N]: changes a source file at one place after the other, in a copy of the
 * repository, and runs unit and integration tests. TESTS are paths below tests/; without any, those that load the file. A change that
 * no test notices is printed: a test is missing there, or the change makes no difference. The seed, which is printed, draws the
 * same places again.
 */
import "./lib/node-version.mjs";
import { hash } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { mutantsOf } from "./lib/mutants.mjs";
import { build, installPackages, root } from "./lib/prepare.mjs";
import { run, tidying } from "./lib/processes.mjs";
import { duration, runMain, log, UserError } from "./lib/terminal.mjs";

/** A change may make an endless loop. */
const timeoutMs = 600_000;

const { values, positionals } = parseArgs({
  options: { count: { type: "string", default: "20" }, seed: { type: "string", default: String(Date.now() % 1e6) } },
  allowPositionals: true,
});

/** Changes the file in a copy of the repository, place after place. Returns how many changes no test notices. @param {string} copy */
async function unnoticed(copy) {
  const [file = "", ...tests] = positionals;
  const text = readFileSync(join(root, file), "utf8");
  const isLeft = (/** @type {string} */ path) =>
    /(^|[\\/])(node_modules|\.git|\.consortium|release|dist-plugin)$/.test(path);
  cpSync(root, copy, { recursive: true, preserveTimestamps: true, filter: (path) => !isLeft(path) });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  const which = tests.length > 0 ? tests.map((path) => join("tests", path)) : ["--findRelatedTests", file];
  const jest = [join(root, "node_modules", "jest", "bin", "jest.js"), ...which, "--bail", "--ci", "--silent"];
  const isGreen = async () =>
    (await run(process.execPath, [...jest, "--selectProjects", "unit", "integration"], { cwd: copy, timeoutMs }))
      .code === 0;
  if (!(await isGreen())) throw new UserError("The tests fail as it is: choose others.");

  const rank = (/** @type {{ from: number }} */ { from }) => hash("sha256", `${values.seed} ${from}`);
  const all = mutantsOf(text).toSorted((a, b) => rank(a).localeCompare(rank(b)));
  const drawn = all.slice(0, Number(values.count));
  log(`${drawn.length} of ${all.length} places of ${file}, drawn by --seed ${values.seed}:`);
  let missed = 0;
  for (const { line, from, to, was, put } of drawn) {
    writeFileSync(join(copy, file), text.slice(0, from) + put + text.slice(to));
    const isMissed = await isGreen();
    missed += Number(isMissed);
    log(`${isMissed ? "MISSED" : "ok    "} ${file}:${line}: ${was.replace(/\s+/g, " ")} → ${put.replace(/\s+/g, " ")}`);
  }
  log(`${drawn.length - missed} of ${drawn.length} changes make a test fail.`);
  return missed;
}

await runMain("npm run mutations", async () => {
  if (positionals.length === 0 || !existsSync(join(root, positionals[0] ?? "")))
    throw new UserError("Name a source file, such as provider/core/diff.ts.");
  await installPackages();
  await build();
  const startedAt = Date.now();
  const copy = mkdtempSync(join(tmpdir(), "pulumi-consortium-mutations-"));
  const tidy = () => rmSync(copy, { recursive: true, force: true });
  const missed = await tidying(() => unnoticed(copy), tidy).finally(tidy);
  log(`It took ${duration(Date.now() - startedAt)}.`);
  return missed > 0 ? 1 : 0;
});
