// @ts-check
/**
 * npm run reliability [-- --sample N] [--only PATTERN] [--provider dynamic|plugin] [--gone 404|403]: every kind of fault at every kind of
 * call of an `up`, a kill at every call, and keys of another organization, through the real CLI on
 * the embedded service, which answers 404 or 403 for missing objects. Each trial must end with exactly the network. Writes the result of a
 * provider and a status to
 * docs/maintainers/reliability.md after all its trials. Exit code 1 if one is not exact. Ends within four hours.
 */
import "../tools/lib/node-version.mjs";
import { parseArgs } from "node:util";
import { prepare } from "../tools/lib/prepare.mjs";
import { pulumiCli } from "../tools/lib/pulumi-cli.mjs";
import { duration, runMain, log, UserError } from "../tools/lib/terminal.mjs";
import { circumstances, writePart } from "./lib/report.mjs";
import { Lab } from "./reliability/lab.mjs";
import { trialsAt } from "./reliability/trials.mjs";

const longestMs = 240 * 60_000;
/** Trials that run at once. */
const side = 3;

/** @type {import("./lib/stack.mjs").Adapter[]} */
const adapters = ["dynamic", "plugin"];

/** The service's status for missing objects. @type {(404 | 403)[]} */
const statuses = [404, 403];

/**
 * The number of exact trials in each group, with reasons for the others. @param {{ title: string, group: string, why: string }[]} results
 */
function resultText(results) {
  const scores = [...new Set(results.map(({ group }) => group))].map((group) => {
    const own = results.filter((one) => one.group === group);
    return `- **${own.filter(({ why }) => why === "").length}/${own.length}** ${group}`;
  });
  const failures = results.flatMap(({ title, why }) => (why === "" ? [] : [`- ${title}: ${why}`]));
  return [...scores, ...(failures.length > 0 ? ["", "Not exact:", "", ...failures] : [])].join("\n");
}

function options() {
  /** @type {{ type: "string" }} */
  const text = { type: "string" };
  const { values } = parseArgs({ options: { sample: text, only: text, provider: text, gone: text } });
  const chosen = adapters.filter((name) => name === (values.provider ?? name));
  if (chosen.length === 0) throw new UserError(`--provider must be ${adapters.join(" or ")}.`);
  const gone = statuses.filter((status) => String(status) === (values.gone ?? String(status)));
  if (gone.length === 0) throw new UserError(`--gone must be ${statuses.join(" or ")}.`);
  const sample = Number(values.sample ?? Infinity);
  if (!(sample > 0)) throw new UserError("--sample must be a number from 1.");
  return { sample, chosen, gone, only: new RegExp(values.only ?? "") };
}

await runMain("bench/reliability", async () => {
  const { sample, only, chosen, gone } = options();
  await prepare();
  const cli = await pulumiCli();
  /** @type {typeof import("../service/index.js")} */
  const module = await import("pulumi-consortium/service");
  const started = performance.now();
  const labs = Array.from({ length: side }, () => new Lab(cli, module));
  try {
    const each = Object.entries(trialsAt(await /** @type {Lab} */ (labs[0]).calls()));
    const trials = gone.flatMap((status) =>
      each.flatMap(([name, own]) => {
        const where = `${status} for what is missing`;
        return own.map(({ title, build }) => ({
          title: `${title}, ${where}`,
          build,
          status,
          group: name,
          why: "",
        }));
      }),
    );
    const all = chosen
      .flatMap((adapter) => trials.map((one) => ({ ...one, adapter, title: `${one.title}, ${adapter} provider` })))
      .filter(({ title }) => only.test(title));
    const jobs = all.filter((_, at) => sample >= all.length || (at * sample) % all.length < sample); // spread over all
    log(`${jobs.length} of ${all.length} trials, ${side} side by side …`);
    const queue = jobs.entries();
    const work = async (/** @type {Lab} */ lab) => {
      for (const [at, job] of queue) {
        const isLate = performance.now() > started + longestMs;
        job.why = isLate ? "not reached in time" : await lab.trial(job.adapter, job.build, { gone: job.status });
        log(`${at + 1}/${jobs.length} ${job.title}: ${job.why === "" ? "exact" : `NOT EXACT: ${job.why}`}`);
      }
    };
    await Promise.all(labs.map(work));
    const took = duration(performance.now() - started);
    const measured = `Measured on ${await circumstances(cli)}`;
    for (const adapter of chosen)
      for (const status of gone) {
        const own = jobs.filter((one) => one.adapter === adapter && one.status === status);
        const title = `${own.length} trials on the ${adapter} provider, ${status} for what is missing, ${side} side by side`;
        const text = `${measured}; ${title}; the whole run took ${took}.\n\n${resultText(own)}`;
        if (own.length === trials.length / gone.length)
          await writePart("docs/maintainers/reliability.md", `matrix-${adapter}-${status}`, text);
        else console.log(text);
      }
    return jobs.every(({ why }) => why === "") ? 0 : 1;
  } finally {
    for (const lab of labs) lab.close();
  }
});
