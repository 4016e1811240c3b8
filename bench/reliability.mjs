// @ts-check
/**
 * npm run reliability [-- --sample N] [--only PATTERN] [--jobs N]: every kind of fault at every kind of call of a whole `up`, and a kill at every
 * call, through the real CLI on the embedded service. Each must give exactly the network. Writes its table into docs/reliability.md
 * (when all were run). Exit code 1 when one is not exact. Ends by itself within an hour.
 */
import "../tools/lib/node-version.mjs";
import { parseArgs } from "node:util";
import { build, installPackages } from "../tools/lib/prepare.mjs";
import { pulumiCli } from "../tools/lib/pulumi-cli.mjs";
import { duration, runMain, say, Trouble } from "../tools/lib/say.mjs";
import { circumstances, writePart } from "./lib/document.mjs";
import { cellsOf, textOf } from "./reliability/faults.mjs";
import { foreignKeys, tryForeignKey } from "./reliability/foreign-key.mjs";
import { killAndRecover, killsOf } from "./reliability/kills.mjs";
import { Lab } from "./reliability/lab.mjs";
import { matrix } from "./reliability/matrix.mjs";

const longestMs = 60 * 60_000;

/** @typedef {{ title: string, cell?: import("./reliability/faults.mjs").Cell, kill?: import("./reliability/kills.mjs").Kill, foreign?: import("./reliability/foreign-key.mjs").Foreign }} Job */

/** @param {import("./reliability/faults.mjs").Call[]} calls @returns {Job[]} */
const jobsOf = (calls) => [
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

/** Some of them, spread over all. @template T @param {T[]} all @param {number} count */
const spread = (all, count) =>
  all.filter((_, at) => Math.floor((at * count) / all.length) !== Math.floor(((at - 1) * count) / all.length));

function options() {
  const { values } = parseArgs({
    options: { sample: { type: "string" }, jobs: { type: "string" }, only: { type: "string" } },
  });
  const number = (/** @type {string | undefined} */ text, /** @type {number} */ otherwise) => {
    const value = Number(text ?? otherwise);
    if (!(value > 0)) throw new Trouble("--sample and --jobs take a number from 1.");
    return value;
  };
  return { sample: number(values.sample, Infinity), jobs: number(values.jobs, 3), only: new RegExp(values.only ?? "") };
}

/** @param {Job} job @param {Lab} lab */
function attempt({ cell, kill, foreign }, lab) {
  if (cell) return lab.fault(cell);
  return lab.trial((bench) =>
    foreign
      ? tryForeignKey(foreign, bench)
      : killAndRecover(/** @type {import("./reliability/kills.mjs").Kill} */ (kill), bench),
  );
}

await runMain("bench/reliability", async () => {
  const { sample, jobs: side, only } = options();
  await installPackages();
  await build();
  const cli = await pulumiCli();
  /** @type {typeof import("../service/index.js")} */
  const module = await import("pulumi-consortium/service");
  const started = performance.now();
  const labs = Array.from({ length: side }, () => new Lab(cli, module));
  try {
    const calls = await /** @type {Lab} */ (labs[0]).calls();
    const all = jobsOf(calls).filter(({ title }) => only.test(title));
    const jobs = sample < all.length ? spread(all, sample) : all;
    say(`${jobs.length} of ${all.length} trials, ${side} side by side …`);
    const { default: pLimit } = await import("p-limit");
    const limit = pLimit(side);
    const idle = [...labs];
    const tried = async (/** @type {Job} */ job, /** @type {number} */ at) => {
      if (performance.now() > started + longestMs) return { ok: false, why: "not reached in time", ms: 0 };
      const lab = /** @type {Lab} */ (idle.pop());
      const verdict = await attempt(job, lab);
      idle.push(lab);
      const { ok, why } = verdict;
      say(`${at + 1}/${jobs.length} ${ok ? "exact" : "NOT EXACT"}: ${job.title}${ok ? "" : `: ${why}`}`);
      return verdict;
    };
    const results = await Promise.all(
      jobs.map((job, at) => limit(async () => ({ ...job, verdict: await tried(job, at) }))),
    );
    const took = duration(performance.now() - started);
    const text = `Measured on ${await circumstances(cli)}; ${jobs.length} trials, ${side} side by side, in ${took}.\n\n${matrix(calls, results)}`;
    if (jobs.length === jobsOf(calls).length) await writePart("docs/reliability.md", "matrix", text);
    else console.log(text);
    return results.every(({ verdict }) => verdict.ok) ? 0 : 1;
  } finally {
    for (const lab of labs) lab.close();
  }
});
