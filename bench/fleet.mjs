// @ts-check
/**
 * node bench/fleet.mjs [--stacks 50] [--parallel 8] [--widths 2,4,8]: `consortium fleet up` of many new stacks on the embedded service, beside the
 * same `up`s by hand: a JavaScript program, its stacks made beforehand, and `xargs -P` at widths 2, 4 and 8. Exit code 1 when the
 * fleet takes more than 1.3 times as long as the best of them, or more than 3.5 GB of memory, or leaves a stack undone.
 */
import "../tools/lib/node-version.mjs";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { build, installPackages, root } from "../tools/lib/prepare.mjs";
import { run } from "../tools/lib/processes.mjs";
import { pulumiCli } from "../tools/lib/pulumi-cli.mjs";
import { runMain, say, Trouble } from "../tools/lib/say.mjs";
import { circumstances } from "./lib/document.mjs";
import { watchMemory } from "./lib/memory.mjs";
import { seconds, table } from "./lib/report.mjs";
import { finished } from "./lib/stack.mjs";

const most = { ratio: 1.3, bytes: 3.5e9 };
const defaultWidths = [2, 4, 8];
/** What the service allows. */
const consortiaPerOrganization = 2;
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
    const number = Math.floor(index / consortiaPerOrganization);
    const stack = `n${index % consortiaPerOrganization}`;
    return { organization: `org${number}`, key: `bench-key-of-organization-${number}`, stack };
  });

/**
 * A new service, with nothing in it yet, and a folder for one side.
 * @template T
 * @param {Job[]} jobs
 * @param {(baseUrl: string, folder: string) => Promise<T>} work
 */
async function withService(jobs, work) {
  /** @type {typeof import("../service/index.js")} */
  const { startService } = await import("pulumi-consortium/service");
  const keys = new Map(jobs.map(({ organization, key }) => [organization, key]));
  const service = await startService({ organizations: [...keys].map(([name, apiKey]) => ({ name, apiKey })) });
  const folder = mkdtempSync(join(tmpdir(), "consortium-bench-fleet-"));
  mkdirSync(join(folder, "state"));
  writeFileSync(join(folder, "network.yaml"), network);
  try {
    const result = await work(service.baseUrl, folder);
    const nodes = service.store.nodes.list().length;
    if (nodes !== 2 * jobs.length) throw new Trouble(`there are ${nodes} nodes, not ${2 * jobs.length}`);
    return result;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await service.close();
  }
}

/**
 * @param {Awaited<ReturnType<typeof pulumiCli>>} cli
 * @param {string} baseUrl
 * @param {string} folder
 */
function environment(cli, baseUrl, folder) {
  const others = Object.entries(process.env).filter(([name]) => !/^(PULUMI|CONSORTIUM)_/.test(name));
  const own = { PULUMI_BACKEND_URL: `file://${join(folder, "state")}`, PULUMI_CONFIG_PASSPHRASE: "bench" };
  return { ...Object.fromEntries(others), ...cli.env, ...own, CONSORTIUM_BASE_URL: baseUrl };
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, input?: string }} options
 */
function start(command, args, { cwd, env, input = "" }) {
  const child = spawn(command, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(input);
  return child;
}

/**
 * @param {Awaited<ReturnType<typeof pulumiCli>>} cli
 * @param {Job[]} jobs
 * @param {number} width
 */
const byHand = (cli, jobs, width) =>
  withService(jobs, async (baseUrl, folder) => {
    mkdirSync(join(folder, "node_modules/@pulumi"), { recursive: true });
    symlinkSync(root, join(folder, "node_modules/pulumi-consortium"));
    symlinkSync(join(root, "node_modules/@pulumi/pulumi"), join(folder, "node_modules/@pulumi/pulumi"));
    writeFileSync(join(folder, "Pulumi.yaml"), "name: bench\nruntime: nodejs\n");
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "bench", main: "index.js" }));
    writeFileSync(join(folder, "index.js"), program);
    const env = { ...environment(cli, baseUrl, folder), PULUMI: cli.command };
    const lines = jobs.map(({ organization, stack, key }) => `${organization}-${stack} ${key}`).join("\n");
    const xargs = (/** @type {string} */ script) =>
      finished(
        start("xargs", ["-P", String(width), "-n", "2", "sh", "-c", script], { cwd: folder, env, input: lines }),
      );
    const made = await xargs('"$PULUMI" stack init "$0" --no-select --non-interactive');
    if (made.code !== 0) throw new Trouble(`the stacks cannot be made: ${made.text}`);
    const up = await xargs(
      'CONSORTIUM_API_KEY="$1" NETWORK="$0" "$PULUMI" up --yes --skip-preview --stack "$0" --non-interactive',
    );
    if (up.code !== 0) throw new Trouble(`xargs -P ${width} failed: ${up.text.slice(-2000)}`);
    return up.ms;
  });

/**
 * @param {Awaited<ReturnType<typeof pulumiCli>>} cli
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
    const env = { ...environment(cli, baseUrl, folder), ...Object.fromEntries(keys) };
    const args = ["fleet", "up", "fleet.yaml", "--yes", "--json", "--parallel", String(parallel)];
    const child = start(process.execPath, [join(root, "dist/cli/consortium.js"), ...args], { cwd: folder, env });
    const memory = watchMemory(child.pid ?? 0);
    const { code, text, ms } = await finished(child);
    const peak = memory.end();
    const created = /"created": (\d+)/.exec(text)?.[1];
    if (code !== 0 || Number(created) !== objectsPerStack * jobs.length)
      throw new Trouble(`the fleet made ${created} objects: ${text.slice(-3000)}`);
    return { ms, peak };
  });

await runMain("bench/fleet", async () => {
  const { values } = parseArgs({
    options: { stacks: { type: "string" }, parallel: { type: "string" }, widths: { type: "string" } },
  });
  const widths = values.widths?.split(",").map(Number) ?? defaultWidths;
  const [stacks, parallel] = [Number(values.stacks ?? 50), Number(values.parallel ?? 8)];
  if (!(stacks >= 1) || !(parallel >= 1)) throw new Trouble("--stacks and --parallel are numbers from 1.");
  await installPackages();
  await build();
  const cli = await pulumiCli();
  const { stdout } = await run(cli.command, ["version"], { env: { ...process.env, ...cli.env } });
  const jobs = jobsOf(stacks);
  const fleet = await byFleet(cli, jobs, parallel);
  const gigabytes = (/** @type {number} */ bytes) => `${(bytes / 1e9).toFixed(2)} GB`;
  say(`fleet, ${parallel} at a time: ${seconds(fleet.ms)}, ${gigabytes(fleet.peak.pss)}`);
  const rows = [];
  for (const width of widths) {
    const ms = await byHand(cli, jobs, width);
    say(`xargs -P ${width}: ${seconds(ms)}`);
    rows.push({ width, ms });
  }
  const best = rows.reduce((one, other) => (one.ms <= other.ms ? one : other));
  const ratio = fleet.ms / best.ms;
  const { pss, rss, processes } = fleet.peak;
  console.log(
    `${circumstances(stdout.trim())}; ${stacks} new stacks of ${objectsPerStack} objects\n\n${table(
      ["", "wall clock"],
      [
        [`\`consortium fleet up --parallel ${parallel}\``, seconds(fleet.ms)],
        ...rows.map(({ width, ms }) => [`\`xargs -P ${width}\` by hand`, seconds(ms)]),
      ],
    )}\n\nRatio to the best width: ${ratio.toFixed(2)} (at most ${most.ratio}). ` +
      `Most memory of the fleet: ${gigabytes(pss)} in ${processes} processes (at most ${gigabytes(most.bytes)}; ` +
      `${gigabytes(rss)} if what they share is counted for each).`,
  );
  return ratio <= most.ratio && pss <= most.bytes ? 0 : 1;
});
