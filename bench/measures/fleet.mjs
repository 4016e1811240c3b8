// @ts-check
/**
 * `consortium fleet up` of new stacks on the embedded service, beside the same by hand: a JavaScript program, stacks created beforehand,
 * and `xargs -P` with `pulumi up`. The two alternate for several rounds. Then the memory of a larger fleet. Memory is measured on both
 * sides, because that also takes CPU time.
 */
import { spawn } from "node:child_process";
import { fleetUp, jobsOf, keysOf, objectsPerStack, withService } from "../lib/fleets.mjs";
import { watchMemory } from "../lib/processes.mjs";
import { bounded, median, seconds, table } from "../lib/report.mjs";
import { finished, stateEnv, writeProject } from "../lib/stack.mjs";
import { pulumiCli } from "../../tools/lib/pulumi-cli.mjs";
import { log, UserError } from "../../tools/lib/terminal.mjs";

const most = { ratio: 0.6, gigabytes: 1 };
const program = `
  const { Network } = require("pulumi-consortium");
  Network.fromFile("network.yaml", { name: process.env.NETWORK });
`;

/** @typedef {import("../lib/fleets.mjs").Job} Job */
/** @typedef {import("../lib/stack.mjs").PulumiCli} PulumiCli */

/** The end of a process, and the most memory that it and its children took. @param {import("node:child_process").ChildProcess} child */
async function watched(child) {
  const memory = watchMemory(child.pid ?? 0);
  return { ...(await finished(child)), peak: memory.end() };
}

/** @param {PulumiCli} cli @param {Job[]} jobs @param {number} width */
const byHand = (cli, jobs, width) =>
  withService(jobs, async ({ baseUrl }, folder) => {
    writeProject(folder, { program });
    const env = {
      ...stateEnv(cli, folder),
      CONSORTIUM_BASE_URL: baseUrl,
      PULUMI: cli.command,
      CONSORTIUM_PLUGIN: "false",
    };
    const lines = jobs.map(({ organization, name, key }) => `${organization}-${name} ${key}`).join("\n");
    const xargs = async (/** @type {string} */ script) => {
      const child = spawn("xargs", ["-P", String(width), "-n", "2", "sh", "-c", script], { cwd: folder, env });
      child.stdin.end(lines);
      const ended = await watched(child);
      if (ended.code !== 0) throw new UserError(`xargs -P ${width} failed: ${ended.text.slice(-2000)}`);
      return ended;
    };
    await xargs('"$PULUMI" stack init "$0" --no-select --non-interactive');
    return xargs(
      'CONSORTIUM_API_KEY="$1" NETWORK="$0" "$PULUMI" up --yes --skip-preview --stack "$0" --non-interactive',
    );
  });

/** @param {PulumiCli} cli @param {Job[]} jobs @param {number} parallel */
const byFleet = (cli, jobs, parallel) =>
  withService(jobs, async ({ baseUrl }, folder) => {
    const env = { ...stateEnv(cli, folder), CONSORTIUM_BASE_URL: baseUrl, ...keysOf(jobs) };
    const { code, text, ms, peak } = await watched(fleetUp(folder, env, parallel, "--json"));
    const created = /"created": (\d+)/.exec(text)?.[1];
    if (code !== 0 || Number(created) !== objectsPerStack * jobs.length)
      throw new UserError(`The fleet created ${created} objects: ${text.slice(-3000)}`);
    return { ms, peak };
  });

/** @param {number[]} values @param {(value: number) => string} show */
const spread = (values, show) => `${show(Math.min(...values))} to ${show(Math.max(...values))}`;

/** @type {import("../lib/stack.mjs").Measure} */
export const fleet = async ({ options = {} }) => {
  const cli = await pulumiCli({ languages: true }); // with the host of YAML, as an official one has it
  const { stacks = 20, width = 4, rounds = 3, large = 50, parallel = 8 } = options;
  const gigabytes = (/** @type {number} */ bytes) => `${(bytes / 1e9).toFixed(2)} GB`;
  const times = (/** @type {number} */ ratio) => `×${ratio.toFixed(2)}`;
  const all = [];
  for (let round = 1; round <= rounds; round++) {
    const hand = await byHand(cli, jobsOf(stacks), width);
    const own = await byFleet(cli, jobsOf(stacks), width);
    log(`round ${round}: xargs -P ${width} ${seconds(hand.ms)}, fleet ${seconds(own.ms)}: ${times(own.ms / hand.ms)}`);
    all.push({ hand, own, ratio: own.ms / hand.ms });
  }
  const ratios = all.map(({ ratio }) => ratio);
  const many = await byFleet(cli, jobsOf(large), parallel);
  const row = (/** @type {string} */ name, /** @type {{ ms: number, peak: { pss: number } }[]} */ runs) => {
    const [ms, pss] = [runs.map((one) => one.ms), runs.map(({ peak }) => peak.pss)];
    return [name, seconds(median(ms)), spread(ms, seconds), gigabytes(Math.max(...pss))];
  };
  return {
    rows: [
      bounded(
        `\`consortium fleet up --parallel ${width}\` of ${stacks} new stacks of ${objectsPerStack} objects`,
        median(ratios),
        {
          most: most.ratio,
          of: `\`xargs -P ${width}\` by hand, a program in JavaScript`,
          measured: `${times(median(ratios))}, the median of ${rounds} rounds (${spread(ratios, times)})`,
        },
      ),
      bounded(
        `memory of \`consortium fleet up --parallel ${parallel}\` of ${large} new stacks, in GB`,
        many.peak.pss / 1e9,
        {
          most: most.gigabytes,
          measured: `${gigabytes(many.peak.pss)} in ${many.peak.processes} processes, ${gigabytes(many.peak.rss)} if what they share is counted for each`,
        },
      ),
    ],
    details: table(
      ["", "wall clock", "spread", "memory"],
      [
        row(
          `\`xargs -P ${width}\` by hand, ${stacks} stacks`,
          all.map(({ hand }) => hand),
        ),
        row(
          `\`consortium fleet up --parallel ${width}\`, ${stacks} stacks`,
          all.map(({ own }) => own),
        ),
        row(`\`consortium fleet up --parallel ${parallel}\`, ${large} stacks`, [many]),
      ],
    ),
  };
};
