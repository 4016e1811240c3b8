// @ts-check
/** npm test [-- ARGUMENTS OF JEST]: every check of the project; its last line says `N passed, N failed`. */
import "./lib/node-version.mjs";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readReport, runChecks, slowest, staticChecks, tally } from "./lib/checks.mjs";
import { build, bundle, installPackages, root } from "./lib/prepare.mjs";
import { runAttached } from "./lib/processes.mjs";
import { pulumiCli } from "./lib/pulumi-cli.mjs";
import { say } from "./lib/say.mjs";

/**
 * @param {string[]} args
 * @param {import("./lib/pulumi-cli.mjs").PulumiCli | undefined} cli
 */
async function jest(args, cli) {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-consortium-test-"));
  const report = join(folder, "report.json");
  const own = ["--json", "--outputFile", report, ...(cli ? [] : ["--selectProjects", "unit"])];
  const file = join(root, "node_modules", "jest", "bin", "jest.js");
  try {
    const options = { cwd: root, env: { ...process.env, ...cli?.env } };
    const { code } = await runAttached(process.execPath, [file, ...own, ...args], options);
    return { code, report: readReport(report) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main() {
  const preparations = [
    { name: "packages", work: () => installPackages() },
    { name: "build", work: () => build() },
    { name: "provider plugin", work: () => bundle() },
  ];
  const prepared = await runChecks(preparations, 1);
  if (prepared.includes(false)) return tally(prepared);
  /** @type {import("./lib/pulumi-cli.mjs").PulumiCli | undefined} */
  let cli;
  const pulumi = {
    name: "Pulumi CLI and language hosts",
    work: async () => (cli = await pulumiCli({ languages: true })),
  };
  say("Checking types, style and the Pulumi CLI …");
  const checked = await runChecks([pulumi, ...staticChecks(root)], 2);
  say(cli ? "Running the tests …" : "Running the tests that need no Pulumi CLI …");
  const tests = await jest(process.argv.slice(2), cli);
  if (tests.report) say(["The slowest test files:", ...slowest(tests.report, root)].join("\n"));
  return tally([...prepared, ...checked], tests);
}

const { passed, failed } = await main().catch((error) => {
  say(error instanceof Error ? String(error.stack) : String(error));
  return { passed: 0, failed: 1 };
});
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
