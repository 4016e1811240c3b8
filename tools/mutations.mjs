// @ts-check
/**
 * npm run mutations -- [files or folders]: breaks the sources, one small change at a time, and names those that no test notices. Without a
 * name, it draws samples from all folders. `--changed` looks at what a change adds. CONTRIBUTING.md tells more.
 */
import "./lib/node-version.mjs";
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { chmodSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, normalize } from "node:path";
import { parseArgs } from "node:util";
import { installPackages, build, root, step } from "./lib/prepare.mjs";
import { tidying } from "./lib/processes.mjs";
import { duration, log, runMain } from "./lib/terminal.mjs";
import { changedLines } from "./mutations/changes.mjs";
import { compiling } from "./mutations/compiles.mjs";
import { isKilled, isOpen, named, score, table, write } from "./mutations/figures.mjs";
import { judge } from "./mutations/judge.mjs";
import { nearness } from "./mutations/near.mjs";
import { drawnBy, guards, mutantsOf, rooms, sourcesIn } from "./mutations/mutants.mjs";
import { recordsIn } from "./mutations/records.mjs";
import { sandbox } from "./mutations/sandbox.mjs";
import { worker } from "./mutations/workers.mjs";

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
const records = recordsIn(join(root, "node_modules", ".cache", "mutations"));
const places = names.length > 0 ? names.map((name) => normalize(name)) : rooms;

/** Unit and integration tests: those in tests/e2e take too long for one mutant. */
const tests = /** @type {string[]} */ (readdirSync(join(root, "tests"), { recursive: true }))
  .map((name) => `tests/${name}`)
  .filter((name) => name.endsWith(".test.ts") && !name.startsWith("tests/e2e/"));

/**
 * The mutants: each seed draws a sample; names alone mean everything in them.
 * @param {Drawable[]} all
 * @returns {Promise<{ seeds: string[], samples: Drawable[][] }>}
 */
async function choose(all) {
  const seeds = (options.seed ?? (options.changed ? "1" : String(randomInt(1_000_000)))).split(",");
  const sources = new Set(sourcesIn(places));
  const own = all.filter(({ place }) => sources.has(place.file));
  const some = options.changed ? await changed(own) : own;
  const size = options.sample ?? (names.length > 0 ? some.length : 150);
  return {
    seeds,
    samples: seeds.map((seed) => drawnBy(some, seed, Number(size), (batch) => compiling(batch, records))),
  };
}

/** @param {Drawable[]} all */
async function changed(all) {
  const { since, lines } = await changedLines(options.since);
  log(since === undefined ? "There is no commit to compare with." : `Lines changed since ${since}`);
  return all.filter(
    ({ place: { file, start, mutatorName } }) => lines.get(file)?.has(start[0]) && guards.includes(mutatorName),
  );
}

await runMain("mutations", async () => {
  await installPackages();
  await build(); // some unit tests start what is in dist
  const everything = await step("Making mutants", () => mutantsOf([...new Set(sourcesIn([...rooms, ...places]))]));
  const { seeds, samples } = await choose(everything.mutants);
  const drawn = [...new Map(samples.flat().map((one) => [one.key, one])).values()];
  log(
    `${drawn.length} mutants of ${new Set(drawn.map(({ place }) => place.file)).size} files, --seed ${seeds.join(",")}`,
  );
  if (drawn.length === 0) return 0;
  const temporary = mkdtempSync(join(tmpdir(), "consortium-mutations-"));
  chmodSync(temporary, 0o711); // a database server runs as a user of its own
  const copy = join(temporary, "sources");
  const env = { ...process.env, TMPDIR: temporary, XDG_STATE_HOME: join(temporary, "state"), MUTATIONS: root }; // for the tests
  const workers = Array.from({ length: Number(options.concurrency) }, () => worker(copy, env));
  const near = nearness(tests);
  const how = {
    nearest: (/** @type {string} */ file) => near(file, Number(options.tests)),
    all: everything.mutants,
    workers,
    records,
    until: options.minutes ? started + 60_000 * Number(options.minutes) : Infinity,
    force: options.force,
  };
  const tidy = () => {
    for (const one of workers) one.stop();
    spawn("rm", ["-rf", temporary], { detached: true, stdio: "ignore" }).unref(); // thousands of files, after the end
  };
  const all = await tidying(async () => {
    await step("Building a copy with all mutants", () => sandbox(copy, everything.sources));
    return judge(drawn, how);
  }, tidy).finally(tidy);
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
