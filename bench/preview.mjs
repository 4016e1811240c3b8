// @ts-check
/**
 * node bench/preview.mjs [ROUNDS]: what a preview of the quickstart costs, beside the same program with resources that do
 * nothing. Exit code 1 when a preview takes more than 1.25 times as long. Uses no network and no service.
 */
import "../tools/lib/node-version.mjs";
import { rmSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { build, installPackages } from "../tools/lib/prepare.mjs";
import { pulumiCli } from "../tools/lib/pulumi-cli.mjs";
import { runMain, say, Trouble } from "../tools/lib/say.mjs";
import { phases } from "./lib/phases.mjs";
import { makeProject, preview } from "./lib/project.mjs";
import { lowest, median, seconds, table } from "./lib/report.mjs";

const allowed = 1.25;
const leastRounds = 7;
const tracedRounds = 3;

/** @typedef {"quickstart" | "empty"} Kind */
/** @type {Kind[]} */
const kinds = ["quickstart", "empty"];
const titles = { quickstart: "quickstart", empty: "the same with empty dynamic resources" };

/**
 * One warm-up each, then the two in turn, so that whatever else the machine does hits both.
 * @template T
 * @param {number} rounds
 * @param {(kind: Kind) => Promise<T>} measure
 * @returns {Promise<Record<Kind, T[]>>}
 */
async function alternate(rounds, measure) {
  for (const kind of kinds) await measure(kind);
  /** @type {Record<Kind, T[]>} */
  const results = { quickstart: [], empty: [] };
  for (let round = 0; round < rounds; round++) {
    for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) results[kind].push(await measure(kind));
    say(`round ${round + 1} of ${rounds}`);
  }
  return results;
}

await runMain("bench/preview", async () => {
  const rounds = Number(process.argv[2] ?? leastRounds);
  if (!Number.isInteger(rounds) || rounds < leastRounds) throw new Trouble(`Give at least ${leastRounds} rounds.`);
  await installPackages();
  await build();
  const cli = await pulumiCli();
  const projects = { quickstart: await makeProject(cli, "quickstart"), empty: await makeProject(cli, "empty") };
  try {
    const times = await alternate(rounds, (kind) => preview(projects[kind]).then(({ ms }) => ms));
    const ratio = median(times.quickstart) / median(times.empty);
    const [cpu] = cpus();
    console.log(
      `Node.js ${process.version}, Pulumi ${projects.quickstart.version}, ${cpus().length} cores (${cpu?.model.trim()}), ` +
        `${Math.round(totalmem() / 2 ** 30)} GB, ${new Date().toISOString().slice(0, 10)}; ${rounds} runs each, in turn\n`,
    );
    const row = (/** @type {Kind} */ kind) => [
      titles[kind],
      seconds(median(times[kind])),
      seconds(lowest(times[kind])),
    ];
    console.log(table(["`pulumi preview` of", "median", "fastest"], kinds.map(row)));
    console.log(`\nRatio of the medians: ${ratio.toFixed(2)} (at most ${allowed})\n`);

    say("And where the time goes …");
    const traces = await alternate(tracedRounds, async (kind) =>
      phases(await preview(projects[kind], { traced: true })),
    );
    const names = Object.keys(traces.quickstart[0] ?? {});
    const phase = (/** @type {string} */ name) => [
      name,
      ...kinds.map((kind) => seconds(median(traces[kind].map((trace) => trace[name] ?? NaN)))),
    ];
    console.log(table(["part", ...kinds.map((kind) => titles[kind])], names.map(phase)));
    return ratio > allowed ? 1 : 0;
  } finally {
    for (const kind of kinds) rmSync(projects[kind].folder, { recursive: true, force: true });
  }
});
