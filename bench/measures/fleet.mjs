// @ts-check
/**
 * `consortium fleet up` of new stacks on the embedded service, beside the same `up`s by hand: a JavaScript program, its stacks made
 * beforehand, and `xargs -P`. The two alternate for several rounds. Then the memory of a larger fleet. Memory is watched on both sides,
 * since that takes time of the processors, too.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits } from "../../dist/provider/constants.js";
import { root } from "../../tools/lib/prepare.mjs";
import { pulumiCli } from "../../tools/lib/pulumi-cli.mjs";
import { log, UserError } from "../../tools/lib/terminal.mjs";
import { watchMemory } from "../lib/lab.mjs";
import { bounded, seconds, table } from "../lib/report.mjs";
import { finished, stateEnv, writeProject } from "../lib/stack.mjs";
import { replay } from "./replay.mjs";

const most = { ratio: 0.6, gigabytes: 1 };
const objectsPerStack = 8;

const network = `members: [grower, roaster]
environments:
  ledger:
    provider: quorum
    consensusType: raft
    nodes: { grower: 1, roaster: 1 }
`;
const program = `
  const { Network } = require("pulumi-consortium");
  Network.fromFile("network.yaml", { name: process.env.NETWORK });
`;

/** @typedef {{ organization: string, key: string, stack: string }} Job */

/** @param {number} count @returns {Job[]} */
const jobsOf = (count) =>
  Array.from({ length: count }, (_, index) => {
    const number = Math.floor(index / limits.consortia);
    const stack = `n${index % limits.consortia}`;
    return { organization: `org${number}`, key: `bench-key-of-organization-${number}`, stack };
  });

/**
 * A new service, with nothing in it yet, and a folder for one side.
 * @template T
 * @param {Job[]} jobs
 * @param {(baseUrl: string, folder: string) => Promise<T>} work
 */
async function withService(jobs, work) {
  /** @type {typeof import("../../service/index.js")} */
  const { startService } = await import("pulumi-consortium/service");
  const keys = new Map(jobs.map(({ organization, key }) => [organization, key]));
  const service = await startService({ organizations: [...keys].map(([name, apiKey]) => ({ name, apiKey })) });
  const folder = mkdtempSync(join(tmpdir(), "consortium-bench-fleet-"));
  writeFileSync(join(folder, "network.yaml"), network);
  try {
    const result = await work(service.baseUrl, folder);
    const nodes = service.store.nodes.list().length;
    if (nodes !== 2 * jobs.length) throw new UserError(`there are ${nodes} nodes, not ${2 * jobs.length}`);
    return result;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await service.close();
  }
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, input?: string }} options
 */
async function watched(command, args, { cwd, env, input = "" }) {
  const child = spawn(command, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(input);
  const memory = watchMemory(child.pid ?? 0);
  return { ...(await finished(child)), peak: memory.end() };
}

/**
 * @param {import("../lib/stack.mjs").PulumiCli} cli
 * @param {Job[]} jobs
 * @param {number} width
 */
const byHand = (cli, jobs, width) =>
  withService(jobs, async (baseUrl, folder) => {
    writeProject(folder, { program });
    const env = {
      ...stateEnv(cli, folder),
      CONSORTIUM_BASE_URL: baseUrl,
      PULUMI: cli.command,
      CONSORTIUM_PLUGIN: "false",
    };
    const lines = jobs.map(({ organization, stack, key }) => `${organization}-${stack} ${key}`).join("\n");
    const xargs = (/** @type {string} */ script) =>
      watched("xargs", ["-P", String(width), "-n", "2", "sh", "-c", script], { cwd: folder, env, input: lines });
    const made = await xargs('"$PULUMI" stack init "$0" --no-select --non-interactive');
    if (made.code !== 0) throw new UserError(`the stacks cannot be made: ${made.text}`);
    const up = await xargs(
      'CONSORTIUM_API_KEY="$1" NETWORK="$0" "$PULUMI" up --yes --skip-preview --stack "$0" --non-interactive',
    );
    if (up.code !== 0) throw new UserError(`xargs -P ${width} failed: ${up.text.slice(-2000)}`);
    return up;
  });

/**
 * @param {import("../lib/stack.mjs").PulumiCli} cli
 * @param {Job[]} jobs
 * @param {number} parallel
 */
const byFleet = (cli, jobs, parallel) =>
  withService(jobs, async (baseUrl, folder) => {
    const organizations = [...new Set(jobs.map(({ organization }) => organization))].map((name) => {
      const own = jobs.filter(({ organization }) => organization === name);
      const stacks = own.map(({ stack }) => [stack, { definition: "network.yaml", name: `${name}-${stack}` }]);
      return [name, { apiKey: { env: `KEY_${name}` }, stacks: Object.fromEntries(stacks) }];
    });
    // JSON is YAML, too.
    writeFileSync(join(folder, "fleet.yaml"), JSON.stringify({ organizations: Object.fromEntries(organizations) }));
    const keys = jobs.map(({ organization, key }) => [`KEY_${organization}`, key]);
    const env = { ...stateEnv(cli, folder), CONSORTIUM_BASE_URL: baseUrl, ...Object.fromEntries(keys) };
    const args = ["fleet", "up", "fleet.yaml", "--yes", "--json", "--parallel", String(parallel)];
    const program = join(root, "dist/cli/consortium.js");
    const { code, text, ms, peak } = await watched(process.execPath, [program, ...args], { cwd: folder, env });
    const created = /"created": (\d+)/.exec(text)?.[1];
    if (code !== 0 || Number(created) !== objectsPerStack * jobs.length)
      throw new UserError(`the fleet made ${created} objects: ${text.slice(-3000)}`);
    return { ms, peak };
  });

/** @param {number[]} values */
const sorted = (values) => [...values].sort((one, other) => one - other);
/** @param {number[]} values */
const median = (values) => sorted(values)[Math.floor(values.length / 2)] ?? 0;
/** @param {number[]} values @param {(value: number) => string} show */
const spread = (values, show) => `${show(Math.min(...values))} to ${show(Math.max(...values))}`;

/** @type {import("../lib/stack.mjs").Measure} */
export const fleet = async ({ options = {} }) => {
  const cli = await pulumiCli({ languages: true }); // with the host of YAML beside it, as an official one
  if (options.replayed !== undefined) return replay(cli, Number(options.replayed), Number(options.parallel ?? 64));
  const number = (
    /** @type {"stacks" | "large" | "parallel" | "width" | "rounds"} */ name,
    /** @type {number} */ usual,
  ) => {
    const value = Number(options[name] ?? usual);
    if (!(value >= 1)) throw new UserError(`--${name} is a number from 1.`);
    return value;
  };
  const [stacks, width, rounds] = [number("stacks", 20), number("width", 4), number("rounds", 3)];
  const [large, parallel] = [number("large", 50), number("parallel", 8)];
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
