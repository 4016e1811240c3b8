// @ts-check
/**
 * npm test, npm run test:all, npm run lint: builds, and runs tests and, beside them, the static checks. Arguments: projects of
 * jest.config.mjs and `lint`, then options of Jest. Contracts with third parties run if something of theirs has changed, with
 * `--everything` always, and where Jest gets options. The last line says `N passed, N failed`.
 */
import "./lib/node-version.mjs";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { close, runChecks, tally } from "./lib/checks.mjs";
import { contractsOf } from "./lib/contracts.mjs";
import { lintChecks } from "./lib/lint.mjs";
import { build, bundle, installPackages, root } from "./lib/prepare.mjs";
import { runAttached } from "./lib/processes.mjs";
import { pulumiCli } from "./lib/pulumi-cli.mjs";
import { log } from "./lib/terminal.mjs";

/**
 * @param {string[]} args
 * @param {import("./lib/pulumi-cli.mjs").PulumiCli | undefined} cli
 * @param {string[]} [leftOut] tests
 */
async function jest(args, cli, leftOut = []) {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-consortium-test-"));
  const report = join(folder, "report.json");
  // A larger young generation, in Jest's workers too: each test file loads its modules again, and collecting them took a tenth of the time.
  const node = ["--max-semi-space-size=64", join(root, "node_modules", "jest", "bin", "jest.js")];
  try {
    const options = { cwd: root, env: { ...process.env, ...cli?.env, TESTS_LEFT_OUT: leftOut.join(" ") } };
    const { code } = await runAttached(process.execPath, [...node, ...args, "--json", "--outputFile", report], options);
    return { code, report: existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : undefined };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Those that need a Pulumi CLI. */
const onPulumi = ["stories", "e2e"];
const names = ["lint", "unit", "dist", "integration", ...onPulumi];

await close(async () => {
  const chosen = process.argv.slice(2).filter((word) => names.includes(word));
  const everything = process.argv.includes("--everything");
  const rest = process.argv.slice(2).filter((word) => !names.includes(word) && word !== "--everything");
  const projects = chosen.filter((name) => name !== "lint");
  const checks = chosen.includes("lint") ? lintChecks : [];
  const needed = [
    { name: "packages", work: installPackages },
    { name: "build", work: build },
    ...(projects.length > 0 ? [{ name: "provider plugin", work: bundle }] : []),
  ];
  const built = await runChecks(needed, 1);
  if (built.includes(false)) return tally(built);
  if (projects.length === 0) return tally([...built, ...(await runChecks(checks, 2))]);
  /** @type {import("./lib/pulumi-cli.mjs").PulumiCli | undefined} */
  let cli;
  const find = async () => (cli = await pulumiCli({ languages: true }));
  const isOnPulumi = (/** @type {string} */ name) => onPulumi.includes(name);
  const making = projects.some(isOnPulumi) ? [{ name: "Pulumi CLI and language hosts", work: find }] : [];
  const prepared = [...built, ...(await runChecks(making, 1))];
  const possible = cli ? projects : projects.filter((name) => !isOnPulumi(name));
  if (possible.length === 0) return tally(prepared);
  log(possible.length < projects.length ? "Running the tests that need no Pulumi CLI …" : "Running the tests …");
  const { look, note } = contractsOf();
  const isWhole = rest.length === 0 && possible.includes("e2e");
  const contracts = isWhole ? await look().catch(() => undefined) : undefined; // without git, all run
  const leftOut = everything ? [] : (contracts?.unchanged ?? []);
  const [tests, checked] = await Promise.all([
    jest([...rest, "--selectProjects", ...possible], cli, leftOut),
    runChecks(checks, 1),
  ]);
  if (contracts && tests.report) await note(contracts.digests, tests.report);
  checks.forEach(({ name }, at) => checked[at] || log(`FAILED ${name}: see above`));
  if (leftOut.length > 0)
    log(
      `Left out: ${leftOut.length} files of contracts with third parties, of which nothing has changed since they were green on this machine. \`npm run test:all -- --everything\` runs them: ${leftOut.join(", ")}`,
    );
  return tally([...prepared, ...checked], tests);
});
