// @ts-check
/**
 * npm run reliability [-- --sample N] [--only PATTERN] [--jobs N] [--provider dynamic|plugin]: every kind of fault at every kind of
 * call of a whole `up`, and a kill at every call, through the real CLI on the embedded service, on the dynamic provider and on the
 * plugin. Each must give exactly the network. Writes the table of each provider of which all were run into docs/maintainers/reliability.md.
 * Exit code 1 when one is not exact. Ends by itself within two hours.
 */
import "../tools/lib/node-version.mjs";
import { parseArgs } from "node:util";
import { build, bundle, installPackages } from "../tools/lib/prepare.mjs";
import { pulumiCli } from "../tools/lib/pulumi-cli.mjs";
import { duration, runMain, log, UserError } from "../tools/lib/terminal.mjs";
import { circumstances, writePart } from "./lib/report.mjs";
import { cellsOf, textOf } from "./reliability/faults.mjs";
import { Lab } from "./reliability/lab.mjs";
import { matrix } from "./reliability/matrix.mjs";
import { foreignKeys, killAndRecover, killsOf, tryForeignKey } from "./reliability/trials.mjs";

const longestMs = 120 * 60_000;

const adapters = /** @type {const} */ (["dynamic", "plugin"]);

/** @typedef {{ adapter: import("./lib/stack.mjs").Adapter, title: string, cell?: import("./reliability/faults.mjs").Cell, kill?: import("./reliability/trials.mjs").Kill, foreign?: import("./reliability/trials.mjs").Foreign }} Job */

/**
 * @param {import("./reliability/faults.mjs").Call[]} calls
 * @param {import("./lib/stack.mjs").Adapter} adapter
 * @returns {Job[]}
 */
const jobsOf = (calls, adapter) =>
  trialsOf(calls).map((trial) => ({ ...trial, adapter, title: `${trial.title}, ${adapter} provider` }));

/** @param {import("./reliability/faults.mjs").Call[]} calls */
const trialsOf = (calls) => [
  ...cellsOf(calls).map((cell) => ({ title: `${cell.kind.name} at ${textOf(cell.call)}`, cell })),
  ...killsOf(calls).map((kill) => ({
    title: `${kill.victim} killed at ${textOf(kill.call)}, ${kill.acted ? "after" : "before"} the service acted`,
    kill,
  })),
  ...foreignKeys().map((foreign) => ({
    title: `${foreign.command} with the key of another organization, which has ${foreign.owns ? "a consortium" : "nothing"}`,
    foreign,
  })),
];

/** Where docs/maintainers/reliability.md shows what. */
const partOf = { dynamic: "matrix", plugin: "matrix-plugin" };

/** Some of them, spread over all. @template T @param {T[]} all @param {number} count */
const spread = (all, count) =>
  all.filter((_, at) => Math.floor((at * count) / all.length) !== Math.floor(((at - 1) * count) / all.length));

function options() {
  const { values } = parseArgs({
    options: {
      sample: { type: "string" },
      jobs: { type: "string" },
      only: { type: "string" },
      provider: { type: "string" },
    },
  });
  const chosen = adapters.filter((name) => name === (values.provider ?? name));
  if (chosen.length === 0) throw new UserError(`--provider is ${adapters.join(" or ")}.`);
  const number = (/** @type {string | undefined} */ text, /** @type {number} */ otherwise) => {
    const value = Number(text ?? otherwise);
    if (!(value > 0)) throw new UserError("--sample and --jobs take a number from 1.");
    return value;
  };
  return {
    sample: number(values.sample, Infinity),
    jobs: number(values.jobs, 3),
    chosen,
    only: new RegExp(values.only ?? ""),
  };
}

/** @param {Job} job @param {Lab} lab */
function attempt({ adapter, cell, kill, foreign }, lab) {
  if (cell) return lab.fault(adapter, cell);
  return lab.trial(adapter, (bench) =>
    foreign
      ? tryForeignKey(foreign, bench)
      : killAndRecover(/** @type {import("./reliability/trials.mjs").Kill} */ (kill), bench),
  );
}

await runMain("bench/reliability", async () => {
  const { sample, jobs: side, only, chosen } = options();
  await installPackages();
  await build();
  await bundle();
  const cli = await pulumiCli();
  /** @type {typeof import("../service/index.js")} */
  const module = await import("pulumi-consortium/service");
  const started = performance.now();
  const labs = Array.from({ length: side }, () => new Lab(cli, module));
  try {
    const calls = await /** @type {Lab} */ (labs[0]).calls();
    const all = chosen.flatMap((adapter) => jobsOf(calls, adapter)).filter(({ title }) => only.test(title));
    const jobs = sample < all.length ? spread(all, sample) : all;
    log(`${jobs.length} of ${all.length} trials, ${side} side by side …`);
    const { default: pLimit } = await import("p-limit");
    const limit = pLimit(side);
    const idle = [...labs];
    const tried = async (/** @type {Job} */ job, /** @type {number} */ at) => {
      if (performance.now() > started + longestMs) return { ok: false, why: "not reached in time", ms: 0 };
      const lab = /** @type {Lab} */ (idle.pop());
      const verdict = await attempt(job, lab);
      idle.push(lab);
      const { ok, why } = verdict;
      log(`${at + 1}/${jobs.length} ${ok ? "exact" : "NOT EXACT"}: ${job.title}${ok ? "" : `: ${why}`}`);
      return verdict;
    };
    const results = await Promise.all(
      jobs.map((job, at) => limit(async () => ({ ...job, verdict: await tried(job, at) }))),
    );
    const took = duration(performance.now() - started);
    const measured = `Measured on ${await circumstances(cli)}`;
    for (const adapter of chosen) {
      const own = results.filter((one) => one.adapter === adapter);
      const trials = `${own.length} trials on the ${adapter} provider, ${side} side by side`;
      const text = `${measured}; ${trials}; the whole run took ${took}.\n\n${matrix(calls, own)}`;
      if (own.length === trialsOf(calls).length)
        await writePart("docs/maintainers/reliability.md", partOf[adapter], text);
      else console.log(text);
    }
    return results.every(({ verdict }) => verdict.ok) ? 0 : 1;
  } finally {
    for (const lab of labs) lab.close();
  }
});
