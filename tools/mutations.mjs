// @ts-check
/**
 * npm run mutations -- [files or folders]: breaks the sources, one small change at a time, and names those that no test notices. Without a
 * name, it draws samples from all folders. `--changed` looks at what a change adds. CONTRIBUTING.md tells more.
 */
import "./lib/node-version.mjs";
import { randomInt } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Stryker } from "@stryker-mutator/core";
import jest from "../jest.config.mjs";
import { installPackages, build, root } from "./lib/prepare.mjs";
import { tidying } from "./lib/processes.mjs";
import { duration, log, runMain } from "./lib/terminal.mjs";
import { changedLines } from "./mutations/changes.mjs";
import { compiling } from "./mutations/compiles.mjs";
import { forget, isKilled, isOpen, judged, named, score, table, write } from "./mutations/figures.mjs";
import { nearness } from "./mutations/near.mjs";
import { drawnBy, excludedMutations, guards, mutantsOf, rangeOf, rooms, sourcesIn } from "./mutations/mutants.mjs";

/** @typedef {import("./mutations/mutants.mjs").Drawable} Drawable */

const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: "string" },
    seed: { type: "string" }, // several are several samples: 1,2,3
    changed: { type: "boolean", default: false },
    since: { type: "string" }, // a commit, for --changed
    tests: { type: "string", default: "60" }, // of each source: the nearest ones
    concurrency: { type: "string", default: "2" },
    minutes: { type: "string" }, // then the rest stays open
    force: { type: "boolean", default: false }, // also what an earlier run has decided
    write: { type: "boolean", default: false },
  },
});

const started = Date.now();

/** The common part of Jest's projects. The folder is the sandbox, and the temporary folder is this process's own. */
const [common] = jest.projects.map(
  ({ transform, transformIgnorePatterns, testEnvironment, moduleNameMapper, modulePathIgnorePatterns }) => ({
    transform,
    transformIgnorePatterns,
    testEnvironment,
    moduleNameMapper,
    modulePathIgnorePatterns,
  }),
);

/** Unit and integration tests: those in tests/e2e take too long for one mutant. */
const tests = /** @type {string[]} */ (readdirSync(join(root, "tests"), { recursive: true }))
  .map((name) => `tests/${name}`)
  .filter((name) => name.endsWith(".test.ts") && !name.startsWith("tests/e2e/"));

/** @param {Drawable[]} drawn @param {string} temporary */
async function run(drawn, temporary) {
  const sources = [...new Set(drawn.map(({ place }) => place.file))];
  const nearest = nearness(tests);
  const near = Object.fromEntries(sources.map((source) => [source, nearest(source, Number(options.tests))]));
  const lazily = options.changed;
  const home = join(root, "node_modules", ".cache", "mutations");
  const incrementalFile = join(home, "results.json");
  mkdirSync(home, { recursive: true });
  const stryker = new Stryker({
    mutate: drawn.map(({ mutant }) => rangeOf(mutant)),
    mutator: { plugins: null, excludedMutations },
    testRunner: "files",
    checkers: ["drawn"],
    plugins: [fileURLToPath(new URL("./mutations/plugin.mjs", import.meta.url))],
    choice: {
      drawn: drawn.map(({ place }) => place),
      lazily,
      near,
      until: options.minutes && started + 60_000 * Number(options.minutes),
    },
    jest: { projectType: "custom", enableFindRelatedTests: false, config: { ...common, projects: null } },
    coverageAnalysis: lazily ? "off" : "perTest",
    concurrency: Number(options.concurrency),
    maxTestRunnerReuse: 30, // each loads hundreds of test files
    dryRunTimeoutMinutes: 60,
    timeoutFactor: 4, // a busy machine takes its time
    timeoutMS: lazily ? 600_000 : 60_000,
    incremental: !lazily, // it takes the tests of each mutant, which nobody knows then
    incrementalFile,
    force: options.force,
    disableTypeChecks: false,
    symlinkNodeModules: false,
    buildCommand: "node tools/mutations/sandbox.mjs",
    ignorePatterns: ["/.consortium", "/release", "/dist-plugin", "/plugin/pulumi-resource-consortium*"],
    tempDirName: join(temporary, "sources"),
    cleanTempDir: "always",
    reporters: ["survivors"],
    logLevel: /** @type {any} */ ("warn"),
    allowConsoleColors: false,
    warnings: false,
  });
  const results = await stryker.runMutationTest();
  forget(incrementalFile);
  return judged(drawn, results);
}

/**
 * The mutants: each seed draws a sample; names alone mean everything in them. @returns {Promise<{ seeds: string[], samples: Drawable[][]
 * }>}
 */
async function choose() {
  const seeds = (options.seed ?? (options.changed ? "1" : String(randomInt(1_000_000)))).split(",");
  const sources = sourcesIn(names.length > 0 ? names.map((name) => normalize(name)) : rooms);
  const all = options.changed ? await changed(sources) : await mutantsOf(sources);
  const size = options.sample ?? (names.length > 0 ? all.length : 150);
  return { seeds, samples: seeds.map((seed) => drawnBy(all, seed, Number(size), compiling)) };
}

/** @param {string[]} sources */
async function changed(sources) {
  const { since, lines } = await changedLines(options.since);
  log(since === undefined ? "There is no commit to compare with." : `Lines changed since ${since}`);
  const all = await mutantsOf(sources.filter((file) => lines.has(file)));
  return all.filter(
    ({ place: { file, start, mutatorName } }) => lines.get(file)?.has(start[0]) && guards.includes(mutatorName),
  );
}

await runMain("mutations", async () => {
  await installPackages();
  await build(); // some unit tests start what is in dist
  const { seeds, samples } = await choose();
  const drawn = [...new Map(samples.flat().map((one) => [one.key, one])).values()];
  log(
    `${drawn.length} mutants of ${new Set(drawn.map(({ place }) => place.file)).size} files, --seed ${seeds.join(",")}`,
  );
  if (drawn.length === 0) return 0;
  const temporary = mkdtempSync(join(tmpdir(), "consortium-mutations-"));
  const tidy = () => rmSync(temporary, { recursive: true, force: true, maxRetries: 3 });
  Object.assign(process.env, { TMPDIR: temporary, MUTATIONS: root }); // for the tests
  const all = await tidying(() => run(drawn, temporary), tidy).finally(tidy);
  const open = all.filter(isOpen);
  if (open.length > 0) log(`${open.length} of ${all.length} were not tried: the time was up.`);
  const survivors = all.filter((one) => !isKilled(one) && !isOpen(one));
  for (const one of survivors) console.log(`survived ${named(one)}`);
  samples.forEach((sample, at) => {
    const own = all.filter((one) => !isOpen(one) && sample.some(({ key }) => one.key === key));
    console.log(`\nSeed ${seeds[at]}: ${score(own).percent.toFixed(1)} %\n${table(own)}`);
  });
  if (options.write) await write(all, seeds);
  log(`Total time: ${duration(Date.now() - started)}`);
  return options.changed && survivors.length > 0 ? 1 : 0;
});
