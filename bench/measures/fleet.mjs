// @ts-check
/**
 * `consortium fleet up` of new stacks on the embedded service, compared with manual runs: a JavaScript program, stacks created
 * beforehand, and `xargs -P` with `pulumi up`. The two alternate for several rounds. Then the memory of a larger fleet. Memory is measured
 * on both
 * sides, because that also takes CPU time.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { limits } from "../../dist/provider/constants.js";
import { root } from "../../tools/lib/prepare.mjs";
import { finished, treeOf } from "../../tools/lib/processes.mjs";
import { pulumiCli } from "../../tools/lib/pulumi-cli.mjs";
import { log, UserError } from "../../tools/lib/terminal.mjs";
import { bounded, median, seconds } from "../lib/report.mjs";
import { stateEnv, writeProject } from "../lib/stack.mjs";

const most = { ratio: 0.6, gigabytes: 1 };
const objectsPerStack = 8;
const program = `
  const { Network } = require("pulumi-consortium");
  Network.fromFile("network.yaml", { name: process.env.NETWORK });
`;
const network = `members: [grower, roaster]
environments: { ledger: { provider: quorum, consensusType: raft, nodes: { grower: 1, roaster: 1 } } }
`;

/** @typedef {import("../lib/stack.mjs").Tools} Tools */
/** @typedef {{ organization: string, key: string, stack: string }} Job a stack with one network of the same name */

/** @param {number} count @returns {Job[]} */
const jobsOf = (count) =>
  Array.from({ length: count }, (_, index) => {
    const organization = `org${Math.floor(index / limits.consortia)}`;
    return { organization, key: `bench-key-of-${organization}`, stack: `${organization}-n${index % limits.consortia}` };
  });

/** @param {Job[]} jobs @returns {string} the fleet file; JSON is also YAML */
function fleetFile(jobs) {
  /** @type {Record<string, { apiKey: object, stacks: Record<string, object> }>} */
  const organizations = {};
  for (const { organization, stack } of jobs) {
    organizations[organization] ??= { apiKey: { env: `KEY_${organization}` }, stacks: {} };
    organizations[organization].stacks[stack] = { definition: "network.yaml", name: stack };
  }
  return JSON.stringify({ project: "bench", organizations });
}

/**
 * Runs `work` on an empty service in a separate folder; it must create the network of each stack.
 * @template T @param {Tools} tools @param {Job[]} jobs @param {(folder: string, env: NodeJS.ProcessEnv) => Promise<T>} work
 */
async function withService({ cli, module }, jobs, work) {
  const keys = new Map(jobs.map(({ organization, key }) => [organization, key]));
  const service = await module.startService({ organizations: [...keys].map(([name, apiKey]) => ({ name, apiKey })) });
  const folder = mkdtempSync(join(tmpdir(), "consortium-bench-fleet-"));
  writeFileSync(join(folder, "network.yaml"), network);
  try {
    const result = await work(folder, { ...stateEnv(cli, folder), CONSORTIUM_BASE_URL: service.baseUrl });
    const nodes = service.store.nodes.list().length;
    if (nodes !== 2 * jobs.length) throw new UserError(`There are ${nodes} nodes, not ${2 * jobs.length}.`);
    return result;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await service.close();
  }
}

/** The memory of a process on Linux, which divides shared pages among processes. @param {number} pid */
function proportionalSize(pid) {
  try {
    return 1024 * Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/**
 * Waits for a process, and measures the peak memory of it and its children. Reading 30 processes takes 0.1 s of CPU time, so more than
 * one reading per second would slow down the measured run.
 * @param {import("node:child_process").ChildProcess} child
 */
async function watched(child) {
  const peak = { bytes: 0, processes: 0 };
  const timer = setInterval(() => {
    const tree = treeOf(child.pid ?? 0);
    const bytes = tree.reduce((total, { pid }) => total + proportionalSize(pid), 0);
    peak.bytes = Math.max(peak.bytes, bytes);
    peak.processes = Math.max(peak.processes, tree.length);
  }, 1_000);
  return { ...(await finished(child).finally(() => clearInterval(timer))), peak };
}

/** @param {Tools} tools @param {Job[]} jobs @param {number} width */
const byHand = (tools, jobs, width) =>
  withService(tools, jobs, async (folder, env) => {
    writeProject(folder, { program });
    const own = { ...env, PULUMI: tools.cli.command, CONSORTIUM_PLUGIN: "false" };
    const xargs = async (/** @type {string} */ script) => {
      const child = spawn("xargs", ["-P", `${width}`, "-n", "2", "sh", "-c", script], { cwd: folder, env: own });
      child.stdin.end(jobs.map(({ stack, key }) => `${stack} ${key}`).join("\n"));
      const ended = await watched(child);
      if (ended.code !== 0) throw new UserError(`xargs -P ${width} failed: ${ended.text.slice(-2000)}`);
      return ended;
    };
    const up = '"$PULUMI" up --yes --skip-preview --stack "$0" --non-interactive';
    await xargs('"$PULUMI" stack init "$0" --no-select --non-interactive');
    return xargs(`CONSORTIUM_API_KEY="$1" NETWORK="$0" ${up}`);
  });

/** @param {Tools} tools @param {Job[]} jobs @param {number} parallel */
const byFleet = (tools, jobs, parallel) =>
  withService(tools, jobs, async (folder, env) => {
    writeFileSync(join(folder, "fleet.yaml"), fleetFile(jobs));
    const keys = Object.fromEntries(jobs.map(({ organization, key }) => [`KEY_${organization}`, key]));
    const args = ["fleet", "up", "fleet.yaml", "--yes", "--json", "--parallel", `${parallel}`];
    const command = [join(root, "dist/cli/consortium.js"), ...args];
    const child = spawn(process.execPath, command, { cwd: folder, env: { ...env, ...keys } });
    const { code, text, ms, peak } = await watched(child);
    const created = [...text.matchAll(/"created": (\d+)/g)].at(-1)?.[1]; // the total comes last
    if (code !== 0 || Number(created) !== objectsPerStack * jobs.length)
      throw new UserError(`The fleet created ${created} objects: ${text.slice(-3000)}`);
    return { ms, peak };
  });

const times = (/** @type {number} */ ratio) => `×${ratio.toFixed(2)}`;

/** The comparison, and the larger fleet. */
const [stacks, width, rounds] = [20, 4, 3];
const large = { stacks: 50, parallel: 8 };

/** @type {import("../lib/stack.mjs").Measure} */
export const fleet = async ({ module }) => {
  const tools = { module, cli: await pulumiCli({ languages: true }) }; // with the YAML host, like an official Pulumi
  const ratios = [];
  for (let round = 1; round <= rounds; round++) {
    const hand = await byHand(tools, jobsOf(stacks), width);
    const own = await byFleet(tools, jobsOf(stacks), width);
    ratios.push(own.ms / hand.ms);
    log(`round ${round}: xargs -P ${width} ${seconds(hand.ms)}, fleet ${seconds(own.ms)}: ${times(own.ms / hand.ms)}`);
  }
  const { bytes, processes } = (await byFleet(tools, jobsOf(large.stacks), large.parallel)).peak;
  const ofFleet = (/** @type {number} */ at, /** @type {number} */ count) =>
    `\`consortium fleet up --parallel ${at}\` of ${count} new stacks`;
  const spread = `${times(Math.min(...ratios))} to ${times(Math.max(...ratios))}`;
  return [
    bounded(`${ofFleet(width, stacks)} of ${objectsPerStack} objects`, median(ratios), {
      most: most.ratio,
      of: `\`xargs -P ${width}\` by hand, a program in JavaScript`,
      measured: `${times(median(ratios))}, the median of ${rounds} rounds (${spread})`,
    }),
    bounded(`memory of ${ofFleet(large.parallel, large.stacks)}, in GB`, bytes / 1e9, {
      most: most.gigabytes,
      measured: `${(bytes / 1e9).toFixed(2)} GB in ${processes} processes`,
    }),
  ];
};
