// @ts-check
/**
 * npm run reliability [-- --sample N] [--only PATTERN] [--provider dynamic|plugin]: every kind of fault at every kind of call of an `up`,
 * and a kill at every call, through the real CLI on the embedded service. Each must end with exactly the network. Writes the table of a
 * provider to docs/maintainers/reliability.md after all its trials. Exit code 1 if one is not exact. Ends within two hours.
 */
import "../tools/lib/node-version.mjs";
import { parseArgs } from "node:util";
import { prepare } from "../tools/lib/prepare.mjs";
import { pulumiCli } from "../tools/lib/pulumi-cli.mjs";
import { duration, runMain, log, UserError } from "../tools/lib/terminal.mjs";
import { circumstances, table, writePart } from "./lib/report.mjs";
import { faultTrials, groups } from "./reliability/faults.mjs";
import { Lab } from "./reliability/lab.mjs";
import { commands, keyTrials, killTrials, victims } from "./reliability/trials.mjs";

const longestMs = 120 * 60_000;
/** Trials that run at once. */
const side = 3;

/** The parts of docs/maintainers/reliability.md. */
const parts = { dynamic: "matrix", plugin: "matrix-plugin" };
/** @typedef {keyof typeof parts} Adapter */

/** @typedef {import("./reliability/faults.mjs").Call} Call */
/** @typedef {import("./reliability/lab.mjs").Trial & { verdict: import("./reliability/lab.mjs").Verdict }} Result */

/** @param {Result[]} results */
const score = (results) =>
  results.length === 0 ? "–" : `${results.filter(({ verdict }) => verdict.ok).length}/${results.length}`;

/** The published tables: which faults an `up` survives, and which kills it recovers from. @param {Call[]} calls @param {Result[]} results */
function matrix(calls, results) {
  const killed = victims.map((victim) => `${victim} killed`);
  const rowsOf = (/** @type {string[]} */ columns) =>
    calls.map((call) => [
      `\`${call.method} ${call.route.replace(/:\w+Id/g, "…")}\``,
      ...columns.map((column) =>
        score(
          results.filter(
            (one) => one.column === column && one.call?.method === call.method && one.call.route === call.route,
          ),
        ),
      ),
    ]);
  const scoreOf = (/** @type {(string | undefined)[]} */ columns) =>
    score(results.filter(({ column }) => columns.includes(column)));
  const failures = results
    .filter(({ verdict }) => !verdict.ok)
    .map(({ title, verdict }) => `- ${title}: ${verdict.why}`);
  return [
    `**${scoreOf(groups)}** single faults survived within one \`up\`, **${scoreOf(killed)}** kills recovered exactly.`,
    "A cell counts the variants of a fault that ended with exactly the network, of those tried:",
    table(["call", ...groups], rowsOf(groups)),
    "SIGKILL while a call is under way, then `pulumi cancel` and `CONSORTIUM_ADOPT=true pulumi up`:",
    table(["call", ...killed], rowsOf(killed)),
    `A key of another organization, with ${commands.join(", ")}: **${scoreOf([undefined])}** ended with an error, and with the network and its state untouched.`,
    ...(failures.length > 0 ? [`Not exact:\n\n${failures.join("\n")}`] : []),
  ].join("\n\n");
}

function options() {
  /** @type {{ type: "string" }} */
  const text = { type: "string" };
  const { values } = parseArgs({ options: { sample: text, only: text, provider: text } });
  const adapters = /** @type {Adapter[]} */ (Object.keys(parts));
  const chosen = adapters.filter((name) => name === (values.provider ?? name));
  if (chosen.length === 0) throw new UserError(`--provider must be ${adapters.join(" or ")}.`);
  const sample = Number(values.sample ?? Infinity);
  if (!(sample > 0)) throw new UserError("--sample must be a number from 1.");
  return { sample, chosen, only: new RegExp(values.only ?? "") };
}

await runMain("bench/reliability", async () => {
  const { sample, only, chosen } = options();
  await prepare();
  const cli = await pulumiCli();
  /** @type {typeof import("../service/index.js")} */
  const module = await import("pulumi-consortium/service");
  const started = performance.now();
  const labs = Array.from({ length: side }, () => new Lab(cli, module));
  try {
    const calls = await /** @type {Lab} */ (labs[0]).calls();
    const trials = [...faultTrials(calls), ...killTrials(calls), ...keyTrials()];
    const all = chosen
      .flatMap((adapter) =>
        trials.map((trial) => ({ ...trial, adapter, title: `${trial.title}, ${adapter} provider` })),
      )
      .filter(({ title }) => only.test(title));
    const jobs = all.filter((_, at) => sample >= all.length || (at * sample) % all.length < sample); // spread over all
    log(`${jobs.length} of ${all.length} trials, ${side} side by side …`);
    /** @type {(Result & { adapter: Adapter })[]} */
    const results = [];
    const queue = [...jobs];
    const work = async (/** @type {Lab} */ lab) => {
      for (let job = queue.shift(); job; job = queue.shift()) {
        const isLate = performance.now() > started + longestMs;
        const verdict = isLate ? { ok: false, why: "not reached in time" } : await job.run(lab, job.adapter);
        results.push({ ...job, verdict });
        const told = verdict.ok ? `exact: ${job.title}` : `NOT EXACT: ${job.title}: ${verdict.why}`;
        log(`${results.length}/${jobs.length} ${told}`);
      }
    };
    await Promise.all(labs.map(work));
    const took = duration(performance.now() - started);
    const measured = `Measured on ${await circumstances(cli)}`;
    for (const adapter of chosen) {
      const own = results.filter((one) => one.adapter === adapter);
      const title = `${own.length} trials on the ${adapter} provider, ${side} side by side`;
      const text = `${measured}; ${title}; the whole run took ${took}.\n\n${matrix(calls, own)}`;
      if (own.length === trials.length) await writePart("docs/maintainers/reliability.md", parts[adapter], text);
      else console.log(text);
    }
    return results.every(({ verdict }) => verdict.ok) ? 0 : 1;
  } finally {
    for (const lab of labs) lab.close();
  }
});
